package setupcmd

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// setUpOne adds mcpdeck to one client, or brings its prompts to the inbox, or takes that back.
func setUpOne(c *cobra.Command, f flags, cfg *config.Config, name string) error {
	e, p := EntryOf(cfg), PrompterOf(cfg)
	e.User, p.Project, p.Apart, p.Signals, p.Denied = f.user, f.project, f.hooks, f.signals != "", f.denied
	plan := func() (*setup.Change, error) { return setup.Plan(name, e) }
	undo := func() (*change.Undo, error) { return setup.Undo(name, e) }
	back := "mcpdeck setup " + name + " --undo"
	switch {
	case f.acp != "":
		agent := strings.Fields(f.acp)
		title := filepath.Base(agent[0])
		if known, ok := clients.Of(title); ok {
			title = known.Title
		}
		editing := setup.Editing{Entry: e, Agent: agent, Title: title + " (mcpdeck)"}
		plan = func() (*setup.Change, error) { return setup.PlanEditor(name, editing) }
		undo = func() (*change.Undo, error) { return setup.UndoEditor(name, editing) }
		back = "mcpdeck setup " + name + " --acp " + strconv.Quote(f.acp) + " --undo"
		if client, _ := clients.Find(name); client.Agents == "" {
			c.Printf("mcpdeck does not write the agents of %s. Have it start:\n\n    %s\n", client.Title, strings.Join(editing.Line(), " "))
			return nil
		}
	case f.quota:
		plan = func() (*setup.Change, error) { return setup.PlanQuota(name, p) }
		undo = func() (*change.Undo, error) { return setup.UndoQuota(name, p) }
		back = "mcpdeck setup " + name + " --quota --undo"
	case f.prompts:
		plan = func() (*setup.Change, error) { return setup.PlanPrompts(name, p) }
		undo = func() (*change.Undo, error) { return setup.UndoPrompts(name, p) }
		if back = "mcpdeck " + p.Words(name) + " --undo"; f.project {
			back += " --project"
		}
	case f.user:
		back += " --user"
	}
	if f.undo {
		u, err := undo()
		if err != nil {
			return err
		}
		return takeBack(c, u, cfg.Home, f.yes, f.dryRun)
	}
	made, err := plan()
	if err != nil {
		return err
	}
	switch client, _ := clients.Find(name); {
	case made == nil:
		c.Println(console.Fold(c.OutOrStdout(), fmt.Sprintf("Nothing to set up: mcpdeck connects to %s by itself. prompts.agents.%s = false in config.toml turns that off.", client.Title, name)))
		if client.Prompts.Apart != nil {
			c.Printf("Sessions that its daemon does not run need mcpdeck %s --hooks.\n", p.Words(name))
		}
	case made.Same():
		c.Println(made.Path, "already has mcpdeck")
	default:
		if err := write(c, f, cfg, made, back); err != nil {
			return err
		}
	}
	if f.prompts {
		c.Println(promptsOf(name, p.Version))
	}
	if why := offBecause(cfg, name); f.prompts && why != "" {
		c.Println("It has no effect as long as config.toml has " + why + ".")
	}
	return nil
}

// promptsOf says what of an agent reaches the deck, what can be answered there, and with which
// version that was tested.
func promptsOf(agent string, version func(clients.Client) string) string {
	client, _ := clients.Find(agent)
	a := agents.Of(agent)
	cells, tested := a.Cells, client.Prompts.Tested
	if a.Next != nil && version != nil {
		if v := version(client); !client.Prompts.Loads(v) {
			cells, client.Title = a.Next.Cells, client.Title+" "+v
		}
	}
	with := "untested"
	if !cells.Untested() {
		with = "tested with " + tested[0].Number + " on " + tested[0].Date
	}
	return fmt.Sprintf("%s: in the deck: %s; answered there: %s; %s", client.Title, cells.Shown(), cells.Answered(), with)
}

// offBecause is the setting that leaves a client's prompts in its terminal, "" if none does.
func offBecause(cfg *config.Config, client string) string {
	switch f := cfg.File.Prompts; {
	case !f.Enabled:
		return "prompts.enabled = false"
	case !f.Shows(client):
		return "prompts.agents." + client + " = false"
	}
	return ""
}

// write makes a change when the user has seen it and agrees.
func write(c *cobra.Command, f flags, cfg *config.Config, made *setup.Change, undo string) error {
	var diffs []Diff
	says := made.Says
	for _, part := range made.Parts() {
		diffs = append(diffs, Diff{Path: part.Path, Edit: part.Edit()})
		if part.Does != "" {
			says = "It " + part.Does + ". " + says
		}
	}
	shown, err := Lines(cfg, diffs, nil)
	if err != nil {
		return err
	}
	Show(cfg.Home, c.OutOrStdout(), shown)
	if says != "" {
		c.Println(console.Fold(c.OutOrStdout(), says))
	}
	if f.dryRun {
		c.Println("nothing was written")
		return nil
	}
	if err := prompt.Agreed(c, f.yes); err != nil {
		return err
	}
	if err := made.Apply(); err != nil {
		return err
	}
	c.Println("written;", undo, "puts it back")
	for _, n := range made.Notes {
		c.Println(console.Fold(c.OutOrStdout(), n))
	}
	return nil
}
