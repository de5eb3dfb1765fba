//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/realtest"
)

// coder is the real Claude Code in a terminal, with a model that follows a script and
// with the deck's hooks.
type coder struct {
	*window
	d     *driver
	model *mockmodel.Server
}

func marshalled(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// claudeHome writes what Claude Code needs to start without a question, and the hooks.
func (d *driver) claudeHome() {
	d.t.Helper()
	dir := filepath.Join(d.home, ".claude")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.puts(filepath.Join(d.home, ".claude.json"), marshalled(d.t, map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": map[string]any{"approved": []string{"mock"}},
		"projects":   map[string]any{d.project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		"mcpServers": map[string]any{"paint": map[string]any{"type": "stdio", "command": d.echoes()}},
	}))
	waits := []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": smallHook(d.t) + " claude", "timeout": 86400}}}}
	quick := []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": smallHook(d.t) + " claude", "timeout": 10, "async": true}}}}
	hooks := map[string]any{"PermissionRequest": waits, "Elicitation": waits, "SessionStart": quick, "SessionEnd": quick}
	d.puts(filepath.Join(dir, "settings.json"), marshalled(d.t, map[string]any{"hooks": hooks}))
}

func (d *driver) puts(path string, b []byte) {
	d.t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *driver) echoes() string {
	d.t.Helper()
	program, err := exec.LookPath("echo-server") // TestMain has put it there
	if err != nil {
		d.t.Fatal(err)
	}
	return program
}

// claude is a command of Claude Code's in the project.
func (d *driver) claude(model *mockmodel.Server, args ...string) *exec.Cmd {
	d.t.Helper()
	program := realtest.Claude(d.t)
	c := d.command()
	c.Path, c.Args = program, append([]string{program}, args...)
	node, err := exec.LookPath("node")
	if err != nil {
		d.t.Fatal(err)
	}
	for i, v := range c.Env {
		if strings.HasPrefix(v, "PATH=") {
			c.Env[i] = "PATH=" + filepath.Dir(node) + ":" + d.path
		}
	}
	c.Env = append(c.Env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=mock", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	return c
}

// codes starts Claude Code in a terminal and gives it its task.
func (d *driver) codes(model *mockmodel.Server) *coder {
	d.t.Helper()
	w := d.terminal(d.claude(model, "--permission-mode", "default"))
	w.wide()
	c := &coder{window: w, d: d, model: model}
	c.shows(d, "? for shortcuts")
	c.press("go")
	time.Sleep(200 * time.Millisecond) // what comes at once counts as pasted
	c.press("\r")
	return c
}

// asks is a step of the script that needs the user, and how the user answers it.
type asks struct {
	step  mockmodel.Step
	shown string   // on the deck's screen
	keys  []string // pressed in the deck; the last one until it counts
	want  string   // in what the model is sent back
}

func bash(t *testing.T, command string) mockmodel.Step {
	t.Helper()
	return mockmodel.Step{Tool: "Bash", Args: marshalled(t, map[string]string{"command": command, "description": "words"})}
}

// subAgent starts one whose script has a word.
func subAgent(t *testing.T, word string) mockmodel.Step {
	t.Helper()
	return mockmodel.Step{Tool: "Agent", Args: marshalled(t, map[string]string{"subagent_type": "general-purpose", "description": "help", "prompt": word})}
}

// question is one of Claude Code's own.
func question(name string, multi bool) map[string]any {
	return map[string]any{"question": name, "header": "H", "multiSelect": multi, "options": []any{
		map[string]any{"label": "red", "description": "1"}, map[string]any{"label": "green, dark", "description": "2"},
	}}
}

func asksUser(t *testing.T, questions ...map[string]any) mockmodel.Step {
	t.Helper()
	return mockmodel.Step{Tool: "AskUserQuestion", Args: marshalled(t, map[string]any{"questions": questions})}
}

// answered waits until the model has the result of a step.
func (c *coder) answered(step int) string {
	c.t.Helper()
	c.d.until(fmt.Sprintf("the result of step %d", step+1), func() bool { return c.model.Seen()[step].Result != "" })
	return c.model.Seen()[step].Result
}

// everyKind are 20 permissions and 10 questions.
func everyKind(t *testing.T, project string) (rows []asks) {
	t.Helper()
	for i := range 4 {
		file, n := filepath.Join(project, fmt.Sprintf("%d.txt", i)), fmt.Sprint(i)
		rows = append(
			rows,
			asks{bash(t, "mkdir -p made"+n), "mkdir -p made" + n, []string{"y"}, "no output"},
			asks{bash(t, "mkdir -p denied"+n), "mkdir -p denied" + n, []string{"n"}, "the user denied this"},
			asks{mockmodel.Step{Tool: "Write", Args: marshalled(t, map[string]string{"file_path": file, "content": "one\ntwo" + n + "\n"})}, "+two" + n, []string{"y"}, "File created"},
			asks{mockmodel.Step{Tool: "Edit", Args: marshalled(t, map[string]string{"file_path": file, "old_string": "two", "new_string": "three"})}, "+three" + n, []string{"y"}, "has been updated"},
			asks{mockmodel.Step{Tool: "mcp__paint__echo", Args: marshalled(t, map[string]string{"text": "hello" + n})}, "hello" + n, []string{"y"}, "hello" + n},
		)
	}
	for i := range 2 {
		n := fmt.Sprint(i) + "?"
		rows = append(
			rows,
			asks{asksUser(t, question("Which one "+n, false)), "Which one " + n, []string{"2"}, `Which one ` + n + `\"=\"green, dark\"`},
			asks{asksUser(t, question("Which ones "+n, true)), "Which ones " + n, []string{"1", "2", "\x13"}, `Which ones ` + n + `\"=\"\"red\", \"green, dark\"`},
			asks{asksUser(t, question("Another "+n, false)), "Another " + n, []string{"o", "blue", "\x13"}, `Another ` + n + `\"=\"blue\"`},
			asks{asksUser(t, question("Noted "+n, false)), "Noted " + n, []string{"\t", "soon", "\r"}, "soon"},
			asks{
				asksUser(t, question("A"+n, false), question("B"+n, false), question("C"+n, false), question("D"+n, false)), "A" + n,
				[]string{"1", "2", "1", "2", "\x13"},
				`A` + n + `\"=\"red\", \"B` + n + `\"=\"green, dark\", \"C` + n + `\"=\"red\", \"D` + n + `\"=\"green, dark\"`,
			},
		)
	}
	return rows
}

// TestTheRealClaudeIsAnsweredInTheDeck answers permissions and questions of every kind by
// keys in the deck, and looks at what the model is told.
func TestTheRealClaudeIsAnsweredInTheDeck(t *testing.T) {
	realtest.On(t)
	d := newDriver(t)
	d.claudeHome()
	rows := everyKind(t, d.project)
	var steps []mockmodel.Step
	for _, r := range rows {
		steps = append(steps, r.step)
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "ask")
	deck.wide()
	deck.shows(d, "Ask")
	c := d.codes(model)
	for i, r := range rows {
		deck.shows(d, r.shown)
		for _, k := range r.keys {
			time.Sleep(900 * time.Millisecond) // a key that comes right after the prompt does not count
			deck.press(k)
		}
		last := r.keys[len(r.keys)-1]
		for n := 0; model.Seen()[i].Result == "" && n < 20; n++ {
			time.Sleep(200 * time.Millisecond)
			if n > 10 && n%5 == 0 {
				deck.press(last)
			}
		}
		if got := c.answered(i); !strings.Contains(got, r.want) {
			t.Errorf("step %d: the model gets %s, want %s\n%s", i+1, got, r.want, deck.screen())
		}
	}
	if done, _ := filepath.Glob(filepath.Join(d.project, "denied*")); len(done) > 0 {
		t.Errorf("what was denied was done: %q", done)
	}
	c.shows(d, "END")
}

// hooks are the processes of hooks that wait in the project.
func (d *driver) hooks() (n int) {
	d.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		d.t.Fatal(err)
	}
	for _, link := range all {
		dir, _ := os.Readlink(link) // it may have ended
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if dir == d.project && strings.HasPrefix(string(line), smallHook(d.t)) {
			n++
		}
	}
	return n
}

// settled waits until the deck shows no prompt, and no hook of one is left.
func (d *driver) settled(deck *window) {
	d.t.Helper()
	for n := 0; n < 100 && d.open()+d.hooks() > 0; n++ {
		time.Sleep(100 * time.Millisecond)
	}
	if n, m := d.open(), d.hooks(); n+m > 0 {
		d.t.Fatalf("%d prompts and %d hooks are left\n%s", n, m, deck.screen())
	}
	if strings.Contains(deck.screen(), "Allow once") {
		d.t.Errorf("the screen still asks:\n%s", deck.screen())
	}
}

// accepts answers Claude Code's dialog, which takes no key right after it comes.
func (c *coder) accepts(key string) {
	c.t.Helper()
	c.shows(c.d, "Esc to cancel")
	for n := 0; n < 5 && c.d.open() > 0; n++ {
		time.Sleep(time.Second)
		c.press(key)
		for i := 0; i < 20 && c.d.open() > 0; i++ {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// open is how many prompts of any kind the deck has.
func (d *driver) open() int {
	d.t.Helper()
	out, _ := d.command("ask", "list").Output()
	return strings.Count(string(out), "claude")
}

// TestWhatRealSubAgentsAskIsHeld has two sub-agents ask at once, of which one is answered
// in the deck and one in the terminal.
func TestWhatRealSubAgentsAskIsHeld(t *testing.T) {
	realtest.On(t)
	d := newDriver(t)
	d.claudeHome()
	second := subAgent(t, "HELPERB")
	second.Along = true
	model := mockmodel.New(t, "", subAgent(t, "HELPERA"), second)
	model.Script("HELPERA", bash(t, "mkdir -p first"))
	model.Script("HELPERB", bash(t, "mkdir -p second"))
	deck := d.window("--page", "ask")
	deck.wide()
	deck.shows(d, "Ask")
	c := d.codes(model)
	d.until("two prompts", func() bool { return d.prompted() == 2 })
	if s := c.screen(); strings.Contains(s, "Do you want to proceed?") {
		t.Errorf("the terminal asks:\n%s", s)
	}
	first := "first"
	d.until("one on the screen", func() bool {
		if strings.Contains(deck.screen(), "mkdir -p second") {
			first = "second"
		}
		return strings.Contains(deck.screen(), "mkdir -p "+first)
	})
	time.Sleep(900 * time.Millisecond) // a key that comes right after the prompt does not count
	deck.press("y")
	d.until("what was allowed", func() bool {
		_, err := os.Stat(filepath.Join(d.project, first))
		return err == nil
	})
	other := map[string]string{"first": "second", "second": "first"}[first]
	deck.shows(d, "mkdir -p "+other)
	time.Sleep(900 * time.Millisecond)
	deck.press("t")
	c.accepts("\r")
	d.until("what was allowed in the terminal", func() bool {
		_, err := os.Stat(filepath.Join(d.project, other))
		return err == nil
	})
	d.settled(deck)
}

func TestARealPromptIsHeldOnlyAsLongAsTheUserWants(t *testing.T) {
	realtest.On(t)
	d := newDriver(t)
	d.claudeHome()
	d.configure("[prompts]\nhold = \"2s\"\n[ask]\nautofocus = 'never'\n")
	model := mockmodel.New(t, "", subAgent(t, "HELPERA"))
	model.Script("HELPERA", bash(t, "mkdir -p first"))
	deck := d.window("--page", "calls")
	deck.wide()
	deck.shows(d, "Calls")
	c := d.codes(model)
	c.shows(d, "Do you want to proceed?")
	if d.prompted() != 1 {
		t.Error("the deck does not show what waits in the terminal")
	}
	c.accepts("\r")
	d.settled(deck)
}

// TestARealServersFormIsAnsweredInTheDeck has Claude Code pass on what its server asks, and
// the user send or decline it.
func TestARealServersFormIsAnsweredInTheDeck(t *testing.T) {
	realtest.On(t)
	for name, tt := range map[string]struct {
		keys []string
		want string // that the server is told
	}{
		"sent":     {[]string{"red\r", "\r"}, `{\"action\":\"accept\",\"content\":{\"colour\":\"red\"}}`},
		"declined": {[]string{"\x1b", "x", "\r"}, `{\"action\":\"decline\"}`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t)
			d.claudeHome()
			d.setEnv("FORM", oneTextField)
			allowed(t, d, "mcp__paint__form")
			model := mockmodel.New(t, "", mockmodel.Step{Tool: "mcp__paint__form"})
			deck := d.window("--page", "ask")
			deck.wide()
			deck.shows(d, "Ask")
			c := d.codes(model)
			deck.shows(d, "Which journey?")
			for _, k := range tt.keys {
				time.Sleep(900 * time.Millisecond) // a key that comes right after the prompt does not count
				deck.press(k)
			}
			if got := c.answered(0); !strings.Contains(got, tt.want) {
				t.Errorf("the server gets %s, want %s", got, tt.want)
			}
		})
	}
}

const oneTextField = `{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}`

// setEnv gives the server paint a variable.
func (d *driver) setEnv(name, value string) {
	d.t.Helper()
	d.rewrites(filepath.Join(d.home, ".claude.json"), func(o map[string]any) {
		o["mcpServers"].(map[string]any)["paint"].(map[string]any)["env"] = map[string]string{name: value}
	})
}

// allowed has Claude Code ask for no permission to use a tool.
func allowed(t *testing.T, d *driver, tool string) {
	t.Helper()
	d.rewrites(filepath.Join(d.home, ".claude", "settings.json"), func(o map[string]any) {
		o["permissions"] = map[string]any{"allow": []string{tool}}
	})
}

func (d *driver) rewrites(path string, change func(map[string]any)) {
	d.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(b, &o); err != nil {
		d.t.Fatal(err)
	}
	change(o)
	d.puts(path, marshalled(d.t, o))
}

// TestWhatTheRealTerminalAnswersLeavesTheDeck answers in Claude Code's own dialogs.
func TestWhatTheRealTerminalAnswersLeavesTheDeck(t *testing.T) {
	realtest.On(t)
	d := newDriver(t)
	d.claudeHome()
	model := mockmodel.New(t, "", bash(t, "mkdir -p one; sleep 12"), bash(t, "mkdir -p two"))
	deck := d.window("--page", "ask")
	deck.wide()
	deck.shows(d, "Ask")
	c := d.codes(model)
	deck.shows(d, "mkdir -p one")
	c.accepts("\r")
	d.settled(deck)
	if model.Seen()[0].Result != "" {
		t.Error("the command of 12 seconds had ended before its prompt left")
	}
	deck.press("y") // late
	c.answered(0)

	c.shows(d, "mkdir -p two")
	d.until("a prompt", func() bool { return d.open() > 0 })
	c.accepts("\x1b")
	d.settled(deck)
	if _, err := os.Stat(filepath.Join(d.project, "two")); err == nil {
		t.Error("what was denied was done")
	}
}
