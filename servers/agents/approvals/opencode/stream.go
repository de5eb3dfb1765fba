package opencode

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// stream is the connection of one process.
type stream struct {
	a        *Adapter
	c        *hook.Conn
	ctx      context.Context // of the connection
	deck     context.Context // of the deck
	wait     time.Duration   // of a prompt, before it is shown
	verified bool            // the system says that the process is the program's
	wg       sync.WaitGroup  // prompts that are followed

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	open     map[string]*prompt
	calls    map[call]*prompt // that are settled, until something shows that the call goes on
	pace     approvals.Pace
}

// call is a tool call of a session, by their IDs.
type call struct{ session, id string }

// session is what the process has reported of one session.
type session struct {
	info
	state snapshot.SessionState
	since time.Time
	door  bool   // its plugin sends it prompts
	tool  string // that was called last, or allowed
	about string

	record record.Builder
}

// info is what the program says about a session.
type info struct {
	ID        string `json:"id"`
	Parent    string `json:"parentID"`
	Title     string `json:"title"`
	Directory string `json:"directory"`
	Version   string `json:"version"`
	Agent     string `json:"agent"`
	Model     struct {
		ID string `json:"id"`
	} `json:"model"`
	Cost float64 `json:"cost"`
	Time struct {
		Created float64 // in milliseconds
	} `json:"time"`
	Tokens struct {
		Input, Output, Reasoning int64
		Cache                    struct{ Read, Write int64 }
	} `json:"tokens"`
}

// take handles an event. What cannot be read has no effect: it is asked in the terminal.
func (s *stream) take(m hook.Message) {
	kind, what, _ := strings.Cut(m.Event, ".")
	id := m.Payload.Str("sessionID")
	if !isID(id) || !s.a.owns(s, id) {
		return
	}
	switch {
	case kind == "session":
		s.report(id, what, m)
	case kind == "message":
		s.said(id, what, m)
	case what == "asked":
		s.ask(kind, m)
	case kind == "tool":
		s.part(call{id, m.Payload.Str("callID")}, m.Payload.Str("status"))
	case what == "replied", what == "rejected":
		s.replied(m.Payload.Str("requestID"), outcome(what, m.Payload))
	}
}

// isID reports whether a word can be an ID of the program's, and part of a path.
func isID(s string) bool {
	return s != "" && len(s) <= 128 && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// session returns what is known of a session; nil: there are too many.
func (s *stream) session(id string) *session {
	if s.sessions[id] == nil && len(s.sessions) < mostSessions {
		s.sessions[id] = &session{info: info{ID: id}, state: snapshot.Idle, since: time.Now(), record: record.Builder{Redact: s.a.opt.Redact}}
	}
	return s.sessions[id]
}

// root returns the session that a sub-agent's session belongs to.
func (s *stream) root(x *session) *session {
	const most = 16 // sub-agents of sub-agents
	for range most {
		up := s.sessions[x.Parent]
		if up == nil {
			break
		}
		x = up
	}
	return x
}

// report handles an event about a session.
func (s *stream) report(id, what string, m hook.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.session(id)
	if x == nil {
		return
	}
	state := x.state
	var now struct {
		At     int64 // in milliseconds; long ago for a deck that came later
		Status struct{ Type string }
	}
	_ = json.Unmarshal(m.Raw, &now) // another shape is an unknown state
	switch what {
	case "created", "updated":
		in := info{}
		if m.TooLarge || json.Unmarshal(m.Payload.Get("info"), &in) != nil || in.ID != id || in.Parent == id {
			return
		}
		x.door = m.Payload.Flag("prompts")
		if x.info = in; s.root(x) != x {
			s.a.opt.Roster.Gone(s.a.of.id, id) // it is one of a sub-agent
		}
	case "status":
		switch now.Status.Type {
		case "busy", "retry":
			state = snapshot.Working
		case "idle":
			state = snapshot.Idle
		default:
			state = snapshot.StateUnknown
		}
	case "idle":
		state = snapshot.Idle
	case "deleted":
		s.over(id)
		root := s.root(x)
		delete(s.sessions, id)
		if root == x {
			s.a.opt.Roster.Gone(s.a.of.id, id)
		} else {
			s.row(root)
		}
		return
	}
	if state != x.state {
		x.state, x.since = state, time.Now()
	}
	if at := time.UnixMilli(now.At); now.At > 0 && at.Before(x.since) {
		x.since = at
	}
	if state == snapshot.Idle && (what == "idle" || what == "status") {
		s.over(id)
	}
	s.row(s.root(x))
}

// row reports a session and its sub-agents as one row.
func (s *stream) row(x *session) {
	out := snapshot.Session{
		Agent: s.a.of.id, ID: x.ID, Version: cmp.Or(x.Version, s.c.Hello.Version), PID: s.c.PID, State: x.state, Since: x.since,
		Folder: cmp.Or(x.Directory, s.c.Hello.Directory), Title: x.Title, Mode: x.Agent, Model: x.Model.ID,
		LastTool: x.tool, Verified: s.verified, Door: snapshot.Door{Open: x.door},
	}
	if out.State == snapshot.Idle {
		x.record.Rest(x.since)
	}
	out.Record, out.LastSubject = x.record.Record(out.Folder), record.Within(out.Folder, x.about)
	for _, o := range s.sessions {
		if s.root(o) != x {
			continue
		}
		if o != x && o.state == snapshot.Working {
			out.Subagents++
		}
		t := o.Tokens
		out.Usage.In += t.Input
		out.Usage.Out += t.Output
		out.Usage.Reasoning += t.Reasoning
		out.Usage.CacheRead += t.Cache.Read
		out.Usage.CacheWrite += t.Cache.Write
		out.Cost.USD += o.Cost
		if y, m, d := time.Now().Date(); o.Time.Created >= float64(time.Date(y, m, d, 0, 0, 0, 0, time.Local).UnixMilli()) {
			out.Cost.Today += o.Cost
		} else if o.Cost > 0 {
			out.Cost.Undated = true
		}
	}
	if strings.HasPrefix(x.Title, "New session - ") { // and the time
		out.Title, out.Handle = "", x.Title
	}
	untested := out.Version == "2" || strings.HasPrefix(out.Version, "2.")
	if !untested {
		out.Cost.Known, out.Cost.Reported, out.Cost.Source = true, true, s.a.of.title
	}
	if out.State == snapshot.StateUnknown {
		out.Note = "this version of " + s.a.of.title + " does not say what it does"
	}
	if untested {
		out.Note = strings.TrimSuffix(snapshot.Untested+" with "+s.a.of.title+" 2; "+out.Note, "; ")
	}
	var first *prompt
	for _, p := range s.open {
		if s.root(p.session) == x && (first == nil || p.arrived.Before(first.arrived)) {
			first = p
		}
	}
	if first != nil {
		out.State, out.Since, out.WaitingFor = snapshot.WaitsForPermission, first.arrived, "permission: "+first.Request.Prompt.Tool
		if first.Request.Prompt.Kind == ask.OwnQuestion {
			out.State, out.WaitingFor = snapshot.WaitsForAnswer, "an answer"
		}
	}
	if out.Record == nil && out.State == snapshot.Idle && out.Usage == (snapshot.Usage{}) && !untested {
		out.Hidden = "nothing was asked yet"
	}
	s.a.opt.Roster.Report(out)
}

// ask puts a prompt to the user, unless it is settled at once or the session asks too
// much: then it stays in its terminal alone.
func (s *stream) ask(kind string, m hook.Message) {
	id, sessionID := m.Payload.Str("id"), m.Payload.Str("sessionID")
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.session(sessionID)
	at := call{sessionID, toolCall(m.Payload)}
	s.became(at, went)
	if !isID(id) || x == nil || s.open[id] != nil || kind != "permission" && kind != "question" {
		return
	}
	open, now := 0, time.Now()
	for _, p := range s.open {
		if p.session == x {
			open++
		}
	}
	if !s.pace.Admit(sessionID, x.Directory, open, now) {
		return
	}
	p := &prompt{in: s, kind: kind, id: id, session: x, arrived: now, early: make(chan struct{})}
	if m.Payload.Flag("parts") {
		p.call = at.id
	}
	p.Item = approvals.NewItem(s.request(p, m), nil)
	s.open[id] = p
	s.row(s.root(x))
	s.wg.Add(1)
	recovery.Go(s.a.of.id+" prompt", func() {
		defer s.wg.Done()
		p.follow()
	})
}

// replied notes that a prompt is settled, by whomever.
func (s *stream) replied(id string, how settlement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[id]
	if p == nil {
		return
	}
	delete(s.open, id)
	p.settled = &how
	close(p.early)
	if p.call != "" {
		s.calls[call{p.session.ID, p.call}] = p
	}
	p.Poke()
	if x := p.session; how.reply == "once" || how.reply == "always" {
		x.tool, x.about = p.Request.Prompt.Tool, cmp.Or(p.Request.Prompt.Command, p.Request.Prompt.Path)
	}
	s.row(s.root(p.session))
}

// part notes the state of a call whose prompt is settled.
func (s *stream) part(c call, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch status {
	case "running", "completed":
		s.became(c, went)
	case "error":
		s.became(c, failed)
	}
}

// over notes that a session's turn has ended.
func (s *stream) over(session string) {
	for c := range s.calls {
		if c.session == session {
			s.became(c, never)
		}
	}
}

// became notes what is seen of a call whose prompt is settled. One that was refused does not
// go on: what else is said of it tells nothing.
func (s *stream) became(c call, what fate) {
	p := s.calls[c]
	if p == nil || what == went && p.settled.reply == "reject" {
		return
	}
	delete(s.calls, c)
	p.became = what
	p.Poke()
}

// toolCall returns the ID of the tool call that a prompt is about, "" if there is none.
func toolCall(o rawjson.Object) string {
	tool, err := rawjson.SplitObject(o.Some("tool"))
	if err != nil {
		return ""
	}
	return tool.Str("callID")
}

// end reports that the process is gone.
func (s *stream) end() {
	s.a.leave(s)
	if s.deck.Err() != nil {
		return // it lives, the deck does not
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.open)
	for _, x := range s.sessions {
		if x.state = snapshot.Ended; s.root(x) == x {
			x.since = time.Now()
			s.row(x)
		}
	}
}

// outcome reads how a prompt was settled.
func outcome(what string, o rawjson.Object) settlement {
	if what == "rejected" {
		return settlement{reply: "reject", words: "declined"}
	}
	switch reply := o.Str("reply"); reply {
	case "once":
		return settlement{reply: reply, words: "allowed"}
	case "always":
		return settlement{reply: reply, words: "always allowed"}
	case "reject":
		return settlement{reply: reply, words: "denied"}
	}
	how := settlement{words: "answered"}
	var answers [][]string
	if raw := o.Get("answers"); raw != nil && json.Unmarshal(raw, &answers) == nil {
		how.answers, _ = json.Marshal(answers) // strings always encode
	}
	return how
}
