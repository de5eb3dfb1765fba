//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
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

// knowsClaude writes what Claude Code needs to start without a question about itself.
func knowsClaude(d *driver, servers map[string]any) {
	d.t.Helper()
	d.puts(filepath.Join(d.root, d.home, ".claude.json"), marshalled(d.t, map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": map[string]any{"approved": []string{"mock"}},
		"projects":   map[string]any{d.project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
		"mcpServers": servers,
	}))
}

// claudeHome has Claude Code start without a question, with a server and the hooks.
func claudeHome(d *driver) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".claude")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	knowsClaude(d, map[string]any{"paint": map[string]any{"type": "stdio", "command": echoes(d)}})
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

func echoes(d *driver) string {
	d.t.Helper()
	program, err := exec.LookPath("echo-server") // TestMain has put it there
	if err != nil {
		d.t.Fatal(err)
	}
	return program
}

// claudeCommand is a command of Claude Code's in the project.
func claudeCommand(d *driver, model *mockmodel.Server, args ...string) *exec.Cmd {
	d.t.Helper()
	program := d.coder
	if program == "" {
		program = realtest.Claude(d.t)
	}
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
	// It looks for zsh first where the user has neither that nor bash.
	c.Env = append(c.Env, "SHELL="+cmp.Or(d.sh, "/bin/bash"), "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=mock", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	if slices.Contains(args, "-p") {
		c.Env = append(c.Env, realtest.Print()...)
	}
	return c
}

// startClaude has Claude Code in a terminal, in one of its modes of permissions.
func startClaude(d *driver, model *mockmodel.Server, mode string) *coder {
	d.t.Helper()
	w := d.terminal(claudeCommand(d, model, "--permission-mode", mode))
	w.wide()
	return &coder{window: w, d: d, model: model}
}

// runClaude starts Claude Code in a terminal and gives it its task.
func runClaude(d *driver, model *mockmodel.Server) *coder {
	d.t.Helper()
	c := startClaude(d, model, "default")
	c.shows(d, "? for shortcuts")
	c.says("go")
	return c
}

// says gives it a task. An Enter that comes too early counts as part of a paste. One more that comes
// when the model has been asked already, and the screen is late to show it, would answer a dialog.
func (c *coder) says(task string) {
	c.t.Helper()
	typed := func() bool {
		s := strings.ReplaceAll(c.screen(), "\u00a0", " ")
		return strings.HasPrefix(s[max(strings.LastIndex(s, "❯"), 0):], "❯ "+task)
	}
	c.press(task)
	c.d.until("what was typed", typed)
	before := len(c.model.Bodies())
	asked := func(body string) bool { return strings.Contains(body, `"`+task+`"`) }
	c.again("\r", func() bool { return !typed() || slices.ContainsFunc(c.model.Bodies()[before:], asked) })
}

// asks is a step of the script that needs the user, and how the user answers it.
type asks struct {
	step  mockmodel.Step
	shown string // on the deck's screen
	keys  []key  // pressed in the deck
	want  string // in what the model is sent back
}

// key is one that is pressed in the deck, and what its screen then shows; "" is the end
// of the prompt.
type key struct{ press, shows string }

var send = key{"\x13", ""}

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
			asks{bash(t, "mkdir -p made"+n), "mkdir -p made" + n, []key{{"y", ""}}, "no output"},
			asks{bash(t, "mkdir -p denied"+n), "mkdir -p denied" + n, []key{{"n", ""}}, "the user denied this"},
			asks{mockmodel.Step{Tool: "Write", Args: marshalled(t, map[string]string{"file_path": file, "content": "one\ntwo" + n + "\n"})}, "+two" + n, []key{{"y", ""}}, "File created"},
			asks{mockmodel.Step{Tool: "Edit", Args: marshalled(t, map[string]string{"file_path": file, "old_string": "two", "new_string": "three"})}, "+three" + n, []key{{"y", ""}}, "has been updated"},
			asks{mockmodel.Step{Tool: "mcp__paint__echo", Args: marshalled(t, map[string]string{"text": "hello" + n})}, "hello" + n, []key{{"y", ""}}, "hello" + n},
		)
	}
	for i := range 2 {
		n := fmt.Sprint(i) + "?"
		rows = append(
			rows,
			asks{asksUser(t, question("Which one "+n, false)), "Which one " + n, []key{{"2", ""}}, `Which one ` + n + `\"=\"green, dark\"`},
			asks{asksUser(t, question("Which ones "+n, true)), "Which ones " + n, []key{{"1", "[x] 1 red"}, {"2", "[x] 2 green"}, send}, `Which ones ` + n + `\"=\"\"red\", \"green, dark\"`},
			asks{asksUser(t, question("Another "+n, false)), "Another " + n, []key{{"3", "esc back"}, {"blue", "blue"}, send}, `Another ` + n + `\"=\"blue\"`},
			asks{asksUser(t, question("Noted "+n, false)), "Noted " + n, []key{{":", "type a command"}, {"note to the option", "Add a note"}, {"\r", "enter next"}, {"soon", "soon"}, {"\r", "esc back"}, {"\r", ""}}, "soon"},
			asks{
				asksUser(t, question("A"+n, false), question("B"+n, false), question("C"+n, false), question("D"+n, false)), "A" + n,
				[]key{{"1", "B" + n}, {"2", "C" + n}, {"1", "D" + n}, {"2", "sends these answers"}, send},
				`A` + n + `\"=\"red\", \"B` + n + `\"=\"green, dark\", \"C` + n + `\"=\"red\", \"D` + n + `\"=\"green, dark\"`,
			},
		)
	}
	return rows
}

// TestTheRealClaudeIsAnsweredInTheDeck answers permissions and questions of every kind by
// keys in the deck, and looks at what the model is told.
func TestTheRealClaudeIsAnsweredInTheDeck(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	for version, path := range realtest.Claudes(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			answersEveryKind(t, path)
		})
	}
}

func answersEveryKind(t *testing.T, claude string) {
	t.Helper()
	d := newDriver(t)
	d.coder = claude
	claudeHome(d)
	rows := everyKind(t, d.project)
	var steps []mockmodel.Step
	for _, r := range rows {
		steps = append(steps, r.step)
	}
	model := mockmodel.New(t, "", steps...)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := runClaude(d, model)
	for i, r := range rows {
		deck.answers(d, r.shown, r.keys...)
		if got := c.answered(i); !strings.Contains(got, r.want) {
			t.Errorf("step %d: the model gets %s, want %s\n%s", i+1, got, r.want, deck.screen())
		}
	}
	if done, _ := filepath.Glob(filepath.Join(d.project, "denied*")); len(done) > 0 {
		t.Errorf("what was denied was done: %q", done)
	}
	c.shows(d, "END")
	var want []ask.End
	for _, r := range rows {
		switch {
		case strings.Contains(r.want, "denied"):
			want = append(want, ask.EndDenied)
		case r.step.Tool == "AskUserQuestion":
			want = append(want, ask.EndAnswered)
		default:
			want = append(want, ask.EndAllowed)
		}
	}
	testwait.For(t, fmt.Sprintf("the history to say %q", want), d.became, func(all []ask.End) bool { return slices.Equal(all, want) })
}

// became is what the deck's history says became of the answers of which that is known, in the
// order in which they were given.
func (d *driver) became() (all []ask.End) {
	d.t.Helper()
	b, _ := os.ReadFile(filepath.Join(d.home, ".local", "state", "mcpdeck", "history.jsonl")) // it may come later
	last, ids := map[int]ask.Record{}, []int(nil)
	for line := range strings.Lines(string(b)) {
		var r ask.Record
		if json.Unmarshal([]byte(line), &r) != nil {
			continue
		}
		if _, known := last[r.ID]; !known {
			ids = append(ids, r.ID)
		}
		last[r.ID] = r
	}
	for _, id := range ids {
		if r := last[id]; r.Delivery != ask.Sent && r.Delivery != ask.NotTaken {
			all = append(all, r.End())
		}
	}
	return all
}

// TestARealPlanIsAcceptedInTheDeck has Claude Code go on only when its plan is accepted, with
// the plan that the deck has shown.
func TestARealPlanIsAcceptedInTheDeck(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	for version, path := range realtest.Claudes(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			d.coder = path
			claudeHome(d)
			const text = "Make <b> & go"
			plan := mockmodel.Step{Tool: "ExitPlanMode", Args: marshalled(t, map[string]string{"plan": text}), Before: func() { writePlan(d, text) }}
			model := mockmodel.New(t, "", plan, plan, bash(t, "mkdir -p made"))
			deck := d.window("--page", "inbox")
			deck.wide()
			deck.shows(d, "Inbox")
			c := startClaude(d, model, "plan")
			c.shows(d, "plan mode on")
			c.says("plan it")
			deck.answers(d, text, key{"n", ""})
			if got := c.answered(0); !strings.Contains(got, "the user denied this") {
				t.Errorf("of the first plan the model gets %s", got)
			}
			deck.answers(d, text, key{"y", ""})
			if got := c.answered(1); !strings.Contains(got, "approved") {
				t.Errorf("of the second plan the model gets %s", got)
			}
			deck.answers(d, "mkdir -p made", key{"y", ""})
			if got := c.answered(2); !strings.Contains(got, "no output") {
				t.Errorf("of what it had planned the model gets %s", got)
			}
			c.shows(d, "END")
		})
	}
}

// conversations are the files that Claude Code has written of its conversations.
func conversations(d *driver) []string {
	all, _ := filepath.Glob(filepath.Join(d.home, ".claude", "projects", "*", "*.jsonl")) // the pattern is well formed
	return all
}

// writePlan writes the plan into the file that Claude Code has named to its model. A version that
// takes the plan from the call instead may not have said so yet.
func writePlan(d *driver, text string) {
	testwait.Holds(func() bool {
		for _, file := range conversations(d) {
			b, _ := os.ReadFile(file) // it may be written later
			if m := regexp.MustCompile(`"planFilePath":("[^"]+")`).FindSubmatch(b); m != nil {
				var path string
				if json.Unmarshal(m[1], &path) == nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil && os.WriteFile(path, []byte(text+"\n"), 0o600) == nil {
					return true
				}
			}
		}
		return false
	})
}

// subAgents counts those at work in the only session of Claude Code.
func subAgents(d *driver) int {
	d.t.Helper()
	out, _ := d.command("sessions", "--json").Output()
	var l sessions.List
	if json.Unmarshal(out, &l) == nil {
		for _, s := range l.Sessions {
			if s.Agent == "claude" {
				return s.Subagents
			}
		}
	}
	return -1
}

// TestWhatRealSubAgentsAskIsHeld has two sub-agents ask at once, of which one is answered
// in the deck and one in the terminal. A third one works and asks nothing.
func TestWhatRealSubAgentsAskIsHeld(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	second := subAgent(t, "HELPERB")
	second.Along = true
	third := subAgent(t, "HELPERC")
	third.Along = true
	model := mockmodel.New(t, "", subAgent(t, "HELPERA"), second, third)
	model.Script("HELPERA", bash(t, "mkdir -p first"))
	model.Script("HELPERB", bash(t, "mkdir -p second"))
	model.Script("HELPERC", bash(t, "sh wait.sh"))
	d.puts(filepath.Join(d.project, "wait.sh"), []byte("until [ -e go ]; do sleep 0.1; done\n"))
	allowed(t, d, "Bash(sh wait.sh)")
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := runClaude(d, model)
	d.until("two prompts", func() bool { return d.prompted() == 2 })
	d.until("three sub-agents", func() bool { return subAgents(d) == 3 })
	if s := c.screen(); strings.Contains(s, "Do you want to proceed?") {
		t.Errorf("the terminal asks:\n%s", s)
	}
	var first string
	d.until("one in the pane", steady(func() bool {
		for _, first = range []string{"first", "second"} {
			if deck.asks("mkdir -p " + first) {
				return true
			}
		}
		return false
	}))
	deck.answers(d, "mkdir -p "+first, key{"y", ""})
	d.until("what was allowed", func() bool {
		_, err := os.Stat(filepath.Join(d.project, first))
		return err == nil
	})
	other := map[string]string{"first": "second", "second": "first"}[first]
	deck.answers(d, "mkdir -p "+other, key{"J", "answer in its terminal"})
	c.accepts("\r")
	d.until("what was allowed in the terminal", func() bool {
		_, err := os.Stat(filepath.Join(d.project, other))
		return err == nil
	})
	settled(d, deck)
	d.until("one sub-agent", func() bool { return subAgents(d) == 1 })
	d.puts(filepath.Join(d.project, "go"), nil)
	d.until("no sub-agent", func() bool { return subAgents(d) == 0 })
}

func TestARealPromptIsHeldOnlyAsLongAsTheUserWants(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	d.configure("[prompts]\nhold = \"2s\"\n")
	model := mockmodel.New(t, "", subAgent(t, "HELPERA"))
	model.Script("HELPERA", bash(t, "mkdir -p first"))
	deck := d.window("--page", "calls")
	deck.wide()
	deck.shows(d, "Calls")
	c := runClaude(d, model)
	c.shows(d, "Do you want to proceed?")
	d.until("the deck shows what waits in the terminal", func() bool { return d.prompted() == 1 })
	c.accepts("\r")
	settled(d, deck)
}

// TestARealServersFormIsAnsweredInTheDeck has Claude Code pass on what its server asks, and
// the user send, decline or skip it.
func TestARealServersFormIsAnsweredInTheDeck(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	for name, tt := range map[string]struct {
		keys []key
		want string // that the server is told
	}{
		"sent":     {[]key{{"\r", "enter choose"}, {"teal", "teal"}, {"\r", ""}}, `{\"action\":\"accept\",\"content\":{\"colour\":\"teal\"}}`},
		"declined": {[]key{{"x", "decline the whole request?"}, {"\r", ""}}, `{\"action\":\"decline\"}`},
		"skipped":  {[]key{{":", "type a command"}, {"skip this question", "Skip this question"}, {"\r", ""}}, `{\"action\":\"cancel\"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			claudeHome(d)
			setPaintEnv(d, "FORM", oneTextField)
			allowed(t, d, "mcp__paint__form")
			model := mockmodel.New(t, "", mockmodel.Step{Tool: "mcp__paint__form"})
			deck := d.window("--page", "inbox")
			deck.wide()
			deck.shows(d, "Inbox")
			c := runClaude(d, model)
			deck.answers(d, "Which journey?", tt.keys...)
			if got := c.answered(0); !strings.Contains(got, tt.want) {
				t.Errorf("the server gets %s, want %s", got, tt.want)
			}
		})
	}
}

const oneTextField = `{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}`

// setPaintEnv gives the server paint a variable.
func setPaintEnv(d *driver, name, value string) {
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
