package conversation

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// InTerminal says of an agent that is connected what is missing, and what brings it.
const InTerminal = "its permissions stay in its terminal: :setup prompts"

// Note is why nothing more is known of a session, and what helps; "" if all is known.
func Note(s *snapshot.Session) string {
	switch s.Note {
	case "":
		return ""
	case "not set up":
		return "What it does and asks cannot be seen yet: mcpdeck setup shows how."
	case "connected":
		text := "Only what it calls here can be seen."
		if c, ok := clients.Find(s.Agent); ok && c.Prompts != nil {
			text = InTerminal
		}
		return text
	}
	return sanitize.Line(s.Note)
}

// Details are the facts of a session that few need: where it runs, how it is connected to the deck whose
// state snap is, and what its figures are made of.
func Details(f *tui.Frame, s *snapshot.Session, snap *snapshot.Snapshot, w int) []string {
	var rows []string
	fact := func(name, value string) { rows = append(rows, factRows(f.Theme, name, value, w)...) }
	fact("folder", sanitize.Line(s.Folder))
	fact("model", sanitize.Line(s.Model))
	fact("mode", sanitize.Line(s.Mode))
	if s.Subagents > 0 {
		fact("agents", humanize.Count(s.Subagents, "sub-agent")+" working")
	}
	fact("context", contextLine(f.Theme, s, w-nameW))
	fact("tokens", usageLine(s))
	fact("cost", costLine(s))
	for i := range f.Quotas {
		if q := &f.Quotas[i]; q.Agent == s.Agent {
			fact("quota", tui.QuotaText(f, q, ""))
		}
	}
	fact("terminal", placeLine(s))
	version := strings.TrimSpace(sanitize.Line(s.Agent) + " " + sanitize.Line(s.Version))
	if s.PID > 0 {
		version += fmt.Sprintf(", process %d", s.PID)
	}
	fact("program", version)
	fact("session", sanitize.Line(s.ID))
	a := snap.Agent(s.Connection)
	if a == nil {
		fact("deck", "not connected; mcpdeck setup connects it")
		return rows
	}
	of := tui.ConnectionFacts(f, snap, a)
	for i := 0; i+1 < len(of); i += 2 {
		fact(of[i], sanitize.Line(of[i+1]))
	}
	return rows
}

// nameW is how wide the names of facts are, in cells.
const nameW = 12

// factRows draws a name and its value, w cells wide; none if there is no value.
func factRows(th *theme.Theme, name, value string, w int) []string {
	if value == "" {
		return nil
	}
	var rows []string
	for i, l := range widget.Wrap(value, max(w-nameW, 8)) {
		if i > 0 {
			name = ""
		}
		rows = append(rows, th.Faint.Render(widget.Fit(name, nameW))+l)
	}
	return rows
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
		if !u.Since.IsZero() {
			text += ", since " + u.Since.Local().Format("2 Jan 15:04")
		}
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
		return "no price is known for this model"
	case c.Reported:
		return tui.Dollars(s) + ", as " + sanitize.Line(s.Agent) + " counts"
	}
	text := tui.Dollars(s) + " list price"
	if c.Source != "" {
		text += " (" + sanitize.Line(c.Source) + ")"
	}
	return text
}

// placeLine is the terminal of a session.
func placeLine(s *snapshot.Session) string {
	p := &s.Place
	tty := strings.TrimPrefix(p.TTY, "/dev/")
	text := cmp.Or(p.Tmux, p.TmuxPane, p.Other, tty)
	switch {
	case text != "" && p.Tmux != "":
		text = "tmux " + text
	case text == "" && s.Headless:
		return "none"
	case text == "" && s.State != snapshot.Ended:
		return "not known"
	}
	if tty != "" && tty != text {
		text += ", " + tty
	}
	return sanitize.Line(text)
}
