//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// repository makes one of a folder, with what is in it.
func repository(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "begin"}} {
		if err := realtest.Run(exec.Command("git", append([]string{"-C", dir}, args...)...)); err != nil {
			t.Fatal(err)
		}
	}
}

// numbered is what git says of the files that differ: their lines by their names.
func numbered(t *testing.T, dir string) map[string][2]int {
	t.Helper()
	var failed error
	if !testwait.Holds(func() bool { // an agent's temporary file may go while git looks at it
		failed = realtest.Run(exec.Command("git", "-C", dir, "add", "-AN"))
		return failed == nil
	}) {
		t.Fatal(failed)
	}
	out, err := exec.Command("git", "-C", dir, "diff", "--numstat").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][2]int{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		added, _ := strconv.Atoi(f[0]) // "-" is a file that is not text
		removed, _ := strconv.Atoi(f[1])
		all[f[2]] = [2]int{added, removed}
	}
	return all
}

// sameAsGit compares what a record says that was changed with what git says.
func sameAsGit(t *testing.T, dir string, c snapshot.Changed) {
	t.Helper()
	want := numbered(t, dir)
	for _, f := range c.Files {
		if want[f.Path] != [2]int{f.Added, f.Removed} {
			t.Errorf("%s +%d -%d, git says %v", f.Path, f.Added, f.Removed, want[f.Path])
		}
		delete(want, f.Path)
	}
	if len(want) > 0 || c.Partial {
		t.Errorf("not recorded are %v; there may be more: %v", want, c.Partial)
	}
}

// recordOf reads what the files of a session say, as a deck does.
func recordOf(agent, folder string, format *usage.Format, s *snapshot.Session) *snapshot.Record {
	f, _ := usage.New(usage.Options{Programs: map[string]usage.Program{agent: {Folder: folder, Format: format}}}).Look(s)
	return f.Record
}

func TestRecordOfTheRealClaudeIsWhatItsScriptDid(t *testing.T) {
	t.Parallel()
	for version, program := range realtest.Claudes(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			claudeHome(d)
			defer unhooked(d)()
			d.coder = program
			d.puts(filepath.Join(d.project, "a.txt"), []byte("one\ntwo\nthree\n"))
			repository(t, d.project)
			file := func(name string) string { return filepath.Join(d.project, name) }
			step := func(tool string, args map[string]string) mockmodel.Step {
				return mockmodel.Step{Tool: tool, Args: marshalled(t, args)}
			}
			model := mockmodel.New(
				t, "",
				step("Read", map[string]string{"file_path": file("a.txt")}),
				step("Edit", map[string]string{"file_path": file("a.txt"), "old_string": "two\n", "new_string": "2\n2b\n"}),
				step("Write", map[string]string{"file_path": file("b.txt"), "content": "x\ny\n"}),
				bash(t, "echo hello"),
			)
			c := startClaude(d, model, "acceptEdits")
			c.shows(d, "accept edits on")
			c.says("first")
			c.shows(d, "END")
			d.until("the next prompt", func() bool { return len(model.Seen()) == 4 && model.Seen()[3].Result != "" })
			c.says("second")
			var r *snapshot.Record
			d.until("the record", func() bool {
				names := conversations(d)
				if len(names) != 1 {
					return false
				}
				id := strings.TrimSuffix(filepath.Base(names[0]), ".jsonl")
				r = recordOf("claude", filepath.Join(d.home, ".claude"), usage.Claude(), &snapshot.Session{Agent: "claude", ID: id, Folder: d.project})
				return r != nil && r.Prompt == "second" && r.SaidAt.After(r.Asked)
			})
			if r.Said != "END" || len(r.Steps) != 0 {
				t.Errorf("said %q after %+v", r.Said, r.Steps)
			}
			sameAsGit(t, d.project, r.Changed)
		})
	}
}

func TestRecordOfTheRealCodexIsWhatItsScriptDid(t *testing.T) {
	t.Parallel()
	patch := "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.txt\n+hello\n+you\n*** Update File: a.txt\n@@\n-old\n+new\n+newer\n*** End Patch\nEOF"
	c, m := newCodex(
		t,
		mockmodel.Step{Tool: "exec_command", Args: json.RawMessage(`{"cmd":"echo it worked","sandbox_permissions":"require_escalated","justification":"To see"}`)},
		mockmodel.Step{Tool: "exec_command", Args: marshalled(t, map[string]string{"cmd": patch})},
	)
	repository(t, c.project)
	c.say("Mend the file")
	for i, shows := range []string{"Would you like to run", "make the following edits"} {
		c.until("the terminal asks", func() bool { return strings.Contains(c.screen(), shows) })
		c.until("it is allowed", func() bool {
			if m.Seen()[i].Result == "" && strings.Contains(c.screen(), shows) {
				c.press("y")
			}
			return m.Seen()[i].Result != ""
		})
	}
	var r *snapshot.Record
	c.until("the record", func() bool {
		names, _ := filepath.Glob(filepath.Join(c.home(), "sessions/*/*/*/rollout-*.jsonl"))
		for _, name := range names {
			id := strings.TrimSuffix(filepath.Base(name), ".jsonl")
			id = id[max(len(id)-36, 0):]
			r = recordOf("codex", c.home(), usage.Codex(), &snapshot.Session{Agent: "codex", ID: id, Folder: c.project, Transcript: name})
			if r != nil && r.Prompt != "" && r.Said == "END" {
				return true
			}
		}
		return false
	})
	if r.Prompt != "Mend the file" || len(r.Steps) != 2 || r.Steps[0].Tool != "exec_command" || r.Steps[0].Failed || r.Steps[1].Tool != "apply_patch" || r.Steps[1].Outcome != "+4 −1" {
		t.Errorf("asked %q, steps %+v", r.Prompt, r.Steps)
	}
	sameAsGit(t, c.project, r.Changed)
	if _, err := os.Stat(filepath.Join(c.project, "b.txt")); err != nil {
		t.Error(err)
	}
}
