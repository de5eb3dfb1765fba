package approvals_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const ofCalls = `version = 1
[[rule]]
id = "d1"
verdict = "deny"
mcp = { server = "db", tool = "drop" }
[[rule]]
id = "d2"
verdict = "deny"
tell = "Use the copy."
mcp = { server = "db", tool = "write", args = { "/table" = "=orders" } }
[[rule]]
id = "a1"
verdict = "allow"
agent = ["claude"]
mcp = { server = "db", tool = "query", args = { "/limit" = "max:10" } }
[[rule]]
id = "k1"
verdict = "ask"
mcp = { server = "db", tool = "list" }
`

type caller struct {
	t     *testing.T
	q     *ask.Queue
	calls *approvals.Calls
	store *book.Store
}

// calling has a book with rules for calls. A client waits for a minute.
func calling(t *testing.T, on bool, files ...string) *caller {
	t.Helper()
	s := booktest.New(t, ofCalls)
	if on {
		booktest.Accept(t, s)
	}
	o := ask.Options{Hold: -1}
	if len(files) == 2 {
		o.StateFile, o.HistoryFile = files[0], files[1]
	}
	q := ask.New(o)
	t.Cleanup(func() { _ = q.Close() })
	return &caller{t, q, approvals.NewCalls(approvals.Ruled(q, s, "/home/u", nil), func(snapshot.Caller, bool) time.Duration { return time.Minute }), s}
}

func call(tool, args string, asks bool) approvals.ToolCall {
	return approvals.ToolCall{
		Server: "db", Tool: tool, Args: json.RawMessage(args), Ask: asks,
		By: snapshot.Caller{Agent: "c1", Transport: "unix", PID: os.Getpid(), Program: "claude", Client: "claude-code", Identity: "me", Root: "/home/u/shop"},
	}
}

// approve begins a call; the function waits for what became of it: "" for one that may be made.
func (c *caller) approve(ctx context.Context, t approvals.ToolCall) func() string {
	out := make(chan string, 1)
	go func() {
		r := c.calls.Approve(ctx, t)
		switch {
		case r == nil:
			out <- ""
		case r.Pending:
			out <- "pending"
		default:
			out <- "no: " + r.Text
		}
	}()
	synctest.Wait()
	return func() string { return <-out }
}

// answer chooses an option of the one call that waits.
func (c *caller) answer(option int, note string) {
	c.t.Helper()
	items := c.q.Pending().Items
	if len(items) != 1 {
		c.t.Fatalf("%d calls wait", len(items))
	}
	r := ask.Result{ID: items[0].Request.Questions[0].ID, SelectedOptions: []string{items[0].Request.Questions[0].Options[option].Label}, Note: note}
	if err := (ask.Afar{Queue: c.q}).Answer(items[0].ID, []ask.Result{r}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) is(got func() string, want string) {
	c.t.Helper()
	if text := got(); text != want {
		c.t.Errorf("it is %q, not %q", text, want)
	}
}

func TestRulesDecideCallsOfHostedServers(t *testing.T) {
	for _, w := range []struct {
		name string
		call approvals.ToolCall
		want string // "ask": the user is asked
	}{
		{"denied", call("drop", `{}`, false), "no: A rule of the user does not allow this: Deny `drop` of server db"},
		{"denied, though its settings have it asked", call("drop", `{}`, true), "no: A rule of the user does not allow this: Deny `drop` of server db"},
		{"denied by an argument", call("write", `{"table":"orders"}`, false), "no: Use the copy."},
		{"another argument", call("write", `{"table":"x"}`, false), ""},
		{"an ask rule", call("list", `{}`, false), "ask"},
		{"its settings have it asked", call("other", `{}`, true), "ask"},
		{"an allow before its settings", call("query", `{"limit":5}`, true), ""},
		{"not what is allowed", call("query", `{"limit":50}`, true), "ask"},
		{"nothing is about it", call("other", `{}`, false), ""},
		{"a name twice", call("list", `{"a":1,"a":2}`, false), `no: The arguments can be read in several ways, so the user cannot be asked: duplicate name "a" in one object; send it once.`},
	} {
		t.Run(w.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := calling(t, true)
				got := c.approve(t.Context(), w.call)
				if w.want != "ask" {
					c.is(got, w.want)
					return
				}
				c.answer(0, "")
				c.is(got, "")
			})
		})
	}
}

func TestRulesThatAreOffDecideNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, false)
		c.is(c.approve(t.Context(), call("drop", `{}`, false)), "")
		got := c.approve(t.Context(), call("query", `{"limit":5}`, true))
		c.answer(1, "")
		c.is(got, "no: The user did not allow this call.")
	})
}

func TestAnAllowIsForAnAgentThatIsCertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, true)
		w := call("query", `{"limit":5}`, true)
		w.By.PID, w.By.Program = 0, ""
		got := c.approve(t.Context(), w)
		if notes := c.q.Pending().Items[0].Request.Prompt.Notes; len(notes) == 0 || !strings.Contains(strings.Join(notes, " "), "not certain") {
			t.Errorf("it says %q", notes)
		}
		c.answer(2, "no more today")
		c.is(got, "no: The user did not allow this call. They said: no more today")
	})
}

func TestTheUserIsNotAskedForTheirOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, true)
		w := call("drop", `{}`, true)
		w.By = snapshot.Caller{Transport: snapshot.ByCommand, OnScreen: true}
		c.is(c.approve(t.Context(), w), "")
	})
}

func TestACallThatWaitsIsFoundAgainAndItsVerdictCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, true)
		again := func(args string) func() string { return c.approve(t.Context(), call("list", args, false)) }
		c.is(again(`{"a":1,"b":2}`), "pending")
		if n := len(c.q.Pending().Items); n != 1 {
			t.Fatalf("%d calls wait", n)
		}
		got := again(`{ "b":2, "a":1 }`) // the same, written otherwise
		if n := len(c.q.Pending().Items); n != 1 {
			t.Fatalf("%d calls wait", n)
		}
		c.answer(0, "")
		c.is(got, "")
		c.is(again(`{"a":1,"b":2}`), "pending") // a new one
		c.answer(0, "")                         // while nobody waits
		other := again(`{"a":1,"b":3}`)
		c.answer(1, "")
		c.is(other, "no: The user did not allow this call.")
		c.is(again(`{"a":1,"b":2}`), "")
		c.is(again(`{"a":1,"b":2}`), "pending") // its verdict is used
	})
}

func TestAVerdictIsForItsAgentAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, true)
		c.is(c.approve(t.Context(), call("list", `{}`, false)), "pending")
		c.answer(0, "")
		w := call("list", `{}`, false)
		w.By.Identity = "another"
		c.is(c.approve(t.Context(), w), "pending")
	})
}

func TestTwoEqualCallsAtOnceAreTwoDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, true)
		one := c.approve(t.Context(), call("list", `{}`, false))
		two := c.approve(t.Context(), call("list", `{}`, false))
		items := c.q.Pending().Items
		if len(items) != 2 {
			t.Fatalf("%d calls wait", len(items))
		}
		for i, it := range items {
			r := ask.Result{ID: it.Request.Questions[0].ID, SelectedOptions: []string{it.Request.Questions[0].Options[i].Label}}
			if err := (ask.Afar{Queue: c.q}).Answer(it.ID, []ask.Result{r}); err != nil {
				t.Fatal(err)
			}
		}
		c.is(one, "")
		c.is(two, "no: The user did not allow this call.")
	})
}

func TestACallWhoseAgentHasLeftIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, true)
		ctx, leave := context.WithCancel(t.Context())
		got := c.approve(ctx, call("list", `{}`, false))
		leave()
		c.is(got, "no: ")
		if s := c.q.Pending(); len(s.Items) != 0 || len(s.History) != 1 || s.History[0].Delivery != ask.Withdrawn {
			t.Errorf("%d wait, the history is %+v", len(s.Items), s.History)
		}
	})
}

func TestAVerdictOutlastsTheDeck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		files := []string{filepath.Join(dir, "state.json"), filepath.Join(dir, "history.jsonl")}
		first := calling(t, true, files...)
		first.is(first.approve(t.Context(), call("list", `{"n":1}`, false)), "pending")
		first.answer(0, "")
		first.is(first.approve(t.Context(), call("list", `{"n":2}`, false)), "pending")
		_ = first.q.Close()
		second := calling(t, true, files...)
		second.is(second.approve(t.Context(), call("list", `{"n":1}`, false)), "")
		got := second.approve(t.Context(), call("list", `{"n":2}`, false))
		second.answer(1, "")
		second.is(got, "no: The user did not allow this call.")
		second.is(second.approve(t.Context(), call("list", `{"n":1}`, false)), "pending")
	})
}

func TestADenialIsInTheJournalWithItsRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := calling(t, true)
		c.approve(t.Context(), call("drop", `{"table":"orders"}`, false))()
		h := c.q.Pending().History
		if len(h) != 1 || h[0].Rule == nil || h[0].Rule.ID != "d1" || h[0].End() != ask.EndDenied {
			t.Errorf("it is %+v", h)
		}
	})
}
