//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// colleague is a real agent at work in a terminal and a folder of its own, beside a deck.
type colleague struct {
	*window
	d     *driver
	agent string
	dir   string
	model *mockmodel.Server

	ready string                           // shown where the user can type
	asks  string                           // shown while it asks for a permission
	works *regexp.Regexp                   // shown while it works
	yes   string                           // the key that allows once
	turns *atomic.Int32                    // that the model has begun
	held  chan struct{}                    // the model waits for it where a turn is held
	said  []string                         // at the end of each turn
	reads func(file string) mockmodel.Step // before an edit, where that is needed

	goesOn func() // ends held
}

// conversation are the steps of two turns. Of each agent, edit changes a text in a file, and
// write replaces all of one.
func (c *colleague) conversation(read, makes mockmodel.Step, edit func(file, from, to string) mockmodel.Step, write func(file, text string) mockmodel.Step) []mockmodel.Step {
	c.turns, c.held = new(atomic.Int32), make(chan struct{})
	c.goesOn = sync.OnceFunc(func() { close(c.held) })
	if c.d.talks {
		return c.talked(edit, write)
	}
	c.said = []string{"The second line is two lines now.", "All three files are mended."}
	begins := func(s mockmodel.Step) mockmodel.Step {
		s.Before = func() { c.turns.Add(1) }
		return s
	}
	return []mockmodel.Step{
		begins(read), edit("a.txt", "two", "2\n2b"), write("b.txt", "x\ny\n"), makes,
		{Says: c.said[0]},
		begins(edit("c.txt", "delta", "4")), write("b.txt", "x\nz\nlast\n"), edit("a.txt", "2b", "2c"),
		{Says: c.said[1], Before: func() { <-c.held }},
	}
}

// asked has the user send words.
func (c *colleague) asked(words string) {
	c.t.Helper()
	before := c.turns.Load()
	c.press(words)
	c.d.until("the terminal shows what was typed", func() bool { return strings.Contains(strings.ReplaceAll(c.screen(), "\u00a0", " "), words) })
	c.repeat(c.press, "\r", func() bool { return c.turns.Load() > before })
}

// own is what the agent shows of its state.
func (c *colleague) own() string {
	switch s := c.screen(); {
	case strings.Contains(s, c.asks):
		return string(snapshot.WaitsForPermission)
	case c.works.MatchString(s):
		return string(snapshot.Working)
	}
	return string(snapshot.Idle)
}

// differs says in what the row of an agent is not what its terminal and git say.
func (c *colleague) differs(all []sessions.Session, deck, prompt, said string) string {
	i := slices.IndexFunc(all, func(s sessions.Session) bool { return s.Agent == c.agent })
	if i < 0 {
		return c.agent + " has no row\n"
	}
	var out strings.Builder
	is := func(what string, got, want any) {
		if got != want {
			fmt.Fprintf(&out, "%s: %s is %v, want %v\n", c.agent, what, got, want)
		}
	}
	s, own := &all[i], c.own()
	is("the state", s.State, own)
	ended := own == string(snapshot.Idle)
	is("that it is done", s.Unread, ended)
	is("the name", s.Title, prompt)
	is("the last message", s.Said, said)
	is("that its tokens are counted", s.Tokens.In+s.Tokens.Out+s.Tokens.CacheRead > 0 || !ended, true)
	for _, shown := range []string{prompt, said} {
		if !strings.Contains(c.screen(), shown) {
			fmt.Fprintf(&out, "%s does not show %q\n", c.agent, shown)
		}
	}
	var want, got struct{ files, added, removed int }
	for _, lines := range numbered(c.t, c.dir) {
		want.files, want.added, want.removed = want.files+1, want.added+lines[0], want.removed+lines[1]
	}
	if s.Changed != nil {
		got.files, got.added, got.removed = s.Changed.Files, s.Changed.Added, s.Changed.Removed
	}
	is("what changed", got, want)
	row := map[string]string{string(snapshot.WaitsForPermission): "allow?.*make -v", string(snapshot.Working): prompt + " · ", string(snapshot.Idle): "done.*" + prompt}[own]
	if !regexp.MustCompile(c.agent + ".*" + filepath.Base(c.dir) + ".*" + row).MatchString(deck) {
		fmt.Fprintf(&out, "%s: no row is %s\n", c.agent, row)
	}
	return out.String()
}

func (d *driver) listed() []sessions.Session {
	d.t.Helper()
	out, _ := d.command("sessions", "--json").Output()
	var all sessions.List
	_ = json.Unmarshal(out, &all) // it is asked again
	return all.Sessions
}

func (d *driver) agentCommand(dir, program string, env []string, args ...string) *exec.Cmd {
	d.t.Helper()
	path := realtest.Agent(d.t, program)
	c := d.command()
	c.Path, c.Args, c.Dir = path, append([]string{path}, args...), dir
	c.Env = append([]string{"HOME=" + d.home, "PATH=" + filepath.Dir(path) + ":" + d.path, "LANG=C.UTF-8", "SHELL=" + cmp.Or(d.sh, "/bin/sh"), "TERM=xterm-256color", "PWD=" + dir, "TMPDIR=" + d.home}, env...)
	return c
}

func (d *driver) makes(path, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.puts(path, []byte(text))
}

// step is a call of a tool.
func (d *driver) step(tool string, args map[string]any) mockmodel.Step {
	d.t.Helper()
	return mockmodel.Step{Tool: tool, Args: marshalled(d.t, args)}
}

func besideClaude(d *driver) *colleague {
	c := &colleague{d: d, agent: "claude", dir: d.project, ready: "accept edits on", asks: "Do you want to proceed?", works: regexp.MustCompile(`esc to interrupt`), yes: "1"}
	at := func(file string) string { return filepath.Join(c.dir, file) }
	c.model = mockmodel.New(d.t, "", c.conversation(
		d.step("Read", map[string]any{"file_path": at("a.txt")}), bash(d.t, "make -v"),
		func(file, from, to string) mockmodel.Step {
			return d.step("Edit", map[string]any{"file_path": at(file), "old_string": from, "new_string": to})
		},
		func(file, text string) mockmodel.Step {
			return d.step("Write", map[string]any{"file_path": at(file), "content": text})
		},
	)...)
	c.window = d.terminal(claudeCommand(d, c.model, "--permission-mode", "acceptEdits"))
	c.tall(60, io.Discard)
	return c
}

func besideCodex(d *driver) *colleague {
	c := &colleague{d: d, agent: "codex", dir: filepath.Join(d.home, "api"), ready: "Ask Codex", asks: "Would you like to run", works: regexp.MustCompile(`esc to interrupt`), yes: "y"}
	run := func(command string, more map[string]any) mockmodel.Step {
		args := map[string]any{"cmd": command}
		for k, v := range more {
			args[k] = v
		}
		return d.step("exec_command", args)
	}
	patch := func(hunks string) mockmodel.Step {
		return run("apply_patch <<'EOF'\n*** Begin Patch\n"+hunks+"\n*** End Patch\nEOF", nil)
	}
	c.model = mockmodel.New(d.t, "", c.conversation(
		run("cat a.txt", nil), run("make -v", map[string]any{"sandbox_permissions": "require_escalated", "justification": "To see"}),
		func(file, from, to string) mockmodel.Step {
			return patch("*** Update File: " + file + "\n@@\n-" + from + "\n+" + strings.ReplaceAll(to, "\n", "\n+"))
		},
		func(file, text string) mockmodel.Step {
			if strings.Contains(text, "last") {
				return patch("*** Update File: " + file + "\n@@\n x\n-y\n+z\n+last")
			}
			return patch("*** Add File: " + file + "\n+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+"))
		},
	)...)
	knowsCodex(d, c.model, c.dir)
	c.window = openCodex(d, c.dir)
	c.tall(60, c.tty)
	return c
}

// knowsCodex has Codex start without a question in a folder, with a model.
func knowsCodex(d *driver, model *mockmodel.Server, dir string) {
	d.t.Helper()
	d.makes(filepath.Join(d.home, ".codex/config.toml"), fmt.Sprintf(`model = "mock"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "%s/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
[projects.%q]
trust_level = "trusted"
`, model.URL, dir))
	d.t.Cleanup(func() { endCodexDaemon(filepath.Join(d.home, ".codex")) })
}

// openCodex starts Codex in a terminal.
func openCodex(d *driver, dir string) *window {
	d.t.Helper()
	return d.terminal(d.agentCommand(dir, "codex", []string{"MOCK_KEY=x"}, "-a", "on-request", "-s", "workspace-write"))
}

// besideOpenCode is OpenCode, or a program with its contract.
func besideOpenCode(d *driver, agent, dir string) *colleague {
	c := &colleague{d: d, agent: agent, dir: filepath.Join(d.home, dir), ready: "Ask anything", asks: "Permission required", works: regexp.MustCompile(`esc (again to )?interrupt`), yes: "\r"}
	at := func(file string) string { return filepath.Join(c.dir, file) }
	c.model = mockmodel.New(d.t, "", c.conversation(
		d.step("read", map[string]any{"filePath": at("a.txt")}), d.step("bash", map[string]any{"command": "make -v", "description": "words"}),
		func(file, from, to string) mockmodel.Step {
			return d.step("edit", map[string]any{"filePath": at(file), "oldString": from, "newString": to})
		},
		func(file, text string) mockmodel.Step {
			return d.step("write", map[string]any{"filePath": at(file), "content": text})
		},
	)...)
	d.makes(filepath.Join(d.home, ".config", agent, "plugin/mcpdeck.js"), string(agents.Of(agent).Plugin.File("", "")))
	openCodeHome(d, agent, c.model, "allow")
	c.window = d.terminal(d.agentCommand(c.dir, agent, []string{agents.Of(agent).Env[0] + "DISABLE_MODELS_FETCH=1"}))
	c.tall(60, c.tty)
	return c
}

// openCodeHome has OpenCode, or a program with its contract, use a model and ask for commands. edit
// is "ask" or "allow".
func openCodeHome(d *driver, agent string, model *mockmodel.Server, edit string) {
	d.t.Helper()
	realtest.Home(d.t, agent, d.home)
	d.makes(filepath.Join(d.home, ".config", agent, agent+".json"), `{"model":"mock/mock","small_model":"mock/mock","autoupdate":false,"share":"disabled",
		"provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"`+model.URL+`/v1","apiKey":"x"},"models":{"mock":{"name":"mock","tool_call":true}}}},
		"permission":{"bash":"ask","edit":"`+edit+`"}}`)
}

// TestEveryRowSaysWhatItsAgentShows has four real agents at work side by side, and compares
// their rows with their own screens and with git where they ask, work and are done.
func TestEveryRowSaysWhatItsAgentShows(t *testing.T) {
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	for _, dir := range []string{"shop", "api", "web", "cli"} {
		d.makes(filepath.Join(d.home, dir, "a.txt"), "one\ntwo\nthree\n")
		d.makes(filepath.Join(d.home, dir, "c.txt"), "alpha\nbeta\ngamma\ndelta\n")
		repository(t, filepath.Join(d.home, dir))
	}
	deck := d.window("--page", "inbox")
	deck.tall(34, io.Discard)
	team := []*colleague{besideOpenCode(d, "opencode", "web"), besideOpenCode(d, "kilo", "cli"), besideCodex(d), besideClaude(d)}
	t.Cleanup(func() {
		for _, c := range team {
			c.goesOn()
			if t.Failed() {
				t.Logf("%s:\n%s", c.agent, c.screen())
			}
		}
		if t.Failed() {
			t.Logf("the deck:\n%s", deck.screen())
		}
	})
	agree := func(when, prompt, said string) {
		t.Helper()
		var differ strings.Builder
		if !testwait.Holds(func() bool {
			differ.Reset()
			all := d.listed()
			for _, c := range team {
				differ.WriteString(c.differs(all, deck.screen(), prompt, said))
			}
			return differ.Len() == 0
		}) {
			t.Fatalf("%s:\n%s", when, differ.String())
		}
	}
	each := func(do func(c *colleague)) {
		t.Helper()
		for _, c := range team {
			do(c)
		}
	}
	is := func(state snapshot.SessionState) func(c *colleague) {
		return func(c *colleague) {
			d.until(c.agent+" is "+string(state), steady(func() bool { return c.own() == string(state) }))
		}
	}
	const first, second = "Mend the second line", "Mend the rest of it"
	said := team[0].said
	each(func(c *colleague) { c.shows(d, c.ready) })
	each(func(c *colleague) { c.asked(first) })
	each(is(snapshot.WaitsForPermission))
	agree("they ask", first, "")
	deck.shows(d, "Inbox ◆4")
	each(func(c *colleague) { c.again(c.yes, func() bool { return !strings.Contains(c.screen(), c.asks) }) })
	each(func(c *colleague) { c.shows(d, said[0]) })
	each(is(snapshot.Idle))
	agree("they are done", first, said[0])
	each(func(c *colleague) { c.asked(second) })
	each(is(snapshot.Working))
	agree("they work", second, said[0])
	each(func(c *colleague) { c.goesOn() })
	each(func(c *colleague) { c.shows(d, said[1]) })
	each(is(snapshot.Idle))
	agree("they are done again", second, said[1])
	deck.key("A")
	for _, shown := range []string{second, said[1], "a.txt          +2 −1", "b.txt          +3", "c.txt          +1 −1"} {
		deck.shows(d, shown)
	}
}
