package setupcmd

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// Options are what the commands need of the program around them.
type Options struct {
	Load func() (*config.Config, error)
	// Own are the servers that are parts of mcpdeck and on.
	Own func(cfg *config.Config) []Own
	// Count starts servers that were imported once and says what each would cost agents; with
	// noStart it starts none.
	Count func(c *cobra.Command, cfg *config.Config, all []settings.Card, noStart bool) error
}

type flags struct {
	user, yes, undo, prompts, hooks, project, dryRun  bool
	noPrompts, noImport, noStart, json, quota, denied bool

	signals, acp string
}

// whole reports whether the command is about all that connects clients; of a single client, it
// is about one file.
func (f *flags) whole(names []string) bool { return len(names) != 1 }

// Setup returns the subcommand setup.
func Setup(o Options) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "setup [CLIENT...]",
		Short: "Connect the agents on this machine, after showing every change",
		Long: `Connect the agents found on this machine, or those that are named, after showing every change:
mcpdeck's entry in each client's own file, what brings the client's own prompts to the inbox, the
servers that it already has, which are imported and stay off, and a line for tmux. The clients'
entries for these servers stay as they are. If anything fails, nothing is changed; mcpdeck undo
takes all of it back.

For a single client, setup CLIENT writes its entry into the project's file, and setup CLIENT
--prompts what brings its prompts to the inbox.

--json prints {"v", "checks", "applied"}. A check is a client or a change: {"name", "ok", "detail",
"fix"}, as in doctor and status, and the "diff" of a change; a change is ok once it is made.

Clients: ` + rows(setup.Names()) + ";\nwith prompts: " + rows(setup.PromptNames()),
		Example: "  mcpdeck setup\n  mcpdeck setup --yes --no-import\n  mcpdeck setup claude codex\n  mcpdeck setup cursor   # in this project",
		Args:    func(_ *cobra.Command, args []string) error { return f.check(args) },
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := o.Load()
			if err == nil && !f.undo {
				err = Lasts()
			}
			if err != nil {
				return err
			}
			if f.whole(args) {
				return connectAll(c, o, &f, cfg, args)
			}
			return setUpOne(c, f, cfg, args[0])
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.yes, "yes", false, "write without asking")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the change and write nothing")
	fl.BoolVar(&f.json, "json", false, "print JSON; without --yes, write nothing")
	fl.BoolVar(&f.noPrompts, "no-prompts", false, "leave the clients' own prompts in their terminals")
	fl.BoolVar(&f.noImport, "no-import", false, "do not import the clients' servers")
	fl.BoolVar(&f.noStart, "no-start", false, "do not start imported servers once to count their tools")
	fl.BoolVar(&f.project, "project", false, "change the project's files instead of the user's own")
	fl.BoolVar(&f.prompts, "prompts", false, "only bring the agents' own prompts to the inbox")
	fl.BoolVar(&f.user, "user", false, "for one client: the user's own file instead of the project's")
	fl.BoolVar(&f.undo, "undo", false, "for one client: put the file back as it was")
	fl.BoolVar(&f.hooks, "hooks", false, "with codex --prompts: also of sessions that its daemon does not run; with copilot: by a hook")
	fl.BoolVar(&f.quota, "quota", false, "with claude: have its status line, within which yours runs as before, tell the deck what its account has used")
	fl.StringVar(&f.acp, "acp", "", "with an editor: have it start this `agent`, such as \"opencode acp\", by mcpdeck acp")
	fl.BoolVar(&f.denied, "denied", false, "with claude --prompts: also record what its auto mode denies")
	fl.StringVar(&f.signals, "signals", "", "with claude --prompts: \"hooks\" also reports each tool call, if its files do not say what it waits for")
	c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		names := setup.Names()
		if f.prompts {
			names = setup.PromptNames()
		}
		return slices.DeleteFunc(names, func(n string) bool { return slices.Contains(args, n) }), cobra.ShellCompDirectiveNoFileComp
	}
	cli.CompleteFlag(c, "signals", "hooks")
	return c
}

// rows lists names in lines that no terminal has to break, which it would within a name.
func rows(names []string) string {
	const most = 8
	var out []string
	for row := range slices.Chunk(names, most) {
		out = append(out, strings.Join(row, ", "))
	}
	return strings.Join(out, ",\n")
}

// check refuses flags that say nothing together.
func (f *flags) check(args []string) error {
	apart := clients.IDs(func(c clients.Client) bool { return c.Prompts != nil && c.Prompts.Apart != nil })
	signalled := clients.IDs(func(c clients.Client) bool { return c.Prompts != nil && len(c.Prompts.Signals) > 0 })
	tells := clients.IDs(func(c clients.Client) bool { return c.Prompts != nil && c.Prompts.Denied.Event != "" })
	names := setup.Names()
	if f.prompts {
		names = setup.PromptNames()
	}
	for _, name := range args {
		switch {
		case f.prompts && slices.Contains(setup.Names(), name) && !slices.Contains(names, name):
			client, _ := clients.Find(name)
			return exit.Usagef("%s has no prompts that could reach the deck (those of %s can); mcpdeck setup %s adds the deck's tools to it", client.Title, strings.Join(names, ", "), client.ID)
		case !slices.Contains(names, name):
			return exit.Usagef("unknown client %q; name one of %s", name, strings.Join(names, ", "))
		}
	}
	one := !f.whole(args)
	switch {
	case f.acp != "" && (!one || f.prompts || f.quota || f.project || len(strings.Fields(f.acp)) == 0):
		return exit.Usagef("--acp belongs to setup of one editor, alone: mcpdeck setup zed --acp \"opencode acp\"")
	case f.quota && (!one || !slices.Contains(setup.QuotaNames(), args[0])):
		return exit.Usagef("--quota belongs to setup %s: its status line", strings.Join(setup.QuotaNames(), " or "))
	case f.quota && (f.prompts || f.user || f.project):
		return exit.Usagef("--quota writes the user's own file and nothing else: use it alone")
	case f.hooks && (!f.prompts || !one || !slices.Contains(apart, args[0])):
		return exit.Usagef("--hooks belongs to setup %s --prompts", strings.Join(apart, " or "))
	case f.hooks && f.project:
		return exit.Usagef("--hooks writes the user's own file; it has no --project")
	case f.signals != "" && (f.signals != "hooks" || !f.prompts || !one || !slices.Contains(signalled, args[0])):
		return exit.Usagef("--signals hooks belongs to setup %s --prompts: for versions whose files do not say what it waits for", strings.Join(signalled, " or "))
	case f.denied && (!f.prompts || !one || !slices.Contains(tells, args[0])):
		return exit.Usagef("--denied belongs to setup %s --prompts", strings.Join(tells, " or "))
	case f.user && f.prompts:
		return exit.Usagef("--user is what --prompts does; --project edits the project's file")
	case one && f.project && !f.prompts:
		return exit.Usagef("setup %s edits the project's file; --user edits the user's own", args[0])
	case one && (f.noPrompts || f.noImport || f.noStart || f.json):
		return exit.Usagef("of one client, setup writes one file: --no-prompts, --no-import, --no-start and --json do not go with it")
	case f.prompts && f.noPrompts:
		return exit.Usagef("use either --prompts or --no-prompts")
	case !one && f.undo:
		return exit.Usagef("mcpdeck undo takes the last change back; --undo is of one client: %s", strings.Join(names, ", "))
	case !one && f.user:
		return exit.Usagef("of all clients, the user's own files are edited unless --project says otherwise; --user is of one client")
	}
	return nil
}

// connectAll shows all that connects clients, asks, and makes it.
func connectAll(c *cobra.Command, o Options, f *flags, cfg *config.Config, names []string) error {
	var own []Own
	terminal := term.IsTerminal(os.Stdin.Fd())
	if terminal && len(names) == 0 && !f.prompts && !f.project && !f.yes && !f.dryRun && !f.json {
		own = o.Own(cfg)
	}
	p := New(cfg, Filter{
		Own: own, Clients: names, Project: f.project, NoEntries: f.prompts, NoPrompts: f.noPrompts, NoImport: f.noImport || f.prompts,
		NoLine: f.prompts || len(names) > 0 || f.project,
	})
	diffs, err := p.Diffs()
	switch {
	case err != nil:
		return err
	case f.json:
		return p.printJSON(c, f, diffs)
	case len(p.Clients) == 0 && len(diffs) == 0:
		return p.nobody(c)
	}
	if len(diffs) == 0 {
		p.Own = "" // nothing is asked, so there is nothing to choose
	}
	p.remarks(c)
	if f.prompts {
		for _, id := range p.names() {
			if slices.Contains(setup.PromptNames(), id) {
				c.Println(promptsOf(id, PrompterOf(cfg).Version))
			}
		}
	}
	if len(diffs) == 0 {
		c.Println("every client found here has mcpdeck: " + strings.Join(p.names(), ", "))
		return nil
	}
	if !terminal || f.yes || f.dryRun {
		Show(cfg.Home, c.OutOrStdout(), diffs)
	}
	switch {
	case f.dryRun:
		c.Println("\nnothing was written")
		return nil
	case f.yes:
	case !terminal:
		c.Println("\n" + Question(diffs) + "\nnothing was written; --yes writes without asking")
		return exit.Failed
	default:
		if diffs, err = p.agree(bufio.NewReader(c.InOrStdin()), c.OutOrStdout()); err != nil {
			return err
		}
		if diffs == nil {
			c.Println("nothing was written")
			return exit.Failed
		}
	}
	id, err := p.Apply(diffs)
	if err != nil {
		return fmt.Errorf("%w; nothing was changed", err)
	}
	c.Printf("\nwritten; undo with: mcpdeck undo %s\n", id)
	for _, line := range p.Then() {
		c.Println(console.FoldLine(c.OutOrStdout(), line, 2))
	}
	if all := p.Cards(); len(all) > 0 {
		return o.Count(c, cfg, all, f.noStart)
	}
	return nil
}

func (p *Plan) names() (out []string) {
	for _, c := range p.Clients {
		out = append(out, c.ID)
	}
	return out
}

// check is a client or a change in what --json prints.
type check struct {
	console.Check
	Diff []string `json:"diff,omitempty"`
}

func (p *Plan) printJSON(c *cobra.Command, f *flags, diffs []Diff) error {
	out := struct {
		V       int     `json:"v"`
		Checks  []check `json:"checks"`
		Applied bool    `json:"applied"`
		Undo    string  `json:"undo,omitempty"`
	}{V: 1, Checks: []check{}}
	if f.yes && !f.dryRun && len(diffs) > 0 {
		id, err := p.Apply(diffs)
		if err != nil {
			return err
		}
		out.Applied, out.Undo = true, "mcpdeck undo "+id
	}
	for _, client := range p.Clients {
		one := check{Check: console.Check{Name: client.ID, OK: client.SetUp || out.Applied, Detail: strings.Join(client.Files, ", ")}}
		switch {
		case !one.OK:
			one.Fix = "mcpdeck setup"
		case !client.SetUp:
			one.Fix = strings.TrimSpace("restart it if it runs. " + client.Now)
		}
		out.Checks = append(out.Checks, one)
	}
	for _, d := range diffs {
		one := check{Check: console.Check{Name: d.Path, OK: out.Applied, Detail: strings.Join(d.Does, "; ")}, Diff: d.Lines}
		if !one.OK {
			one.Fix = "mcpdeck setup --yes"
		}
		out.Checks = append(out.Checks, one)
	}
	for _, r := range p.Remarks {
		name, text, _ := strings.Cut(r, ": ")
		out.Checks = append(out.Checks, check{Check: console.Check{Name: name, Detail: text}})
	}
	return console.PrintJSON(c.OutOrStdout(), out, true)
}
