package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// stream is the connection of the extension in one Copilot CLI process.
type stream struct {
	a    *Adapter
	c    *hook.Conn
	ctx  context.Context // of the connection
	deck context.Context // of the deck
	wg   sync.WaitGroup  // prompts that are followed

	joined string // session that it belongs to, and sends prompts; the adapter's lock guards it

	mu   sync.Mutex // guards what follows
	open map[string]*shared
}

// Send implements [approvals.Sender].
func (a *Adapter) Send(_ context.Context, to snapshot.Session, text string) error {
	a.mu.Lock()
	var in *stream
	if s := a.sessions[to.ID]; s != nil && s.Door.Open && a.streams[s.shared] {
		in = s.shared
	}
	a.mu.Unlock()
	if in == nil {
		return fmt.Errorf("%w: Copilot CLI has ended", approvals.ErrUnsent)
	}
	return in.c.Post("/session/"+to.ID, map[string]string{"text": text})
}

// shared is a prompt that the terminal asks as well; the first answer counts.
type shared struct {
	*approvals.Item
	in      *stream
	kind    string // "permission" or "elicitation"
	id      string
	choices []approvals.Choice // of a permission; the results are its kinds

	posted  string          // the kind or action that was posted; "" if nothing was
	content json.RawMessage // of a form that was posted
	settled *settlement     // the stream's lock guards it
}

// settlement is how a prompt was settled, by whomever.
type settlement struct {
	Result struct{ Kind string } // of a permission
	Source string                `json:"decisionSource"`

	Action  string // of a form
	Content json.RawMessage
}

// stream handles what the extension of one process reports.
func (a *Adapter) stream(ctx context.Context, c *hook.Conn) {
	alive, hungUp := context.WithCancel(ctx)
	s := &stream{a: a, c: c, ctx: alive, deck: ctx, open: map[string]*shared{}}
	a.mu.Lock()
	a.streams[s] = true
	a.mu.Unlock()
	for {
		m, err := c.Next(ctx)
		if err != nil {
			break
		}
		s.take(m)
	}
	a.mu.Lock()
	delete(a.streams, s)
	a.mu.Unlock()
	hungUp()
	s.wg.Wait()
}

// take handles an event. What cannot be read has no effect: it is asked in the terminal.
func (s *stream) take(m hook.Message) {
	id, session := m.Payload.Str("requestId"), m.Payload.Str("sessionId")
	if m.Event == "session.joined" {
		s.a.mu.Lock()
		s.joined = session
		s.a.mu.Unlock()
	}
	if id == "" || len(id) > 128 {
		return
	}
	switch m.Event {
	case "permission.requested":
		s.ask(m, "permission", id, session)
	case "elicitation.requested":
		s.ask(m, "elicitation", id, session)
	case "permission.completed", "elicitation.completed":
		var how settlement
		_ = json.Unmarshal(m.Raw, &how) // however that is
		s.mu.Lock()
		if p := s.open[id]; p != nil {
			p.settled = &how
			delete(s.open, id)
			p.Poke()
		}
		s.mu.Unlock()
	}
}

// ask shows a prompt of a session of the process that the extension belongs to.
func (s *stream) ask(m hook.Message, kind, id, session string) {
	dir := s.a.folder(session)
	ancestors := s.a.ancestors(s.c.PID)
	at := slices.IndexFunc(ancestors, func(p int) bool { return dir != "" && locked(dir, p) })
	if at < 0 {
		return
	}
	s.a.mu.Lock()
	x := s.a.session(session, ancestors[at])
	x.read()
	x.shared = s
	row := x.Session
	s.mu.Lock()
	open, again := len(s.open), s.open[id] != nil
	s.mu.Unlock()
	admitted := !again && s.a.pace.Admit(session, row.Folder, open, time.Now())
	s.a.mu.Unlock()
	if !admitted {
		return
	}
	p := &shared{in: s, kind: kind, id: id}
	p.Item = approvals.NewItem(p.request(&row, m), nil)
	s.mu.Lock()
	s.open[id] = p
	s.mu.Unlock()
	s.wg.Add(1)
	recovery.Go("copilot prompt", func() {
		defer s.wg.Done()
		if p.Open(s.a.opt.Queue, p) == nil { // else it stays in its terminal
			p.Follow(s.ctx)
		}
	})
}

// request makes a prompt of an event. What cannot be read can still be shown.
func (p *shared) request(s *snapshot.Session, m hook.Message) ask.Request {
	q := &ask.Prompt{Kind: ask.Permission, ID: p.id, Door: ask.Shared}
	r := approvals.Request(s, q)
	r.Local = p.kind == "permission" // which is never given later
	err := shapes().Err(approvals.Line("type", m.Event, "data", m.Raw))
	switch {
	case m.TooLarge || m.Payload.Flag("large"):
		err = nil
		approvals.InTerminal(&r, "It is too large to show; answer in its terminal.")
	case err != nil:
	case p.kind == "elicitation":
		q.Kind, q.Tool = ask.ServerForm, cmp.Or(m.Payload.Str("elicitationSource"), asksUser)
		r.Questions, err = approvals.ServerForm(q.Tool, m.Payload.Str("mode"), m.Payload.Str("message"), m.Payload.Str("url"), m.Payload.Some("requestedSchema"))
	default:
		var o rawjson.Object
		if o, err = rawjson.SplitObject(m.Payload.Some("permissionRequest")); err == nil {
			describe(q, o, s.Folder)
			p.choices = append([]approvals.Choice{approvals.AllowOnce(rawjson.Quote("approve-once"))}, approvals.Denials(rawjson.Quote("reject"))...)
			approvals.Permit(&r, p.choices)
		}
	}
	if err != nil {
		approvals.Misread(&r, err)
	}
	return r
}

// describe fills in what is to be allowed.
func describe(q *ask.Prompt, o rawjson.Object, folder string) {
	q.Words = o.Str("intention")
	switch q.Tool = cmp.Or(o.Str("toolName"), o.Str("kind"), "a tool"); o.Str("kind") {
	case "shell":
		q.Command = o.Str("fullCommandText")
		q.Marks = approvals.Marks(q.Command, folder)
	case "write":
		q.Tool, q.Path, q.Diff = "edit", o.Str("fileName"), diff(o.Str("diff"))
		approvals.MarkPath(q, folder)
	}
	if q.Command == "" && q.Diff == "" {
		q.Args = o.Without("kind", "toolCallId", "intention", "canOfferSessionApproval").JSON()
	}
}

// Answer implements [approvals.Door]: it posts the user's answer.
func (p *shared) Answer(r ask.Reply) bool {
	body := map[string]any{}
	if p.kind == "elicitation" {
		e, ok := r.Elicited()
		if !ok {
			return false
		}
		p.posted, p.content = e.Action, e.Content
		if body["action"] = e.Action; e.Content != nil {
			body["content"] = e.Content
		}
	} else {
		c, note, ok := approvals.Chosen(p.choices, r)
		word, err := rawjson.Text(c.Result)
		if !ok || err != nil {
			return false
		}
		p.posted = word
		if body["kind"] = word; !c.Grant.Allow {
			body["feedback"] = cmp.Or(note, approvals.Denied)
		}
	}
	if err := p.in.c.Post("/"+p.kind+"/"+p.id, body); err != nil {
		p.posted = ""
	}
	return p.posted != ""
}

// Look implements [approvals.Door]: Copilot CLI says how a prompt was settled, by whomever.
func (p *shared) Look() approvals.Fate {
	p.in.mu.Lock()
	how := p.settled
	p.in.mu.Unlock()
	switch {
	case how == nil && p.in.ctx.Err() != nil && p.in.deck.Err() == nil:
		return approvals.Fate{Is: approvals.Left, How: agentEnded, Last: true}
	case how == nil:
		return approvals.Fate{}
	case p.ours(how):
		return approvals.Fate{Is: approvals.Taken, Last: true}
	}
	return approvals.Fate{Is: approvals.Elsewhere, How: byTerminal + how.words(), Last: true}
}

// ours reports whether a settlement is that of the answer that was posted.
func (p *shared) ours(how *settlement) bool {
	switch p.posted {
	case "":
		return false
	case "approve-once", "reject":
		return how.Source == "" && how.allowed() == (p.posted == "approve-once")
	}
	return how.Action == p.posted && (p.content == nil || claudehooks.SameInput(p.content, how.Content))
}

func (how *settlement) allowed() bool { return how.Result.Kind == "approved" }

func (how *settlement) words() string {
	switch {
	case how.Result.Kind == "":
		return ""
	case how.allowed():
		return ": allowed"
	}
	return ": denied"
}
