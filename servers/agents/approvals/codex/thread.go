package codex

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// thread is a conversation of Codex's, or of one of its sub-agents. Its link's lock guards
// it.
type thread struct {
	info   info
	known  bool // info has been read
	asking bool // it is being read
	mode   string
	status status
	since  time.Time

	sub     subscription
	shunned bool                // until it no longer waits
	early   []rpc.Message       // requests that are shown once it is joined
	changes map[string][]change // by item
	open    map[string]*open    // by the request's ID
	ends    map[string]*open    // those whose item tells what became of them, by that
	linger  *time.Timer
}

// info is what Codex says of a thread.
type info struct {
	ID         string          `json:"id"`
	Session    string          `json:"sessionId"`
	Parent     string          `json:"parentThreadId"`
	Nickname   string          `json:"agentNickname"`
	Role       string          `json:"agentRole"`
	Name       string          `json:"name"`
	Preview    string          `json:"preview"`
	Ephemeral  bool            `json:"ephemeral"`
	Model      string          `json:"model"`
	Cwd        string          `json:"cwd"`
	Path       string          `json:"path"`
	Version    string          `json:"cliVersion"`
	Updated    int64           `json:"updatedAt"` // Unix seconds
	Source     json.RawMessage `json:"source"`
	Status     status          `json:"status"`
	Originator string          `json:"originator"`
}

// status is what a thread does.
type status struct {
	Type  string   `json:"type"`
	Flags []string `json:"activeFlags"`
}

const (
	onApproval = "waitingOnApproval"
	onInput    = "waitingOnUserInput"
)

func (s status) waits() bool {
	return s.Type == "active" && (slices.Contains(s.Flags, onApproval) || slices.Contains(s.Flags, onInput))
}

func (s status) gone() bool { return s.Type == "notLoaded" }

// subscription is whether the deck is told what happens in a thread.
type subscription int

const (
	none subscription = iota
	joining
	joined
	leaving
)

// thread returns the thread with that ID, which may be new.
func (l *link) thread(id string) *thread {
	t := l.threads[id]
	if t == nil {
		t = &thread{info: info{ID: id}, changes: map[string][]change{}, open: map[string]*open{}, ends: map[string]*open{}}
		l.threads[id] = t
	}
	return t
}

// learn reads what a thread is, if that is unknown.
func (l *link) learn(t *thread) {
	if t.known || t.asking || l.over {
		return
	}
	t.asking = true
	recovery.Go("Codex thread", func() {
		raw, err := l.call("thread/read", map[string]any{"threadId": t.info.ID}, answerWithin)
		var answer struct {
			Thread info `json:"thread"`
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if t.asking = false; t.known || err != nil || json.Unmarshal(raw, &answer) != nil || answer.Thread.ID != t.info.ID {
			return
		}
		l.take(t, answer.Thread)
	})
}

// take takes over what a thread is.
func (l *link) take(t *thread, in info) {
	t.info, t.known = in, true
	if t.status.Type == "" { // else it is older than what was pushed
		t.set(in.Status, time.Unix(in.Updated, 0))
	}
	l.changed(t)
}

// set sets the status. since counts if the thread did something else before.
func (t *thread) set(s status, since time.Time) {
	if t.since.IsZero() || stateOf(t.status) != stateOf(s) {
		t.since = since
	}
	t.status = s
	if !s.waits() {
		t.shunned = false
	}
}

// markedWithin is how soon after a turn's end a terminal of Codex marks the turn of the thread that
// is open in it as read, whoever looks.
const markedWithin = 2 * time.Second

// looked reports whether a mark that comes now says that the user has looked at the last turn.
func (t *thread) looked(now time.Time) bool {
	return stateOf(t.status) == snapshot.Idle && now.Sub(t.since) >= markedWithin
}

func (l *link) notified(method string, raw json.RawMessage) {
	if method == quotaChanged {
		l.changedQuota(raw)
		return
	}
	var p struct {
		ThreadID  string          `json:"threadId"`
		RequestID json.RawMessage `json:"requestId"`
		Status    status          `json:"status"`
		Name      string          `json:"threadName"`
		Thread    info            `json:"thread"`
		Item      json.RawMessage `json:"item"`
		ReadState *struct {
			FirstUnread *struct{} `json:"firstUnread"`
		} `json:"readState"`
		Settings struct {
			Model          string          `json:"model"`
			ApprovalPolicy json.RawMessage `json:"approvalPolicy"`
		} `json:"threadSettings"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	id := cmp.Or(p.ThreadID, p.Thread.ID)
	t := l.threads[id]
	switch {
	case id == "":
	case method == "thread/started":
		t = l.thread(id)
		l.take(t, p.Thread)
	case method == "thread/status/changed":
		t = l.thread(id)
		t.set(p.Status, time.Now())
		l.learn(t)
		l.changed(t)
	case t == nil:
	case method == "thread/closed", method == "thread/deleted":
		t.set(status{Type: "notLoaded"}, time.Now())
		l.changed(t)
	case method == "thread/readState/changed": // by whatever client of Codex
		if p.ReadState != nil && p.ReadState.FirstUnread == nil && t.looked(time.Now()) {
			l.a.opt.Roster.MarkRead(agent, id)
		}
	case method == "thread/name/updated":
		t.info.Name = p.Name
		l.report(t)
	case method == "thread/settings/updated":
		t.info.Model, t.mode = cmp.Or(p.Settings.Model, t.info.Model), cmp.Or(modeOf(p.Settings.ApprovalPolicy), t.mode)
		l.report(t)
	case method == "item/started":
		if item, changes := changesOf(p.Item); changes != nil {
			t.changes[item] = changes
		}
		t.goesOn(p.Item)
	case method == "item/completed":
		t.completed(p.Item)
	case method == "serverRequest/resolved":
		l.resolved(t, string(p.RequestID))
	}
}

// modeOf is a policy of approvals in Codex's word.
func modeOf(policy json.RawMessage) string {
	var word string
	if json.Unmarshal(policy, &word) != nil && len(policy) > 0 && policy[0] == '{' {
		return "granular"
	}
	return word
}

// changed acts on a new status.
func (l *link) changed(t *thread) {
	if !t.status.waits() {
		t.early = nil
		for id, o := range t.open {
			if delete(t.open, id); t.status.gone() {
				o.withdraw("its session has ended")
				continue
			}
			o.settle()
		}
	}
	l.subscribe(t)
	l.report(t)
	if t.status.gone() {
		t.stopLinger()
		delete(l.threads, t.info.ID)
	}
}

// root is the thread that the user knows as the session of a thread.
func (l *link) root(t *thread) *thread {
	for range 32 { // sub-agents of sub-agents
		up := l.threads[t.info.Parent]
		if t.info.Parent == "" || up == nil {
			break
		}
		t = up
	}
	return t
}

// subagent names the sub-agent that a thread is; "" if it is none.
func (t *thread) subagent() string {
	if t.info.Parent == "" {
		return ""
	}
	return cmp.Or(t.info.Nickname, t.info.Role, "sub-agent")
}

func stateOf(s status) snapshot.SessionState {
	switch {
	case s.gone():
		return snapshot.Ended
	case s.Type == "active" && slices.Contains(s.Flags, onApproval):
		return snapshot.WaitsForPermission
	case s.waits():
		return snapshot.WaitsForAnswer
	case s.Type == "active":
		return snapshot.Working
	case s.Type == "idle", s.Type == "systemError":
		return snapshot.Idle
	}
	return snapshot.StateUnknown
}

// report tells the roster about the session of a thread.
func (l *link) report(t *thread) {
	if !t.known || t.info.Ephemeral {
		return
	}
	r := l.root(t)
	var source struct{ SubAgent json.RawMessage }
	if !r.known || r.info.Parent != "" && r.status.gone() {
		return
	}
	in := r.info
	title, _, _ := strings.Cut(cmp.Or(in.Name, in.Preview), "\n") // a preview is the first prompt
	s := snapshot.Session{
		Agent: agent, ID: in.ID, Version: cmp.Or(l.version, in.Version), PID: l.pid,
		State: stateOf(r.status), Since: r.since, Folder: in.Cwd, Title: sanitize.Cut(sanitize.Line(title), 80), Named: in.Name != "", Mode: r.mode, Model: in.Model,
		Transcript: in.Path, Headless: string(in.Source) == `"exec"`, Verified: l.program == agent,
		Door: snapshot.Door{Open: true, Commands: true},
	}
	if in.Parent == "" && json.Unmarshal(in.Source, &source) == nil && source.SubAgent != nil {
		s.Hidden = "a sub-agent of a session that is not known"
	}
	switch {
	case r.status.Type == "systemError":
		s.Note = "Codex reports an error"
	case s.State == snapshot.StateUnknown:
		s.Note = "codex " + s.Version + ": its state is not understood"
	}
	for _, c := range l.threads {
		if c == r || !c.known || c.info.Ephemeral || l.root(c) != r {
			continue
		}
		if _, own := l.told[c.info.ID]; own { // its parent was not known
			delete(l.told, c.info.ID)
			l.a.opt.Roster.Gone(agent, c.info.ID)
		}
		if c.status.Type == "active" {
			s.Subagents++
		}
		if c.status.waits() && !r.status.waits() && (!s.State.Waits() || c.since.Before(s.Since)) {
			s.State, s.Since = stateOf(c.status), c.since
		}
	}
	l.told[s.ID] = s
	l.a.opt.Roster.Report(s)
}
