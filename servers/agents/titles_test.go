//go:build unix

package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claude"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// namedBy are what Claude Code's file says of a session's name: members, and the title that they
// are, which the user may have chosen.
func namedBy(id string) []struct {
	about object
	title string
	user  bool
} {
	job := id[:8]
	return []struct {
		about object
		title string
		user  bool
	}{
		{object{"name": "", "nameSource": ""}, "", false},
		{object{"name": "shop-27", "nameSource": "derived"}, "", false},
		{object{"name": "api-70", "nameSource": "derived"}, "", false},
		{object{"name": "shop-27-2", "nameSource": "collision"}, "", false},
		{object{"name": id, "nameSource": "derived"}, "", false},
		{object{"name": "shop-99", "nameSource": "unheard of"}, "", false},
		{object{"name": job, "jobId": job, "kind": "bg", "agent": "claude", "nameSource": ""}, "", false},
		{object{"name": "Mend the till", "nameSource": "auto"}, "Mend the till", false},
		{object{"name": "mend the till…", "jobId": job, "kind": "bg", "nameSource": ""}, "mend the till…", false},
		{object{"name": "Release 1.4", "nameSource": "user"}, "Release 1.4", true},
	}
}

// transcripts are conversations: their lines, the user's last prompt, the title and the tool that
// they name.
func transcripts() []struct {
	lines               []object
	prompt, title, tool string
	user                bool
} {
	text := func(content any, more object) object {
		line := object{"type": "user", "message": object{"role": "user", "content": content}}
		for k, v := range more {
			line[k] = v
		}
		return line
	}
	human := object{"origin": object{"kind": "human"}}
	asked := text("Fix the flaky test", human)
	uses := object{"type": "assistant", "message": object{"content": []object{{"type": "tool_use", "id": "t", "name": "Bash", "input": object{"command": "ls"}}}}}
	type talk = struct {
		lines               []object
		prompt, title, tool string
		user                bool
	}
	return []talk{
		{},
		{lines: []object{asked}, prompt: "Fix the flaky test"},
		{lines: []object{text("Fix the flaky test", nil)}, prompt: "Fix the flaky test"},
		{lines: []object{text("\n\n  Sort the list \nand test it", human)}, prompt: "Sort the list"},
		{lines: []object{text([]object{{"type": "text", "text": "Sort the list"}}, human)}, prompt: "Sort the list"},
		{lines: []object{text("<command-name>/review</command-name><command-args>src</command-args>", human)}, prompt: "/review src"},
		{lines: []object{text("<command-name>/clear</command-name>", nil)}},
		{lines: []object{text("what a hook adds", object{"isMeta": true})}},
		{lines: []object{text("look around", object{"isSidechain": true})}},
		{lines: []object{text("<task-notification>done</task-notification>", nil)}},
		{lines: []object{text("<bash-input>ls</bash-input>", nil)}},
		{lines: []object{asked, text([]object{{"type": "text", "text": "[Request interrupted by user]"}}, nil)}, prompt: "Fix the flaky test"},
		{lines: []object{asked, uses, text([]object{{"type": "tool_result", "tool_use_id": "t", "content": "shop-27"}}, nil)}, prompt: "Fix the flaky test", tool: "Bash ls"},
		{lines: []object{asked, text("This session is continued", object{"isCompactSummary": true})}, prompt: "Fix the flaky test"},
		{lines: []object{{"type": "last-prompt", "lastPrompt": "Write the notes"}}, prompt: "Write the notes"},
		{lines: []object{asked, {"type": "attachment", "attachment": object{"type": "queued_command", "prompt": "And the docs", "commandMode": "prompt"}}}, prompt: "And the docs"},
		{lines: []object{asked, {"type": "custom-title", "customTitle": "Nightly"}}, prompt: "Fix the flaky test", title: "Nightly", user: true},
		{lines: []object{asked, {"type": "ai-title", "aiTitle": "Test repair"}}, prompt: "Fix the flaky test", title: "Test repair"},
		{lines: []object{{"type": "ai-title", "aiTitle": "Test repair"}}, title: "Test repair"},
		{lines: []object{uses}, tool: "Bash ls"},
	}
}

// TestNoSessionIsCalledByAFolderOrAnID holds 200 session files of Claude Code, each of a name and a
// conversation, to what a session may be called by.
func TestNoSessionIsCalledByAFolderOrAnID(t *testing.T) {
	s := newStage(t, "claude")
	c := &claudeCode{s: s, process: living(t)}
	if err := os.MkdirAll(filepath.Join(s.home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s.t = t
		changes := make(chan string)
		c.changed = func() { changes <- filepath.Base(c.file()) }
		s.adapts = func(d approvals.Deps) approvals.Adapter { return claude.New(claude.Options{Deps: d, Changes: changes}) }
		s.opens()
		n := 0
		for i, talk := range transcripts() {
			for j := range namedBy("00000000") {
				n++
				c.n = n
				name := namedBy(c.session())[j]
				if job, ok := name.about["jobId"].(string); ok { // one without a state waits for a task
					s.writes(filepath.Join("jobs", job, "state.json"), object{})
				}
				for _, line := range talk.lines {
					c.log("", line)
				}
				c.about = name.about
				c.is("idle", "")
				want := []string{talk.prompt}
				switch {
				case name.user && talk.user:
					want = []string{name.title, talk.title}
				case name.user:
					want[0] = name.title
				case talk.user:
					want[0] = talk.title
				case talk.prompt != "":
				case name.title+talk.title != "":
					want = slices.DeleteFunc([]string{name.title, talk.title}, func(s string) bool { return s == "" })
				case talk.tool != "":
					want[0] = talk.tool
				default:
					want[0] = snapshot.NoPrompt
				}
				called := ""
				if !testwait.Holds(func() bool {
					called = s.called(c.session())
					return slices.Contains(want, called)
				}) {
					t.Errorf("conversation %d with name %d is called %q, want %q", i, j, called, want)
				}
				testwait.Pass(2 * time.Second)
				if later := s.called(c.session()); later != called {
					t.Errorf("conversation %d with name %d is called %q and later %q", i, j, called, later)
				}
				if called == name.about["name"] && name.title == "" || strings.Contains(called, c.session()[:8]) || called == "shop" {
					t.Errorf("conversation %d with name %d is called %q", i, j, called)
				}
			}
		}
		s.stop()
		t.Logf("%d session files", n)
	})
}

// called is what a session is called, "" if it has no row.
func (s *stage) called(id string) string {
	for _, x := range s.roster.Sessions() {
		if x.ID == id && x.Hidden == "" {
			return x.Name()
		}
	}
	return ""
}
