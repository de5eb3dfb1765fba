package setupcmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

type undoFlags struct{ list, yes bool }

// Undo returns the subcommand undo.
func Undo(o Options) *cobra.Command {
	var f undoFlags
	c := &cobra.Command{
		Use:   "undo [ID]",
		Short: "Undo a change that mcpdeck made to configuration files",
		Long: `Undo a change that mcpdeck made to configuration files: the last one, or the
one with the given ID. It shows what becomes of the files, and asks.

Either all files of the change are restored, byte for byte, or none is.
If a file has since changed elsewhere, only the change itself is undone.
If it has changed in the same place, nothing is written.`,
		Example: "  mcpdeck undo --list\n  mcpdeck undo\n  mcpdeck undo 12",
		Args:    cli.Args(0, 1, "undo takes at most one ID"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := o.Load()
			if err != nil {
				return err
			}
			j := change.Journal{Dir: cfg.Paths.Undo}
			if f.list {
				return listChanges(c, j, cfg.Home)
			}
			return undo(c, j, strings.Join(args, ""), cfg.Home, f.yes)
		},
	}
	c.Flags().BoolVar(&f.list, "list", false, "list the changes that can be undone")
	c.Flags().BoolVar(&f.yes, "yes", false, "write without asking")
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cfg, err := o.Load()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		entries, _ := change.Journal{Dir: cfg.Paths.Undo}.Entries() // without them, nothing is to be said
		var words []string
		for _, e := range entries {
			words = append(words, cobra.CompletionWithDesc(e.ID, sanitize.Line(e.What)))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func listChanges(c *cobra.Command, j change.Journal, home string) error {
	entries, err := j.Entries()
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		c.Println("nothing to undo")
		return nil
	}
	var rows [][]string
	for _, e := range entries {
		for i, f := range e.Files {
			row := []string{"", "", "", Short(home, f.Path())}
			if i == 0 {
				age, _ := humanize.Age(time.Since(e.When))
				row = []string{e.ID, age, e.What, Short(home, f.Path())}
			}
			rows = append(rows, row)
		}
	}
	return console.Table(c.OutOrStdout(), rows, nil)
}

// undo takes back the change of an ID, "" for the last one.
func undo(c *cobra.Command, j change.Journal, id, home string, yes bool) error {
	entries, err := j.Entries()
	if err != nil {
		return err
	}
	if id == "" && len(entries) == 0 {
		return change.ErrNone
	}
	for _, e := range entries {
		if id != "" && e.ID != id {
			continue
		}
		c.Printf("undo %s: %s\n", e.ID, e.What)
		u, err := j.Plan(e)
		if errors.Is(err, change.ErrChanged) {
			err = fmt.Errorf("%w; nothing was written", err)
		}
		if err != nil {
			return err
		}
		return takeBack(c, u, home, yes, false)
	}
	return fmt.Errorf("undo %s: %w; mcpdeck undo --list shows them", id, change.ErrNone)
}

// takeBack takes a change back when the user has seen what becomes of the files and
// agrees. A dry run writes nothing.
func takeBack(c *cobra.Command, u *change.Undo, home string, yes, dryRun bool) error {
	for _, f := range u.Files {
		showRestored(c, f, home)
	}
	if dryRun {
		c.Println("nothing was written")
		return nil
	}
	if err := prompt.Agreed(c, yes || len(u.Files) == 0); err != nil {
		return err
	}
	if err := u.Apply(); err != nil {
		return err
	}
	for _, f := range u.Files {
		if f.Gone() {
			c.Println("removed", Short(home, f.Path))
		} else {
			c.Println("put back", Short(home, f.Path))
		}
	}
	if len(u.Files) == 0 {
		c.Println("already undone")
	}
	return nil
}

// showRestored shows what becomes of a file. Of one that goes or comes back as a whole,
// nobody wants to read what is in it.
func showRestored(c *cobra.Command, f change.Restored, home string) {
	switch {
	case f.Gone():
		c.Println(Short(home, f.Path))
		c.Println("  the file is removed")
		return
	case f.Now == nil:
		c.Println(Short(home, f.Path))
		c.Println("  the file is put back")
		return
	case f.Exact:
		c.Println(Short(home, f.Path))
	default:
		c.Println(Short(home, f.Path), "has changed since; only this is changed:")
	}
	for _, l := range change.Preview(f.Now, f.New) {
		c.Println("  " + l)
	}
}
