// Package reply sends to agents' sessions the prompts that the user types in the deck. It sends
// each once, one at a time, and believes only a session's own record that it was taken.
package reply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Longest is the longest prompt, in bytes.
const Longest = 16 << 10

const (
	// takenWithin is how soon a session records what it was sent.
	takenWithin = 5 * time.Second
	// slack is how much coarser than the deck's clock that of a record may be.
	slack = time.Second
)

// Roster knows the sessions.
type Roster interface {
	Sessions() []snapshot.Session
	Hints() (<-chan struct{}, func())
	SetNext(agent, id string, n snapshot.Next)
	MarkRead(agent, id string)
}

// Options are what an [Outbox] works with.
type Options struct {
	Roster Roster
	// Off reports whether the user has turned it off; nil: no.
	Off func() bool
	// Notice tells the user a sentence.
	Notice func(sentence string)
	// Taken is called with a text that a session has taken; nil: nobody wants to know.
	Taken func(agent, id, text string)
}

// Outbox sends prompts. Its methods are safe for concurrent use.
type Outbox struct {
	opt Options

	mu    sync.Mutex      // guards what follows
	ctx   context.Context // of Run; nil before
	doors map[string]approvals.Sender
	by    redact.Rules
	all   map[key]*prompt
}

type key struct{ agent, id string }

// prompt is one that a session has not taken.
type prompt struct {
	snapshot.Next
	words  string    // as the session's record shows them
	before asked     // what was last asked when it was sent, or kept
	sent   time.Time // zero while it is kept
}

// asked is what a session records of its last prompt.
type asked struct {
	words string
	at    time.Time
}

func lastPrompt(s *snapshot.Session) asked {
	if s.Record == nil {
		return asked{}
	}
	return asked{s.Record.Prompt, s.Record.Asked}
}

// New returns an outbox. It sends nothing before it runs.
func New(o Options) *Outbox { return &Outbox{opt: o, all: map[key]*prompt{}} }

// Run watches what becomes of prompts until ctx ends. doors are the adapters that can send, by
// the IDs of their agents, and by is how secrets are removed from records.
func (o *Outbox) Run(ctx context.Context, doors map[string]approvals.Sender, by redact.Rules) {
	hints, stop := o.opt.Roster.Hints()
	defer stop()
	o.mu.Lock()
	o.ctx, o.doors, o.by = ctx, doors, by
	o.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hints:
			o.look()
		}
	}
}

// Send sends a text to a session as its next prompt, or keeps it until the session can take it.
// What becomes of it is in [snapshot.Session.Next]. The error says why it does neither.
func (o *Outbox) Send(agent, id, text string) error {
	s, err := o.check(agent, id, text)
	if err != nil {
		return err
	}
	k := key{agent, id}
	o.mu.Lock()
	defer o.mu.Unlock()
	p := &prompt{Next: snapshot.Next{Text: text, State: snapshot.NextKept}, words: record.Shown(text, o.by), before: lastPrompt(s)}
	if was := o.all[k]; was != nil && was.State != snapshot.NextUntaken {
		return errors.New("one prompt at a time: the last one is still under way")
	}
	o.all[k] = p
	if s.State == snapshot.Idle || !s.Door.AtRest {
		o.send(p, s)
		return nil
	}
	o.opt.Roster.SetNext(agent, id, p.Next)
	return nil
}

func (o *Outbox) check(agent, id, text string) (*snapshot.Session, error) {
	switch {
	case o.opt.Off != nil && o.opt.Off():
		return nil, errors.New("prompts from here are turned off: sessions.reply")
	case len(text) > Longest:
		return nil, fmt.Errorf("too long: %s at most", humanize.Bytes(Longest))
	case strings.TrimSpace(text) == "":
		return nil, errors.New("type something to send")
	}
	s := o.session(agent, id)
	if s == nil {
		return nil, errors.New("this session has ended")
	}
	if why := s.WhyNoPrompt(); why != "" {
		return nil, errors.New(why)
	}
	return s, nil
}

func (o *Outbox) session(agent, id string) *snapshot.Session {
	for _, s := range o.opt.Roster.Sessions() {
		if s.Agent == agent && s.ID == id {
			return &s
		}
	}
	return nil
}

// send hands a prompt to its session's program.
func (o *Outbox) send(p *prompt, s *snapshot.Session) {
	ctx, door := o.ctx, o.doors[s.Agent]
	if ctx == nil || door == nil || ctx.Err() != nil {
		o.untaken(key{s.Agent, s.ID}, p, "mcpdeck does not reach it")
		return
	}
	p.State, p.sent, p.before = snapshot.NextSending, time.Now(), lastPrompt(s)
	o.opt.Roster.SetNext(s.Agent, s.ID, p.Next)
	o.opt.Roster.MarkRead(s.Agent, s.ID)
	recovery.Go("prompt to a session", func() {
		o.follow(ctx, p, s, door)
	})
}

// follow sends a prompt, and gives the session the time to record it: where its program has
// queued it, until some time after the turn.
func (o *Outbox) follow(ctx context.Context, p *prompt, s *snapshot.Session, door approvals.Sender) {
	limited, cancel := context.WithTimeout(ctx, takenWithin)
	err := door.Send(limited, *s, p.Text)
	cancel()
	k, queued := key{s.Agent, s.ID}, errors.Is(err, approvals.ErrQueued)
	for worked := true; worked && !errors.Is(err, approvals.ErrUnsent); {
		if process.Pause(ctx, takenWithin) != nil {
			return
		}
		now := o.session(k.agent, k.id)
		worked = queued && now != nil && (now.State != snapshot.Idle || s.State != snapshot.Idle) && now.State != snapshot.Ended
		s = now
	}
	o.look()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.all[k] != p:
	case err == nil || queued:
		o.untaken(k, p, "")
	default:
		o.untaken(k, p, err.Error())
	}
}

// untaken notes that a prompt has not been taken, and why. The user has it back.
func (o *Outbox) untaken(k key, p *prompt, why string) {
	p.State, p.Note = snapshot.NextUntaken, why
	o.opt.Roster.SetNext(k.agent, k.id, p.Next)
}

// look looks at what the sessions record, and sends what was kept for those that are idle now.
func (o *Outbox) look() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for k, p := range o.all {
		s := o.session(k.agent, k.id)
		switch {
		case s == nil:
			delete(o.all, k)
		case p.sent.IsZero() && p.State == snapshot.NextKept:
			o.kept(k, p, s)
		case !p.sent.IsZero() && p.taken(s):
			delete(o.all, k)
			if o.opt.Taken != nil {
				o.opt.Taken(k.agent, k.id, p.Text)
			}
			o.opt.Roster.SetNext(k.agent, k.id, snapshot.Next{})
		}
	}
}

// taken reports whether the session has recorded the prompt since it was sent.
func (p *prompt) taken(s *snapshot.Session) bool {
	last := lastPrompt(s)
	return last != p.before && last.words == p.words && !last.at.Before(p.sent.Add(-slack))
}

// kept sends a prompt that was kept, or gives it back.
func (o *Outbox) kept(k key, p *prompt, s *snapshot.Session) {
	why := s.WhyNoPrompt()
	switch {
	case why == "" && lastPrompt(s) != p.before:
		why = "it was asked something else meanwhile"
	case why == "" && s.State == snapshot.Idle:
		o.send(p, s)
		return
	case why == "":
		return
	}
	o.untaken(k, p, why)
	o.opt.Notice("Your next prompt for " + sanitize.Line(s.Agent) + " was not sent: " + why)
}

// TakeBack forgets a prompt that is kept or was not taken, and returns its text; "" if there
// is none.
func (o *Outbox) TakeBack(agent, id string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := key{agent, id}
	p := o.all[k]
	if p == nil || p.State == snapshot.NextSending {
		return ""
	}
	delete(o.all, k)
	o.opt.Roster.SetNext(agent, id, snapshot.Next{})
	return p.Text
}
