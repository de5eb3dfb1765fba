package main

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
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/cmd/internal/token"
	"github.com/mcpdeck/mcpdeck/cmd/internal/tools"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/tui"
)

// finding is one line of the doctor's report.
type finding struct {
	mark string // ok, note, bad
	what string
	text string
}

func doctorCommand(a *cli.Globals) *cobra.Command {
	var fix bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check what the deck needs, and say how to fix what is missing", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return doctor(c, a, fix) },
	}
	c.Flags().BoolVar(&fix, "fix", false, "install the stamp CLI into the deck's own folder if it is missing")
	return c
}

func doctor(c *cobra.Command, a *cli.Globals, fix bool) error {
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Minute)
	defer cancel()
	cfg, broken := a.Load()
	if broken != nil && !errors.As(broken, new(exit.UsageError)) { // the rest is worth knowing, too
		a.Flags.All, a.Flags.Alone = true, true
		cfg, _ = a.Load()
	}
	if cfg == nil {
		return broken
	}
	findings := []finding{{"ok", "version", cli.Version()}, {"ok", "state", cfg.Paths.State}}
	findings = append(findings, checkConfig(cfg, broken)...)
	for _, text := range app.WaitingIn(ctx, cfg) {
		findings = append(findings, finding{"note", "config", text})
	}
	h, err := app.New(cfg, false, nil)
	if err != nil {
		findings = append(findings, finding{"bad", "servers", err.Error()})
	} else {
		defer h.Stop()
		findings = append(findings, checkKeys(h)...)
	}
	findings = append(findings, checkClients(cfg)...)
	if h != nil {
		findings = append(findings, checkPrompts(h, ctx)...)
	}
	findings = append(findings, checkDeck(ctx, cfg), checkToken(cfg))
	findings = append(findings, checkCertificates()...)
	findings = append(findings, checkCards(cfg)...)
	if h != nil {
		findings = append(findings, checkOwn(h, ctx, c, fix)...)
	}
	findings = append(findings, checkTerminal())
	return report(c, findings)
}

// report prints what was found.
func report(c *cobra.Command, findings []finding) error {
	bad := func(f finding) bool { return f.mark == "bad" }
	rows := make([][]string, len(findings))
	for i, f := range findings {
		rows[i] = []string{f.mark, f.what, f.text}
	}
	err := cli.PrintTable(c, rows, func(row, col int) lipgloss.Style {
		if col > 0 {
			return lipgloss.NewStyle()
		}
		return cli.Ink(findings[row].mark == "ok", bad(findings[row]))
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(findings, bad) {
		return exit.Failed
	}
	return nil
}

// checkConfig says what is wrong in the configuration; broken is why the deck would not
// start with it.
func checkConfig(cfg *config.Config, broken error) []finding {
	out := []finding{{"ok", "config", cfg.Paths.Config}}
	if _, err := os.Stat(cfg.Paths.Config); err != nil {
		out[0].text = "no file " + cfg.Paths.Config + "; using the defaults"
	}
	if broken != nil {
		out[0] = finding{"bad", "config", broken.Error() + "; mcpdeck does not start with it"}
	}
	for _, w := range cfg.Warnings {
		if _, mistake, _ := strings.Cut(w, " "); broken != nil && strings.Contains(broken.Error(), mistake) {
			continue // it was just said
		}
		out = append(out, finding{"note", "config", w})
	}
	return out
}

// checkKeys says which of the user's keys are refused or never come.
func checkKeys(h *app.App) []finding {
	if len(h.Config.File.Keys) == 0 {
		return []finding{{"ok", "keys", "defaults"}}
	}
	var out []finding
	for _, p := range tui.CheckKeys(h.ScreenAlone()) {
		mark := "note"
		if p.Refused {
			mark = "bad"
		}
		out = append(out, finding{mark, "keys", p.Text})
	}
	if len(out) == 0 {
		out = append(out, finding{"ok", "keys", fmt.Sprintf("%d set in %s", len(h.Config.File.Keys), h.Config.Paths.Config)})
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
			out = append(out, finding{"note", "clients", fmt.Sprintf("%s: the mcpdeck entry in %s is not the one setup writes; see the difference with: mcpdeck setup %[1]s", s.Client, s.Path)})
		case setup.Broken:
			out = append(out, finding{"bad", "clients", fmt.Sprintf("%s: %s: %v", s.Client, s.Path, s.Err)})
		case setup.NotSetUp:
			if s.Installed {
				could = append(could, s.Client)
			}
		}
	}
	switch {
	case len(have) > 0:
		out = append(out, finding{"ok", "clients", "set up: " + strings.Join(have, ", ")})
	case len(could) == 0:
		out = append(out, finding{"note", "clients", "no agent found; install one (Claude Code, Codex, Gemini CLI, ...), then run: mcpdeck setup CLIENT"})
	}
	if len(could) > 0 {
		out = append(out, finding{"note", "clients", fmt.Sprintf("not set up: %s; to set one up: mcpdeck setup %s", strings.Join(could, ", "), could[0])})
	}
	return out
}

func checkDeck(ctx context.Context, cfg *config.Config) finding {
	client, err := tools.ConnectDeck(ctx, cfg, nil)
	switch {
	case errors.Is(err, transport.ErrNoDeck):
		return finding{"note", "deck", "not running; open it with: mcpdeck"}
	case err != nil:
		return finding{"bad", "deck", err.Error()}
	}
	client.Close()
	return finding{"ok", "deck", "running on " + cfg.Paths.Socket}
}

func checkToken(cfg *config.Config) finding {
	_, err := token.Stored(cfg.Paths.Token)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return finding{"ok", "token", "none yet; created when mcpdeck serves HTTP"}
	case err != nil:
		return finding{"bad", "token", err.Error() + "; create a new one with: mcpdeck token rotate"}
	}
	return finding{"ok", "token", cfg.Paths.Token}
}

// checkCertificates says if no server that has an https address can be trusted.
func checkCertificates() []finding {
	pool, err := x509.SystemCertPool()
	switch {
	case err != nil:
		return []finding{{"bad", "certificates", err.Error()}}
	case pool.Equal(x509.NewCertPool()):
		return []finding{{"note", "certificates", "this system trusts no authority, so servers with an https address cannot be used; install ca-certificates"}}
	}
	return nil
}

// checkCards says which servers of somebody else's cannot start, and why one failed last.
func checkCards(cfg *config.Config) (out []finding) {
	for _, s := range cfg.Cards {
		mark := "note"
		if mode := cmp.Or(app.LastMode(cfg, s.Name), s.Mode); mode == "on" || mode == app.LazyWord {
			mark = "bad" // it is on, and does not work
		}
		if why := whyNotStarted(cfg, s); why != "" {
			out = append(out, finding{mark, "servers", s.Name + ": " + why})
		}
		if f := upstream.LastFault(app.FaultFile(cfg, s.Name)); f.Text != "" {
			out = append(out, finding{"note", "servers", fmt.Sprintf("%s: failed %s: %s", s.Name, humanize.Ago(time.Since(f.Time)), f.Text)})
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
		mark := "note"
		ok, text := s.Doctor(ctx, install)
		if ok {
			mark = "ok"
		}
		out = append(out, finding{mark, s.Name(), text})
	}
	return out
}

func checkTerminal() finding {
	if !app.Terminal() {
		return finding{"note", "terminal", "standard input and output are not a terminal; mcpdeck would run as with --plain"}
	}
	return finding{"ok", "terminal", fmt.Sprintf("TERM=%s COLORTERM=%s", config.Env("TERM"), config.Env("COLORTERM"))}
}
