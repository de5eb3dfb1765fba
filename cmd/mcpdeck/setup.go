package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/tui/page/deck"
)

type setupFlags struct {
	user, yes, undo, prompts, hooks, project, dryRun bool

	signals string
}

func setupCommand(a *app) *cobra.Command {
	var f setupFlags
	apart := clients.IDs(func(c clients.Client) bool { return c.Prompts != nil && c.Prompts.Apart != nil })
	signalled := clients.IDs(func(c clients.Client) bool { return c.Prompts != nil && len(c.Prompts.Signals) > 0 })
	c := &cobra.Command{
		Use:   "setup [CLIENT]",
		Short: "Add mcpdeck to an agent's configuration, after showing the change",
		Long: "Add mcpdeck to an agent's configuration, after showing the change. Without a client: show which are installed and set up.\n\n" +
			"With --prompts: bring what the agent asks in its own terminal, such as permissions, to the deck as well.\n\nClients: " +
			strings.Join(setup.Names(), ", ") + "; with --prompts: " + strings.Join(setup.PromptNames(), ", "),
		Args: func(_ *cobra.Command, args []string) error {
			names := setup.Names()
			if f.prompts {
				names = setup.PromptNames()
			}
			switch {
			case f.project && !f.prompts:
				return usagef("--project belongs to --prompts; without it, the project's file is what setup edits")
			case f.hooks && (!f.prompts || len(args) != 1 || !slices.Contains(apart, args[0])):
				return usagef("--hooks belongs to setup %s --prompts: for sessions that its daemon does not run", strings.Join(apart, " or "))
			case f.hooks && f.project:
				return usagef("--hooks writes the user's own file; it has no --project")
			case f.signals != "" && (f.signals != "hooks" || !f.prompts || len(args) != 1 || !slices.Contains(signalled, args[0])):
				return usagef("--signals hooks belongs to setup %s --prompts: for versions whose files do not say what they wait for", strings.Join(signalled, " or "))
			case f.user && f.prompts:
				return usagef("--user is what --prompts does; --project edits the project's file")
			case len(args) > 1:
				return usagef("name one client: %s", strings.Join(names, ", "))
			case len(args) == 1 && f.prompts && slices.Contains(setup.Names(), args[0]) && !slices.Contains(names, args[0]):
				client, _ := clients.Find(args[0])
				return usagef("%s has no prompts that could reach the deck (those of %s can); mcpdeck setup %s adds the deck's tools to it", client.Title, strings.Join(names, ", "), client.ID)
			case len(args) == 1 && !slices.Contains(names, args[0]):
				return usagef("unknown client %q; name one of %s", args[0], strings.Join(names, ", "))
			case len(args) == 0 && (f.undo || f.yes || f.dryRun || f.project):
				return usagef("name the client: %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			if f.prompts {
				return setUpPrompts(c, f, cfg, args)
			}
			e := setupEntry(cfg)
			e.User = f.user
			if len(args) == 0 {
				return survey(c, e)
			}
			return setUp(c, f, e, args[0])
		},
	}
	c.Flags().BoolVar(&f.user, "user", false, "the user's own file instead of the project's")
	c.Flags().BoolVar(&f.yes, "yes", false, "write without asking")
	c.Flags().BoolVar(&f.undo, "undo", false, "put the file back as it was")
	c.Flags().BoolVar(&f.prompts, "prompts", false, "bring the agent's own prompts to the deck")
	c.Flags().BoolVar(&f.hooks, "hooks", false, "with codex --prompts: also of sessions that its daemon does not run")
	c.Flags().StringVar(&f.signals, "signals", "", "with claude --prompts: \"hooks\" also reports each tool call, if its files do not say what it waits for")
	c.Flags().BoolVar(&f.project, "project", false, "with --prompts: the project's file instead of the user's own")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the change and write nothing")
	return c
}

// setupEntry is what clients are given to start.
func setupEntry(cfg *config.Config) setup.Entry {
	return setup.Entry{
		Command: ownPath(), Options: deckOptions(cfg), Root: cfg.ProjectRoot(), State: cfg.Paths.State,
		Folders: cfg.ClientFolders(),
	}
}

// deckOptions are the flags by which another process finds the deck; none for the
// default one.
func deckOptions(cfg *config.Config) (options []string) {
	if name := cfg.Name(); name != "" {
		options = append(options, "--name", name)
	}
	if cfg.OwnState {
		options = append(options, "--state", cfg.Paths.State)
	}
	return options
}

// surveyed is every client, those that the user may act on first.
func surveyed(e setup.Entry) []setup.Status {
	all := setup.Survey(e, func(program string) bool {
		_, err := process.Find(program)
		return err == nil
	})
	slices.SortStableFunc(all, func(a, b setup.Status) int { return rank(a) - rank(b) })
	return all
}

// survey prints a line a client, those that are installed first.
func survey(c *cobra.Command, e setup.Entry) error {
	all := surveyed(e)
	rows := make([][]string, len(all))
	for i, s := range all {
		text := map[setup.State]string{
			setup.NotSetUp: "not set up",
			setup.SetUp:    "set up in " + s.Path,
			setup.Differs:  "set up differently in " + s.Path,
			setup.Broken:   "unreadable",
		}[s.State]
		if s.Err != nil {
			text += ": " + s.Err.Error()
		}
		if s.State == setup.NotSetUp && !s.Installed {
			text = "not found here"
		}
		rows[i] = []string{s.Client, text}
	}
	err := printTable(c, rows, func(row, col int) lipgloss.Style {
		switch s := all[row]; {
		case col == 0, s.State == setup.NotSetUp && !s.Installed:
			return lipgloss.NewStyle().Faint(rank(s) > 0)
		default:
			return ink(s.State == setup.SetUp, s.State == setup.Broken)
		}
	})
	if err != nil {
		return err
	}
	c.Println("\nmcpdeck setup CLIENT shows the change to its configuration, asks, and writes it.\n" +
		"mcpdeck setup --prompts lists whose own prompts, such as permissions, reach the deck.")
	return nil
}

// rank puts what the user may act on before what is not here.
func rank(s setup.Status) int {
	if s.Installed || s.State != setup.NotSetUp {
		return 0
	}
	return 1
}

func setUp(c *cobra.Command, f setupFlags, e setup.Entry, client string) error {
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

// write makes a change when the user has seen it and agrees.
func write(c *cobra.Command, f setupFlags, change *setup.Change, undo string) error {
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
	if !f.yes && !confirmed(c) {
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
	if found, err := process.Find("mcpdeck"); err == nil && sameFile(found, own) {
		return "mcpdeck"
	}
	return own
}

func sameFile(a, b string) bool {
	ra, errA := filepath.EvalSymlinks(a)
	rb, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && ra == rb
}

// screenSetup sets clients up from the screen: in the user's own files, since one
// deck is for all projects.
type screenSetup struct{ cfg *config.Config }

func (s screenSetup) entry() setup.Entry {
	e := setupEntry(s.cfg)
	e.User = true
	return e
}

// Clients implements deck.Setup.
func (s screenSetup) Clients() []deck.Client {
	written := map[string]string{}
	for _, c := range surveyed(s.entry()) {
		written[c.Client] = c.Path
	}
	var out []deck.Client
	for _, c := range surveyed(setupEntry(s.cfg)) { // set up in the project is set up, too
		if c.State != setup.SetUp && c.State != setup.Differs {
			c.Path = written[c.Client]
		}
		if c.Installed || c.State != setup.NotSetUp {
			out = append(out, deck.Client{Name: c.Client, Path: c.Path, SetUp: c.State == setup.SetUp || c.State == setup.Differs})
		}
	}
	return out
}

// Plan implements deck.Setup.
func (s screenSetup) Plan(client string) (deck.Change, error) {
	change, err := setup.Plan(client, s.entry())
	if err != nil {
		return deck.Change{}, err
	}
	out := deck.Change{Path: change.Path, Lines: change.Preview(), Then: strings.Join(change.Notes, " ")}
	if !change.Same() {
		out.Apply = change.Apply
	}
	return out, nil
}

// Snippet implements deck.Setup.
func (s screenSetup) Snippet() string {
	e := s.entry()
	text, err := setup.Snippet(clients.Client{Section: "mcpServers"}, clients.Server{Command: e.Command, Args: append([]string{"mcp"}, e.Options...)})
	if err != nil {
		return "" // the page leads to mcpdeck setup instead
	}
	return text
}
