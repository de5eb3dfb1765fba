package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Sessions is the list of agents' sessions on this machine.
type Sessions interface {
	Sessions() []snapshot.Session
	// Spent is what sessions have spent today that are not in the list any more.
	Spent() (usd float64)
	// Quotas are how much agents' accounts have used.
	Quotas() []snapshot.Quota
	// Hints hints, on a channel of one slot, that any of this differs.
	Hints() (hint <-chan struct{}, cancel func())
}

// SessionsMsg is the list as it is now.
type SessionsMsg struct {
	Sessions []snapshot.Session // without those that have no row
	Spent    float64            // today, by sessions that are not among them any more
	Quotas   []snapshot.Quota
	Away     []snapshot.Away // machines whose sessions are not among them
}

// spentToday is what all sessions have spent since midnight: "$1.77", with "+" if some of
// it has no price or no date; "" if nothing is known.
func (s SessionsMsg) spentToday() string {
	all := snapshot.Session{Cost: snapshot.Cost{Today: s.Spent, Known: s.Spent > 0}}
	for i := range s.Sessions {
		one := &s.Sessions[i]
		all.Cost.Today += one.Cost.Today - one.Shared.Today
		all.Cost.Known = all.Cost.Known || one.Cost.Known
		all.Cost.Undated = all.Cost.Undated || one.Cost.Undated || one.Cost.Partial || !one.Cost.Known && AllTokens(one) > 0
	}
	if all.Cost.Today == 0 {
		return ""
	}
	return today(&all)
}

// today is what a session has spent since midnight: "$1.10", "$1.10+" if there was more,
// "" if nothing is known.
func today(s *snapshot.Session) string {
	c := &s.Cost
	more := c.Undated || c.Partial
	if !c.Known || c.Today == 0 && more {
		return ""
	}
	return humanize.Dollars(c.Today, more)
}

// sessionsEvery is the least time between two lists of sessions. Ten agents at work change
// theirs ten times a second; what waits for the user comes with the queue of questions.
const sessionsEvery = time.Second

// SessionsFeed loads SessionsMsg.
func SessionsFeed(s Sessions) Feed {
	hint, cancel := s.Hints()
	return Feed{Hint: hint, Stop: cancel, Every: sessionsEvery, Load: func() tea.Msg {
		m := visible(s.Sessions(), s.Spent())
		m.Quotas = s.Quotas()
		if r, is := s.(Remote); is {
			m.Away = r.Away()
		}
		return m
	}}
}

// visible leaves out the sessions that have no row; what they have spent counts.
func visible(all []snapshot.Session, spent float64) SessionsMsg {
	m := SessionsMsg{Sessions: make([]snapshot.Session, 0, len(all)), Spent: spent}
	for i := range all {
		if s := &all[i]; s.Hidden == "" {
			m.Sessions = append(m.Sessions, *s)
		} else {
			m.Spent += s.Cost.Today - s.Shared.Today
		}
	}
	return m
}

// SessionMark is the mark of a session's state, with its style, and the state in a
// word; the mark of one that works turns.
func SessionMark(f *Frame, s *snapshot.Session) (mark string, style theme.Style, word string) {
	th, g := f.Theme, &f.Theme.Glyph
	word = s.Word()
	switch s.State {
	case snapshot.WaitsForPermission, snapshot.WaitsForAnswer, snapshot.Waiting:
		return g.Wait, th.Warn, word
	case snapshot.Working:
		return Spin, th.Accent, word
	case snapshot.Background:
		return g.On, th.Accent, word
	case snapshot.Idle:
		if s.Unread {
			return g.OK, th.Good, word
		}
		return g.Off, th.Muted, word
	case snapshot.Ended:
		return g.Off, th.Faint, word
	case snapshot.StateUnknown:
		if word == "connected" { // all that is known of it is what it calls here
			return "?", th.Muted, word
		}
	}
	return "?", th.Faint, word
}

// SessionLegend explains the marks of sessions.
func SessionLegend(th *theme.Theme) []Sign {
	g := &th.Glyph
	return []Sign{
		{g.Wait, "needs you"},
		{Spin, "working; " + g.On + " where only something it started still runs"},
		{g.OK, "done, and not read yet"},
		{g.Off, "idle, or ended"},
		{"?", "what it does cannot be seen"},
	}
}

// SessionAsks is what a session waits for: a question without the marks of Markdown, anything
// else as it is. It may have several lines, and characters that a terminal would obey.
func SessionAsks(s *snapshot.Session) string {
	if s.State == snapshot.WaitsForAnswer {
		return widget.Unmarked(s.WaitingFor)
	}
	return s.WaitingFor
}

// Dollars is what a session costs: "$1.10", "$1.10+" if there was more, "–" if the
// price is not known, "" before there is anything to pay for.
func Dollars(s *snapshot.Session) string {
	switch {
	case s.Cost.Known:
		return humanize.Dollars(s.Cost.USD, s.Cost.Partial)
	case AllTokens(s) > 0:
		return "–"
	}
	return ""
}

// AllTokens is how many tokens a session's models were sent and sent back.
func AllTokens(s *snapshot.Session) int64 {
	return s.Usage.In + s.Usage.Out + s.Usage.CacheRead + s.Usage.CacheWrite
}

// Filled is which part of its context a session uses: "61%", "" if that is not known.
func Filled(s *snapshot.Session) string {
	if s.Context.Used <= 0 || s.Context.Window <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", min((s.Context.Used*100+s.Context.Window/2)/s.Context.Window, 100))
}

// SessionText is what a row says of a session: what the user has sent to it and it has not taken,
// or its name; before that, what is the matter with its program.
func SessionText(s *snapshot.Session) string {
	text := sanitize.Line(s.Name())
	if next := s.Next; next.State == snapshot.NextKept || next.State == snapshot.NextUntaken {
		text = "next: " + sanitize.Line(next.Text)
	}
	switch {
	case strings.Contains(s.Note, snapshot.NotUnderstood):
		return sanitize.Line(s.Note) + " · " + text
	case strings.HasPrefix(s.Note, snapshot.Untested):
		return snapshot.Untested + " · " + text
	}
	return text
}
