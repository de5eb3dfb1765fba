package copilot

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Why nobody asks any more.
const (
	agentEnded = "its agent has ended"
	stopped    = "stopped in its terminal"
)

const byTerminal = "answered in its terminal"

// item is one permission.
type item struct {
	claudehooks.Held
	a       *Adapter
	session *session
	pid     int
	stamp   string // of what the hook was told
	command string
	path    string

	log     *claudehooks.Log
	hook    string // ID of the hook, once the session's events have it
	ended   bool   // the hook has
	request string // ID of the permission
	became  string // the kind of its result; "" while there is none
	human   bool   // somebody at the terminal has decided
	over    bool   // its turn has ended
}

// newItem makes an item of a session that is locked.
func (a *Adapter) newItem(s *session, c *hook.Conn, m hook.Message) *item {
	it := &item{a: a, session: s, pid: s.PID, stamp: string(m.Payload.Some("timestamp"))}
	it.Conn, it.Print = c, printed
	it.log = claudehooks.OpenLog(s.dir, filepath.Join(s.dir, "events.jsonl"))
	it.Item = approvals.NewItem(it.prompt(&s.Session, m), a.opt.Rules)
	return it
}

// printed is what the hook prints: the decision alone.
func printed(d claudehooks.Decision) string {
	b, err := json.Marshal(d)
	if err != nil {
		return ""
	}
	return string(b)
}

// prompt makes a request of what a hook is told. What cannot be read can still be shown.
func (it *item) prompt(s *snapshot.Session, m hook.Message) ask.Request {
	p := &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey(), Tool: cmp.Or(m.Payload.Str("toolName"), "a tool"), Door: ask.Held}
	told := *s
	told.Folder = cmp.Or(told.Folder, m.Payload.Str("cwd"))
	r := approvals.Request(&told, p)
	r.Local = true
	raw := m.Payload.Some("toolInput")
	input, _ := rawjson.SplitObject(raw) // as its shape says
	it.command, it.path = input.Str("command"), input.Str("file_path")
	switch err := shapes().Err(m.Raw); {
	case m.TooLarge:
		approvals.InTerminal(&r, "It is too large to show; answer in its terminal.")
		return r
	case err != nil:
		approvals.Misread(&r, err)
		return r
	case isShell(p.Tool):
		claudehooks.Describe(p, claudehooks.Command, input, told.Folder)
	case it.path != "" && input.Str("diff") != "":
		p.Path, p.Diff = it.path, diff(input.Str("diff"))
		approvals.MarkPath(p, told.Folder)
	default:
		claudehooks.Describe(p, claudehooks.Other, input, told.Folder)
	}
	it.Choices = slices.Concat([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil), []approvals.Choice{approvals.DenyAndStop(nil)})
	approvals.Permit(&r, it.Choices)
	return r
}

// diff leaves out what stands before the names of files.
func diff(text string) string {
	if i := strings.Index(text, "\n--- "); i >= 0 {
		return text[i+1:]
	}
	return text
}

// read takes in what the session's events say of the permission: the hook that they tell of
// was told the same at the same time, and the next one that fits is its permission.
func (it *item) read() {
	if it.log == nil {
		return
	}
	it.log.Read(func(text []byte) {
		e, ok := readEvent(text)
		d := &e.Data
		switch {
		case !ok:
		case e.Type == "hook.start" && it.hook == "":
			if in, err := rawjson.SplitObject(d.Input); err == nil && d.HookType == "permissionRequest" && string(in.Some("timestamp")) == it.stamp && in.Str("toolName") == it.Request.Prompt.Tool {
				it.hook = d.Hook
			}
		case it.hook == "":
		case e.Type == "hook.end" && d.Hook == it.hook:
			it.ended = true
		case e.Type == "permission.requested" && it.ended && it.request == "" && it.fits(&e):
			it.request = d.Request
		case e.Type == "permission.completed" && it.request != "" && d.Request == it.request:
			it.became, it.human = cmp.Or(d.Result.Kind, "answered"), d.Source == "human_response"
		case e.Type == "abort", e.Type == "session.shutdown":
			it.over = true
		}
	})
}

func (it *item) fits(e *event) bool {
	asks := e.Data.Asks
	return asks.Command == it.command && (it.path == "" || asks.File == it.path)
}

// Look implements [approvals.Door].
func (it *item) Look() approvals.Fate {
	it.read()
	allowed := strings.HasPrefix(it.became, "approved")
	switch {
	case it.became != "" && !it.human && it.Took(allowed):
		return approvals.Fate{Is: approvals.Taken, Last: true}
	case it.became != "" && allowed:
		return approvals.Fate{Is: approvals.Elsewhere, How: byTerminal + ": allowed", Last: true}
	case it.became != "":
		return approvals.Fate{Is: approvals.Elsewhere, How: byTerminal + ": denied", Last: true}
	case it.over, it.Waits() && it.Stopped():
		return approvals.Fate{Is: approvals.Gone, How: stopped, Last: true}
	case !it.a.alive(it.pid):
		return approvals.Fate{Is: approvals.Gone, How: agentEnded, Last: true}
	case !it.Waits():
		return it.Watch()
	}
	return approvals.Fate{Again: claudehooks.LookEvery}
}
