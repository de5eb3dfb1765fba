package app

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// ranWith is an option that a deck was started with.
type ranWith struct {
	Literal string `json:"literal"` // without secrets
	Digest  string `json:"digest"`  // of all of it
}

// mostSinceLast is how many options are named that have changed since the deck last ran.
const mostSinceLast = 8

// sayChanged warns of the options of the configuration file that a restart has made to hold:
// a process may have written them while the last deck ran, when they were only said to wait.
// What this deck runs with is kept for the next one.
func (h *App) sayChanged() {
	now := startedWith(h.Reloads(), h.Config)
	var before map[string]ranWith
	if b, err := file.Read(h.Config.Paths.RanWith, 1<<20); err == nil {
		if err := json.Unmarshal(b, &before); err != nil {
			slog.Warn("read what the last deck ran with", "error", err)
		}
	}
	if before != nil {
		h.Host.SetWarnings("settings", false, sinceLast(h.Config, before, now)...)
	}
	if before != nil && maps.Equal(before, now) {
		return
	}
	b, err := json.MarshalIndent(now, "", " ")
	if err == nil {
		err = file.Write(h.Config.Paths.RanWith, append(b, '\n'), file.Options{})
	}
	if err != nil {
		h.Host.Warn("settings", "remember what the deck runs with: "+err.Error())
	}
}

// startedWith are the options in the configuration file that hold from the start of a deck.
func startedWith(rows []reloaded, cfg *config.Config) map[string]ranWith {
	out := map[string]ranWith{}
	for _, s := range cfg.Settings() {
		if strings.HasPrefix(s.From, cfg.Paths.Config+":") && !IsReloaded(rows, s.Key) {
			out[s.Key] = ranWith{s.Literal, s.Digest()}
		}
	}
	return out
}

// sinceLast says of each option that differs from what the last deck ran with how it does.
func sinceLast(cfg *config.Config, before, now map[string]ranWith) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(now)) {
		was, known := before[key]
		if known && was.Digest == now[key].Digest {
			continue
		}
		text := fmt.Sprintf("%s line %d: %s = %s is new since the deck last ran", filepath.Base(cfg.Paths.Config), cfg.Line(key), key, now[key].Literal)
		if known {
			text += ", which was with " + was.Literal
		}
		out = append(out, text)
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, still := now[key]; !still {
			out = append(out, fmt.Sprintf("%s: %s is not set any more; the deck last ran with %s", filepath.Base(cfg.Paths.Config), key, before[key].Literal))
		}
	}
	if n := len(out) - mostSinceLast; n > 0 {
		out = append(out[:mostSinceLast], fmt.Sprintf("and %s changed since the deck last ran; mcpdeck config shows them", humanize.Count(n, "more setting")))
	}
	return out
}
