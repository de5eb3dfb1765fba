package rules

import (
	"fmt"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// grantsIn lists what agents were allowed, in a project, too.
func grantsIn(a *cli.Globals, project string) (granted.List, error) {
	cfg, err := a.Load()
	if err != nil {
		return granted.List{}, err
	}
	if project, err = filepath.Abs(project); err != nil {
		return granted.List{}, fmt.Errorf("find the project: %w", err)
	}
	return agents.Granted(granted.At(cfg.ClientFolders(), []string{project})), nil
}

func grantedCommand(a *cli.Globals) *cobra.Command {
	var project string
	var asJSON bool
	c := &cobra.Command{
		Use: "granted", Short: "List what agents were allowed in their own files", Args: cli.NoArgs,
		Long: `List what agents were allowed, and denied, in their own files: the user's, this project's and those of
the administrator. The files are read, and nothing is run.

The marks of what is allowed say what the agent then does without asking, by a model of how it
compares commands: "runs anything", "writes files", "outside the sandbox", "beats your deny",
"from the repository", "shadowed by a deny".

--json prints {"entries", "skipped"}: an entry is {"agent", "file", "line", "scope", "verdict", "text",
"says", "marks", "fixed"}, a file that was not read {"agent", "file", "why"}.`,
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := grantsIn(a, project)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c, l, true)
			}
			var rows [][]string
			for _, e := range l.Entries {
				rows = append(rows, []string{e.Agent, string(e.Verdict), sanitize.Line(e.Text), strings.Join(e.Marks, ", "), sanitize.Line(fmt.Sprintf("%s:%d", e.File, e.Line))})
			}
			for _, s := range l.Skipped {
				rows = append(rows, []string{s.Agent, "not read", sanitize.Line(s.Why), "", sanitize.Line(s.File)})
			}
			if len(rows) == 0 {
				c.Println("No agent was allowed anything in its own files.")
				return nil
			}
			return cli.PrintTable(c, rows, func(_, col int) lipgloss.Style {
				if col == 3 {
					return cli.Ink(false, true)
				}
				return lipgloss.NewStyle()
			})
		},
	}
	f := c.Flags()
	f.StringVar(&project, "project", ".", "`FOLDER` in the project")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
