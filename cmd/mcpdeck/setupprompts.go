package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// prompter is what agents' programs run to reach the deck with their own prompts.
func prompter(cfg *config.Config) setup.Prompter {
	p := setup.Prompter{Hook: hookProgram(), Options: deckOptions(cfg), Root: cfg.ProjectRoot(), State: cfg.Paths.State, Folders: cfg.ClientFolders()}
	if len(p.Options) > 0 {
		p.Socket = cfg.Paths.Prompts
	}
	return p
}

// hookProgram is the command of a hook, without the ID of the agent's program. It is
// absolute: hooks run with any PATH. The path in PATH is better than that of the program
// itself, which may have its version in it.
func hookProgram() []string {
	own, err := os.Executable()
	if err != nil {
		return []string{"mcpdeck", "hook"}
	}
	if found, err := process.Find("mcpdeck"); err == nil && sameFile(found, own) && filepath.IsAbs(found) {
		own = found
	}
	small := filepath.Join(filepath.Dir(own), "mcpdeck-hook"+filepath.Ext(own))
	if info, err := os.Stat(small); err == nil && info.Mode().IsRegular() {
		return []string{small}
	}
	return []string{own, "hook"}
}

func setUpPrompts(c *cobra.Command, f setupFlags, cfg *config.Config, args []string) error {
	p := prompter(cfg)
	if len(args) == 0 {
		return surveyPrompts(c, p)
	}
	p.Project, p.Apart, p.Signals = f.project, f.hooks, f.signals != ""
	client, _ := clients.Find(args[0])
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
	switch f := cfg.File.Prompts; {
	case !f.Enabled:
		c.Println("It has no effect as long as config.toml has prompts.enabled = false.")
	case !f.Shows(client):
		c.Printf("It has no effect as long as config.toml has prompts.%s = false.\n", client)
	}
}

// surveyPrompts prints which clients' own prompts reach the deck, and what can be
// answered there.
func surveyPrompts(c *cobra.Command, p setup.Prompter) error {
	all := setup.SurveyPrompts(p)
	rows := make([][]string, len(all))
	for i, s := range all {
		rows[i] = []string{s.Client.ID, promptState(s), s.Client.Prompts.Answers}
	}
	err := printTable(c, rows, func(row, col int) lipgloss.Style {
		if col == 1 {
			return ink(all[row].State == setup.SetUp, all[row].State == setup.Broken)
		}
		return lipgloss.NewStyle()
	})
	if err != nil {
		return err
	}
	c.Println("\nThe last column is what can be answered in the deck. mcpdeck setup CLIENT --prompts shows the change to its settings, asks, and writes it.")
	return nil
}

// needsNone says of a client that its prompts reach the deck by themselves.
const needsNone = "needs no setup"

func promptState(s setup.PromptStatus) string {
	if s.Apart {
		s.Apart = false
		return needsNone + "; hooks: " + promptState(s)
	}
	switch {
	case len(s.Off) > 0:
		return fmt.Sprintf("turned off by %s in %s", strings.Join(s.Off, ", "), s.Path)
	case len(s.Missing) > 0:
		return fmt.Sprintf("%s names %s, which is not there", s.Path, strings.Join(s.Missing, ", "))
	case s.State == setup.NotSetUp:
		return "not set up"
	case s.State == setup.SetUp && s.Path == "":
		return needsNone
	case s.State == setup.SetUp:
		return "set up in " + s.Path
	case s.State == setup.Differs:
		return "set up differently in " + s.Path
	}
	return fmt.Sprintf("unreadable: %s: %v", s.Path, s.Err)
}
