package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

// unjudged are the reasons that auto mode gives, in 2.1.197 and 2.1.330, where its judge gave none. A
// judge may use the same words in a reason, so only the whole text counts.
var unjudged = []string{
	"Classifier unavailable",
	"Classifier unavailable - blocking for safety",
	"Classifier transcript exceeded context window",
	notAgain,
	"Auto mode unavailable \u2014 stopped after repeated responses with no safety verdict",
	notEvaluated + toDebug,
	notEvaluated + " \u2014 a safety check separate from auto mode blocked this request because of earlier conversation content \u2014 it isn't about the action itself" + toDebug,
}

// notEvaluated and toDebug begin and end some of them.
const (
	notEvaluated = "Auto mode could not evaluate this action and is blocking it for safety"
	toDebug      = " \u2014 run with --debug for details"
)

// notAgain is the one of them after which nothing is to be tried again.
const notAgain = "Classifier request blocked by a safety monitor - no verdict, do not retry"

// toldRetry is what a session's record has once its model was told that it may try again.
const toldRetry = "The PermissionDenied hook indicated you may retry this tool call."

// denied notes what a session's auto mode has denied, and lets the user have it tried again for as long as
// they have set. The turn waits for the hook, which else says nothing and ends before anything else is done.
func (a *Adapter) denied(ctx context.Context, c *hook.Conn, m hook.Message) {
	s, ok := a.identify(c, m.Payload.Str("session_id"))
	why, hold := refusal(m.Payload.Str("reason")), a.opt.Rules.Now().HoldDenied
	if hold <= 0 || !ok || m.TooLarge || s.headless(c) || strings.TrimSpace(why.Reason) == notAgain {
		_, hold = c.Print(""), 0
	}
	if !ok || m.TooLarge {
		return
	}
	if _, r := a.request(s, m); r.Prompt.Misread == "" && (hold == 0 || !a.offer(ctx, c, m, s, r, why)) {
		a.opt.Queue.Refused(r, why)
	}
	_ = c.Print("") // most have been answered
}

func refusal(reason string) ask.Refusal {
	return ask.Refusal{Reason: reason, Unjudged: slices.Contains(unjudged, strings.TrimSpace(reason))}
}

// offer lets the user have a call tried again, and follows what becomes of that. It returns false if they
// cannot be asked.
func (a *Adapter) offer(ctx context.Context, c *hook.Conn, m hook.Message, s session, r ask.Request, why ask.Refusal) bool {
	p, call := r.Prompt, m.Payload.Str("tool_use_id")
	if p.Kind != ask.Permission || call == "" {
		return false
	}
	d := &denial{a: a, session: s, conn: c, until: c.Arrived.Add(a.opt.Rules.Now().HoldDenied)}
	d.log = claudehooks.OpenLog(filepath.Join(s.config, "projects"), transcriptOf(m.Payload.Str("transcript_path"), m.Payload.Str("agent_id")))
	defer d.log.Close()
	p.ID, p.Door, p.Refused, p.Grants, r.ClientDeadline = call, ask.Shared, &why, nil, time.Until(d.until)
	d.choices = approvals.Retries()
	approvals.Permit(&r, d.choices)
	r.Questions[0].Question = "Let " + p.Tool + " be tried again?"
	d.Item = approvals.NewItem(r, a.opt.Rules)
	if d.Open(a.opt.Queue, d) != nil {
		return false
	}
	d.Follow(ctx)
	return true
}

// denial is a call that auto mode has denied, while its turn waits for the user, and what becomes of their word.
type denial struct {
	*approvals.Item
	a       *Adapter
	session session
	conn    *hook.Conn
	until   time.Time // when the turn goes on
	choices []approvals.Choice
	log     *claudehooks.Log

	told time.Time // when the hook was given the user's word; zero: it was not
	over bool
	seen bool // the session's record has it
}

// Answer implements [approvals.Door].
func (d *denial) Answer(r ask.Reply) bool {
	c, _, ok := approvals.Chosen(d.choices, r)
	switch {
	case !ok || !c.Grant.Again:
		return d.conn.Print("") == nil
	case d.conn.Print(claudehooks.HookOutput(map[string]any{"hookEventName": "PermissionDenied", "retry": true})) != nil:
		return false
	}
	d.told = time.Now()
	return true
}

// LetGo implements [approvals.Holder].
func (d *denial) LetGo() { _ = d.conn.Print("") } // an agent that has gone needs nothing

// Gone implements [approvals.Holder].
func (d *denial) Gone() <-chan struct{} { return d.conn.Gone() }

// Over implements [approvals.Holder].
func (d *denial) Over() {
	d.over = true
	_ = d.conn.Print("") // as above
}

// Look implements [approvals.Door].
func (d *denial) Look() approvals.Fate {
	gone := func(why string) approvals.Fate { return approvals.Fate{Is: approvals.Gone, How: why, Last: true} }
	d.read()
	ago := time.Since(d.told)
	switch {
	case d.seen:
		return approvals.Fate{Is: approvals.Taken, Last: true}
	case !d.session.alive():
		return gone(agentEnded)
	case d.over:
		fate := approvals.Fate{Last: d.told.IsZero() || ago >= watchFor, Again: watchEvery}
		if ago >= watchClosely {
			fate.Again = watchSlowly
		}
		return fate
	}
	select {
	case <-d.conn.Gone():
		return gone("its turn went on")
	default:
	}
	left := time.Until(d.until)
	if left <= 0 {
		return gone("nobody answered in time")
	}
	return approvals.Fate{Again: min(left, lookEvery)}
}

// read takes in what the session has recorded. A line that says that something may be tried again counts for
// one denial.
func (d *denial) read() {
	if d.log == nil {
		return
	}
	d.log.Read(func(raw []byte) {
		if d.seen || d.told.IsZero() || !bytes.Contains(raw, []byte(toldRetry)) {
			return
		}
		var r struct {
			UUID    string `json:"uuid"`
			Meta    bool   `json:"isMeta"`
			Message struct {
				Content any `json:"content"`
			} `json:"message"`
		}
		if json.Unmarshal(raw, &r) == nil && r.Meta && r.Message.Content == any(toldRetry) {
			d.seen = d.a.saw(r.UUID)
		}
	})
}

// saw reports whether a record was not seen before.
func (a *Adapter) saw(record string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.retries[record] {
		return false
	}
	if a.retries == nil || len(a.retries) > knownSessions {
		a.retries = map[string]bool{}
	}
	a.retries[record] = true
	return true
}
