package claude

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

const sessionID = "0a1b"

// desk is an adapter between a queue and one Claude Code session, which is this process.
// It is made within a bubble of synctest.
type desk struct {
	t       *testing.T
	a       *Adapter
	q       *ask.Queue
	roster  sessions.Roster
	folder  string // of Claude Code's files
	project string
	rules   approvals.Rules
	with    approvals.Start // its process
	ctx     context.Context
	close   context.CancelFunc
}

func newDesk(t *testing.T, set func(*Options)) *desk {
	t.Helper()
	d := &desk{t: t, q: ask.New(ask.Options{}), folder: t.TempDir(), project: t.TempDir(), rules: approvals.Rules{Hold: time.Minute}}
	o := Options{Deps: approvals.Deps{Queue: d.q, Roster: &d.roster, Folder: d.folder, Home: "/home/u", Rules: func() approvals.Rules { return d.rules }}}
	if set != nil {
		set(&o)
	}
	d.a = New(o)
	d.a.at = func(int) string { return d.project }
	d.a.began = func(int) time.Time { return time.Time{} } // the clock of these tests is another than the system's
	d.with = approvals.Start{Vars: map[string]string{"SHELL": "/bin/bash", "HOME": t.TempDir()}, Paths: []string{"/usr/bin:/bin"}}
	d.a.start = func(int) approvals.Start { return d.with }
	d.ctx, d.close = context.WithCancel(t.Context())
	for _, dir := range []string{"sessions", "projects/p/" + sessionID + "/subagents"} {
		if err := os.MkdirAll(filepath.Join(d.folder, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.status("busy", "")
	d.record("")
	t.Cleanup(func() {
		d.close()
		_ = d.q.Close()
	})
	return d
}

func (d *desk) transcript() string { return filepath.Join(d.folder, "projects/p", sessionID+".jsonl") }

// record adds lines to the session's transcript.
func (d *desk) record(lines string) {
	d.t.Helper()
	appendTo(d.t, d.transcript(), lines)
}

func appendTo(t *testing.T, path, lines string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(lines); err != nil {
		t.Fatal(err)
	}
}

// status has the session's file say what its terminal does as of now.
func (d *desk) status(status, waits string) {
	d.writes(session{ID: sessionID, Status: status, Waits: waits, Stamp: time.Now().UnixMilli(), Entry: "cli"})
}

func (d *desk) writes(s session) {
	d.t.Helper()
	synctest.Wait() // who finds half of the file looks again later
	s.PID, s.Folder, s.Version, s.Tmux, s.Began = os.Getpid(), d.project, "2.1.330", "0:@0.%7", cmp.Or(s.Began, 1)
	if s.Started == "" {
		s.Started = pid.Born(os.Getpid())
	}
	b, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(filepath.Join(d.folder, "sessions", strconv.Itoa(s.PID)+".json"), b, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// hooked is a hook that the session has started.
type hooked struct {
	printed chan string // closed without a text when the deck hung up
	conn    net.Conn
}

// hook has the session start a hook for an event. Members of the payload that are not
// given are as usual.
func (d *desk) hook(event string, members map[string]any) *hooked {
	d.t.Helper()
	return d.hookWith(event, members, nil)
}

func (d *desk) hookWith(event string, members map[string]any, env map[string]string) *hooked {
	d.t.Helper()
	payload := map[string]any{
		"hook_event_name": event, "session_id": sessionID, "transcript_path": d.transcript(), "cwd": d.project,
		"permission_mode": "default", "prompt_id": "p",
	}
	for k, v := range members {
		payload[k] = v
	}
	hello, err := json.Marshal(map[string]any{"v": 1, "hello": "claude", "mode": "hook", "env": env})
	if err != nil {
		d.t.Fatal(err)
	}
	line, err := json.Marshal(map[string]any{"event": "hook", "payload": payload})
	if err != nil {
		d.t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	h := &hooked{printed: make(chan string, 1), conn: theirs}
	go func() { _, _ = theirs.Write([]byte(string(hello) + "\n" + string(line) + "\n")) }()
	go func() {
		c, err := hook.Greet(ours, os.Getpid())
		if err == nil {
			d.a.Serve(d.ctx, c)
			c.Close()
		}
	}()
	go func() {
		defer close(h.printed)
		for in := bufio.NewScanner(theirs); in.Scan(); {
			var m struct{ Print *string }
			if json.Unmarshal(in.Bytes(), &m) == nil && m.Print != nil {
				h.printed <- *m.Print
				return
			}
		}
	}()
	synctest.Wait()
	return h
}

// bash is a PermissionRequest for a command.
func (d *desk) bash(command string, members ...map[string]any) *hooked {
	all := map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command, "description": "words"}}
	for _, m := range members {
		for k, v := range m {
			all[k] = v
		}
	}
	return d.hook("PermissionRequest", all)
}

// used is the transcript's line for a call, and result the one for the end of call t1.
func used(id, tool string, input any) string {
	b, _ := json.Marshal(input) // always encodes
	return fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`+"\n", id, tool, b)
}

func result(more string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"x"}]}%s}`+"\n", more)
}

// only returns the one open item.
func (d *desk) only() ask.Item {
	d.t.Helper()
	synctest.Wait()
	s := d.q.Pending()
	if len(s.Items) != 1 {
		d.t.Fatalf("%d items are open", len(s.Items))
	}
	return s.Items[0]
}

// chooses has the user choose options by their labels and send.
func (d *desk) chooses(it ask.Item, results ...ask.Result) {
	d.t.Helper()
	for i := range results {
		results[i].ID = it.Request.Questions[i].ID
		if results[i].SelectedOptions == nil {
			results[i].SelectedOptions = []string{}
		}
	}
	if err := d.q.Answer(it.ID, results); err != nil {
		d.t.Fatal(err)
	}
	synctest.Wait()
}

func chosen(labels ...string) ask.Result { return ask.Result{SelectedOptions: labels} }

// prints fails the test unless the hook has printed this.
func (d *desk) prints(h *hooked, want string) {
	d.t.Helper()
	synctest.Wait()
	select {
	case got := <-h.printed:
		if want == "" && got == "" {
			return
		}
		var a, b any
		if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			d.t.Errorf("it prints\n%s, want\n%s", got, want)
		}
	default:
		d.t.Error("it prints nothing yet")
	}
}

func (d *desk) waits(h *hooked) {
	d.t.Helper()
	synctest.Wait()
	select {
	case got := <-h.printed:
		d.t.Errorf("it does not wait: %q", got)
	default:
	}
}

func (d *desk) gone(how string) {
	d.t.Helper()
	synctest.Wait()
	s := d.q.Pending()
	if len(s.Items) != 0 {
		d.t.Fatalf("%d items are open", len(s.Items))
	}
	if last := s.History[len(s.History)-1]; last.Delivery != ask.Elsewhere || last.How != how {
		d.t.Errorf("it went %s: %q, want %q", last.Delivery, last.How, how)
	}
}

func bubble(t *testing.T, set func(*Options), f func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newDesk(t, set)) })
}

const suggested = `[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"go test *"}],"behavior":"allow","destination":"localSettings"},` +
	`{"type":"addDirectories","directories":["/srv"],"destination":"session"},{"type":"setMode","mode":"acceptEdits","destination":"session"}]`

func TestAPermissionIsAnsweredAsTheUserChose(t *testing.T) {
	allow := func(more string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"` + more + `}}}`
	}
	deny := func(more string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":` + more + `}}}`
	}
	rule, folder := suggested[1:strings.Index(suggested, `,{"type":"addD`)], `{"type":"addDirectories","directories":["/srv"],"destination":"session"}`
	for _, tt := range []struct {
		name   string
		answer ask.Result
		want   string
	}{
		{"once", chosen("Allow once"), allow("")},
		{"a rule", chosen("Always allow"), allow(`,"updatedPermissions":[` + rule + `]`)},
		{"a folder", chosen("Allow this folder for this session"), allow(`,"updatedPermissions":[` + folder + `]`)},
		{"deny", chosen("Deny"), deny(`"the user denied this"`)},
		{"with a note", ask.Result{SelectedOptions: []string{"Deny with a message"}, Note: "use make"}, deny(`"use make"`)},
		{"and stop", chosen("Deny and stop the turn"), deny(`"the user denied this","interrupt":true`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				h := d.bash("go test ./...", map[string]any{"permission_suggestions": json.RawMessage(suggested)})
				it := d.only()
				p := it.Request.Prompt
				if p.Kind != ask.Permission || p.Door != ask.Shared || p.Tool != "Bash" || p.Command != "go test ./..." || p.Words != "words" || !it.Request.Verified() {
					t.Errorf("the prompt is %+v", p)
				}
				d.waits(h)
				d.chooses(it, tt.answer)
				d.prints(h, tt.want)
			})
		})
	}
}

func TestALastingOptionTellsItsExactEffect(t *testing.T) {
	choices, err := choicesOf(json.RawMessage(suggested), false, "/home/u")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range choices {
		if c.Grant.Scope != ask.Once {
			got = append(got, fmt.Sprintf("%s|%s|%s", c.Grant.Scope, c.Label, c.Grant.Effect))
		}
	}
	want := []string{
		"always|Always allow|Bash(go test *) in this project (writes .claude/settings.local.json)",
		"session|Allow this folder for this session|work in the folder /srv in this session",
		"session|Allow all edits in this session|stop asking for edits (mode acceptEdits) in this session",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("options\n%s", strings.Join(got, "\n"))
	}
}

func TestAnOptionSaysForWhomItLastsAndInWhichFile(t *testing.T) {
	for destination, want := range map[string]string{
		"session":         "session|in this session",
		"localSettings":   "always|in this project (writes .claude/settings.local.json)",
		"projectSettings": "always|in this project, for everyone (writes .claude/settings.json)",
		"userSettings":    "always|everywhere (writes " + filepath.Join("~", ".claude", "settings.json") + ")",
	} {
		_, _, where, known := effectOf(json.RawMessage(`{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"`+destination+`"}`), filepath.FromSlash("/home/u"))
		if got := fmt.Sprintf("%s|%s", where.scope, where.words); !known || got != want {
			t.Errorf("%s: %s, %v, want %s", destination, got, known, want)
		}
	}
	if _, _, _, known := effectOf(json.RawMessage(`{"type":"addRules","rules":[{"ruleContent":"x"}],"behavior":"allow","destination":"session"}`), ""); known {
		t.Error("a rule for no tool is offered")
	}
}

func TestASuggestionOfUnknownEffectIsNotOffered(t *testing.T) {
	for name, s := range map[string]string{
		"a type":           `{"type":"replaceRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}`,
		"a place":          `{"type":"setMode","mode":"plan","destination":"cloud"}`,
		"a mode":           `{"type":"setMode","mode":"yolo","destination":"session"}`,
		"a member":         `{"type":"setMode","mode":"plan","destination":"session","also":1}`,
		"another behavior": `{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"session"}`,
		"two readings":     `{"type":"addRules","rules":[{"toolName":"Read","ToolName":"Bash"}],"behavior":"allow","destination":"session"}`,
		"no object":        `7`,
	} {
		choices, err := choicesOf(json.RawMessage("["+s+`,{"type":"setMode","mode":"plan","destination":"session"}]`), false, "")
		if err != nil || len(choices) != 5 { // the known one, and no "all of these"
			t.Errorf("%s: %d options, %v", name, len(choices), err)
		}
	}
	if _, err := choicesOf(json.RawMessage(`{}`), false, ""); err == nil {
		t.Error("suggestions that are no list were taken")
	}
}

func TestOnlyOnceIsOfferedIfTheUserWantsNothingElse(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.rules.OnceOnly = true // set while the adapter is in use
		d.bash("x", map[string]any{"permission_suggestions": json.RawMessage(suggested)})
		for _, g := range d.only().Request.Prompt.Grants {
			if g.Scope != ask.Once {
				t.Errorf("offered is %+v", g)
			}
		}
	})
}

func inTerminal(it ask.Item) bool { return it.Request.InTerminal() }

// What changes how a command runs is part of what is asked, whatever Claude Code calls it.
func TestWhatChangesHowACommandRunsIsShown(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		h := d.hook("PermissionRequest", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{
			"command": "make", "description": "words", "dangerouslyDisableSandbox": true, "run_in_background": true, "timeout": 600000,
		}})
		args := string(d.only().Request.Prompt.Args)
		for _, want := range []string{`"dangerouslyDisableSandbox":true`, `"run_in_background":true`, `"timeout":600000`} {
			if !strings.Contains(args, want) {
				t.Errorf("the arguments %s lack %s", args, want)
			}
		}
		if strings.Contains(args, "make") || strings.Contains(args, "words") {
			t.Errorf("what stands elsewhere is in %s, too", args)
		}
		d.chooses(d.only(), chosen("Deny"))
		<-h.printed
	})
}

// Copilot CLI runs the hooks that Claude Code has in a project, some in a shape of its own.
func TestWhatAnotherProgramBringsByTheHookIsLetGo(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		for event, members := range map[string]map[string]any{
			"permissionRequest": {"session_id": "", "sessionId": "s", "toolName": "bash"},
			"PermissionRequest": {"session_id": "", "tool_name": "Bash", "tool_input": bashInput("make")},
		} {
			d.prints(d.hook(event, members), "")
			if n := len(d.q.Pending().Items); n > 0 {
				t.Errorf("%s: %d are open", event, n)
			}
		}
	})
}
