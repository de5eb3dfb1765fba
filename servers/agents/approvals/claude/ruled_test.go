//go:build linux

package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const everyRule = `version = 1
[[rule]]
id = "m2"
verdict = "allow"
agent = ["claude"]
command = { only = ["read"] }
[[rule]]
id = "p9"
verdict = "deny"
tell = "Ask me before you push by force."
command = { words = ["git", "push"], with = ["--force", "-f"] }
[[rule]]
id = "q1"
verdict = "ask"
command = { words = ["wc"] }
`

// ruled gives the desk's queue a book of rules that is accepted.
func ruled(t *testing.T, text string, accept bool) (*book.Store, func(*Options)) {
	t.Helper()
	s := booktest.New(t, text)
	if accept {
		booktest.Accept(t, s)
	}
	return s, func(o *Options) {
		o.Queue = approvals.Ruled(o.Queue.(*ask.Queue), s, "/home/u", book.Allowed{agent: Agent().Ruled})
	}
}

// shell has Claude Code keep a shell with these lines.
func (d *desk) shell(lines string) { d.keeps("bash-2-a", lines) }

func (d *desk) keeps(name, lines string) {
	d.t.Helper()
	path := filepath.Join(d.folder, "shell-snapshots", "snapshot-"+name+".sh")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("# Snapshot file\n"+lines+"\nexport PATH='/usr/local/bin:/usr/bin:/bin'\n"), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func suggests() map[string]any {
	return map[string]any{"permission_suggestions": json.RawMessage(suggested)}
}

const (
	ruledAllow = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`
	told       = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Ask me before you push by force."}}}`
)

func TestARuleAllowsWhatOnlyReadsInTheProject(t *testing.T) {
	_, set := ruled(t, everyRule, true)
	bubble(t, set, func(d *desk) {
		d.shell("alias -- ll='ls -l'")
		d.settings(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"'/my bin/mcpdeck' hook claude --state '/a b'"}]}],
			"PermissionRequest":[{"hooks":[{"type":"command","command":` + strconv.Quote(clients.Sh.Guard("/opt/mcpdeck-hook claude")) + `}]}]}}`)
		d.record(used("t1", "Bash", bashInput("cat a | sort")))
		d.prints(d.bash("cat a | sort", suggests()), ruledAllow)
		s := d.q.Pending()
		if len(s.Items) != 0 || len(s.History) != 1 || s.History[0].Rule == nil || s.History[0].Rule.ID != "m2" || s.History[0].Delivery != ask.Sent {
			t.Fatalf("it is %d open, %+v", len(s.Items), s.History)
		}
		d.record(result(""))
		testwait.Pass(lookEvery)
		if got := d.q.Pending().History[0]; got.Delivery == ask.Sent {
			t.Errorf("what the transcript shows is not seen: %s", got.Delivery)
		}
	})
}

// TestNothingIsAllowedThatIsNotCertain has a book that allows all it can.
func TestRulesByWordsAllowTheirPartsOfACommandTogetherAndNoOthers(t *testing.T) {
	const touches = everyRule + "[[rule]]\nid = \"k1\"\nverdict = \"allow\"\nagent = [\"claude\"]\ncommand = { words = [\"touch\"], options = [\"-c\"], may = [\"write-in\"] }\n"
	for command, allowed := range map[string]bool{"touch -c a": true, "cat a && touch b": true, "touch -a b": false, "touch b && mkdir c": false, "touch /tmp/x": false, "touch .git/hooks/x": false} {
		_, set := ruled(t, touches, true)
		bubble(t, set, func(d *desk) {
			d.shell("")
			d.record(used("t1", "Bash", bashInput(command)))
			c := d.bash(command, suggests())
			testwait.Pass(lookEvery)
			s := d.q.Pending()
			if got := len(s.Items) == 0 && len(s.History) == 1 && s.History[0].Rule != nil && s.History[0].Rule.ID == "k1"; got != allowed {
				t.Errorf("%s is allowed: %v", command, got)
			}
			if allowed {
				d.prints(c, ruledAllow)
			}
		})
	}
}

func TestNothingIsAllowedThatIsNotCertain(t *testing.T) {
	more := func(k string, v any) map[string]any {
		all := suggests()
		all[k] = v
		return all
	}
	for name, c := range map[string]struct {
		command string
		members map[string]any
		before  func(*desk)
	}{
		"an ask rule of the agent":        {"cat a", nil, nil},
		"plan mode":                       {"cat a", more("permission_mode", "plan"), nil},
		"dontAsk":                         {"cat a", more("permission_mode", "dontAsk"), nil},
		"a mode that is not known":        {"cat a", more("permission_mode", "x"), nil},
		"without the sandbox":             {"cat a", more("tool_input", map[string]any{"command": "cat a", "dangerouslyDisableSandbox": true}), nil},
		"a sub-agent":                     {"cat a", more("agent_id", "b"), nil},
		"sudo":                            {"sudo cat a", suggests(), nil},
		"a secret":                        {"cat .env", suggests(), nil},
		"the agent's settings":            {"echo x > .claude/settings.local.json", suggests(), nil},
		"a hook of git":                   {"echo x > .git/hooks/x", suggests(), nil},
		"a file outside":                  {"cat /etc/passwd", suggests(), nil},
		"writes in the project":           {"touch a", suggests(), nil},
		"one part that writes":            {"cat a; rm a", suggests(), nil},
		"a rule that asks":                {"wc a", suggests(), nil},
		"an alias":                        {"cat a", suggests(), func(d *desk) { d.shell("alias -- cat='rm -f'") }},
		"a function":                      {"cat a", suggests(), func(d *desk) { d.shell("function cat { rm a; }") }},
		"an encoded function":             {"cat a", suggests(), func(d *desk) { d.shell("eval \"$(echo 'Y2F0ICgpIHsgcm0gYTsgfQo=' | base64 -d)\" > /dev/null 2>&1") }},
		"a text that the shell evaluates": {"cat a", suggests(), func(d *desk) { d.shell("eval \"$x\"") }},
		"no shell that is known":          {"cat a", suggests(), func(d *desk) { _ = os.RemoveAll(filepath.Join(d.folder, "shell-snapshots")) }},
		"a program of the project":        {"cat a", suggests(), func(d *desk) { d.shell("export PATH='" + d.project + "'\n"); d.program("cat") }},
		"a program that is not found":     {"jless a", suggests(), nil},
		"another hook": {"cat a", suggests(), func(d *desk) {
			d.settings(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
		}},
		"a hook that does more than the deck's": {"cat a", suggests(), func(d *desk) {
			d.settings(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"mine; /opt/mcpdeck hook claude"}]}]}}`)
		}},
		"a hook that may set variables": {"cat a", suggests(), func(d *desk) {
			d.settings(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
		}},
		"a variable of its settings": {"cat a", suggests(), func(d *desk) { d.settings(`{"env":{"BASH_ENV":"./x"}}`) }},
		"a PATH of its settings":     {"cat a", suggests(), func(d *desk) { d.settings(`{"env":{"PATH":"/tmp/x"}}`) }},
		"a shell that is not bash": {"cat a", suggests(), func(d *desk) {
			dir := filepath.Join(d.folder, "shell-snapshots")
			_ = os.Rename(filepath.Join(dir, "snapshot-bash-2-a.sh"), filepath.Join(dir, "snapshot-zsh-2-a.sh"))
		}},
		"a shell of an older session": {"cat a", suggests(), func(d *desk) {
			dir := filepath.Join(d.folder, "shell-snapshots")
			_ = os.Rename(filepath.Join(dir, "snapshot-bash-2-a.sh"), filepath.Join(dir, "snapshot-bash-0-a.sh"))
		}},
		"a shell of the project":           {"cat a", suggests(), func(d *desk) { d.program("bash"); d.with.Vars["SHELL"] = filepath.Join(d.project, "bash") }},
		"an alias of a word of the shell":  {"for f in a; do cat $f; done", suggests(), func(d *desk) { d.shell("alias -- do='rm a; do'") }},
		"a function that runs all":         {"cat a", suggests(), func(d *desk) { d.shell("function eval { rm a; }") }},
		"a function in a word":             {"cat a", suggests(), func(d *desk) { d.shell(`eval $'cat () \n{ \n    rm a\n}' > /dev/null 2>&1`) }},
		"another folder than its record's": {"cat a", suggests(), func(d *desk) { d.a.at = func(int) string { return d.folder } }},
		"no sandbox":                       {"cat a", more("tool_input", map[string]any{"command": "cat a", "dangerouslyDisableSandbox": true}), nil},
		"an input that is not known":       {"cat a", more("tool_input", map[string]any{"command": "cat a", "Command": "rm a"}), nil},
		"a folder that is not told":        {"cat a", more("cwd", ""), nil},
		"a plug-in":                        {"cat a", suggests(), func(d *desk) { d.settings(`{"enabledPlugins":{"a@b":true}}`) }},
		"a settings file that is not JSON": {"cat a", suggests(), func(d *desk) { d.settings(`{`) }},
		"another open prompt":              {"cat a", suggests(), func(d *desk) { d.bash("make") }},
		"a move to another folder":         {"cat a", suggests(), func(d *desk) { d.prints(d.bash("cd sub && cat b", suggests()), ruledAllow) }},
	} {
		t.Run(name, func(t *testing.T) {
			_, set := ruled(t, everyRule, true)
			bubble(t, set, func(d *desk) {
				d.shell("")
				if err := os.MkdirAll(filepath.Join(d.project, "sub"), 0o700); err != nil {
					t.Fatal(err)
				}
				if c.before != nil {
					c.before(d)
				}
				d.waits(d.bash(c.command, c.members))
			})
		})
	}
}

func (d *desk) program(name string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.project, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) settings(text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.folder, "settings.json"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func TestNothingIsAnsweredWhileRulesAreOffOrTheBookIsEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		accept bool
	}{"off": {everyRule, false}, "empty": {"", true}} {
		t.Run(name, func(t *testing.T) {
			_, set := ruled(t, c.text, c.accept)
			bubble(t, set, func(d *desk) {
				d.shell("")
				d.waits(d.bash("cat a", suggests()))
				d.waits(d.bash("git push -f", suggests()))
			})
		})
	}
}

func TestADenyTellsTheAgentWordForWord(t *testing.T) {
	_, set := ruled(t, everyRule, true)
	bubble(t, set, func(d *desk) {
		for _, command := range []string{"git push -f", "cd sub; git -C . push --force", "true && git push origin -fu main"} {
			d.prints(d.bash(command), told)
			testwait.Pass(time.Minute)
		}
		h := d.bash("git push -f")
		d.waits(h) // three in a row
		if notes := d.only().Request.Prompt.Notes; len(notes) != 1 || !strings.Contains(notes[0], "three times") {
			t.Errorf("it says %q", notes)
		}
	})
}

func TestABookThatIsEditedElsewhereAllowsNothingAndDeniesStill(t *testing.T) {
	edits := map[string]func(path string) error{
		"edited":  func(p string) error { return os.WriteFile(p, []byte(everyRule+"\n"), 0o600) },
		"broken":  func(p string) error { return os.WriteFile(p, []byte(everyRule[:len(everyRule)/2]), 0o600) },
		"shared":  func(p string) error { return os.Chmod(p, 0o644) },
		"removed": os.Remove,
		"a link": func(p string) error {
			if err := os.Rename(p, p+".real"); err != nil {
				return err
			}
			return os.Symlink(p+".real", p)
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			s, set := ruled(t, everyRule, true)
			bubble(t, set, func(d *desk) {
				d.shell("")
				d.prints(d.bash("cat a", suggests()), ruledAllow)
				testwait.Pass(time.Minute)
				if err := edit(s.Path()); err != nil {
					t.Fatal(err)
				}
				d.waits(d.bash("cat a", suggests()))
				d.prints(d.bash("git push -f"), told)
				if n := d.q.Pending().Notices; len(n) != 1 {
					t.Errorf("the user is told %q", n)
				}
			})
		})
	}
}

func TestABurstIsAsked(t *testing.T) {
	_, set := ruled(t, everyRule, true)
	bubble(t, set, func(d *desk) {
		d.shell("")
		for _, file := range strings.Fields("a b c d e") {
			d.prints(d.bash("cat "+file, suggests()), ruledAllow)
		}
		d.waits(d.bash("cat f", suggests()))
	})
}

func TestSettingsOfTheCommandLineAreNoticed(t *testing.T) {
	for args, want := range map[string]string{
		"claude --model x": "", "claude --settings x.json": "--settings", "claude --settings={}": "--settings", "node cli.js --plugin-dir p": "--plugin-dir",
	} {
		if got := besides(strings.Fields(args)); got != want {
			t.Errorf("of %q it is %q", args, got)
		}
	}
}
