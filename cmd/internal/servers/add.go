package servers

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

type addFlags struct {
	env, headers, inherit, set []string
	on, lazy, yes, noTry       bool
	cwd, transport, title      string
	entry                      string // JSON
	pick                       int
}

// AddCommand returns the command add.
func AddCommand(a *cli.Globals) *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add NAME [FLAG...] -- COMMAND [ARG...]\n  mcpdeck add NAME URL [FLAG...]\n  mcpdeck add [NAME] SERVER.json [FLAG...]\n  mcpdeck add [NAME] --json ENTRY [FLAG...]",
		Short: "Add any MCP server to the deck", DisableFlagsInUseLine: true,
		Long: `Add any MCP server to the deck. The server is off until you turn it on; while it is
off, agents see nothing of it.

A server is a command (after --), a URL, a server.json from the MCP registry, or an
entry of a client's configuration as READMEs have it: --json '{"command": ...}', with or
without the names and braces around it. --json - reads it from standard input.
mcpdeck shows what will run, asks, and writes one file to servers.d, next to
config.toml. The server is then started or connected to once, to show its tools and
how much context they take.

Values can contain ${root} (the agent's project), ${home} and ${env:NAME}. They are
not passed through a shell.`,
		Example: `  mcpdeck add files -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 '${root}'
  mcpdeck add github --env 'GITHUB_PERSONAL_ACCESS_TOKEN=${env:GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
  mcpdeck add docs https://mcp.example.com/mcp --header 'Authorization: Bearer ${env:DOCS_TOKEN}'
  mcpdeck add server.json --set version=1.4.0
  mcpdeck add --json '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
  mcpdeck undo`,
		Args: func(c *cobra.Command, args []string) error {
			dash := c.ArgsLenAtDash()
			switch {
			case f.entry != "" && (dash >= 0 || len(args) > 1):
				return exit.Usagef("with --json there is at most a name: mcpdeck add NAME --json ENTRY")
			case f.entry != "":
				return nil
			case len(args) == 0 || dash == 0:
				return exit.Usagef("name the server: mcpdeck add NAME -- COMMAND, mcpdeck add NAME URL, or mcpdeck add server.json")
			case dash < 0 && len(args) > 2:
				return exit.Usagef("put -- before the command: mcpdeck add %s -- %s", args[0], strings.Join(args[1:], " "))
			case dash > 1:
				return exit.Usagef("unexpected argument %q before --", args[1])
			}
			return nil
		},
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			if f.entry == "-" {
				b, err := io.ReadAll(io.LimitReader(c.InOrStdin(), 1<<20))
				if err != nil {
					return fmt.Errorf("read the entry: %w", err)
				}
				f.entry = string(b)
			}
			card, notes, err := f.card(cfg, args, c.ArgsLenAtDash())
			if err != nil {
				return err
			}
			if path := f.description(args, c.ArgsLenAtDash()); path != "" {
				return addDescribed(c, cfg, f, path, card, notes)
			}
			return add(c, cfg, f, card, notes)
		}),
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return exit.Wrong(fmt.Errorf("%w; put -- before the command: mcpdeck add NAME -- COMMAND", cli.FlagError("", err)))
	})
	fl := c.Flags()
	fl.StringArrayVar(&f.env, "env", nil, "environment variable for the command, NAME=VALUE")
	fl.StringArrayVar(&f.inherit, "inherit", nil, "name of a variable to pass on from mcpdeck's environment")
	fl.StringArrayVar(&f.headers, "header", nil, "HTTP header for the URL, 'NAME: VALUE'")
	fl.StringVar(&f.cwd, "cwd", "", "working directory of the command (default: the agent's project)")
	fl.StringVar(&f.transport, "transport", "", "transport of the URL: auto, http or sse")
	fl.StringVar(&f.title, "title", "", "display name")
	fl.BoolVar(&f.on, "on", false, "turn it on whenever the deck starts")
	fl.BoolVar(&f.lazy, "lazy", false, "turn it on, on demand: agents search for its tools instead of listing them")
	fl.StringVar(&f.entry, "json", "", "entry of a client's configuration as JSON; - reads it from standard input")
	fl.IntVar(&f.pick, "package", 0, "which package or remote of the server.json to use, counted from 1")
	fl.StringArrayVar(&f.set, "set", nil, "value for an input of the server.json or the entry, NAME=VALUE")
	fl.BoolVar(&f.noTry, "no-try", false, "do not start the command or connect to the URL")
	fl.BoolVar(&f.yes, "yes", false, "write without asking")
	c.MarkFlagsMutuallyExclusive("on", "lazy")
	cli.CompleteFlag(c, "transport", "auto", "http", "sse")
	return c
}

// description is the path of the server.json that the command line names, "" for none.
func (f addFlags) description(args []string, dash int) string {
	if f.entry != "" || dash >= 0 || len(args) == 0 || !strings.HasSuffix(args[len(args)-1], ".json") {
		return ""
	}
	return args[len(args)-1]
}

// card is the server that the command line describes, with what the user should know
// of it.
func (f addFlags) card(cfg *config.Config, args []string, dash int) (settings.Card, []string, error) {
	card := settings.Card{Transport: f.transport, Cwd: f.cwd, Inherit: f.inherit, Title: f.title}
	if len(args) > 0 {
		card.Name = args[0]
	}
	var notes []string
	source := ""
	if dash < 0 && len(args) > 0 {
		source = args[len(args)-1]
	}
	switch {
	case f.entry != "":
		values, err := pairs("--set", "=", f.set)
		if err != nil {
			return card, nil, err
		}
		pasted, more, err := cards.FromEntry([]byte(f.entry), cards.Options{Config: cfg, Values: values}, card.Name)
		if err != nil {
			return card, nil, exit.Wrong(fmt.Errorf("--json: %w", err))
		}
		pasted.Transport, pasted.Cwd = cmp.Or(f.transport, pasted.Transport), cmp.Or(f.cwd, pasted.Cwd)
		pasted.Inherit, pasted.Title, notes = append(pasted.Inherit, f.inherit...), f.title, more
		card = pasted
	case dash >= 0:
		card.Command = args[dash:]
		if len(card.Command) == 0 {
			return card, nil, exit.Usagef("there is no command after --")
		}
	case f.description(args, dash) != "":
		b, err := file.ReadPlain(source, true, 1<<20)
		if err != nil {
			return card, nil, fmt.Errorf("read the description of the server: %w", err)
		}
		values, err := pairs("--set", "=", f.set)
		if err != nil {
			return card, nil, err
		}
		described, more, err := cards.FromRegistry(b, f.pick, values)
		if err != nil {
			return card, nil, fmt.Errorf("%s: %w", source, err)
		}
		described.Cwd, described.Inherit, notes = f.cwd, f.inherit, more
		if len(args) == 2 {
			described.Name = args[0]
		}
		if f.title != "" {
			described.Title = f.title
		}
		card = described
	case len(args) == 2:
		if u, err := url.Parse(source); err != nil || u.Scheme == "" || u.Host == "" {
			return card, nil, exit.Usagef("%q is not a URL; for a command: mcpdeck add %s -- %s", source, args[0], source)
		}
		card.URL = source
	default:
		return card, nil, exit.Usagef("missing command or URL: mcpdeck add %[1]s -- COMMAND, or mcpdeck add %[1]s URL", args[0])
	}
	switch {
	case f.lazy:
		card.Mode = app.LazyWord
	case f.on:
		card.Mode = "on"
	}
	env, err := pairs("--env", "=", f.env)
	if err != nil {
		return card, nil, err
	}
	for k, v := range env {
		if name, ok := strings.CutPrefix(v, "secret:"); ok {
			v = "${secret:" + name + "}"
		}
		card.Env = cards.Set(card.Env, k, v)
	}
	headers, err := pairs("--header", ":", f.headers)
	if err != nil {
		return card, nil, err
	}
	for k, v := range headers {
		card.Headers = cards.Set(card.Headers, strings.TrimSpace(k), strings.TrimSpace(v))
	}
	return card, notes, nil
}

// pairs are the values of a flag, each a name and a value.
func pairs(flag, between string, values []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range values {
		k, v, ok := strings.Cut(p, between)
		if !ok || k == "" {
			return nil, exit.Usagef("%s: use NAME%sVALUE", flag, between) // the value may be a secret
		}
		out[k] = v
	}
	return out, nil
}

// add shows a card, asks, writes it and tries it.
func add(c *cobra.Command, cfg *config.Config, f addFlags, card settings.Card, notes []string) error {
	if err := cfg.CheckCardName(card.Name); err != nil {
		return exit.Wrong(err)
	}
	full, warnings, err := card.Complete(card.Name)
	if err != nil {
		return exit.Wrong(fmt.Errorf("add %s: %w", card.Name, err))
	}
	if where := cfg.WhereCard(card.Name); where != "" {
		return fmt.Errorf("add %s: it already exists, in %s; choose another name, or run: mcpdeck remove %[1]s", card.Name, where)
	}
	edit, err := cards.File(cfg.CardFile(card.Name), card)
	if err != nil {
		return err
	}
	schema, err := cards.Schema(cfg)
	if err != nil {
		return err
	}
	c.Println(card.Name)
	for _, l := range card.Runs() {
		c.Println("  " + l)
	}
	c.Println("  saved in   ", edit.Place.Path())
	if !schema.Same() {
		c.Println("  schema     ", schema.Place.Path())
	}
	for _, n := range append(append(notes, warnings...), cardNotes(full)...) {
		c.Println("  note       ", n)
	}
	if err := prompt.Agreed(c, f.yes); err != nil {
		return err
	}
	entry, err := change.Journal{Dir: cfg.Paths.Undo}.Apply("add "+card.Name, []change.Edit{edit, schema}, nil)
	if err != nil {
		return err
	}
	c.Printf("added %s; undo with: mcpdeck undo %s\n", card.Name, entry.ID)
	if !f.noTry {
		tryCard(c, cfg, full)
	}
	if full.Mode != "on" && full.Mode != app.LazyWord {
		c.Printf("it is off: turn it on with space on the Servers page, or with: mcpdeck on %s\n", card.Name)
	}
	return nil
}

// addDescribed adds the server of a server.json, and says when its package is another's:
// before the user is asked, if the package is here already, else once it was fetched.
func addDescribed(c *cobra.Command, cfg *config.Config, f addFlags, path string, card settings.Card, notes []string) error {
	b, err := file.ReadPlain(path, true, 1<<20)
	if err != nil {
		return fmt.Errorf("read the description of the server: %w", err)
	}
	other := func() string {
		described, packaged := cards.Named(b, card, app.Machine(cfg))
		if described == packaged {
			return ""
		}
		return fmt.Sprintf("the package says that it is %s, not %s: it may be another's", packaged, described)
	}
	before := other()
	if before != "" {
		notes = append(notes, before)
	}
	if err := add(c, cfg, f, card, notes); err != nil {
		return err
	}
	if after := other(); after != "" && before == "" {
		c.Println("note: " + after)
	}
	return nil
}

// cardNotes are what the user should know before a card is added.
func cardNotes(card settings.Card) []string {
	var out []string
	if len(card.Command) > 0 && !strings.Contains(card.Command[0], "${") {
		if _, err := process.Find(card.Command[0]); err != nil {
			out = append(out, card.Command[0]+" is not on PATH")
		}
	}
	for _, s := range card.Missing(func(string) bool { return false }) {
		out = append(out, "it needs the secret "+s)
	}
	for _, table := range []map[string]string{card.Env, card.Headers} {
		for k, v := range table {
			if settings.Masked(k+"=", v) != k+"="+v {
				out = append(out, k+" looks like a secret; it is stored in this file, which only you can read")
			}
		}
	}
	slices.Sort(out)
	return out
}

// trials is where cards are tried, and what ends everything that they have started, also
// what has left its program and cleared its environment. A killed command's trials are
// ended by the next deck.
func trials(cfg *config.Config) (m cards.Machine, end func()) {
	if err := process.KeepDescendants(); err != nil {
		slog.Debug("keep what a trial starts", "error", err)
	}
	m = app.Machine(cfg)
	if cfg.Paths.Make() == nil {
		m.Run = cfg.Paths.Run
	}
	return m, process.EndDescendants
}

// tryCard starts a card, or connects to it, once and says what it offers.
func tryCard(c *cobra.Command, cfg *config.Config, card settings.Card) {
	doing, failed := "starting it once; if it has to be downloaded first, this takes a while ...", "it could not be started"
	if card.URL != "" {
		doing, failed = "connecting to it once...", "it could not be reached"
	}
	c.Println(doing)
	ctx, cancel := context.WithTimeout(c.Context(), time.Duration(card.StartTimeout)+5*time.Second)
	defer cancel()
	m, end := trials(cfg)
	defer end()
	got, err := app.Trial(ctx, cfg, m, card)
	if err != nil {
		c.Printf("%s: %v\n", failed, err)
		return
	}
	c.Printf("%s %s answers in %s, protocol %s\n", got.Server, got.Version, humanize.Took(got.Took), got.Protocol)
	offers := fmt.Sprintf("%s, %s of context while on: %s", humanize.Count(len(got.Tools), "tool"), snapshot.ContextCost(got.Context), someOf(got.Tools, 12))
	c.Println(console.Fold(c.OutOrStdout(), offers))
	if got.Context > snapshot.LargeContext && card.Mode != app.LazyWord {
		c.Printf("that's a lot: with mcpdeck lazy %s agents search for its tools instead\n", card.Name)
	}
}

// someOf lists names, the first n of them.
func someOf(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}
