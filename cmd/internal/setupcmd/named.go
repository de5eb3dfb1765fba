package setupcmd

import (
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// setUp adds mcpdeck to one client.
func setUp(c *cobra.Command, f flags, e setup.Entry, client string) error {
	if f.undo {
		u, err := setup.Undo(client, e)
		if err != nil {
			return err
		}
		return takeBack(c, u, f.yes, f.dryRun)
	}
	change, err := setup.Plan(client, e)
	if err != nil {
		return err
	}
	undo := "mcpdeck setup " + client + " --undo"
	if f.user {
		undo += " --user"
	}
	return write(c, f, change, undo)
}

// setUpPrompts brings the prompts of one client to the inbox.
func setUpPrompts(c *cobra.Command, f flags, cfg *config.Config, name string) error {
	p := PrompterOf(cfg)
	p.Project, p.Apart, p.Signals = f.project, f.hooks, f.signals != ""
	client, _ := clients.Find(name)
	if f.undo {
		u, err := setup.UndoPrompts(client.ID, p)
		if err != nil {
			return err
		}
		return takeBack(c, u, f.yes, f.dryRun)
	}
	change, err := setup.PlanPrompts(client.ID, p)
	if err != nil {
		return err
	}
	if change == nil {
		c.Printf("Nothing to set up: mcpdeck connects to %s by itself. prompts.%s = false in config.toml turns that off.\n", client.Title, client.ID)
		if client.Prompts.Apart != nil {
			c.Printf("Sessions that its daemon does not run need mcpdeck %s --hooks.\n", p.Words(client.ID))
		}
		sayIfOff(c, cfg, client.ID)
		return nil
	}
	undo := "mcpdeck " + p.Words(client.ID) + " --undo"
	if f.project {
		undo += " --project"
	}
	if err := write(c, f, change, undo); err != nil {
		return err
	}
	sayIfOff(c, cfg, client.ID)
	return nil
}

// sayIfOff says if the deck's own configuration leaves a client's prompts in its terminal.
func sayIfOff(c *cobra.Command, cfg *config.Config, client string) {
	if why := offBecause(cfg, client); why != "" {
		c.Println("It has no effect as long as config.toml has " + why + ".")
	}
}

// offBecause is the setting that leaves a client's prompts in its terminal, "" if none does.
func offBecause(cfg *config.Config, client string) string {
	switch f := cfg.File.Prompts; {
	case !f.Enabled:
		return "prompts.enabled = false"
	case !f.Shows(client):
		return "prompts." + client + " = false"
	}
	return ""
}

// write makes a change when the user has seen it and agrees.
func write(c *cobra.Command, f flags, change *setup.Change, undo string) error {
	if change.Same() {
		c.Println(change.Path, "already has mcpdeck")
		return nil
	}
	c.Println(change.Path)
	for _, l := range change.Preview() {
		c.Println("  " + l)
	}
	if f.dryRun {
		c.Println("nothing was written")
		return nil
	}
	if !f.yes && !prompt.Confirm(c.InOrStdin(), c.OutOrStdout(), "Write this?") {
		c.Println("nothing was written; --yes writes without asking")
		return exit.Failed
	}
	if err := change.Apply(); err != nil {
		return err
	}
	c.Println("written;", undo, "puts it back")
	for _, n := range change.Notes {
		c.Println(n)
	}
	return nil
}
