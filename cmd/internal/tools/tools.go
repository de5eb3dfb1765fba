// Package tools implements the commands about tools: listing and calling them, and the log of calls.
package tools

import (
	"encoding/json"
	"fmt"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Command returns the command tools.
func Command(a *cli.Globals) *cobra.Command {
	var raw bool
	c := &cobra.Command{
		Use: "tools [SERVER...]", Short: "List the tools that agents see",
		ValidArgsFunction: cli.CompleteServers(a, plugin.Names(), 0),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			client, err := connect(c.Context(), cfg, args, false)
			if err != nil {
				return err
			}
			defer client.end()
			var list struct {
				Tools []json.RawMessage `json:"tools"`
			}
			if err := client.Call(c.Context(), "tools/list", map[string]any{}, &list); err != nil {
				return err
			}
			return printTools(c, list.Tools, raw)
		}),
	}
	c.Flags().BoolVar(&raw, "json", false, "print the definitions as JSON")
	return c
}

func printTools(c *cobra.Command, tools []json.RawMessage, raw bool) error {
	if raw {
		b, err := json.MarshalIndent(tools, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(console.JSON(c.OutOrStdout()), string(b))
		return nil
	}
	if len(tools) == 0 {
		c.PrintErrln("no tools")
		return nil
	}
	rows := make([][]string, len(tools))
	for i, t := range tools {
		var info toolInfo
		if err := json.Unmarshal(t, &info); err != nil {
			return fmt.Errorf("read a tool's definition: %w", err)
		}
		rows[i] = []string{sanitize.Line(info.Name), info.short()}
	}
	return cli.PrintTable(c, rows, func(_, col int) lipgloss.Style { return lipgloss.NewStyle().Bold(col == 0) })
}
