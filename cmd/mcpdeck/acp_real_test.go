//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// acpAgent is a real agent that speaks the Agent Client Protocol.
type acpAgent struct {
	id   string // in the list of sessions
	tool string // that runs a command
	// start writes what the agent reads in a home, and returns how it is started, and its
	// variables.
	start func(d *driver, model *mockmodel.Server) (line, env []string)
}

func acpAgents() []acpAgent {
	family := func(id string) func(*driver, *mockmodel.Server) ([]string, []string) { // of OpenCode
		return func(d *driver, model *mockmodel.Server) (line, env []string) {
			openCodeHome(d, id, model, "allow")
			return []string{realtest.Agent(d.t, id), "acp"}, []string{agents.Of(id).Env[0] + "DISABLE_MODELS_FETCH=1"}
		}
	}
	return []acpAgent{
		{id: "opencode", tool: "bash", start: family("opencode")},
		{id: "kilo", tool: "bash", start: family("kilo")},
		{id: "copilot", tool: "bash", start: func(d *driver, model *mockmodel.Server) (line, env []string) {
			return []string{realtest.Agent(d.t, "copilot"), "--acp"}, []string{"COPILOT_PROVIDER_BASE_URL=" + model.URL + "/v1", "COPILOT_PROVIDER_API_KEY=mock", "COPILOT_MODEL=mock", "COPILOT_OFFLINE=true"}
		}},
		{id: "qwen", tool: "run_shell_command", start: func(d *driver, model *mockmodel.Server) (line, env []string) {
			qwenHome(d)
			return []string{realtest.Agent(d.t, "qwen"), "--acp", "--approval-mode", "default"}, []string{"OPENAI_BASE_URL=" + model.URL + "/v1", "OPENAI_API_KEY=mock", "OPENAI_MODEL=mock"}
		}},
		{id: "gemini", tool: "run_shell_command", start: func(d *driver, model *mockmodel.Server) (line, env []string) {
			d.makes(filepath.Join(d.home, ".gemini/settings.json"), `{"security":{"folderTrust":{"enabled":false},"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false}}`)
			return []string{realtest.Agent(d.t, "gemini"), "--acp", "-m", "gemini-2.5-pro"}, []string{"GOOGLE_GEMINI_BASE_URL=" + model.URL, "GEMINI_API_KEY=x"}
		}},
		{id: "kimi", tool: "Bash", start: func(d *driver, model *mockmodel.Server) (line, env []string) {
			d.makes(filepath.Join(d.home, ".kimi-code/config.toml"), `default_model = "alias"
[providers.mock]
type = "openai"
base_url = "`+model.URL+`/v1"
api_key = "mock"
[models.alias]
provider = "mock"
model = "mock"
max_context_size = 200000
capabilities = ["tool_use"]
`)
			return []string{realtest.Agent(d.t, "kimi"), "acp"}, nil
		}},
		{id: "claude", tool: "Bash", start: func(d *driver, model *mockmodel.Server) (line, env []string) {
			claudeHome(d)
			return []string{realtest.Program(d.t, "claude-agent-acp", "@agentclientprotocol/claude-agent-acp", "0.49.0", "claude-agent-acp")},
				[]string{"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=mock", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
		}},
	}
}

// editor is a stand-in for an editor. It keeps each line that passes it, and the agent's
// wrapper keeps those that pass the agent.
type editor struct {
	*decktest.Agent
	t       *testing.T
	d       *driver
	session string
	turn    int              // the ID of the prompt that is not answered; 0: none
	cancels []map[string]any // what the agent need not be told any more
	asks    int              // requests of permissions

	wrote bytes.Buffer // by the editor, without what comes too late
	read  lines
	late  map[string]bool // requests that the deck has answered, by their IDs
	hung  chan struct{}   // the proxy has ended its output
}

// newEditor has an editor start an agent by mcpdeck acp, and open a session.
func newEditor(d *driver, a *acpAgent, model *mockmodel.Server) *editor {
	d.t.Helper()
	line, env := a.start(d, model)
	if a.id != "claude" {
		if out, err := d.command("setup", a.id, "--prompts", "--yes").CombinedOutput(); err != nil { // which has nothing asked twice
			d.t.Fatalf("%v: %s", err, out)
		}
	}
	bin := filepath.Join(d.home, "bin")
	d.makes(filepath.Join(bin, a.id), fmt.Sprintf("#!/bin/bash\necho $$ >%[1]s/pid\nexec '%[2]s' < <(exec tee %[1]s/heard) > >(exec tee %[1]s/said)\n", bin, strings.Join(line, "' '")))
	if err := os.Chmod(filepath.Join(bin, a.id), 0o700); err != nil {
		d.t.Fatal(err)
	}
	c := d.command("acp", "--", a.id)
	for i, v := range c.Env {
		if strings.HasPrefix(v, "PATH=") {
			c.Env[i] = "PATH=" + bin + ":" + filepath.Dir(realtest.Agent(d.t, "node")) + ":" + d.path
		}
	}
	c.Env = append(c.Env, env...)
	said := &lines{}
	c.Stderr = said
	d.t.Cleanup(func() {
		if d.t.Failed() {
			d.t.Logf("the agent said: %s", said.String())
		}
	})
	in, err := c.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	e := &editor{t: d.t, d: d, late: map[string]bool{}, hung: make(chan struct{})}
	e.Agent = decktest.NewAgent(d.t, in)
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	e.Cmd = c
	d.t.Cleanup(func() { d.kill(c) })
	go func() {
		defer close(e.hung)
		defer close(e.Lines)
		e.Hear(io.TeeReader(out, &e.read))
	}()
	if got := e.request("initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"zed","version":"1"}}`); got["result"] == nil {
		d.t.Fatalf("initialize: %v", got)
	}
	got := e.request("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, d.project))
	result, _ := got["result"].(map[string]any)
	if e.session, _ = result["sessionId"].(string); e.session == "" {
		d.t.Fatalf("session/new: %v", got)
	}
	return e
}

// writes writes a line that has to reach the agent.
func (e *editor) writes(format string, args ...any) {
	e.t.Helper()
	line := fmt.Sprintf(format, args...)
	e.wrote.WriteString(line + "\n")
	e.Write(line)
}

func (e *editor) sends(method, params string) int {
	e.t.Helper()
	e.Last++
	e.writes(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.Last, method, params)
	return e.Last
}

func (e *editor) request(method, params string) map[string]any {
	e.t.Helper()
	return e.Answer(e.sends(method, params))
}

// says prompts the agent.
func (e *editor) says(text string) {
	e.t.Helper()
	e.turn = e.sends("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, e.session, text))
}

// next returns the next line that matters: a request, a cancellation, or the end of the turn.
func (e *editor) next() map[string]any {
	e.t.Helper()
	for limit := time.After(testwait.Patience); ; {
		select {
		case m, ok := <-e.Lines:
			switch method, _ := m["method"].(string); {
			case !ok:
				e.t.Fatal("the agent has ended")
			case method == "" && fmt.Sprint(m["id"]) == fmt.Sprint(e.turn):
				e.turn = 0
				return m
			case method == "session/request_permission", method == "$/cancel_request":
				return m
			case method != "" && m["id"] != nil:
				e.writes(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, idOf(m))
			}
		case <-limit:
			e.t.Fatal("the agent asks nothing")
		}
	}
}

// idOf is the ID of a message.
func idOf(m map[string]any) string {
	id, _ := json.Marshal(m["id"]) // it was JSON
	return string(id)
}

// asked returns what the agent asks next. A turn that ends before is followed by another.
func (e *editor) asked() map[string]any {
	e.t.Helper()
	for end := time.Now().Add(testwait.Patience); time.Now().Before(end); {
		switch m := e.next(); m["method"] {
		case "session/request_permission":
			e.asks++
			return m
		case nil:
			if m["error"] != nil {
				e.t.Fatalf("the turn ended: %v", m)
			}
			e.says("go on")
		default:
			e.cancels = append(e.cancels, m)
		}
	}
	e.t.Fatal("the agent goes on without asking")
	return nil
}

// choice is the result that chooses the option of a kind.
func (e *editor) choice(m map[string]any, kind string) string {
	e.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		e.t.Fatal(err)
	}
	var request struct {
		Params struct {
			Options []struct{ OptionID, Kind string }
		}
	}
	if err := json.Unmarshal(raw, &request); err != nil {
		e.t.Fatal(err)
	}
	for _, o := range request.Params.Options {
		if o.Kind == kind {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, idOf(m), o.OptionID)
		}
	}
	e.t.Fatalf("it does not offer %s: %s", kind, raw)
	return ""
}

// answers chooses the option of a kind, and is first.
func (e *editor) answers(m map[string]any, kind string) {
	e.t.Helper()
	e.writes("%s", e.choice(m, kind))
}

// tooLate answers what was answered in the deck: by an error, as an editor does that heeds the
// cancellation, or by what was clicked in a dialog that stayed.
func (e *editor) tooLate(m map[string]any, line string) {
	e.t.Helper()
	for len(e.cancels) == 0 {
		c := e.next()
		if c["method"] != "$/cancel_request" {
			e.t.Fatalf("before the cancellation came %v", c)
		}
		e.cancels = append(e.cancels, c)
	}
	params, _ := e.cancels[0]["params"].(map[string]any)
	if e.cancels = e.cancels[1:]; fmt.Sprint(params["requestId"]) != fmt.Sprint(m["id"]) {
		e.t.Errorf("cancelled %v, want %v", params, m["id"])
	}
	e.late[idOf(m)] = true
	e.Write(line)
}

// cancelled is how an editor answers what need not be answered any more.
func cancelled(m map[string]any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32800,"message":"cancelled"}}`, idOf(m))
}

// waitsFor is how many prompts about a command wait in the deck.
func (d *driver) waitsFor(command string) (n int) {
	d.t.Helper()
	out, _ := d.command("ask", "list", "--json").Output()
	var all []ask.Listed
	_ = json.Unmarshal(out, &all) // it is asked again
	for _, it := range all {
		if raw, _ := json.Marshal(it); bytes.Contains(raw, []byte(command)) {
			n++
		}
	}
	return n
}

// compare compares what passed the editor with what passed the agent. Only the deck's answers and
// the cancellations that follow them differ, and what the editor answered too late.
func (e *editor) compare() {
	e.t.Helper()
	read := func(name string) []string {
		b, err := os.ReadFile(filepath.Join(e.d.home, "bin", name))
		if err != nil {
			e.t.Fatal(err)
		}
		return strings.SplitAfter(string(b), "\n")
	}
	replied := map[string]int{}
	wrote, heard := strings.SplitAfter(e.wrote.String(), "\n"), read("heard")
	for _, line := range heard {
		var m map[string]any
		_ = json.Unmarshal([]byte(line), &m) // the end is no JSON
		switch own := len(wrote) > 0 && line == wrote[0]; {
		case own:
			wrote = wrote[1:]
			fallthrough
		case e.late[idOf(m)] && m["result"] != nil:
			if m["method"] == nil && m["id"] != nil {
				replied[idOf(m)]++
			}
		default:
			e.t.Errorf("the agent got %q, which the editor has not written; next is %q", line, wrote[:min(1, len(wrote))])
		}
	}
	if len(wrote) > 0 {
		e.t.Errorf("the agent did not get %q", wrote)
	}
	ours := 0
	got := slices.DeleteFunc(strings.SplitAfter(e.read.String(), "\n"), func(line string) bool {
		is := strings.HasPrefix(line, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":`)
		if is {
			ours++
		}
		return is
	})
	said := read("said")
	if !slices.Equal(got, said) || ours != len(e.late) {
		e.t.Errorf("the editor got %d lines and %d cancellations, the agent wrote %d lines, and the deck answered %d", len(got), ours, len(said), len(e.late))
	}
	for id, n := range replied {
		if n != 1 {
			e.t.Errorf("request %s was answered %d times", id, n)
		}
	}
	e.t.Logf("%d lines to the agent and %d to the editor are as they were written; %d requests, %d answers, %d of them the deck's", len(heard), len(said), e.asks, len(replied), len(e.late))
}

// TestRealAgentsInEditorsAreAnsweredThereOrInTheDeck has each asked without a deck, answered first
// in the deck and first in the editor, and at the same time in both; then its editor cancels, and
// it is killed. The folder says what became of it, and the lines that passed the agent that each
// request was answered once and nothing else differs.
func TestRealAgentsInEditorsAreAnsweredThereOrInTheDeck(t *testing.T) {
	realtest.On(t)
	for _, a := range acpAgents() {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			acpScenario(t, &a)
		})
	}
}

func acpScenario(t *testing.T, a *acpAgent) {
	t.Helper()
	d := newDriver(t)
	var steps []mockmodel.Step
	// The turn that is cancelled may take the next step with it, and then it is told so once more.
	for _, folder := range []string{"one", "two", "three", "four", "five", "six", "seven", "seven"} {
		steps = append(steps, mockmodel.Step{Tool: a.tool, Args: marshalled(t, map[string]any{"command": "mkdir -p " + folder, "description": "words"})})
	}
	e := newEditor(d, a, mockmodel.New(t, "", steps...))
	e.says("Make the folders")
	e.answers(e.asked(), "allow_once") // there is no deck
	d.until("what was allowed without a deck", func() bool { return d.made("one") })

	m := e.asked()
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	deck.answers(d, "mkdir -p two", key{"y", ""})
	e.tooLate(m, cancelled(m))
	m = e.asked()
	if !d.made("two") {
		t.Error("what was allowed in the deck was not done")
	}
	deck.answers(d, "mkdir -p three", key{"n", ""})
	e.tooLate(m, e.choice(m, "allow_once"))

	m = e.asked()
	d.until("the fourth prompt", func() bool { return d.waitsFor("mkdir -p four") == 1 })
	e.answers(m, "reject_once")
	d.until("that it is withdrawn", func() bool { return d.waitsFor("mkdir -p four") == 0 })

	m = e.asked()
	d.until("the screen asks", steady(func() bool { return deck.asks("mkdir -p five") }))
	deck.reads()
	var both sync.WaitGroup
	both.Go(func() { _, _ = deck.tty.Write([]byte("y")) })
	reject := e.choice(m, "reject_once")
	e.Write(reject)
	both.Wait()
	first := e.first(m, reject)
	m = e.asked()
	if d.made("five") != (first == "deck") {
		t.Errorf("the %s was first; made: %v", first, d.made("five"))
	}
	d.until("that it is over", func() bool { return d.waitsFor("mkdir -p five") == 0 })

	d.until("the sixth prompt", func() bool { return d.waitsFor("mkdir -p six") == 1 })
	e.writes(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, e.session)
	e.writes(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`, idOf(m))
	d.until("that it is withdrawn", func() bool { return d.waitsFor("mkdir -p six") == 0 })
	e.asked()
	d.until("the last prompt", func() bool { return d.waitsFor("mkdir -p seven") == 1 })
	if d.made("three") || d.made("four") || d.made("six") {
		t.Error("what was denied was done")
	}
	known := agents.Of(a.id).ID != ""
	var all []sessions.Session
	if !testwait.Holds(func() bool {
		all = d.listed()
		return len(all) == 1 && strings.HasPrefix(strings.ToLower(all[0].Agent), a.id) && (all[0].Note == "" || !known) && all[0].State == "permission" && all[0].Prompt != ""
	}) {
		t.Errorf("the sessions are %+v", all)
	}
	t.Logf("the %s was first with both; the session: %+v", first, all)

	pid, err := os.ReadFile(filepath.Join(d.home, "bin/pid"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err = errors.Join(err, syscall.Kill(n, syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	<-e.hung
	var end *exec.ExitError
	if err := e.Cmd.Wait(); !errors.As(err, &end) || end.ExitCode() != 128+int(syscall.SIGKILL) {
		t.Errorf("it ended with %v", err)
	}
	d.until("the end of the session", func() bool {
		all := d.listed()
		return d.waitsFor("mkdir -p") == 0 && len(all) == 1 && all[0].State == "ended"
	})
	e.compare()
}

// first returns who answered first what both answered, as the agent has got it.
func (e *editor) first(m map[string]any, own string) (who string) {
	e.t.Helper()
	e.d.until("an answer", func() bool {
		heard, err := os.ReadFile(filepath.Join(e.d.home, "bin/heard"))
		if err != nil {
			e.t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(heard), "\n") {
			var r map[string]any
			if json.Unmarshal([]byte(line), &r) == nil && r["method"] == nil && idOf(r) == idOf(m) {
				if who = "deck"; line == own {
					who = "editor"
				}
				return true
			}
		}
		return false
	})
	if who == "editor" {
		e.wrote.WriteString(own + "\n")
	} else {
		e.late[idOf(m)] = true
	}
	return who
}
