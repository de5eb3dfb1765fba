package servers

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// RemoveCommand returns the command remove.
func RemoveCommand(a *cli.Globals) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a server that was added to the deck",
		Long: "Remove a server that was added to the deck, after asking, together with what you accepted of its tools and\n" +
			"your consent to what it runs. mcpdeck undo restores all of it.",
		Args: cli.Args(1, 1, "name one server; mcpdeck list lists them"),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			return remove(c, cfg, args[0], yes)
		}),
	}
	c.ValidArgsFunction = cli.CompleteServers(a, nil, 1)
	c.Flags().BoolVar(&yes, "yes", false, "remove without asking")
	return c
}

func remove(c *cobra.Command, cfg *config.Config, name string, yes bool) error {
	where := cfg.WhereCard(name)
	switch {
	case slices.Contains(plugin.Names(), name):
		return exit.Usagef("remove %s: it is part of mcpdeck", name)
	case where == "":
		if meant := fuzzy.Meant(name, cli.CardNames(cfg)); meant != "" {
			return fmt.Errorf("remove %q: unknown server; did you mean %q?", name, meant)
		}
		return fmt.Errorf("remove %q: unknown server; mcpdeck list lists them", name)
	case where == cfg.Paths.Config:
		return fmt.Errorf("remove %s: it is configured in %s; remove [server.%[1]s] from that file", name, where)
	}
	edits, err := cards.Removals(cfg, name, where)
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	card := edits[len(edits)-1]
	c.Println(card.Place.Path())
	for _, l := range change.Preview(card.Before, nil) {
		c.Println("  " + l)
	}
	if len(edits) > 1 {
		c.Println(filepath.Join(cfg.Paths.CardState, name))
		c.Println("  what is kept of it, such as what you accepted of it, and your consent to what it runs")
	}
	if err := prompt.Agreed(c, yes); err != nil {
		return err
	}
	entry, err := change.Journal{Dir: cfg.Paths.Undo}.Apply("remove "+name, edits, nil)
	if err != nil {
		return err
	}
	c.Printf("removed %s; undo with: mcpdeck undo %s\n", name, entry.ID)
	return nil
}

// listed is a server in mcpdeck list --json.
type listed struct {
	Name    string         `json:"name"`
	BuiltIn bool           `json:"builtIn,omitempty"`
	Title   string         `json:"title,omitempty"`
	Mode    string         `json:"mode,omitempty"`    // last, off, on, lazy
	Command []string       `json:"command,omitempty"` // without secrets
	URL     string         `json:"url,omitempty"`     // without secrets
	Env     []string       `json:"env,omitempty"`     // names of variables
	File    string         `json:"file,omitempty"`    // where it is configured
	Error   string         `json:"error,omitempty"`   // why it cannot be used
	Adds    snapshot.Count `json:"adds,omitzero"`     // to an agent's list, once it is on, as counted last

	*app.Live // of the running deck; nil when none runs
}

// ListCommand returns the command list.
func ListCommand(a *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the deck's servers: its own, and those you have added", Args: cli.NoArgs,
		Long: "List the deck's servers: its own, and those you have added. While a deck runs, it also shows\nthe state of each, how many tools agents get from it, about how many tokens of their context those take, how many\ncalls there were, the time within which 95 % of them ended, and the era of the protocol that the server speaks:\nlegacy (to 2025-11-25) or modern.",
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, _ []string) error {
			all := listServers(cfg)
			running := map[string]*app.Live{}
			asked := transport.Ask(c.Context(), cfg.Paths.Socket, "list", struct{}{}, &running)
			if errors.Is(asked, transport.ErrNoDeck) { // what is configured is all there is to say
				asked = nil
			}
			for i := range all {
				if all[i].Live = running[all[i].Name]; all[i].Live != nil {
					all[i].Adds = all[i].Live.Adds
				}
			}
			if asJSON {
				return errors.Join(cli.PrintJSON(c, all, true), asked)
			}
			return errors.Join(printServers(c, cfg, all), asked)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func listServers(cfg *config.Config) []listed {
	var out []listed
	for _, name := range plugin.Names() {
		out = append(out, listed{Name: name, BuiltIn: true})
	}
	for _, s := range cfg.Cards {
		l := listed{Name: s.Name, Title: s.Title, Mode: s.Mode, File: s.File, URL: redact.Rules{}.Text(s.URL), Command: settings.Redacted(s.Command)}
		l.Adds = upstream.LastCount(app.CountFile(cfg, s.Name))
		l.Env = slices.Sorted(maps.Keys(s.Env))
		out = append(out, l)
	}
	for _, b := range cfg.Broken {
		out = append(out, listed{Name: b.Name, File: b.File, Error: b.Err.Error()})
	}
	return out
}

// inWords is how people call a mode or a state.
func inWords(mode string) string {
	switch mode {
	case app.LazyWord:
		return "on demand"
	case string(snapshot.Ready):
		return "on"
	case string(snapshot.Degraded), string(snapshot.Failed):
		return "problem"
	}
	return mode
}

func printServers(c *cobra.Command, cfg *config.Config, all []listed) error {
	lines := map[string]string{}
	for _, card := range cfg.Cards {
		lines[card.Name] = card.CommandLine()
	}
	counted := slices.ContainsFunc(all, func(l listed) bool { return l.Live == nil && l.Adds != snapshot.Count{} })
	rows := make([][]string, len(all))
	for i, l := range all {
		what := l.URL
		switch {
		case l.BuiltIn:
			what = "part of mcpdeck"
		case l.Error != "":
			what = l.File + ": " + l.Error
		case what == "":
			what = lines[l.Name]
		}
		mode := l.Mode
		switch {
		case l.Error != "":
			mode = "broken"
		case mode == "last": // what that was
			mode = cmp.Or(app.LastMode(cfg, l.Name), "off")
		}
		mode = inWords(mode)
		rows[i] = []string{l.Name, mode, what}
		if counted {
			rows[i] = []string{l.Name, mode, l.Adds.String(), what}
		}
		if l.Live != nil {
			p95 := ""
			if l.Calls > 0 {
				p95 = "p95 " + humanize.Took(time.Duration(l.P95)*time.Millisecond)
			}
			tools, tokens := humanize.Count(l.Tools, "tool"), "≈ "+snapshot.AboutTokens(l.Context)+" tokens"
			if n := l.Adds; n != (snapshot.Count{}) {
				tools, tokens = "+"+humanize.Count(n.Tools, "tool"), "≈ +"+snapshot.AboutTokens(n.Context)+" tokens"
			}
			rows[i] = []string{l.Name, cmp.Or(l.Missing, inWords(l.State)), tools, tokens, humanize.Count(l.Calls, "call"), p95, l.Era, what}
		}
	}
	err := cli.PrintTable(c, rows, func(row, col int) lipgloss.Style {
		if col == 1 {
			return cli.Ink(all[row].Live != nil && all[row].State == string(snapshot.Ready) || all[row].Mode == "on" || all[row].Mode == app.LazyWord, all[row].Error != "")
		}
		return lipgloss.NewStyle().Faint(all[row].BuiltIn)
	})
	if err == nil && len(cfg.Cards)+len(cfg.Broken) == 0 {
		c.Println("\nTo add other MCP servers, see mcpdeck add --help and mcpdeck import --help.")
	}
	return err
}
