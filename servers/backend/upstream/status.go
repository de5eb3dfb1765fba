package upstream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Status is a snapshot of what the user can see about a card.
type Status struct {
	Mode    Mode
	Link    Link
	For     string // what the program was started to work with
	Detail  string // about what it works with
	Trouble string // a problem with that; "" if none

	Children         []snapshot.Child
	PID              int       // of the first child; 0 if there is none
	Since            time.Time // when the child was ready; zero if there is none
	Server, Version  string    // as reported by the child
	Protocol         string
	Era              child.Era // remembered without a child; "" if unknown
	Program          string    // "" before a search
	Source           string    // where the program was found
	Searched         []Candidate
	Restarts         int
	Agents           int // number of agents the children serve
	Failing          int // number of children that were lost or could not be started
	Failures         int // number of failed starts and early ends in a row, of whichever child
	Waiting, Running int // number of calls

	Tools        []catalogue.Tool // in the catalogue, also while the card is off and the child is kept
	Listing      []catalogue.Tool // as listed by the server, including those agents cannot use
	TurnedOff    map[string]bool  // by tool name: turned off by the user
	Without      []snapshot.Kind  // turned off by the user
	Notes        []catalogue.Note
	Held         []catalogue.Held
	Asked        []string // programs that wait for held definitions to be accepted
	Updated      bool     // the program file changed, and the held definitions with it
	Accepted     string   // server version of the accepted definitions; may be ""
	Listed       bool     // the tools are currently offered to agents
	Context      int      // bytes of what a model gets of the definitions, and of the instructions, when offered
	Instructions string
	Adds         snapshot.Count // what it would add to an agent's list, as listed last

	OK, Failed int // number of calls that reached the child
	Picture    Picture

	Error    string // the most recent error
	ErrorAt  time.Time
	OnDemand bool // the program runs only when needed
	GaveUp   bool // not started again unless the user asks for it
	Broken   bool // turned off by a failure that the user has not seen yet
	Log      []child.Line

	opts  *Options
	stray string // a problem with the output of the children
}

// Tokens estimates how much of an agent's context the definitions use while the card is on.
func (s Status) Tokens() int { return snapshot.Tokens(s.Context) }

// Status returns the current status. It does not block.
func (c *Card) Status() Status {
	c.mu.Lock()
	v := c.verdict()
	s := Status{
		Mode: c.mode, Restarts: c.restarts, Era: c.era,
		Held: slices.Clone(v.Held), Asked: slices.Clone(c.asked), Updated: v.Updated, Accepted: sanitize.Line(v.Was), Listed: c.listed != nil,
		Adds: c.count, Error: c.faults.last.Text, ErrorAt: c.faults.last.Time, Failures: c.faults.inRow, Broken: !c.failedAt.IsZero(), OnDemand: c.opts.OnDemand, opts: &c.opts,
	}
	c.sum(&s)
	s.TurnedOff = map[string]bool{}
	if o := c.offer; o != nil {
		s.Listing, s.Tools, s.Notes, s.Context, s.Instructions = o.Listing.Tools, o.Tools, o.Notes, o.Context, o.Instructions
	}
	c.mu.Unlock()
	if off := c.opts.Catalogue.Off; off != nil {
		for _, t := range s.Listing {
			if off(t.Original) != "" {
				s.TurnedOff[t.Original] = true
			}
		}
	}
	for kind, k := range map[snapshot.Kind]catalogue.Kind{snapshot.Resources: catalogue.OfTemplate, snapshot.Prompts: catalogue.OfPrompt} {
		if c.opts.Catalogue.WithoutAll(k) {
			s.Without = append(s.Without, kind)
		}
	}
	slices.Sort(s.Without)
	s.Detail, s.Trouble = c.opts.Hooks.State()
	c.calls.mu.Lock()
	s.OK, s.Failed, s.Picture = c.calls.ok, c.calls.failed, c.calls.picture
	c.calls.mu.Unlock()
	s.Log = c.log.Tail(lastLines)
	return s
}

// Tone is how much attention a sign needs.
type Tone int

// The tones. Hidden means no sign.
const (
	Hidden Tone = iota
	Dim
	Good
	Warning
	Bad
)

// Sign is a short summary of a card's state.
type Sign struct {
	Tone Tone
	Note string // a problem, or the number of tools; "" if there is nothing to add
}

// Sign returns the sign for the deck's page.
func (s Status) Sign() Sign {
	switch {
	case s.Mode == TurningOn:
		return Sign{Dim, "starting"}
	case s.Mode == On && (s.Link == LinkFailed || s.OnDemand && s.failing()):
		return Sign{Warning, s.Error}
	case s.Mode == On && !s.OnDemand && s.Link != LinkReady:
		return Sign{Warning, "reconnecting"}
	case s.Mode == On && s.stray != "":
		return Sign{Warning, s.stray}
	case s.Mode == On && s.Trouble != "":
		return Sign{Warning, s.Trouble}
	case s.Mode == On:
		note := humanize.Count(len(s.Tools), "tool")
		if n := len(s.Held); n > 0 {
			note += fmt.Sprintf(", %d to accept", n)
		}
		return Sign{Good, note}
	case s.Broken:
		return Sign{Bad, s.Error}
	}
	return Sign{}
}

// failing reports whether an on-demand server does not work: nothing runs since it failed,
// or it has ended early again and again.
func (s Status) failing() bool {
	return s.Failing > 0 || s.Failures > 0 && len(s.Children) == 0 || s.Failures >= maxFailures
}

// Fact is a row of [Status.Text].
type Fact struct{ Name, Value string }

// Text formats the status for a terminal, without styles. more are facts about what the
// server works with. If long is set, Text includes the search, the instructions and the
// last lines of the log.
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
		row("link", "%s, process %d, for %s", s.Link, s.PID, humanize.Took(time.Since(s.Since)))
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
		row("tools", "%d, %s; %s while on", len(s.Tools), cost, snapshot.ContextCost(s.Context))
	} else if s.Mode == Off && s.Adds.Tools > 0 {
		row("tools", "%s while on, as counted last", s.Adds)
	}
	for _, n := range s.Notes {
		row("  -", "%s: %s", sanitize.Line(n.Tool), sanitize.Line(n.Reason))
	}
	if len(s.Held) > 0 {
		row("to accept", "%s; accept with: %s", s.Holding(), s.opts.Texts.Command("accept"))
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
		row("last error", "%s (%s)", s.Error, humanize.Ago(time.Since(s.ErrorAt)))
	}
	if long {
		s.more(&b)
	}
	return b.String()
}

// Holding describes how many definitions are held and which program update caused that, as
// in "0.13.0 → 0.14.0: 3 changed, 1 new". It returns "" if none are held.
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

// more writes the long part of Text.
func (s Status) more(b *strings.Builder) {
	if len(s.Searched) > 0 {
		b.WriteString("\nsearched\n")
	}
	for _, c := range s.Searched {
		reason := cmp.Or(c.Reason, "taken")
		fmt.Fprintf(b, "  %s (%s): %s\n", sanitize.Line(c.Path), c.Source, reason)
	}
	for _, h := range s.Held {
		fmt.Fprintf(b, "\nheld: %s (%s)\n", sanitize.Line(h.Name()), h.What())
		for _, l := range h.Diff {
			fmt.Fprintf(b, "  %c %s\n", l.Mark, l.Text)
		}
	}
	if s.Instructions != "" {
		fmt.Fprintf(b, "\ninstructions\n%s\n", sanitize.Text(s.Instructions))
	}
	if len(s.Log) > 0 {
		b.WriteString("\nlog\n")
	}
	for _, l := range s.Log[max(0, len(s.Log)-20):] {
		fmt.Fprintf(b, "  %s %s: %s\n", l.Time.Format("15:04:05"), l.From, l.Text)
	}
}
