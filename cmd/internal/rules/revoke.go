package rules

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

func revokeCommand(a *cli.Globals) *cobra.Command {
	var project string
	var yes, dryRun bool
	c := &cobra.Command{
		Use: "revoke FILE:LINE [ENTRY]", Short: "Take what an agent was allowed out of its file",
		Long: `Take one entry that allows something out of an agent's own file: file and line are those of mcpdeck
rules granted, and the entry as it is written is needed if several are on the line. What becomes of
the file is shown first, all else in it stays as it is, and mcpdeck undo puts it back.`,
		Example: "  mcpdeck rules revoke ~/.claude/settings.json:4",
		Args:    cli.Args(1, 2, "give the file and the line of one entry, as FILE:LINE"),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			l, err := grantsIn(a, project)
			if err != nil {
				return err
			}
			e, err := oneOf(l.Entries, args)
			if err != nil {
				return err
			}
			d, err := without(e)
			if err != nil {
				return err
			}
			shown, err := setupcmd.Lines(cfg, []setupcmd.Diff{d}, nil)
			if err != nil {
				return err
			}
			setupcmd.Show(cfg.Home, c.OutOrStdout(), shown)
			if dryRun {
				c.Println("nothing was written")
				return nil
			}
			if err := prompt.Agreed(c, yes); err != nil {
				return err
			}
			id, err := setupcmd.Apply(cfg, "rules revoke", shown)
			if err != nil {
				return err
			}
			c.Println("revoked; mcpdeck undo", id, "puts it back")
			c.Println("Sessions of " + e.Agent + " that run may keep it until they are started again.")
			return nil
		}),
	}
	f := c.Flags()
	f.StringVar(&project, "project", ".", "`FOLDER` in the project")
	f.BoolVar(&yes, "yes", false, "write without asking")
	f.BoolVar(&dryRun, "dry-run", false, "show what would be written")
	return c
}

// oneOf is the entry that the arguments name.
func oneOf(all []granted.Entry, args []string) (*granted.Entry, error) {
	i := strings.LastIndexByte(args[0], ':')
	if i < 0 {
		return nil, exit.Usagef("give the file and the line of one entry, as FILE:LINE")
	}
	path, err := filepath.Abs(args[0][:i])
	if err != nil {
		return nil, fmt.Errorf("find the file: %w", err)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(e granted.Entry) bool {
		return e.File != path || fmt.Sprint(e.Line) != args[0][i+1:] || e.Verdict != granted.Allow || len(args) > 1 && e.Text != args[1]
	})
	switch len(all) {
	case 0:
		return nil, errors.New("no agent was allowed anything there; mcpdeck rules granted lists what is")
	case 1:
		return &all[0], nil
	}
	var texts []string
	for _, e := range all {
		texts = append(texts, "  "+sanitize.Line(e.Text))
	}
	return nil, errors.New("several are on that line; add one of them, as it is written:\n" + strings.Join(texts, "\n"))
}

// without is what becomes of the file of an entry without it.
func without(e *granted.Entry) (d setupcmd.Diff, err error) {
	place, err := change.OfUser(e.File)
	if root, name := e.In(); e.Scope == granted.Project || e.Scope == granted.Local {
		place, err = change.InProject(root, name)
	}
	if err != nil {
		return d, fmt.Errorf("find the file: %w", err)
	}
	before, err := place.Read()
	if err != nil {
		return d, fmt.Errorf("read the file: %w", err)
	}
	after, err := e.Without(before)
	if err != nil {
		return d, err
	}
	return setupcmd.Diff{Path: place.Path(), Does: []string{"takes out: " + e.Says}, Edit: change.Edit{Place: place, Before: before, After: after}}, nil
}
