// Package doctor implements the subcommand that checks what the deck needs, and says what mends
// what is missing.
package doctor

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/push"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/cmd/internal/token"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui"
)

// finding is one line of the doctor's report.
type finding struct {
	mark string // ok, note, bad
	what string
	text string
	fix  string // what mends it; a command if there is one
}

// Command returns the subcommand doctor.
func Command(a *cli.Globals) *cobra.Command {
	var fix, asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check what the deck needs, and say how to fix what is missing", Args: cli.NoArgs,
		Long: `Check what the deck needs, and say how to fix what is missing. Everything is checked,
whatever is found; the last lines say what to do about it. It exits with 1 if something is broken.

--json prints {"v", "checks"}. A check is a line: {"name", "ok", "detail", "fix"}, as in setup and
status, with its "level": ok, note or bad. "ok" is false where that is bad.`,
		RunE: func(c *cobra.Command, _ []string) error {
			findings, err := examine(c, a, fix)
			if err != nil {
				return err
			}
			return report(c, findings, asJSON)
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "install the stamp program into mcpdeck's own folder if it is missing")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// check is a finding in what --json prints.
type check struct {
	console.Check
	Level string `json:"level"`
}

// examine checks everything. It fails only if the command was called in a wrong way.
func examine(c *cobra.Command, a *cli.Globals, fix bool) ([]finding, error) {
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Minute)
	defer cancel()
	cfg, broken := a.Load()
	if broken != nil && !errors.As(broken, new(exit.UsageError)) { // the rest is worth knowing, too
		a.Flags.All, a.Flags.Alone = true, true
		cfg, _ = a.Load()
	}
	if cfg == nil {
		return nil, broken
	}
	state, usable := checkState(cfg)
	findings := append([]finding{{mark: "ok", what: "version", text: cli.Version()}, state}, checkConfig(cfg, broken)...)
	for _, text := range app.WaitingIn(ctx, cfg) {
		findings = append(findings, finding{"note", "config", text, "restart mcpdeck"})
	}
	h, stop, err := assemble(cfg, usable)
	if err != nil {
		findings = append(findings, finding{"bad", "servers", err.Error(), "edit " + cfg.Paths.Config})
	} else {
		defer stop()
		findings = append(findings, checkKeys(h)...)
	}
	findings = append(findings, checkClients(cfg)...)
	if h != nil {
		findings = append(findings, checkPrompts(h, ctx, cfg)...)
	}
	findings = append(findings, checkDeck(ctx, cfg), checkToken(cfg))
	findings = append(findings, checkAway(cfg)...)
	findings = append(findings, checkCertificates(x509.SystemCertPool)...)
	findings = append(findings, checkCards(cfg)...)
	if h != nil {
		findings = append(findings, checkOwn(h, ctx, c, fix && usable)...)
	}
	return append(findings, checkTerminal()), nil
}

// checkState says whether the state folder can be used as it is.
func checkState(cfg *config.Config) (f finding, usable bool) {
	err := cfg.Paths.Make()
	if err == nil {
		return finding{"ok", "state", cfg.Paths.State, ""}, true
	}
	f = finding{"bad", "state", err.Error(), "mcpdeck --state DIR"}
	var folder *file.FolderError
	if errors.As(err, &folder) {
		f.text = folder.Dir + ": " + folder.Err.Error()
		dir := setup.Quoted(clients.Sh, folder.Dir)
		switch {
		case errors.Is(err, file.ErrShared):
			f.text += fmt.Sprintf(" (mode %04o)", folder.Mode.Perm())
			f.fix = "chmod 700 " + dir
		case errors.Is(err, file.ErrForeign):
			f.fix = "sudo chown -R $(id -u) " + dir
		case errors.Is(err, file.ErrNotFolder):
			f.fix = "mv " + dir + " " + setup.Quoted(clients.Sh, folder.Dir+".old")
		}
	}
	return f, false
}

// assemble makes the deck whose parts are checked, without its state where that cannot be used.
func assemble(cfg *config.Config, usable bool) (h *app.App, stop func(), err error) {
	if usable {
		if h, err = app.Assemble(cfg, false, nil); err != nil {
			return nil, nil, err
		}
		return h, h.Stop, nil
	}
	dir, err := os.MkdirTemp(config.Temporary(), "mcpdeck-doctor-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the checks: %w", err)
	}
	without := *cfg
	if without.Paths, err = config.Where(config.Flags{State: dir, Name: cfg.Name(), File: cfg.Paths.Config}); err == nil {
		h, err = app.New(&without, false, nil)
	}
	if err != nil {
		_ = os.RemoveAll(dir) // the system sweeps it
		return nil, nil, err
	}
	return h, func() { h.Stop(); _ = os.RemoveAll(dir) }, nil
}

// report prints what was found, and at the end what to do.
func report(c *cobra.Command, findings []finding, asJSON bool) error {
	bad := func(f finding) bool { return f.mark == "bad" }
	var err error
	if asJSON {
		out := struct {
			V      int     `json:"v"`
			Checks []check `json:"checks"`
		}{V: 1}
		for _, f := range findings {
			out.Checks = append(out.Checks, check{console.Check{Name: f.what, OK: !bad(f), Detail: f.text, Fix: f.fix}, f.mark})
		}
		err = console.PrintJSON(c.OutOrStdout(), out, true)
	} else {
		rows := make([][]string, len(findings))
		for i, f := range findings {
			rows[i] = []string{f.mark, f.what, f.text}
		}
		err = cli.PrintTable(c, rows, func(row, col int) lipgloss.Style {
			if col > 0 {
				return lipgloss.NewStyle()
			}
			return cli.Ink(findings[row].mark == "ok", bad(findings[row]))
		})
		if err == nil {
			err = sum(c, findings)
		}
	}
	if err == nil && slices.ContainsFunc(findings, bad) {
		err = exit.Failed
	}
	return err
}

// sum says in a line how it stands, and then what mends what.
func sum(c *cobra.Command, findings []finding) error {
	broken := 0
	var rows [][]string
	for _, f := range findings {
		if f.mark == "bad" {
			broken++
		}
		at := slices.IndexFunc(rows, func(r []string) bool { return r[0] == "  "+f.fix })
		switch {
		case f.fix == "":
		case at < 0:
			rows = append(rows, []string{"  " + f.fix, f.what})
		case !strings.Contains(rows[at][1], f.what):
			rows[at][1] += ", " + f.what
		}
	}
	text := "\nNothing is broken."
	switch {
	case broken == 1:
		text = "\n1 thing is broken."
	case broken > 1:
		text = "\n" + humanize.Count(broken, "thing") + " are broken."
	}
	if len(rows) > 0 {
		text += " What to do, and for what:"
	}
	c.Println(text)
	return cli.PrintTable(c, rows, func(_, col int) lipgloss.Style { return lipgloss.NewStyle().Faint(col > 0) })
}

// checkConfig says what is wrong in the configuration; broken is why the deck would not
// start with it.
func checkConfig(cfg *config.Config, broken error) []finding {
	out := []finding{{"ok", "config", cfg.Paths.Config, ""}}
	if _, err := os.Stat(cfg.Paths.Config); err != nil {
		out[0].text = "no file " + cfg.Paths.Config + "; using the defaults"
	}
	if broken != nil {
		out[0] = finding{"bad", "config", broken.Error() + "; mcpdeck does not start with it", "edit " + cfg.Paths.Config}
	}
	for _, f := range cfg.Former {
		out = append(out, finding{"note", "config", f, "edit " + cfg.Paths.Config})
	}
	for _, w := range cfg.Warnings {
		if _, mistake, _ := strings.Cut(w, " "); broken != nil && strings.Contains(broken.Error(), mistake) {
			continue // it was just said
		}
		out = append(out, finding{"note", "config", w, "edit " + cfg.Paths.Config})
	}
	return out
}

// checkKeys says which of the user's keys are refused or never come.
func checkKeys(h *app.App) []finding {
	if len(h.Config.File.Keys) == 0 {
		return []finding{{"ok", "keys", "defaults", ""}}
	}
	var out []finding
	for _, p := range tui.CheckKeys(h.ScreenAlone()) {
		mark := "note"
		if p.Refused {
			mark = "bad"
		}
		out = append(out, finding{mark, "keys", p.Text, "edit " + h.Config.Paths.Config})
	}
	if len(out) == 0 {
		out = append(out, finding{"ok", "keys", fmt.Sprintf("%d set in %s", len(h.Config.File.Keys), h.Config.Paths.Config), ""})
	}
	return out
}

// checkClients says which clients have the deck, and what to do for those that
// have not.
func checkClients(cfg *config.Config) []finding {
	var out []finding
	var have, could []string
	for _, s := range setupcmd.Surveyed(setupcmd.EntryOf(cfg)) {
		switch s.State {
		case setup.SetUp:
			have = append(have, s.Client)
		case setup.Differs:
			have = append(have, s.Client)
			out = append(out, finding{"note", "clients", fmt.Sprintf("%s: the mcpdeck entry in %s is not the one setup writes", s.Client, s.Path), "mcpdeck setup " + s.Client})
		case setup.Broken:
			out = append(out, finding{"bad", "clients", fmt.Sprintf("%s: %s: %v", s.Client, s.Path, s.Err), "edit " + s.Path})
		case setup.NotSetUp:
			if s.Installed {
				could = append(could, s.Client)
			}
		}
	}
	switch {
	case len(have) > 0:
		out = append(out, finding{"ok", "clients", "set up: " + strings.Join(have, ", "), ""})
	case len(could) == 0:
		out = append(out, finding{"note", "clients", "no agent found; install one (Claude Code, Codex, Gemini CLI, ...)", "mcpdeck setup"})
	}
	if len(could) > 0 {
		out = append(out, finding{"note", "clients", "not set up: " + strings.Join(could, ", "), "mcpdeck setup"})
	}
	return out
}

func checkDeck(ctx context.Context, cfg *config.Config) finding {
	switch err := transport.Ask(ctx, cfg.Paths.Socket, "list", struct{}{}, nil); {
	case errors.Is(err, transport.ErrNoDeck):
		return finding{"note", "deck", "not running", "mcpdeck"}
	case err != nil:
		return finding{"bad", "deck", err.Error(), "restart mcpdeck"}
	}
	return finding{"ok", "deck", "running on " + cfg.Paths.Socket, ""}
}

func checkToken(cfg *config.Config) finding {
	_, err := token.Stored(cfg.Paths.Token)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return finding{"ok", "token", "none yet; created when mcpdeck serves HTTP", ""}
	case err != nil:
		return finding{"bad", "token", err.Error(), "mcpdeck token rotate"}
	}
	return finding{"ok", "token", cfg.Paths.Token, ""}
}

// checkAway says whether what waits can go to the user's phone, if it is to.
func checkAway(cfg *config.Config) []finding {
	text, set := push.Check(cfg)
	codes := cfg.File.Ask.CLIAnswers.Method() == userauth.Push
	switch {
	case text != "":
		return []finding{{"bad", "notify", text, "edit " + cfg.Paths.Config}}
	case !set && codes:
		return []finding{{"bad", "notify", `ask.cli_answers is "push", but nothing is sent: notify.away names no server`, "edit " + cfg.Paths.Config}}
	case !set:
		return nil
	}
	return []finding{{"ok", "notify", "what waits while you are away goes to your phone; mcpdeck notify test tries it", ""}}
}

// checkCertificates says if no server that has an https address can be trusted.
func checkCertificates(system func() (*x509.CertPool, error)) []finding {
	pool, err := system()
	switch {
	case err != nil:
		return []finding{{"bad", "certificates", err.Error(), installing("ca-certificates")}}
	case pool.Equal(x509.NewCertPool()):
		return []finding{{"note", "certificates", "this system trusts no authority, so servers with an https address cannot be used", installing("ca-certificates")}}
	}
	return nil
}

// installing is the command that installs a package of the system.
func installing(name string) string {
	for _, m := range [][2]string{{"apt", "install"}, {"dnf", "install"}, {"zypper", "install"}, {"apk", "add"}, {"pacman", "-S"}} {
		if _, err := process.Find(m[0]); err == nil {
			return "sudo " + m[0] + " " + m[1] + " " + name
		}
	}
	return "install " + name
}

// checkCards says which servers of somebody else's cannot start, and why one failed last.
func checkCards(cfg *config.Config) (out []finding) {
	for _, s := range cfg.Cards {
		mark := "note"
		if mode := cmp.Or(app.LastMode(cfg, s.Name), s.Mode); mode == "on" || mode == app.LazyWord {
			mark = "bad" // it is on, and does not work
		}
		if why := whyNotStarted(cfg, s); why != "" {
			out = append(out, finding{mark, "servers", s.Name + ": " + why, "edit " + s.File})
		}
		if f := upstream.LastFault(app.FaultFile(cfg, s.Name)); f.Text != "" {
			out = append(out, finding{"note", "servers", fmt.Sprintf("%s: failed %s: %s", s.Name, humanize.Ago(time.Since(f.Time)), f.Text), "mcpdeck server status " + s.Name + " --long"})
		}
	}
	return out
}

// whyNotStarted is why a server could not be started now, "" if nothing stands against it.
func whyNotStarted(cfg *config.Config, s settings.Card) string {
	if s.URL != "" {
		if _, err := cards.Connection(s, app.Machine(cfg)); err != nil {
			return err.Error()
		}
		return ""
	}
	command, err := cards.Program(s, app.Machine(cfg))
	if err != nil {
		return err.Error()
	}
	name := command.Program
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(command.Dir, name)
	}
	if _, err := process.Find(name); err != nil {
		return fmt.Sprintf("%s, which it runs, is not there: install it, or change the command in %s", name, s.File)
	}
	return ""
}

// checkOwn says what servers that are part of mcpdeck lack.
func checkOwn(h *app.App, ctx context.Context, c *cobra.Command, fix bool) (out []finding) {
	var install io.Writer
	if fix {
		install = c.ErrOrStderr()
	}
	for _, s := range h.Own {
		if s.Doctor == nil {
			continue
		}
		text, fix := s.Doctor(ctx, install)
		mark := "ok"
		if fix != "" {
			mark = "note"
		}
		out = append(out, finding{mark, s.Name(), text, fix})
	}
	return out
}

func checkTerminal() finding {
	if !app.Terminal() {
		return finding{"note", "terminal", "standard input and output are not a terminal; mcpdeck would run as with --plain", ""}
	}
	return finding{"ok", "terminal", fmt.Sprintf("TERM=%s COLORTERM=%s", config.Env("TERM"), config.Env("COLORTERM")), ""}
}
