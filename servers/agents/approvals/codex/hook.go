package codex

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
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
	row := a.row(session, pid, m.Payload)
	h := &held{}
	h.Conn, h.Choices, h.Print = c, slices.Concat([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)), claudehooks.Decision.Printed
	r := hooked(&row, m.Payload, h.Choices)
	if err := shapes().Err(m.Raw); err != nil {
		approvals.Misread(&r, err)
	}
	h.Item = approvals.NewItem(r, a.opt.Rules)
	waits := row
	waits.State, waits.Since, waits.WaitingFor = snapshot.WaitsForPermission, a.now(), "permission to use "+h.Request.Prompt.Tool
	a.report(waits)
	h.Ask(ctx, a.opt.Queue, h)
	a.report(row)
}

// report tells of a session, unless its process has gone on with another one.
func (a *Adapter) report(s snapshot.Session) {
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
func (a *Adapter) row(session string, pid int, o rawjson.Object) snapshot.Session {
	a.mu.Lock()
	last := a.alone[pid]
	a.alone[pid] = session
	maps.DeleteFunc(a.alone, func(pid int, _ string) bool { return !alive(pid) })
	a.mu.Unlock()
	if last != "" && last != session {
		a.opt.Roster.Gone(agent, last)
	}
	return snapshot.Session{
		Agent: agent, ID: session, PID: pid, State: snapshot.StateUnknown, Note: "its hooks report only permissions", Verified: true,
		Folder: o.Str("cwd"), Mode: o.Str("permission_mode"), Model: o.Str("model"), Transcript: o.Str("transcript_path"),
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
type held struct{ claudehooks.Held }

// hooked reads what a hook is told.
func hooked(s *snapshot.Session, payload rawjson.Object, choices []approvals.Choice) ask.Request {
	input, _ := rawjson.SplitObject(payload.Some("tool_input")) // shown as it is otherwise
	p := &ask.Prompt{
		Kind: ask.Permission, ID: ask.NewKey(), Door: ask.Held, Tool: cmp.Or(payload.Str("tool_name"), "a tool"),
		Words: input.Str("description"), Command: input.Str("command"),
	}
	if p.Command == "" || len(input.Only("command", "description")) != len(input) {
		p.Args = payload.Some("tool_input")
	}
	p.Marks = approvals.Marks(p.Command, s.Folder)
	r := approvals.Request(s, p)
	r.Local = true
	approvals.Permit(&r, choices)
	return r
}

// Look implements [approvals.Door].
func (h *held) Look() approvals.Fate {
	fate := approvals.Fate{Is: approvals.Elsewhere, How: "Codex has ended its hook", Last: true}
	switch {
	case h.Let():
		fate.How = "its terminal asks now"
	case !h.Waits(), !h.Stopped():
		return approvals.Fate{Last: !h.Waits()}
	}
	return fate
}
