//go:build linux

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// talks is how many conversations each agent has.
const talks = 12

// talked are the steps of conversations that edit a file, write a new one, edit that, and only talk, in turn.
func (c *colleague) talked(edit func(file, from, to string) mockmodel.Step, write func(file, text string) mockmodel.Step) (steps []mockmodel.Step) {
	c.said = nil
	edits := func(file, from, to string) (steps []mockmodel.Step) {
		if c.reads != nil {
			steps = append(steps, c.reads(file))
		}
		return append(steps, edit(file, from, to))
	}
	for i := range talks {
		says := mockmodel.Step{Says: fmt.Sprintf("Part %d of the work is done.", i+1)}
		c.said = append(c.said, says.Says)
		var does []mockmodel.Step
		switch i % 4 {
		case 0:
			does = edits("a.txt", fmt.Sprintf("line%d.", i), fmt.Sprintf("other%d.\nmore%d.", i, i))
		case 1:
			does = append(does, write(fmt.Sprintf("new%d.txt", i), "x\ny\n"))
		case 2:
			does = slices.Concat(edits(fmt.Sprintf("new%d.txt", i-1), "y", "z"), edits("a.txt", fmt.Sprintf("line%d.", i), fmt.Sprintf("third%d.", i)))
		}
		does = append(does, says)
		does[0].Before = func() { c.turns.Add(1) }
		steps = append(steps, does...)
	}
	return steps
}

// editsWith are an agent's own tools that edit and write files.
func (c *colleague) editsWith(edit, file, from, to, write, text string) (func(string, string, string) mockmodel.Step, func(string, string) mockmodel.Step) {
	at := func(name string) string { return filepath.Join(c.dir, name) }
	return func(name, old, now string) mockmodel.Step {
			return c.d.step(edit, map[string]any{file: at(name), from: old, to: now})
		}, func(name, words string) mockmodel.Step {
			return c.d.step(write, map[string]any{file: at(name), text: words})
		}
}

// setUp has setup write what brings an agent's prompts to the deck.
func (d *driver) setUp(args ...string) {
	d.t.Helper()
	if out, err := d.command(append([]string{"setup", "--prompts", "--yes"}, args...)...).CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
}

func besideQwen(d *driver) *colleague {
	c := &colleague{d: d, agent: "qwen", dir: d.project, ready: "Type your message", asks: "Yes, allow once", works: regexp.MustCompile(`esc to cancel`)}
	qwenHome(d)
	d.setUp("qwen")
	c.reads = func(file string) mockmodel.Step { // else it does not edit it
		return d.step("read_file", map[string]any{"file_path": filepath.Join(c.dir, file)})
	}
	edit, write := c.editsWith("edit", "file_path", "old_string", "new_string", "write_file", "content")
	c.model = mockmodel.New(d.t, "", c.conversation(mockmodel.Step{}, mockmodel.Step{}, edit, write)...)
	c.window = openQwenIn(d, "auto-edit", c.model)
	return c
}

func besideCopilot(d *driver) *colleague {
	c := &colleague{d: d, agent: "copilot", dir: d.project, ready: "? help", asks: copilotDialog, works: regexp.MustCompile(`(?i)esc to|Thinking`)}
	copilotHome(d)
	edit, _ := c.editsWith("edit", "path", "old_str", "new_str", "", "")
	_, write := c.editsWith("", "path", "", "", "create", "file_text")
	c.model = mockmodel.New(d.t, "", c.conversation(mockmodel.Step{}, mockmodel.Step{}, edit, write)...)
	c.window = openCopilotWith(d, c.model, "--allow-all-tools")
	return c
}

// geminiHome has Gemini CLI start without a question.
func geminiHome(d *driver) {
	d.t.Helper()
	d.makes(filepath.Join(d.home, ".gemini/settings.json"), `{"security":{"folderTrust":{"enabled":false},"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true}}`)
}

func besideGemini(d *driver) *colleague {
	c := &colleague{d: d, agent: "gemini", dir: d.project, ready: "Type your message", asks: "Allow once", works: regexp.MustCompile(`esc to cancel`)}
	geminiHome(d)
	d.setUp("gemini")
	_, write := c.editsWith("", "file_path", "", "", "write_file", "content")
	edit := func(name, old, now string) mockmodel.Step {
		return d.step("replace", map[string]any{"file_path": filepath.Join(c.dir, name), "old_string": old, "new_string": now, "instruction": "Replace it."})
	}
	c.model = mockmodel.New(d.t, "", c.conversation(mockmodel.Step{}, mockmodel.Step{}, edit, write)...)
	c.window = d.terminal(d.agentCommand(c.dir, "gemini", []string{"GOOGLE_GEMINI_BASE_URL=" + c.model.URL, "GEMINI_API_KEY=x"}, "-m", "gemini-2.5-pro", "--approval-mode", "auto_edit"))
	c.tall(60, c.tty)
	return c
}

// TestEveryConversationIsOnItsRow has real agents each have twelve conversations. After each, the
// row says what was asked, the last message, and the files and lines that git says were changed.
func TestEveryConversationIsOnItsRow(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	for agent, starts := range map[string]func(*driver) *colleague{
		"claude": besideClaude, "codex": besideCodex, "qwen": besideQwen, "copilot": besideCopilot, "gemini": besideGemini,
		"opencode": func(d *driver) *colleague { return besideOpenCode(d, "opencode", "shop") },
		"kilo":     func(d *driver) *colleague { return besideOpenCode(d, "kilo", "shop") },
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			d.talks, d.project = true, filepath.Join(d.home, "shop")
			var lines strings.Builder
			for i := range talks {
				fmt.Fprintf(&lines, "line%d.\n", i)
			}
			d.makes(filepath.Join(d.project, "a.txt"), lines.String())
			d.makes(filepath.Join(d.home, "api", "a.txt"), lines.String()) // where Codex works
			claudeHome(d)
			deck := d.window("--page", "inbox")
			deck.wide()
			deck.shows(d, "Inbox")
			c := starts(d)
			repository(t, c.dir)
			c.shows(d, c.ready)
			for i := range talks {
				c.conversed(fmt.Sprintf("Do part %d please", i+1), c.said[i])
			}
			if got, want := numbered(t, c.dir), map[string][2]int{"a.txt": {9, 6}, "new1.txt": {2}, "new5.txt": {2}, "new9.txt": {2}}; !maps.Equal(got, want) {
				t.Errorf("git says %v, want %v", got, want)
			}
		})
	}
}

// conversed has the user ask something, and holds the row to what was asked and said.
func (c *colleague) conversed(prompt, said string) {
	c.t.Helper()
	c.asked(prompt)
	var got string
	if !testwait.Holds(func() bool {
		want := changed{}
		for _, lines := range numbered(c.t, c.dir) {
			want.files, want.added, want.removed = want.files+1, want.added+lines[0], want.removed+lines[1]
		}
		got = c.says(c.d.listed())
		return got == fmt.Sprintf("idle, unread, %q, %q, %q, %v", prompt, prompt, said, want)
	}) {
		c.t.Fatalf("after %q the row says %s", prompt, got)
	}
}

// changed counts files and lines.
type changed struct{ files, added, removed int }

// says is what the agent's row says.
func (c *colleague) says(all []sessions.Session) string {
	i := slices.IndexFunc(all, func(s sessions.Session) bool { return s.Agent == c.agent })
	if i < 0 {
		return "it is not there"
	}
	s, did, unread := &all[i], changed{}, "read"
	if s.Unread {
		unread = "unread"
	}
	if s.Changed != nil {
		did = changed{s.Changed.Files, s.Changed.Added, s.Changed.Removed}
		if !s.Changed.Complete {
			unread += " and in part"
		}
	}
	return fmt.Sprintf("%s, %s, %q, %q, %q, %v", s.State, unread, s.Title, s.Prompt, s.Said, did)
}
