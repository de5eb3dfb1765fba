package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
)

type setupFlags struct{ user, yes, undo bool }

func setupCommand(a *app) *cobra.Command {
	var f setupFlags
	c := &cobra.Command{
		Use:   "setup CLIENT",
		Short: "Write the deck into an agent's configuration, after showing the change",
		Long:  "Write the deck into an agent's configuration, after showing the change.\n\nClients: " + setup.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one client: %s", setup.Names())
			}
			if !slices.Contains(strings.Split(setup.Names(), ", "), args[0]) {
				return usagef("%q is not a client that is known here; name one of %s", args[0], setup.Names())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return setUp(c, a, f, args[0]) },
	}
	c.Flags().BoolVar(&f.user, "user", false, "the person's own file instead of the project's")
	c.Flags().BoolVar(&f.yes, "yes", false, "write without asking")
	c.Flags().BoolVar(&f.undo, "undo", false, "put the file back as it was")
	return c
}

func setUp(c *cobra.Command, a *app, f setupFlags, client string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	e := setup.Entry{Command: ownPath(), Name: cfg.Name(), Root: cfg.ProjectRoot(), Home: cfg.Home, User: f.user}
	if f.undo {
		own, _ := os.Executable() // without one the name remains
		path, err := setup.Undo(client, e, "mcpdeck", own)
		if err != nil {
			return err
		}
		c.Println("put back", path)
		return nil
	}
	change, err := setup.Plan(client, e)
	if err != nil {
		return err
	}
	if change.Same() {
		c.Println(change.Path, "has the deck already")
		return nil
	}
	c.Println(change.Path)
	for _, l := range change.Preview() {
		c.Println("  " + l)
	}
	if !f.yes && !confirmed(c) {
		c.Println("nothing was written; --yes writes without asking")
		return exitCode(exitFailed)
	}
	if err := change.Apply(); err != nil {
		return err
	}
	c.Println("written; mcpdeck setup", client, "--undo puts it back")
	if change.Note != "" {
		c.Println(change.Note)
	}
	return nil
}

func confirmed(c *cobra.Command) bool {
	if !term.IsTerminal(os.Stdin.Fd()) {
		return false
	}
	fmt.Fprint(c.OutOrStdout(), "Write this? [y/N] ")
	answer, _ := bufio.NewReader(c.InOrStdin()).ReadString('\n') // no answer is no
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}

// ownPath is how a client finds this program: by name if PATH leads to it.
func ownPath() string {
	own, err := os.Executable()
	if err != nil {
		return "mcpdeck"
	}
	if found, err := exec.LookPath("mcpdeck"); err == nil && sameFile(found, own) {
		return "mcpdeck"
	}
	return own
}

func sameFile(a, b string) bool {
	ra, errA := filepath.EvalSymlinks(a)
	rb, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && ra == rb
}
