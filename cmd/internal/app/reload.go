package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// reloaded is some options that apply as soon as the configuration file is saved.
type reloaded struct {
	options string // their keys; a table stands for all that is in it
	// what is what the options decide: it differs when they do.
	what  func(*config.Config) any
	apply func(*config.Config) // nil: they are read where they are used
}

// Reloads is the table of the options that apply without a restart. All others apply at
// the next start.
func (h *App) Reloads() []reloaded {
	rows := []reloaded{
		{
			"keys theme ui.mouse ui.motion ui.key_rest ui.background ui.ascii ui.pictures ui.follow_inbox notify.waiting notify.done notify.private notify.command notify.after notify.here",
			func(c *config.Config) any { return screenSettings(c) },
			nil, // the screen gets them by itself
		},
		{
			"ask.timeout ask.undo_seconds ask.snooze ask.sort ask.auto_deliver_parked prompts.undo_seconds",
			func(c *config.Config) any { return queueOptions(c) },
			func(c *config.Config) {
				if h.Queue != nil {
					h.Queue.Configure(queueOptions(c))
				}
			},
		},
		{"server", func(c *config.Config) any { return c.Cards }, h.TakeCards},
		{"profile", func(c *config.Config) any { return c.Profiles() }, func(c *config.Config) { h.Host.SetProfiles(c.Profiles()) }},
		{"debug", func(c *config.Config) any { return logLevel(c) }, func(c *config.Config) { h.level.Set(logLevel(c)) }},
		{
			"prompts.hold prompts.lasting prompts.headless prompts.projects denied",
			func(c *config.Config) any {
				return []any{c.PromptRules(), c.File.Prompts.Headless, c.File.Prompts.Projects}
			},
			nil, // read for each prompt
		},
		{"sessions prices", func(c *config.Config) any { return []any{c.File.Sessions, c.File.Prices} }, func(c *config.Config) {
			h.Agents.ReadPrices(c)
			h.Agents.Roster.Look()
		}},
	}
	for _, p := range plugin.All() {
		for _, option := range p.Config.Live {
			key := p.Name() + "." + option
			rows = append(rows, reloaded{key, func(c *config.Config) any { return c.Literal(key) }, nil})
		}
	}
	for _, s := range h.Own {
		if s.Apply != nil {
			rows = append(rows, reloaded{"", func(*config.Config) any { return nil }, s.Apply})
		}
	}
	return rows
}

// queueOptions are those options of the queue that may change while it is in use.
func queueOptions(c *config.Config) ask.Options {
	o := c.AskOptions()
	o.StateFile, o.HistoryFile = "", ""
	return o
}

func logLevel(c *config.Config) slog.Level {
	if c.File.Debug {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// IsReloaded tells whether an option applies without a restart.
func IsReloaded(rows []reloaded, key string) bool {
	for _, r := range rows {
		for _, o := range strings.Fields(r.options) {
			if key == o || strings.HasPrefix(key, o+".") {
				return true
			}
		}
	}
	return false
}

// waitingFor are the options that differ from those the deck runs with and need a restart,
// each as a sentence.
func waitingFor(rows []reloaded, running, now *config.Config) []string {
	before := map[string]config.Setting{}
	for _, s := range running.Settings() {
		before[s.Key] = s
	}
	var out []string
	for _, s := range now.Settings() {
		b, known := before[s.Key]
		if known && b.Same(s) || IsReloaded(rows, s.Key) {
			continue
		}
		where := ""
		if line := now.Line(s.Key); line > 0 {
			where = fmt.Sprintf("%s line %d: ", filepath.Base(now.Paths.Config), line)
		}
		out = append(out, fmt.Sprintf("%s%s = %s needs a restart; the deck runs with %s", where, s.Key, s.Literal, b.Literal))
	}
	return out
}

// waitingControl tells a command which options need a restart of this deck.
func (h *App) waitingControl(context.Context, transport.Requester, json.RawMessage) (any, error) {
	if list := h.waiting.Load(); list != nil {
		return *list, nil
	}
	return []string{}, nil
}

// WaitingIn asks the running deck which options need a restart; none when there is no deck.
func WaitingIn(ctx context.Context, cfg *config.Config) (out []string) {
	var talk transport.ControlClient
	_ = talk.Ask(ctx, cfg.Paths.Socket, "config", struct{}{}, &out) // without a deck nothing waits
	return out
}
