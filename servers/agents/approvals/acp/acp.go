// Package acp shows in the deck what agents ask the editors that run them by the Agent
// Client Protocol: a proxy between the two passes everything on, reports to the deck, and
// gives the deck's answer if that is first.
package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// Adapter is the connection to all proxies of the user.
type Adapter struct {
	opt   approvals.Deps
	lives sync.Map // sessions, by their agents' IDs and their own
}

// New returns an adapter. No prompt is held.
func New(d approvals.Deps) *Adapter {
	d.Log = d.Logger()
	return &Adapter{opt: d}
}

// Mirrors reports whether a proxy brings to the deck what a session asks.
func (a *Adapter) Mirrors(agent, session string) bool {
	_, is := a.lives.Load([2]string{agent, session})
	return is
}

// Run implements [approvals.Adapter]. All work is done in Serve.
func (a *Adapter) Run(ctx context.Context) { <-ctx.Done() }

// Serve implements [hook.Handler]: it handles what one proxy reports.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Stream {
		return
	}
	alive, hungUp := context.WithCancel(ctx)
	s := &stream{a: a, c: c, ctx: alive, deck: ctx, sessions: map[string]*session{}, open: map[string]*prompt{}}
	s.pace.Queue = a.opt.Queue
	for {
		m, err := c.Next(ctx)
		if err != nil {
			break
		}
		s.take(&m)
	}
	hungUp()
	s.wg.Wait()
	s.end()
}

// stream is the connection of one proxy.
type stream struct {
	a    *Adapter
	c    *hook.Conn
	ctx  context.Context // of the connection
	deck context.Context // of the deck
	wg   sync.WaitGroup  // prompts that are followed

	mu       sync.Mutex // guards what follows
	about    about
	agent    string // in the table of clients, or what it calls itself
	pid      int    // of the agent, or else of the proxy
	verified bool   // the system says that it is mcpdeck which has started the agent
	sessions map[string]*session
	open     map[string]*prompt // by the JSON of their IDs
	pace     approvals.Pace
}

// session is what the proxy has reported of one session.
type session struct {
	state
	tool, subject string // of the last call
	record        record.Builder
}

// take handles an event. What cannot be read has no effect: it is asked in the editor.
func (s *stream) take(m *hook.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Event {
	case eventAgent:
		s.introduced(m.Raw)
	case eventSettled:
		var e settled
		if json.Unmarshal(m.Raw, &e) == nil {
			s.settled(e)
		}
	default:
		if x := s.session(m.Payload.Str("sessionId")); x != nil && s.agent != "" {
			s.takeOf(x, m)
		}
	}
}

// takeOf handles an event of a session.
func (s *stream) takeOf(x *session, m *hook.Message) {
	switch m.Event {
	case eventSession:
		if json.Unmarshal(m.Raw, &x.state) != nil {
			return
		}
		x.Mode = x.Mode[strings.LastIndexByte(x.Mode, '#')+1:] // Copilot's are addresses
		if !x.Working {
			s.went(x, "")
		}
	case eventSaid:
		var e said
		if json.Unmarshal(m.Raw, &e) != nil {
			return
		}
		x.record.Take(&record.Event{When: time.UnixMilli(e.At), Prompt: e.Prompt, Repeat: e.Again && e.Prompt != "", Said: e.Said}, record.Words)
	case eventTool:
		var e called
		var c toolCall
		if json.Unmarshal(m.Raw, &e) != nil || json.Unmarshal(e.Call, &c) != nil {
			return
		}
		x.called(&c, time.UnixMilli(e.At))
		s.went(x, c.ID)
	case eventAsked:
		var e asked
		if json.Unmarshal(m.Raw, &e) == nil {
			s.asks(x, e, m.TooLarge)
		}
	}
	s.row(x)
}

// introduced notes which agent it is.
func (s *stream) introduced(raw json.RawMessage) {
	if json.Unmarshal(raw, &s.about) != nil {
		return
	}
	names := []string{s.about.Name}
	for _, word := range s.about.Command {
		if !strings.HasPrefix(word, "-") {
			names = append(names, word)
		}
	}
	const most = 40
	before := s.agent
	s.agent = sanitize.Cut(sanitize.Line(cmp.Or(names...)), most)
	for _, name := range slices.Backward(names) { // its own name counts most
		if c, ok := clients.Find(strings.ToLower(name)); ok {
			s.agent = c.ID
		} else if c, ok := clients.Of(name); ok {
			s.agent = c.ID
		}
	}
	s.pace.Agent, s.pid = s.agent, s.c.PID
	if socket.Parent(s.about.PID) == s.c.PID && s.c.PID > 0 {
		s.pid, s.verified = s.about.PID, socket.Program(s.c.PID) == socket.Program(os.Getpid())
	}
	for id, x := range s.sessions {
		if before != s.agent {
			s.a.lives.Delete([2]string{before, id})
			s.a.opt.Roster.Gone(before, id)
		}
		s.row(x)
	}
}

// session returns what is known of a session; nil: there are too many.
func (s *stream) session(id string) *session {
	if s.sessions[id] == nil && len(s.sessions) < mostTalks && id != "" {
		s.sessions[id] = &session{state: state{ID: id}, record: record.Builder{Redact: s.a.opt.Redact}}
	}
	return s.sessions[id]
}

// called takes in a call of a tool.
func (x *session) called(c *toolCall, at time.Time) {
	x.tool, x.subject = c.what(), cmp.Or(record.Subject(c.Input), c.Title)
	e := record.Event{When: at, Calls: []record.Call{{ID: c.ID, Tool: x.tool, Subject: x.subject, Writes: c.Kind == "execute" && record.Writes(c.Input)}}}
	if c.Status == "completed" || c.Status == "failed" {
		r := record.Result{Call: c.ID, Failed: c.Status == "failed"}
		for _, part := range c.Content {
			if part.Type == "diff" && !r.Failed {
				r.Files = append(r.Files, record.Compared(part.Path, part.Old, part.New))
			}
		}
		e.Results = []record.Result{r}
	}
	x.record.Take(&e, record.Words|record.Edits)
}

// what is the tool that a call is of.
func (c *toolCall) what() string { return cmp.Or(c.Name, c.Kind, "tool") }

// row reports a session.
func (s *stream) row(x *session) {
	at := time.UnixMilli(x.Since)
	out := snapshot.Session{
		Agent: s.agent, ID: x.ID, Version: s.about.Version, PID: s.pid, State: snapshot.Idle, Since: at,
		Folder: cmp.Or(x.Folder, s.c.Hello.Directory), Title: x.Title, Mode: x.Mode, Model: x.Model, LastTool: x.tool, Verified: s.verified,
		Context: snapshot.Context{Used: x.Used, Window: x.Size},
	}
	if x.Working {
		out.State = snapshot.Working
	} else {
		x.record.Rest(at)
	}
	if s.a.lives.Store([2]string{s.agent, x.ID}, true); s.ctx.Err() != nil {
		out.State, out.Since = snapshot.Ended, time.Now()
		s.a.lives.Delete([2]string{s.agent, x.ID})
	}
	out.Record, out.LastSubject = x.record.Record(out.Folder), record.Within(out.Folder, x.subject)
	if x.Cost != nil {
		out.Cost = snapshot.Cost{USD: *x.Cost, Known: true, Reported: true, Undated: true, Source: s.agent}
	}
	if out.Record == nil && !x.Working {
		out.Hidden = "nothing was asked yet"
	}
	s.a.opt.Roster.Report(out)
}

// end reports that the proxy is gone.
func (s *stream) end() {
	if s.deck.Err() != nil {
		return // it lives, the deck does not
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		s.row(x)
	}
}

// asks puts a request of the agent to the user, unless its session asks too much.
func (s *stream) asks(x *session, e asked, large bool) {
	id := string(e.ID)
	open := 0
	for _, p := range s.open {
		if p.session == x {
			open++
		}
	}
	if id == "" || s.open[id] != nil || !s.pace.Admit(x.ID, x.Folder, open, time.Now()) {
		return
	}
	p := &prompt{in: s, id: e.ID, session: x}
	p.Item = approvals.NewItem(s.request(p, &e, large || e.Large), nil)
	s.open[id] = p
	s.wg.Add(1)
	recovery.Go("prompt of an agent in an editor", func() {
		defer s.wg.Done()
		if p.Open(s.a.opt.Queue, p) == nil { // else it stays in its editor
			p.Follow(s.ctx)
		}
	})
}

// settled notes that a request is settled, by whomever.
func (s *stream) settled(e settled) {
	p := s.open[string(e.ID)]
	if p == nil {
		return
	}
	p.settled = &e
	if e.By != byDeck {
		delete(s.open, string(e.ID))
	}
	p.Poke()
}

// went notes that a session goes on: with a call of a tool, or "" for its end. The agent has
// taken the answers to what was asked about it.
func (s *stream) went(x *session, call string) {
	for id, p := range s.open {
		if p.session == x && p.settled != nil && (call == p.call || call == "" || p.call == "") {
			p.taken = true
			delete(s.open, id)
			p.Poke()
		}
	}
}
