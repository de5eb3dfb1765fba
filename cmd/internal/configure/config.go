// Package configure implements the commands about the configuration: it shows, checks and describes
// the options and the keys.
package configure

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/prompt"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/tui"
)

// Command shows and checks the configuration.
func Command(a *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Show, check and create the configuration",
		Long: "Show, check and create the configuration. Every option has a default: no file is needed.",
	}
	c.AddCommand(configInit(a), configPath(a), configCheck(a), configShow(a), configKeys(a), configSchema())
	return c
}

func configInit(a *cli.Globals) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "init", Short: "Write a configuration file with every option, commented out", Args: cli.NoArgs,
		Long: "Write a configuration file with every option and its default, commented out, and next to it the JSON schemas with\n" +
			"which editors complete and check it (taplo, Even Better TOML). A file that exists is never overwritten.",
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := whichFile(a)
			if err != nil {
				return err
			}
			switch fault := config.Unreadable(path); {
			case fault != "":
				return fmt.Errorf("%s is %s", path, fault)
			case taken(path):
				return fmt.Errorf("%s exists and stays as it is; mcpdeck config schema has what its options are", path)
			}
			c.Printf("%s: every option with its default, commented out\n", path)
			if err := prompt.Agreed(c, yes); err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return fmt.Errorf("make the folder: %w", err)
			}
			if err := file.Write(path, []byte(config.Template), file.Options{}); err != nil {
				return fmt.Errorf("write the configuration: %w", err)
			}
			return writeSchemas(c, filepath.Dir(path))
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "write without asking")
	return c
}

func taken(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// whichFile is the path of the configuration file, also of one that cannot be read.
func whichFile(a *cli.Globals) (string, error) {
	p, err := config.Where(a.Flags)
	return p.Config, err
}

// writeSchemas writes the schemas for editors.
func writeSchemas(c *cobra.Command, folder string) error {
	for _, of := range config.Schemas() {
		b, err := config.Schema(of)
		if err != nil {
			return err
		}
		path := filepath.Join(folder, config.SchemaFile(of))
		if err := file.Write(path, b, file.Options{}); err != nil {
			return fmt.Errorf("write the schema: %w", err)
		}
		c.Println("written:", path)
	}
	return nil
}

func configPath(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "List the files that the configuration is read from", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := config.Where(a.Flags)
			if err != nil {
				return err
			}
			var rows [][]string
			for _, f := range p.Files(plugin.Sections()) {
				state := ""
				switch {
				case !taken(f.Path):
					state = "not there"
				case f.Path == p.Config: // the others are folders
					state, _, _ = strings.Cut(config.Unreadable(f.Path), ";")
				}
				rows = append(rows, []string{f.Path, f.What, state})
			}
			return cli.PrintTable(c, rows, nil)
		},
	}
}

func configCheck(a *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "List mistakes in the configuration, with their lines", Args: cli.NoArgs,
		Long: "List mistakes in the configuration, with their lines, and what was probably meant. The exit code is 1 if there are any.\n" +
			"Your own colours that are hard to read are listed, too, and options that need a restart of a running deck.",
		RunE: func(c *cobra.Command, _ []string) error { return checkConfiguration(c, a) },
	}
}

func checkConfiguration(c *cobra.Command, a *cli.Globals) error {
	a.Flags.All = true
	cfg, err := a.Load()
	if err != nil {
		return err
	}
	mistakes := slices.Concat(cfg.Warnings, cfg.Problems())
	if len(cfg.File.Keys) > 0 {
		h, err := app.New(cfg, false, nil)
		if err != nil {
			return err
		}
		defer h.Stop()
		for _, p := range tui.CheckKeys(h.ScreenAlone()) {
			mistakes = append(mistakes, p.Text)
		}
	}
	file := filepath.Base(cfg.Paths.Config)
	all := slices.Concat(mistakes, cfg.WeakThemes())
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(lineIn(file, a), lineIn(file, b)) })
	for _, text := range append(all, app.WaitingIn(c.Context(), cfg)...) {
		c.Println(text)
	}
	if stale := staleSchema(cfg); stale != "" {
		c.Println(stale)
	}
	if len(mistakes) > 0 {
		c.Println(humanize.Count(len(mistakes), "mistake"))
		return exit.Failed
	}
	if !taken(cfg.Paths.Config) {
		c.Printf("no mistakes; there is no file %s, and every option has its default\n", cfg.Paths.Config)
		return nil
	}
	c.Println("no mistakes in", cfg.Paths.Config)
	return nil
}

// lineIn is the line of a file that a mistake names; those of other files come last.
func lineIn(file, mistake string) int {
	rest, of := strings.CutPrefix(mistake, file)
	line := 0
	if _, err := fmt.Sscanf(rest, " line %d", &line); !of || err != nil {
		return math.MaxInt
	}
	return line
}

// staleSchema tells when the schema next to the configuration is another version's.
func staleSchema(cfg *config.Config) string {
	folder := filepath.Dir(cfg.Paths.Config)
	for _, of := range config.Schemas() {
		had, err := file.ReadPlain(filepath.Join(folder, config.SchemaFile(of)), true, 1<<20)
		want, _ := config.Schema(of) // part of the program
		if err == nil && string(had) != string(want) {
			return config.SchemaFile(of) + " is of another version of mcpdeck; renew it with: mcpdeck config schema --write"
		}
	}
	return ""
}

func configShow(a *cli.Globals) *cobra.Command {
	var asJSON, changed bool
	c := &cobra.Command{
		Use: "show [OPTION]", Short: "Show every option, its value, and where that comes from",
		Long: "Show every option, its value, and where that comes from: a default, a file with the line, a variable of the environment,\n" +
			"or a flag, and which options need a restart of the deck to apply. Secrets are left out: values\n" +
			"of environment variables and headers, and whatever looks like one in commands and addresses.",
		Example: "  mcpdeck config show http.port\n  mcpdeck config show ask --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			found, err := allSettings(a, c.Root())
			if err != nil {
				return err
			}
			if len(args) > 0 {
				found = slices.DeleteFunc(found, func(s shown) bool { return s.Key != args[0] && !strings.HasPrefix(s.Key, args[0]+".") })
			}
			if len(args) > 0 && len(found) == 0 {
				return unknownOption(args[0])
			}
			if changed {
				defaults := map[string]string{}
				for _, o := range config.Options(plugin.Sections()) {
					defaults[o.Key] = config.Literal(o.Value)
				}
				found = slices.DeleteFunc(found, func(s shown) bool { return s.From == "default" || s.Literal == defaults[s.Key] })
			}
			if asJSON {
				return cli.PrintJSON(c, append([]shown{}, found...), true)
			}
			if len(found) == 0 {
				c.Println("every option has its default")
			}
			return printSettings(c, found)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return optionWords(a), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&changed, "changed", false, "only options that do not have their default")
	return c
}

// shown is an option as config show prints it.
type shown struct {
	config.Setting
	Restart bool `json:"restart"` // the deck applies it when it starts
}

// settings are all options as a deck would have them that starts here.
func allSettings(a *cli.Globals, deck *cobra.Command) ([]shown, error) {
	if err := a.FromVariables(deck, deck.LocalNonPersistentFlags()); err != nil {
		return nil, err
	}
	if err := app.CheckScreen(a); err != nil {
		return nil, err
	}
	cfg, err := a.Load()
	if err != nil {
		return nil, err
	}
	rows := (&app.App{Config: cfg}).Reloads()
	var out []shown
	for _, s := range cfg.Settings() {
		out = append(out, shown{s, !app.IsReloaded(rows, s.Key)})
	}
	return out, nil
}

func printSettings(c *cobra.Command, found []shown) error {
	rows := make([][]string, len(found))
	for i, s := range found {
		note := ""
		if s.Restart {
			note = "needs a restart"
		}
		rows[i] = []string{s.Key, s.Literal, s.From, note}
	}
	return cli.PrintTable(c, rows, func(row, col int) lipgloss.Style {
		switch {
		case col == 3, col == 2 && found[row].From == "default":
			return lipgloss.NewStyle().Faint(true)
		case col == 2:
			return cli.Ink(true, false)
		}
		return lipgloss.NewStyle()
	})
}

func unknownOption(key string) error {
	var keys []string
	for _, o := range config.Options(plugin.Sections()) {
		keys = append(keys, o.Key)
	}
	if meant := fuzzy.Meant(key, keys); meant != "" {
		return exit.Usagef("unknown option %q; did you mean %q?", key, meant)
	}
	return exit.Usagef("unknown option %q; mcpdeck config show lists them", key)
}

// optionWords are the options and their tables, for a shell to complete.
func optionWords(a *cli.Globals) []string {
	cfg, err := a.Load()
	if err != nil {
		return nil
	}
	var words []string
	for _, s := range cfg.Settings() {
		if table, _, nested := strings.Cut(s.Key, "."); nested && !slices.Contains(words, table) {
			words = append(words, table)
		}
		words = append(words, cobra.CompletionWithDesc(s.Key, s.Literal))
	}
	return words
}

func configSchema() *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use: "schema [FILE]", Short: "Print the JSON schema of the configuration, for editors",
		Long: "Print the JSON schema of the configuration: of config.toml, or with \"server\" of the files in servers.d. Editors with\n" +
			"taplo, such as Even Better TOML, complete and check a file that begins with a line such as\n\n  #:schema config.schema.json",
		Args: cobra.MaximumNArgs(1), ValidArgs: config.Schemas(),
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if write {
			p, err := config.Where(config.Flags{File: c.Flag("config").Value.String()})
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(p.Config), 0o700); err != nil {
				return fmt.Errorf("make the folder: %w", err)
			}
			return writeSchemas(c, filepath.Dir(p.Config))
		}
		b, err := config.Schema(append(args, "config")[0])
		if err != nil {
			return exit.Usagef("%v", err)
		}
		c.Println(strings.TrimSpace(string(b)))
		return nil
	}
	c.Flags().BoolVar(&write, "write", false, "write the schemas next to the configuration file")
	return c
}
