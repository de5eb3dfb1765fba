package codex

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/prompts/hook"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/socket"
)

// Serve implements [hook.Handler]. It is for sessions that no daemon runs, which ask for
// permissions by a hook; their terminal shows nothing until the hook has ended. What the
// deck is asked over the daemon's socket is left to that.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Once {
		return
	}
	defer func() { _ = c.Print("") }() // the connection is closed if it has been answered
	m, err := c.Next(ctx)
	if err != nil || m.Event != "PermissionRequest" || m.TooLarge {
		return
	}
	session := m.Payload.Str("session_id")
	pid := a.behind(c.PID)
	if session == "" || pid == 0 || a.loaded(session) || !a.takes(session, m.Payload.Str("cwd")) {
		return
	}
	h := hooked(m.Payload)
	h.req.Prompt.Session, h.req.From.Session = session, session
	h.req.Peer = ask.Peer{PID: pid, Program: agent, Cwd: h.req.From.Cwd, Key: agent + " " + session, Agent: pid}
	row := a.row(h, m.Payload.Str("model"), m.Payload.Str("transcript_path"))
	waits := row
	waits.State, waits.Since, waits.WaitingFor = deck.WaitsForPermission, a.now(), "permission to use "+h.req.Prompt.Tool
	a.report(waits)
	if call, err := a.opt.Queue.Open(h.req); err == nil {
		a.hold(ctx, c, h, call)
	}
	a.report(row)
}

// report tells of a session, unless its process has gone on with another one.
func (a *Adapter) report(s deck.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.alone[s.PID] == s.ID {
		a.opt.Roster.Report(s)
	}
}

// takes reports whether a session may bring one more prompt by its hook.
func (a *Adapter) takes(session, folder string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pace.Admit(session, folder, 0, a.now())
}

// row is the session that a hook belongs to, as the roster has it. Of the sessions of one
// process, the one that asked last is there.
func (a *Adapter) row(h *held, model, transcript string) deck.Session {
	p := &h.req.Peer
	a.mu.Lock()
	last := a.alone[p.PID]
	a.alone[p.PID] = h.req.Prompt.Session
	maps.DeleteFunc(a.alone, func(pid int, _ string) bool { return !alive(pid) })
	a.mu.Unlock()
	if last != "" && last != h.req.Prompt.Session {
		a.opt.Roster.Gone(agent, last)
	}
	return deck.Session{
		Agent: agent, ID: h.req.Prompt.Session, PID: p.PID, State: deck.StateUnknown, Note: "its hooks report only permissions",
		Folder: p.Cwd, Mode: h.req.Prompt.Mode, Model: model, Transcript: transcript, Verified: true,
	}
}

// behindCodex returns the process of Codex that has started a hook; 0 if none has.
func behindCodex(pid int) int {
	all := socket.Ancestors(pid)
	if i := slices.IndexFunc(all, func(p int) bool { return socket.Program(p) == agent }); i >= 0 {
		return all[i]
	}
	return 0
}

// loaded reports whether a daemon that the deck is connected to runs a session.
func (a *Adapter) loaded(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		l.mu.Lock()
		t := l.threads[session]
		is := t != nil && !t.status.gone()
		l.mu.Unlock()
		if is {
			return true
		}
	}
	return false
}

// held is a permission that came by a hook.
type held struct{ req ask.Request }

// hooked reads what a hook is told.
func hooked(payload rawjson.Object) *held {
	input, _ := rawjson.SplitObject(payload.Some("tool_input")) // shown as it is otherwise
	p := &ask.Prompt{
		Kind: ask.Permission, ID: ask.NewKey(), Agent: agent, Mode: payload.Str("permission_mode"), Door: ask.Held,
		Tool: cmp.Or(payload.Str("tool_name"), "a tool"), Words: input.Str("description"),
	}
	folder := payload.Str("cwd")
	if p.Command = input.Str("command"); p.Command == "" || len(input.Only("command", "description")) != len(input) {
		p.Args = payload.Some("tool_input")
	}
	p.Marks = prompts.Marks(p.Command, folder)
	p.Grants = []ask.Grant{{Allow: true, Scope: ask.Once}, {Scope: ask.Once}, {Scope: ask.Once, Note: true}}
	return &held{req: ask.Request{
		Local: true, Prompt: p, From: ask.From{Client: agent, Cwd: folder},
		Questions: []ask.Question{{
			ID: "permission", Header: "Permission", Question: "Allow " + p.Tool + "?", Kind: ask.Choice, Required: true,
			Options: []ask.Option{{Label: "Allow once"}, {Label: "Deny"}, {Label: "Deny with a note"}},
		}},
	}}
}

// hold waits for the user, until the prompt is let go to its terminal.
func (a *Adapter) hold(ctx context.Context, c *hook.Conn, h *held, call *ask.Call) {
	const inTerminal = "its terminal asks now"
	wait := time.NewTimer(a.opt.Rules.Now().Hold)
	defer wait.Stop()
	for {
		select {
		case <-call.Done():
			reply, err := call.Reply()
			if err != nil {
				return
			}
			text, ok := h.answer(reply)
			if !ok || c.Print(text) != nil {
				call.Delivered(ask.NotTaken)
				return
			}
			return // nothing tells
		case <-c.Gone():
			call.Settled("Codex has ended its hook")
			return
		case <-call.Released():
			call.Settled(inTerminal)
			return
		case <-wait.C:
			if call.LetGo() {
				call.Settled(inTerminal)
				return
			}
			wait.Reset(a.opt.Rules.Now().HoldAgain())
		case <-ctx.Done():
			call.Leave("mcpdeck was closed")
			return
		}
	}
}

// answer is what the hook prints for the user's reply.
func (h *held) answer(r ask.Reply) (string, bool) {
	type decision struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message,omitempty"`
	}
	d := decision{"deny", cmp.Or(strings.TrimSpace(r.Reason), prompts.Denied)}
	if r.Status != ask.Declined {
		grant, ok := h.req.Granted(r.Results)
		switch {
		case r.Status == ask.TimedOut || !ok:
			return "", false
		case grant.Allow:
			d = decision{Behavior: "allow"}
		case grant.Note:
			d.Message = cmp.Or(prompts.Note(r.Results[0]), prompts.Denied)
		}
	}
	raw, err := rpc.Raw(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": d}})
	return string(raw), err == nil
}
