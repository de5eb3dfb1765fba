package inbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// ruleable is a prompt that a rule could answer.
func ruleable(id, command string) questions.Request {
	r := bash(id, command)
	r.Prompt.Runs = func([]string) string { return "" }
	return r
}

// answeredSo answers prompts by keys, and waits for the end of each.
func (d *driver) answeredSo(all ...[2]string) {
	d.t.Helper()
	for i, a := range all {
		c := d.prompt(ruleable("past-"+string(rune('a'+i)), a[0]))
		d.Wait(5 * time.Second)
		d.press(a[1])
		d.reply(c)
		c.Delivered(questions.Delivered)
		d.Wait(5 * time.Second)
	}
}

var answeredOnce = [][2]string{
	{"go test ./... 2>&1 | tail -20", "y"}, {"go test ./api -count=1", "y"}, {"cat go.mod | head", "y"}, {"go test -race ./...", "n"}, {"git push -f", "n"},
}

func TestTheFramesOfRulesThatAreProposed(t *testing.T) {
	for name, size := range map[string]frame.Size{"110x34": {W: 110, H: 34}, "60x40": {W: 60, H: 40}, "40x12": {W: 40, H: 12}} {
		for view, keys := range map[string][]string{
			"lasting":         {"a"},
			"lasting-rule":    {"a", "G", "k", "enter"},
			"lasting-suggest": {"H", "v", "a"},
		} {
			t.Run(view+" "+name, func(t *testing.T) {
				t.Parallel()
				setup{size: size, page: page.Options{Rules: booktest.New(t, shopRules), RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
					d.Wait(5 * time.Second)
					d.answeredSo(answeredOnce...)
					d.prompt(ruleable("1", "go test ./store 2>&1 | tail -20"))
					d.Wait(5 * time.Second)
					d.press(keys...)
					d.Wait(time.Second)
					d.Golden(view + "-" + name)
				})
			})
		}
	}
}

func TestARuleIsKeptFromAPromptOnceItsWordsWereRead(t *testing.T) {
	s := booktest.New(t, "")
	setup{size: frame.Size{W: 110, H: 34}, page: page.Options{Rules: s, RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		d.answeredSo(answeredOnce...)
		c := d.prompt(ruleable("1", "go test ./store"))
		d.Wait(5 * time.Second)
		d.press("a")
		d.Wait(time.Second)
		d.Has("exactly `go test ./store`", "no options but -count")
		d.press("G", "k", "enter")
		d.Wait(5 * time.Second)
		d.Has("Keep this rule?", "none of the 2 that you denied")
		d.press("y")
		d.Wait(time.Second)
		now := s.Now()
		if len(now.Listed.Rules) != 1 || now.Answers() {
			t.Fatalf("kept: %+v", now.Listed.Rules)
		}
		d.notSent(c)
		if err := s.Accept(now); err != nil {
			t.Fatal(err)
		}
		now = s.Now()
		const project = "/home/ann/src/api"
		for command, want := range map[string]book.Verdict{"go test ./store": book.Allow, "go test ./other -count=2": book.Allow, "go test -race ./store": "", "go run .": ""} {
			in := rules.Place{Cwd: project, Root: project, Home: "/home/ann"}
			if d := now.Decide(book.Request{Agent: "claude", Project: project, Home: in.Home, Now: time.Now(), Reading: rules.Read(command, in)}); d.Verdict != want {
				t.Errorf("%s: %q, %s", command, d.Verdict, d.Why)
			}
		}
	})
}

func TestARuleIsHeldToMoreThanTheHistory(t *testing.T) {
	var lines strings.Builder
	now := time.Now()
	for i := range 300 {
		command := "go vet ./..."
		if i == 0 {
			command = "go test -race ./store"
		}
		fmt.Fprintf(&lines, `{"id":%d,"arrived":%[2]q,"ended":%[2]q,"request":{"from":{"cwd":"/home/ann/src/api"},"questions":[{"options":[{"label":"denied"}]}],"prompt":{"kind":"permission","agent":"claude","command":%q,"grants":[{"allow":%t,"scope":"once"}]}},"reply":{"status":"answered","results":[{"selectedOptions":["denied"]}]},"delivery":"delivered"}`+"\n",
			i, now.Format(time.RFC3339), command, i > 0)
	}
	file := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	past := &questions.Past{Path: file, On: func() bool { return true }, Now: func() time.Time { return now }}
	setup{size: frame.Size{W: 110, H: 34}, queue: questions.Options{Past: past}, page: page.Options{Rules: booktest.New(t, ""), RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
		d.prompt(ruleable("1", "go test -race ./store"))
		d.Wait(5 * time.Second)
		d.press("a")
		d.Wait(time.Second)
		d.Has("Not offered: “Allow `go test` with no options but -race", "would have allowed what you denied")
	})
	setup{size: frame.Size{W: 110, H: 34}, queue: questions.Options{Past: past}, page: page.Options{Rules: booktest.New(t, ""), RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		d.press("H", "v", "a")
		d.Wait(time.Second)
		d.Has("It would have answered 299 of the last 300 prompts, none of the 1 that you denied")
	})
}

func TestARuleThatWasNotShownWholeIsNotKept(t *testing.T) {
	s := booktest.New(t, "")
	setup{size: frame.Size{W: 40, H: 12}, page: page.Options{Rules: s, RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
		c := d.prompt(ruleable("1", "go test ./store"))
		d.Wait(5 * time.Second)
		d.press("a", "G", "enter", "y", "y")
		d.Wait(5 * time.Second)
		if n := len(s.Now().Listed.Rules); n != 0 {
			t.Errorf("%d rules are kept", n)
		}
		d.notSent(c)
	})
}

func TestARuleIsKeptFromTheHistoryAndNoneThatAllowsWhatWasDenied(t *testing.T) {
	s := booktest.New(t, "")
	setup{size: frame.Size{W: 110, H: 34}, page: page.Options{Rules: s, RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		d.answeredSo([2]string{"make lint", "n"}, [2]string{"make lint", "y"}, [2]string{"sudo make", "y"})
		d.press("H", "a")
		d.Wait(time.Second)
		d.Has("no rule is proposed")
		d.press("j", "a")
		d.Wait(time.Second)
		d.Has("would have allowed what you denied: make lint")
		d.press("enter")
		d.Wait(5 * time.Second)
		d.press("y")
		d.Wait(time.Second)
		for _, r := range s.Now().Listed.Rules {
			if len(r.Command.Only) == 0 {
				t.Errorf("kept: %s", r.Words())
			}
		}
	})
}

func TestReadingIsNotProposedAgainstWhatWasDenied(t *testing.T) {
	s := booktest.New(t, "")
	setup{size: frame.Size{W: 110, H: 34}, page: page.Options{Rules: s, RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		d.answeredSo([2]string{"cat go.mod", "n"})
		d.press("H", "v", "a")
		d.Wait(time.Second)
		d.Has("Not offered: “Allow commands that only read inside the project", "would have allowed")
		d.Lacks("Keep this rule?")
	})
}

func TestNoRuleIsProposedForWhatNoRuleAnswers(t *testing.T) {
	unconfirmed, held, other := ruleable("1", "make"), ruleable("1", "make"), ruleable("1", "make")
	unconfirmed.Prompt.Unconfirmed = true
	held.Prompt.Door = questions.Held
	other.Prompt.Agent, other.Prompt.Runs = "codex", nil
	for name, r := range map[string]questions.Request{"unconfirmed": unconfirmed, "held": held, "another agent": other, "asked by the agent's own rule": bash("1", "make")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup{page: page.Options{Rules: booktest.New(t, ""), RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
				d.prompt(r)
				d.Wait(5 * time.Second)
				d.press("a")
				d.Wait(time.Second)
				d.Lacks("From now on", "Keep this rule?")
			})
		})
	}
}

// forClaude is what rules may allow in a deck of Claude Code alone.
func forClaude() book.Allowed {
	return book.Allowed{"claude": {book.OfCommands, book.OfEdits, book.OfPages, book.OfCalls}}
}

// tool is a prompt of a tool that runs no command, which a rule could answer.
func tool(id, name string, p questions.Prompt) questions.Request {
	p.ID, p.Tool, p.Runs = id, name, func([]string) string { return "" }
	return fake.Permission("claude", "/home/ann/src/api", p)
}

func edit(id, file string) questions.Request {
	at := "/home/ann/src/api/" + file
	return tool(id, "Edit", questions.Prompt{Path: at, Diff: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", Does: &questions.Does{Files: []questions.ChangedFile{{Path: at}}}})
}

func fetch(id, page string) questions.Request {
	return tool(id, "WebFetch", questions.Prompt{Args: []byte(`{"url":"` + page + `"}`), Does: &questions.Does{Page: page}})
}

func query(id, args string) questions.Request {
	return tool(id, "mcp__db__query", questions.Prompt{Args: []byte(args), Does: &questions.Does{Server: "db", Tool: "query", Args: []byte(args)}})
}

// answeredTools answers prompts of tools that run no command.
func (d *driver) answeredTools() {
	d.t.Helper()
	for _, p := range []struct {
		r   questions.Request
		key string
	}{{edit("e1", "docs/guide/a.md"), "y"}, {edit("e2", "docs/b.md"), "y"}, {edit("e3", "main.go"), "n"}, {fetch("f1", "https://go.dev/doc"), "y"}, {query("c1", `{"sql":"SELECT 1"}`), "y"}, {query("c2", `{"sql":"DELETE FROM a"}`), "n"}} {
		c := d.prompt(p.r)
		d.Wait(5 * time.Second)
		d.press(p.key)
		d.reply(c)
		c.Delivered(questions.Delivered)
		d.Wait(5 * time.Second)
	}
}

func TestTheFramesOfRulesThatAreProposedForTools(t *testing.T) {
	for name, size := range map[string]frame.Size{"110x34": {W: 110, H: 34}, "80x24": {W: 80, H: 24}} {
		for view, v := range map[string]struct {
			asks questions.Request
			keys []string
		}{
			"lasting-edit":      {edit("1", "docs/guide/c.md"), []string{"a", "j", "j", "j"}},
			"lasting-edit-rule": {edit("1", "docs/guide/c.md"), []string{"a", "j", "j", "j", "enter"}},
			"lasting-page-rule": {fetch("1", "https://go.dev/ref"), []string{"a", "G", "enter"}},
			"lasting-call":      {query("1", `{"sql":"SELECT 2"}`), []string{"a", "G"}},
		} {
			t.Run(view+" "+name, func(t *testing.T) {
				t.Parallel()
				setup{size: size, page: page.Options{Rules: booktest.New(t, shopRules), RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
					d.Wait(5 * time.Second)
					d.answeredTools()
					d.prompt(v.asks)
					d.Wait(5 * time.Second)
					d.press(v.keys...)
					d.Wait(time.Second)
					d.Golden(view + "-" + name)
				})
			})
		}
	}
}

func TestARuleForAFolderIsKeptFromAnEdit(t *testing.T) {
	s := booktest.New(t, "")
	setup{size: frame.Size{W: 110, H: 34}, page: page.Options{Rules: s, RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		d.answeredTools()
		c := d.prompt(edit("1", "docs/guide/c.md"))
		d.Wait(5 * time.Second)
		d.press("a", "j", "j", "j", "enter")
		d.Wait(5 * time.Second)
		d.Has("Keep this rule?", "edits at or below docs/guide in", "none of the 2 that you denied")
		d.press("y")
		d.Wait(time.Second)
		d.notSent(c)
		all := s.Now().Listed.Rules
		if len(all) != 1 || all[0].Edit == nil || all[0].Edit.Below != "docs/guide" || all[0].Edit.Make {
			t.Errorf("kept: %+v", all)
		}
	})
}

func TestRulesAreProposedForEveryAgentWhoseCommandsTheyMayAllow(t *testing.T) {
	for agent, offered := range map[string]bool{"codex": true, "gemini": false} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			may := book.Allowed{"claude": {book.OfCommands}, "codex": {book.OfCommands}}
			s := booktest.New(t, "")
			setup{size: frame.Size{W: 110, H: 34}, page: page.Options{Rules: s, RulesFor: may, Home: "/home/ann"}}.run(t, func(d *driver) {
				d.Wait(5 * time.Second)
				c := d.prompt(fake.Permission(agent, "/home/ann/src/api", questions.Prompt{ID: "1", Tool: "bash", Command: "go vet ./..."}))
				d.Wait(5 * time.Second)
				d.press("y")
				d.reply(c)
				c.Delivered(questions.Delivered)
				d.Wait(5 * time.Second)
				d.press("H", "a")
				d.Wait(time.Second)
				if offered {
					d.Has("From now on", "exactly `go vet ./...`")
				} else {
					d.Lacks("From now on", "Keep this rule?")
				}
				if offered {
					d.press("esc")
				}
				d.press("v", "a")
				d.Wait(time.Second)
				if offered {
					d.Has("`go vet`", "for Codex")
				} else {
					d.Has("only read inside the project for Claude Code")
				}
			})
		})
	}
}

func TestRulesAreProposedForCallsThatTheDeckMakesItself(t *testing.T) {
	for name, pid := range map[string]int{"of a process that is known": 7, "of one that says who it is": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup{size: frame.Size{W: 110, H: 34}, page: page.Options{Rules: booktest.New(t, ""), RulesFor: forClaude(), Home: "/home/ann"}}.run(t, func(d *driver) {
				r := fake.Permission("codex", "/home/ann/src/api", questions.Prompt{ID: "1", Tool: "query of db", Args: []byte(`{}`), Door: questions.Here, Does: &questions.Does{Server: "db", Tool: "query", Args: []byte(`{}`)}})
				r.Prompt.Grants, r.Questions[0].Options = r.Prompt.Grants[:1], r.Questions[0].Options[:1]
				r.Peer.PID = pid
				d.prompt(r)
				d.Wait(5 * time.Second)
				d.press("a")
				d.Wait(time.Second)
				if pid == 0 {
					d.Lacks("Keep this rule?")
				} else {
					d.Has("Keep this rule?", "`query` of server db in ~/src/api for Codex")
				}
			})
		})
	}
}
