package servers

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

type importFlags struct {
	only, set            []string
	takeOver, print, yes bool
	noTry                bool
}

// ImportCommand returns the command import.
func ImportCommand(a *cli.Globals) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import [CLIENT|FILE]",
		Short: "Add the MCP servers that agents' clients are configured with",
		Long: `Add the MCP servers that agents' clients are configured with: those of all clients
found on this machine, of one client, or of a file such as .mcp.json.

mcpdeck shows what it found, asks, and writes one file per server. A server that
several clients have is added once. The clients' files are only read, except with
--take-over: then their entries start the servers through the deck, under the same
names. mcpdeck undo reverts all of it.

Clients: ` + strings.Join(setup.Names(), ", "),
		Example: "  mcpdeck import --print\n  mcpdeck import claude\n  mcpdeck import codex --only github,files\n  mcpdeck import claude --take-over\n  mcpdeck import ../other/.mcp.json",
		Args:    cli.Args(0, 1, "name at most one client or file"),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			return importServers(c, cfg, f, strings.Join(args, ""))
		}),
	}
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return setup.Names(), cobra.ShellCompDirectiveDefault // or a file
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.only, "only", nil, "import only the servers with these names")
	fl.BoolVar(&f.takeOver, "take-over", false, "make the clients start these servers through the deck")
	fl.BoolVar(&f.print, "print", false, "print what would be written, without writing it")
	fl.StringArrayVar(&f.set, "set", nil, "value for an input that the client would ask for, ID=VALUE")
	fl.BoolVar(&f.noTry, "no-try", false, "do not start the servers, or connect to them, to show their tools")
	fl.BoolVar(&f.yes, "yes", false, "write without asking")
	return c
}

func importServers(c *cobra.Command, cfg *config.Config, f importFlags, from string) error {
	sources, err := importSources(c, cfg, from)
	if err != nil {
		return err
	}
	values, err := pairs("--set", "=", f.set)
	if err != nil {
		return err
	}
	o := cards.Options{Config: cfg, Own: setupcmd.EntryOf(cfg).Command, Only: f.only, Values: values}
	plan := cards.Plan(sources, o)
	if len(plan.Lacks) > 0 {
		if err := askFor(c, plan.Lacks, values); err != nil {
			return err
		}
		plan = cards.Plan(sources, o)
	}
	if err := showImport(c, plan); err != nil {
		return err
	}
	var relay func(string) []string
	if f.takeOver {
		relay = func(card string) []string {
			e := setupcmd.EntryOf(cfg)
			return append([]string{e.Command, "mcp", card, "--" + app.AsIs}, e.Options...)
		}
	}
	edits, err := plan.Edits(cfg, relay)
	if err != nil {
		return err
	}
	edits = slices.DeleteFunc(edits, change.Edit.Same)
	if len(edits) == 0 {
		c.Println("nothing to import")
		return nil
	}
	var shown []setupcmd.Diff
	for _, e := range edits {
		d := setupcmd.Diff{Path: e.Place.Path(), Edit: e}
		if e.Place.Shared() {
			d.Does = []string{"shared with others who work on the project; they will need mcpdeck, too"}
		}
		shown = append(shown, d)
	}
	if shown, err = setupcmd.Lines(cfg, shown, plan.Cards); err != nil {
		return err
	}
	setupcmd.Show(cfg.Home, c.OutOrStdout(), shown)
	if f.print {
		return nil
	}
	if err := prompt.Agreed(c, f.yes); err != nil {
		return err
	}
	id, err := setupcmd.Apply(cfg, strings.TrimSpace("import "+from), shown)
	if err != nil {
		return err
	}
	c.Printf("imported %s; undo with: mcpdeck undo %s\n", humanize.Count(len(plan.Cards), "server"), id)
	if f.takeOver {
		c.Println("Restart the clients whose files were changed. They start these servers through the deck now.")
	}
	return CountServers(c, cfg, plan.Cards, f.noTry)
}

// CountServers starts or reaches the servers that were imported once, says what each would cost
// agents, a line each as it ends, and what to press next: all are off.
func CountServers(c *cobra.Command, cfg *config.Config, all []settings.Card, noStart bool) error {
	if len(all) == 0 {
		return nil
	}
	var names []string
	for _, card := range all {
		names = append(names, card.Name)
	}
	say := func(name, text string) { c.Printf("%-24s  off  %s\n", name, text) }
	if noStart {
		for _, name := range names {
			say(name, "not counted; r on the Servers page counts its tools")
		}
	} else {
		c.Println("counting their tools: each is started, or reached, once; 20 s at most ...")
		m, end := trials(cfg)
		app.Count(c.Context(), cfg, m, all, say)
		end()
	}
	c.Printf("%s off: agents get nothing from here yet. Space on the Servers page shows what one runs, and y there turns it on;\nor run: mcpdeck on %s\n",
		map[bool]string{true: "It is", false: "All are"}[len(all) == 1], strings.Join(names, " "))
	return nil
}

// importSources are the files to import from. What cannot be read is said; of all
// clients, the others are imported.
func importSources(c *cobra.Command, cfg *config.Config, from string) ([]*cards.Source, error) {
	client, known := clients.Find(from)
	_, missing := os.Stat(from)
	switch {
	case from != "" && !known && missing != nil:
		return nil, exit.Usagef("import %q: there is no such file, and no such client; name one of %s", from, strings.Join(setup.Names(), ", "))
	case from != "" && !known:
		s, err := cards.OfFile(from)
		if err != nil {
			return nil, fmt.Errorf("import %s: %w", from, err)
		}
		return []*cards.Source{s}, nil
	}
	all := clients.All()
	if known {
		all = []clients.Client{client}
	}
	sources, errs := cards.OfClients(all, cfg.ClientFolders(), cfg.ProjectRoot())
	for _, err := range errs {
		fmt.Fprintln(c.ErrOrStderr(), "mcpdeck: "+err.Error())
	}
	if len(sources) == 0 && len(errs) > 0 {
		return nil, exit.Failed
	}
	return sources, nil
}

// askFor asks at the terminal for values that a client would ask for.
func askFor(c *cobra.Command, lacks []cards.Lack, values map[string]string) error {
	for _, l := range lacks {
		if !term.IsTerminal(os.Stdin.Fd()) {
			return exit.Usagef("a value is missing: --set %s=...  %s", l.ID, l.Description)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: ", strings.TrimSpace(l.ID+" "+l.Description))
		line, err := bufio.NewReader(c.InOrStdin()).ReadString('\n')
		if err != nil {
			return fmt.Errorf("read %s: %w", l.ID, err)
		}
		values[l.ID] = strings.TrimRight(line, "\r\n")
	}
	return nil
}

// showImport prints a line for each entry that was found.
func showImport(c *cobra.Command, plan cards.Import) error {
	var rows [][]string
	runs := map[string]settings.Card{}
	for _, card := range plan.Cards {
		runs[card.Name] = card
	}
	for _, r := range plan.Rows {
		what := r.Why
		switch {
		case r.Card == "":
			what = "skipped: " + what
		case !r.New:
			what = strings.TrimSuffix("the same as "+r.Card+"; "+what, "; ")
		default:
			card := runs[r.Card]
			what = strings.TrimSuffix(strings.Join(append([]string{redact.Rules{}.Text(card.URL) + card.CommandLine()}, card.Given()...), "; ")+"; "+what, "; ")
			if r.Card != r.Entry.Name() {
				what = "as " + r.Card + ": " + what
			}
		}
		where := r.Source.Client.ID
		if r.Source.Shared() { // by whoever wrote the repository
			where = r.Source.Name() + " of this project"
		}
		if r.Entry.Project != "" {
			where += " in " + r.Entry.Project
		}
		rows = append(rows, []string{where, r.Entry.Name(), what})
	}
	return cli.PrintTable(c, rows, func(row, _ int) lipgloss.Style {
		return lipgloss.NewStyle().Faint(plan.Rows[row].Card == "")
	})
}
