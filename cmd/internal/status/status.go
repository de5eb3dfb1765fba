// Package status implements the subcommand that says in a line each which agents wait for the
// user, which work and which are done.
package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Report is what a running deck says of its agents.
type Report struct {
	V       int     `json:"v"`
	Rows    []Row   `json:"checks"` // those that wait, then those that are done, then those at work
	Waiting int     `json:"waiting"`
	Working int     `json:"working"`
	Done    int     `json:"done"`
	Failed  int     `json:"failed"` // calls of agents, of this run of the deck
	USD     float64 `json:"usd"`    // spent today, at list prices
	Partial bool    `json:"partial,omitempty"`
}

// Row is an item that waits for the user, or a session.
type Row struct {
	console.Check
	State   string    `json:"state"` // waiting, working, done
	Agent   string    `json:"agent"`
	Project string    `json:"project,omitempty"`
	Kind    string    `json:"kind"` // in a word: "allow?"
	Since   time.Time `json:"since,omitzero"`
}

// The states of rows.
const (
	waiting = "waiting"
	working = "working"
	done    = "done"
)

// Deck is what a report is made of.
type Deck struct {
	Sessions []snapshot.Session
	Spent    float64 // today, by sessions that are not in the list any more
	Items    []ask.Item
	Calls    []snapshot.Call
}

// New makes a report. All its numbers but that of calls are numbers of rows.
func New(d Deck) Report {
	r := Report{V: 1, Rows: []Row{}, USD: d.Spent}
	for _, s := range d.Sessions {
		r.USD += s.Cost.Today - s.Shared.Today
		r.Partial = r.Partial || s.Cost.Partial || s.Cost.Undated
	}
	all := slices.DeleteFunc(slices.Clone(d.Sessions), func(s snapshot.Session) bool { return s.Hidden != "" })
	projects := snapshot.Projects(all)
	inQueue := map[int]bool{} // the sessions that wait for an item
	for i := range d.Items {
		it := &d.Items[i]
		if !it.Waits() {
			continue
		}
		project := it.Request.Project()
		at := slices.IndexFunc(all, func(s snapshot.Session) bool { return it.Request.Of(&s) })
		if peer := it.Request.Peer.Agent; at < 0 && it.Request.Prompt == nil && peer != 0 {
			at = slices.IndexFunc(all, func(s snapshot.Session) bool { return s.PID == peer })
		}
		if at >= 0 {
			inQueue[at], project = true, cmp.Or(projects[at], project)
		}
		r.Rows = append(r.Rows, rowOfItem(it, project))
	}
	for i := range all {
		s := &all[i]
		switch {
		case s.State.Waits() && inQueue[i]:
		case s.State.Waits():
			row := newRow(waiting, s.Agent, projects[i], s.Word(), cmp.Or(s.WaitingFor, s.Name()), s.Since)
			row.Fix = inTerminal
			r.Rows = append(r.Rows, row)
		case s.State == snapshot.Working || s.State == snapshot.Background:
			r.Rows = append(r.Rows, newRow(working, s.Agent, projects[i], working, activity(s), s.Since))
		case s.Unread:
			r.Rows = append(r.Rows, newRow(done, s.Agent, projects[i], done, s.Name(), s.Since))
		}
	}
	order := []string{waiting, done, working}
	slices.SortStableFunc(r.Rows, func(a, b Row) int { return slices.Index(order, a.State) - slices.Index(order, b.State) })
	for _, row := range r.Rows {
		*map[string]*int{waiting: &r.Waiting, working: &r.Working, done: &r.Done}[row.State]++
	}
	for _, c := range d.Calls {
		if c.Status.Failed() && c.AgentName != ownClient {
			r.Failed++
		}
	}
	return r
}

// ownClient is what mcpdeck's own commands call themselves.
const ownClient = "mcpdeck"

// inTerminal says where to answer what cannot be answered elsewhere.
const inTerminal = "answer in its terminal"

func newRow(state, agent, project, kind, subject string, since time.Time) Row {
	r := Row{State: state, Agent: agent, Project: project, Kind: kind, Since: since.Truncate(time.Millisecond)}
	r.Name, r.OK, r.Detail = strings.TrimSpace(agent+" "+r.Project), state != waiting, sanitize.Line(subject)
	return r
}

func rowOfItem(it *ask.Item, project string) Row {
	subject := it.Request.Title
	if qs := it.Request.Questions; len(qs) > 0 {
		subject = qs[0].Question
	}
	agent, fix := it.Request.Client(), fmt.Sprintf("mcpdeck ask answer %d", it.ID)
	if p := it.Request.Prompt; p != nil {
		agent = p.Agent
		if it.Request.Decides() {
			fix = "answer in the deck: mcpdeck"
		}
		if p.Kind == ask.Permission {
			subject = strings.TrimSpace(p.Tool + " " + cmp.Or(p.Subject(), p.Words))
		}
		if it.Request.InTerminal() {
			fix = inTerminal
		}
	}
	r := newRow(waiting, agent, project, it.Request.WaitsFor(), subject, it.Arrived)
	r.Fix = fix
	return r
}

// activity is what a session is called, and what it does now.
func activity(s *snapshot.Session) string {
	name := s.Name()
	if tool := strings.TrimSpace(s.LastTool + " " + s.LastSubject); tool != "" && tool != name {
		name += " · " + tool
	}
	return name
}

// cost is what was spent today.
func (r *Report) cost() string { return humanize.Dollars(r.USD, r.Partial) }

// first is the row that has waited in the queue longest, without its age.
func (r *Report) first() string {
	if r.Waiting == 0 {
		return ""
	}
	return r.Rows[0].Name + ": " + r.Rows[0].Detail
}

func age(since, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	words, _ := humanize.Age(now.Sub(since))
	return words
}
