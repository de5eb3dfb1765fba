package approvals

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// What agents read of calls that are not made.
const (
	notAllowed = "The user did not allow this call."
	notYet     = "The user has not decided yet. Call the same tool with the same arguments again to pick up the answer."
	ambiguous  = "The arguments can be read in several ways, so the user cannot be asked: "
)

// stillWaits is how often an agent is told that its call waits.
const stillWaits = 15 * time.Second

// Calls has the user, or their rules, decide which calls of tools reach their MCP servers.
type Calls struct {
	rules    *ByRules
	patience func(who snapshot.Caller, progress bool) time.Duration

	mu    sync.Mutex
	waits map[string]bool // by key: one waits in this process
}

// NewCalls returns one that asks in a queue in which rules answer. A call of a client may take as long as patience says; 0: as it likes.
func NewCalls(q *ByRules, patience func(who snapshot.Caller, progress bool) time.Duration) *Calls {
	return &Calls{rules: q, patience: patience, waits: map[string]bool{}}
}

// ToolCall is a call that is to be made.
type ToolCall struct {
	Server, Tool string // by the tool's own name
	Args         json.RawMessage
	Ask          bool // the settings of its server have it asked, whatever no rule is about
	By           snapshot.Caller
	Waits        func() (done func())       // marks it as waiting for the user
	Still        func(waited time.Duration) // tells the client that the call waits; nil: it cannot be told
}

// Refusal is why a call is not made, for its agent.
type Refusal struct {
	Text    string
	Pending bool // the user may still allow it
}

// Approve returns once the call may be made, or why it is not; nil: it may. It waits for the user where it has to, and
// returns when ctx ends.
func (c *Calls) Approve(ctx context.Context, t ToolCall) *Refusal {
	if t.By.OnScreen {
		return nil
	}
	req := c.request(&t)
	now := c.rules.book.Recent()
	d := book.Decision{}
	if now.Enabled {
		d = c.rules.decide(&now, &req)
	}
	if !t.Ask && d.Verdict != book.Deny && d.Verdict != book.Ask {
		return nil
	}
	args, err := canonical(t.Args)
	if err != nil {
		return &Refusal{Text: ambiguous + err.Error() + "."}
	}
	key := c.key(&t, args)
	defer c.done(key)
	call, err := c.open(&req, key, d.Verdict == book.Ask || d.Verdict == "")
	if err != nil {
		return &Refusal{Text: "The user could not be asked: " + err.Error() + "."}
	}
	return c.wait(ctx, &t, &req, call)
}

// open finds the same call again that waits for the user, or that the user has decided, and else asks, or has a rule answer.
func (c *Calls) open(req *ask.Request, key string, asks bool) (*ask.Call, error) {
	req.ResumeKey = key
	if asks {
		if call, err := c.rules.Resume(key, req.Owner, req.Peer); err == nil {
			return call, nil
		}
	}
	return c.rules.Open(*req)
}

// wait waits for the decision.
func (c *Calls) wait(ctx context.Context, t *ToolCall, req *ask.Request, call *ask.Call) *Refusal {
	began, marked := time.Now(), false
	var over <-chan time.Time
	if limit := c.patience(t.By, t.Still != nil); limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	beat := time.NewTicker(stillWaits)
	defer beat.Stop()
	for {
		select {
		case <-call.Done():
			if refusal, decided := decided(ctx, call); decided {
				return refusal
			}
			call.Gone("it changed before a rule answered: you are asked")
			next, err := c.rules.Answering.Open(*req)
			if err != nil {
				return &Refusal{Text: "The user could not be asked: " + err.Error() + "."}
			}
			call = next
			continue
		default:
		}
		if !marked && t.Waits != nil {
			marked = true
			defer t.Waits()()
		}
		if t.Still != nil {
			t.Still(time.Since(began))
		}
		select {
		case <-call.Done():
		case <-beat.C:
		case <-over:
			call.HandOver()
			if _, err := call.Reply(); err != nil {
				return &Refusal{Text: notYet, Pending: true}
			}
		case <-ctx.Done():
			call.Leave("the agent stopped waiting")
			return &Refusal{}
		}
	}
}

// decided returns what a reply comes to; false if it was a rule's that is not about the call any more.
func decided(ctx context.Context, call *ask.Call) (*Refusal, bool) {
	reply, err := call.Reply()
	switch {
	case errors.Is(err, ask.ErrSuperseded):
		return &Refusal{Text: notYet, Pending: true}, true
	case err != nil:
		return &Refusal{Text: "The user could not be asked: " + err.Error() + "."}, true
	case ctx.Err() != nil:
		call.Delivered(ask.NotTaken)
		return &Refusal{}, true
	case !call.Holds():
		return nil, false
	}
	call.Delivered(ask.Delivered)
	choice, note, ok := Chosen(callChoices(), reply)
	switch {
	case ok && choice.Grant.Allow:
		return nil, true
	case call.ByRule():
		return &Refusal{Text: note}, true
	case note != "":
		return &Refusal{Text: notAllowed + " They said: " + note}, true
	}
	return &Refusal{Text: notAllowed}, true
}

func callChoices() []Choice { return append([]Choice{AllowOnce(nil)}, Denials(nil)...) }

// request makes a permission of a call.
func (c *Calls) request(t *ToolCall) ask.Request {
	by := &t.By
	known, _ := clients.Find(by.Name())
	p := &ask.Prompt{
		Kind: ask.Permission, ID: ask.NewKey(), Agent: cmp.Or(known.ID, by.Client), Session: cmp.Or(by.Session, by.Agent), Tool: t.Tool + " of " + t.Server, Args: t.Args, Door: ask.Here,
		Does: &ask.Does{Server: t.Server, Tool: t.Tool, Args: t.Args},
	}
	if t.Ask {
		p.Notes = []string{"asked: the settings of " + t.Server + " have it asked"}
	}
	r := ask.Request{
		From: ask.From{Client: by.Client, ClientVersion: by.ClientVersion, Session: by.Session, Cwd: by.Folder()},
		Peer: ask.Peer{PID: by.PID, Agent: by.PID, Program: by.Program, Key: by.Agent, Cwd: by.Folder()}, Owner: by.Identity, Prompt: p,
	}
	if by.Transport != "unix" {
		r.Peer.Cwd = ""
	}
	Permit(&r, callChoices())
	return r
}

// key is the same for the next equal call of an agent, and for no other that waits meanwhile.
func (c *Calls) key(t *ToolCall, args []byte) string {
	h := sha256.New()
	for _, part := range []string{t.By.Identity, t.Server, t.Tool, string(args)} {
		b := sha256.Sum256([]byte(part))
		h.Write(b[:])
	}
	key := hex.EncodeToString(h.Sum(nil))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits[key] {
		key = ask.NewKey()
	}
	c.waits[key] = true
	return key
}

func (c *Calls) done(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waits, key)
}

// canonical returns arguments without what does not matter in them: spaces, and the order of members. Two that a
// reader may tell apart stay different.
func canonical(raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	switch levels, _ := rawjson.Measure(raw); {
	case !json.Valid(raw) || !utf8.Valid(raw):
		return nil, errors.New("they are not valid JSON")
	case levels > book.Deepest:
		return nil, errors.New("they are too deep")
	}
	if err := new(rawjson.Rule).Check(raw); err != nil {
		return nil, err
	}
	return sorted(raw), nil
}

func sorted(raw json.RawMessage) []byte {
	unclear := func(m rawjson.Member) bool { return strings.ContainsRune(m.Key, utf8.RuneError) }
	if o, err := rawjson.SplitObject(raw); err == nil && !slices.ContainsFunc(o, unclear) {
		o = slices.Clone(o)
		slices.SortFunc(o, func(a, b rawjson.Member) int { return strings.Compare(a.Key, b.Key) })
		for i := range o {
			o[i].Value = sorted(o[i].Value)
		}
		return o.JSON()
	}
	if all, is := rawjson.SplitArray(raw); is {
		all = slices.Clone(all)
		for i := range all {
			all[i] = sorted(all[i])
		}
		return rawjson.Array(all...)
	}
	return bytes.TrimSpace(raw)
}
