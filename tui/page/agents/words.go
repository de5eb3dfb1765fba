package agents

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// explain is what a session's note means.
func explain(s *snapshot.Session) string {
	agent := sanitize.Line(s.Agent)
	switch s.Note {
	case "":
		return ""
	case "not set up":
		return "It runs, but does not tell what it does. To see its state and what it asks: mcpdeck setup " + agent + " --prompts"
	case "connected":
		text := "Only what it calls here is known of it."
		if c, ok := clients.Find(s.Agent); ok && c.Prompts != nil {
			text += " To see its state and what it asks: mcpdeck setup " + agent + " --prompts"
		}
		return text
	}
	return sanitize.Line(s.Note)
}

func contextLine(th *theme.Theme, s *snapshot.Session, w int) string {
	used := s.Context.Used
	if used == 0 {
		return ""
	}
	if s.Context.Window == 0 {
		return snapshot.CountTokens(used) + " tokens"
	}
	text := fmt.Sprintf("%s of %s tokens", tui.Filled(s), snapshot.CountTokens(s.Context.Window))
	const bar = 12
	if w < bar+1+len(text) {
		return text
	}
	full := int(min(used*bar/s.Context.Window, bar))
	return th.Info.Render(widget.Repeat(th.Glyph.Bar, full)) + th.Faint.Render(widget.Repeat(th.Glyph.BarRest, bar-full)) + " " + text
}

func usageLine(s *snapshot.Session) string {
	u := &s.Usage
	if tui.AllTokens(s) == 0 {
		return ""
	}
	parts := []string{snapshot.CountTokens(u.In) + " in", snapshot.CountTokens(u.Out) + " out"}
	if u.Reasoning > 0 {
		parts[1] += " (" + snapshot.CountTokens(u.Reasoning) + " of it reasoning)"
	}
	if u.CacheRead > 0 {
		parts = append(parts, snapshot.CountTokens(u.CacheRead)+" from the cache")
	}
	if u.CacheWrite > 0 {
		parts = append(parts, snapshot.CountTokens(u.CacheWrite)+" to the cache")
	}
	text := strings.Join(parts, ", ")
	if u.Partial {
		text = "≥ " + text
	}
	if s.Shared.With != "" {
		text += "; also in " + sanitize.Line(sanitize.Cut(s.Shared.With, 12))
	}
	return text
}

func costLine(s *snapshot.Session) string {
	c := &s.Cost
	switch {
	case tui.AllTokens(s) == 0 && !c.Known:
		return ""
	case !c.Known:
		return "– no price is known for this model"
	case c.Reported:
		return tui.Dollars(s) + ", as " + sanitize.Line(s.Agent) + " counts"
	}
	text := about(s) + " at list prices, of this session; a subscription is not billed so"
	if c.Source != "" {
		text += " (" + sanitize.Line(c.Source) + ")"
	}
	return text
}

func placeLine(s *snapshot.Session) string {
	text := where(s)
	switch {
	case text == "" && s.State != snapshot.Ended:
		return "terminal not known"
	case s.Place.TmuxPane != "" && s.Place.Tmux != "":
		text = "tmux " + text
	}
	if tty := strings.TrimPrefix(s.Place.TTY, "/dev/"); tty != "" && tty != text {
		text += ", " + sanitize.Line(tty)
	}
	return text
}
