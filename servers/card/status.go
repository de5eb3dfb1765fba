package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
)

// Status is what a user can know about a card, at one moment.
type Status struct {
	Mode    Mode
	Link    Link
	For     string // what the program was started to work with
	Detail  string // of what it works with
	Trouble string // what is the matter with that; "" for nothing

	Children         []ChildFact
	PID              int       // of the first child; 0 when there is none
	Since            time.Time // the child is ready; zero when there is none
	Server, Version  string    // what the child calls itself
	Protocol         string
	Program          string // "" before a search
	Source           string // where it was found
	Searched         []Candidate
	Restarts         int
	Agents           int // that the children serve
	Failing          int // children that were lost, or could not be started
	Waiting, Running int // calls

	Tools        []catalogue.Tool // of the catalogue, also while off and the child is kept
	Listing      []catalogue.Tool // as the server lists them, whoever may use them
	TurnedOff    map[string]bool  // of these, by the user
	Notes        []catalogue.Note
	Held         []catalogue.Held
	Asked        []string // programs that wait for what is held to be accepted
	Updated      bool     // the program file changed, and with it what is held
	Accepted     string   // version of the server that the accepted definitions came from; may be empty
	Listed       bool     // the tools are offered to agents now
	Bytes        int      // of the definitions when offered
	Instructions string

	OK, Failed int // calls that reached the child
	Calls      []CallFact
	Picture    Picture

	Error    string // the last one
	ErrorAt  time.Time
	OnDemand bool // the program runs when it is needed
	GaveUp   bool // it is not started again unless the user asks for it
	Broken   bool // switched off by a failure that the user has not seen yet
	Log      []child.Line

	accept string // the command for that
	stray  string // what is the matter with the output of the children
}

// Tokens estimates what the definitions cost an agent's context while on.
func (s Status) Tokens() int { return deck.Tokens(s.Bytes) }

// Status returns the state of things. It waits for nothing.
func (c *Card) Status() Status {
	c.mu.Lock()
	s := Status{
		Mode: c.mode, Restarts: c.restarts,
		Held: slices.Clone(c.verdict.Held), Asked: slices.Clone(c.asked), Updated: c.verdict.Updated, Accepted: plain.Line(c.verdict.Was), Listed: c.listed != nil,
		Error: c.lastError, ErrorAt: c.lastErrorAt, Broken: !c.failedAt.IsZero(), OnDemand: c.opts.OnDemand, accept: c.opts.Texts.Command("accept"),
	}
	c.sum(&s)
	s.Listing, s.TurnedOff = c.listing.Tools, map[string]bool{}
	if o := c.offer; o != nil {
		s.Tools, s.Notes, s.Bytes, s.Instructions = o.Tools, o.Notes, o.Bytes, o.Instructions
	}
	c.mu.Unlock()
	if off := c.opts.Catalogue.Off; off != nil {
		for _, t := range s.Listing {
			if off(t.Original) != "" {
				s.TurnedOff[t.Original] = true
			}
		}
	}
	s.Detail, s.Trouble = c.opts.Hooks.State()
	c.calls.mu.Lock()
	s.OK, s.Failed, s.Picture = c.calls.ok, c.calls.failed, c.calls.picture
	s.Calls = slices.Clone(c.calls.last[max(0, len(c.calls.last)-keptCalls):])
	c.calls.mu.Unlock()
	s.Log = c.log.Tail(child.MaxLines)
	return s
}

// Tone is how much attention a sign asks for.
type Tone int

// The tones; Hidden is no sign at all.
const (
	Hidden Tone = iota
	Dim
	Good
	Warning
	Bad
)

// Sign is a card in one glance.
type Sign struct {
	Tone Tone
	Note string // what is the matter, or how many tools; "" for nothing to add
}

// Sign returns the sign for the deck's page.
func (s Status) Sign() Sign {
	switch {
	case s.Mode == TurningOn:
		return Sign{Dim, "starting"}
	case s.Mode == On && (s.Link == LinkFailed || s.OnDemand && s.Failing > 0):
		return Sign{Warning, s.Error}
	case s.Mode == On && !s.OnDemand && s.Link != LinkReady:
		return Sign{Warning, "reconnecting"}
	case s.Mode == On && s.stray != "":
		return Sign{Warning, s.stray}
	case s.Mode == On && s.Trouble != "":
		return Sign{Warning, s.Trouble}
	case s.Mode == On:
		note := fmt.Sprintf("%d tools", len(s.Tools))
		if n := len(s.Held); n > 0 {
			note += fmt.Sprintf(", %d held", n)
		}
		return Sign{Good, note}
	case s.Broken:
		return Sign{Bad, s.Error}
	}
	return Sign{}
}

// Fact is a row of [Status.Text].
type Fact struct{ Name, Value string }

// Text is the status for a terminal, without styles. more are facts about what the
// server works with; long adds what was searched, the instructions and the last lines
// of the log.
func (s Status) Text(long bool, more ...Fact) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("mode", "%s", s.Mode)
	switch {
	case len(s.Children) > 1:
		row("link", "%s, %s", s.Link, s.Doing())
		for _, c := range s.Children {
			row("  -", "%s", c)
		}
	case s.PID != 0:
		row("link", "%s, process %d, for %s", s.Link, s.PID, span.Took(time.Since(s.Since)))
	default:
		row("link", "%s", s.Link)
	}
	if s.Program != "" {
		row("program", "%s (%s)", s.Program, s.Source)
	}
	for _, f := range more {
		row(f.Name, "%s", f.Value)
	}
	if s.Server != "" {
		row("server", "%s %s, protocol %s", s.Server, s.Version, s.Protocol)
	}
	if len(s.Tools) > 0 {
		cost := "not offered now"
		if s.Listed {
			cost = "offered"
		}
		row("tools", "%d, %s; %d bytes, about %d tokens while on", len(s.Tools), cost, s.Bytes, s.Tokens())
	}
	for _, n := range s.Notes {
		row("  -", "%s: %s", plain.Line(n.Tool), plain.Line(n.Reason))
	}
	if len(s.Held) > 0 {
		row("held", "%s; accept with: %s", s.Holding(), s.accept)
	}
	if n := s.OK + s.Failed + s.Waiting + s.Running; n > 0 {
		row("calls", "%d ok, %d failed, %d running, %d waiting", s.OK, s.Failed, s.Running, s.Waiting)
	}
	if s.Picture.Type != "" {
		row("picture", "%s by %s", s.Picture.ImageFact, s.Picture.Tool)
	}
	if s.Restarts > 0 {
		row("restarts", "%d", s.Restarts)
	}
	if s.Error != "" {
		row("last error", "%s (%s)", s.Error, span.Ago(time.Since(s.ErrorAt)))
	}
	if long {
		s.more(&b)
	}
	return b.String()
}

// Holding says how many definitions are held, and which change of the program
// brought them: "0.13.0 → 0.14.0: 3 changed, 1 new". "" when nothing is held.
func (s Status) Holding() string {
	changed, added := 0, 0
	for _, h := range s.Held {
		if h.New {
			added++
		} else {
			changed++
		}
	}
	var parts []string
	if changed > 0 {
		parts = append(parts, fmt.Sprintf("%d changed", changed))
	}
	if added > 0 {
		parts = append(parts, fmt.Sprintf("%d new", added))
	}
	text := strings.Join(parts, ", ")
	switch {
	case text == "":
		return ""
	case s.Accepted != "" && s.Version != "" && s.Accepted != s.Version:
		return s.Accepted + " → " + s.Version + ": " + text
	case s.Updated:
		return "the program was updated: " + text
	}
	return text
}

// more is the long part of Text.
func (s Status) more(b *strings.Builder) {
	if len(s.Searched) > 0 {
		b.WriteString("\nsearched\n")
	}
	for _, c := range s.Searched {
		reason := c.Reason
		if reason == "" {
			reason = "taken"
		}
		fmt.Fprintf(b, "  %s (%s): %s\n", plain.Line(c.Path), c.Source, reason)
	}
	for _, h := range s.Held {
		fmt.Fprintf(b, "\nheld: %s (%s)\n", plain.Line(h.Name()), h.What())
		for _, l := range h.Diff {
			fmt.Fprintf(b, "  %c %s\n", l.Mark, l.Text)
		}
	}
	if s.Instructions != "" {
		fmt.Fprintf(b, "\ninstructions\n%s\n", plain.Text(s.Instructions))
	}
	if len(s.Log) > 0 {
		b.WriteString("\nlog\n")
	}
	for _, l := range s.Log[max(0, len(s.Log)-20):] {
		fmt.Fprintf(b, "  %s %s: %s\n", l.Time.Format("15:04:05"), l.From, l.Text)
	}
}
