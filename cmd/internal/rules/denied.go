package rules

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

func deniedCommand(a *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "denied", Short: "List what agents were denied", Args: cli.NoArgs,
		Long: `List what agents were denied in the last 30 days, of the last 200 prompts and questions: by you, by your
rules, and by Claude Code's auto mode, of which the deck is told after

    mcpdeck setup claude --prompts --denied

"not judged" is what auto mode denied since its judge did not answer. The same of a session is one row.

--json prints a list of {"time", "agent", "session", "project", "tool", "subject", "by", "reason",
"judged", "times"}.`,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := config.Where(a.Flags)
			if err != nil {
				return err
			}
			now := time.Now()
			all := ask.Denials(ask.ReadHistory(p.History), now)
			if asJSON {
				return cli.PrintJSON(c, all, true)
			}
			if len(all) == 0 {
				c.Println("No agent was denied anything of late.")
				return nil
			}
			var rows [][]string
			for i := range all {
				d := &all[i]
				by := "by " + d.By
				if !d.Judged {
					by = "not judged"
				}
				times := ""
				if d.Times > 1 {
					times = humanize.Count(d.Times, "time")
				}
				rows = append(rows, []string{humanize.Ago(now.Sub(d.Time)), d.Agent, sanitize.Line(filepath.Base(d.Project)), sanitize.Line(d.Tool + " " + d.Subject), by, sanitize.Line(d.Reason), times})
			}
			return cli.PrintTable(c, rows, nil)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
