package agents_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// lacks says what is missing from an agent's value.
func lacks(a approvals.Agent) (out []string) {
	c, _ := clients.Find(a.ID)
	switch p := c.Prompts; {
	case c.ID != a.ID:
		return []string{"it is not a row of the table of clients"}
	case p == nil || !a.Cells.Untested() && (len(p.Tested) == 0 || p.Tested[0].Date == "" || c.Package == ""):
		return []string{"the table of clients does not say with which version of which package it was tested"}
	case a.New == nil || len(a.Env) == 0:
		return []string{"it has no adapter or no variables"}
	}
	cell := func(c approvals.Cell, missing bool, what string) {
		if c.Works() && missing {
			out = append(out, what)
		}
	}
	_, serves := a.New(approvals.Deps{}).(hook.Handler)
	cell(a.Cells.Usage, a.Usage == nil && a.Plugin == nil, "its tokens are counted, by nothing")
	cell(a.Cells.Last, a.Usage == nil && a.Plugin == nil, "what was said reaches the deck, by nothing")
	cell(a.Cells.Prompt, (c.Prompts.User != nil || c.Prompts.Apart != nil) && !serves, "nothing serves what it sends to the prompt socket")
	cell(a.Cells.Answer, !a.Cells.Prompt.Works(), "what it does not show can be answered")
	if (a.Plugin == nil) != (c.Prompts.User == nil || c.Prompts.Hooks != nil) {
		out = append(out, "what setup writes is not either hooks or a plugin")
	}
	if (a.Next == nil) != (c.Prompts.Next == nil) {
		out = append(out, "its next version has a file or a place for it, but not both")
	}
	if a.Next != nil && !a.Next.Cells.Untested() {
		out = append(out, "its next version counts as tested")
	}
	if a.Usage != nil && (c.Folder == nil || a.Usage.Main == nil || a.Usage.Parse == nil) {
		out = append(out, "its conversations cannot be found or read")
	}
	return out
}

func TestEveryAgentIsWhole(t *testing.T) {
	listed := map[string]bool{}
	for _, a := range agents.All() {
		if listed[a.ID] {
			t.Errorf("%s is listed twice", a.ID)
		}
		listed[a.ID] = true
		for _, what := range lacks(a) {
			t.Errorf("%s: %s", a.ID, what)
		}
	}
	for _, c := range clients.All() {
		if (c.Prompts != nil) != listed[c.ID] {
			t.Errorf("%s has prompts in the table of clients, or an adapter in the list, but not both", c.ID)
		}
	}
	if agents.Of("nobody").New != nil {
		t.Error("an agent that is not listed was found")
	}
}

func TestWhatAnAgentLacksIsSaid(t *testing.T) {
	for want, spoil := range map[string]func(*approvals.Agent){
		"no adapter":    func(a *approvals.Agent) { a.New = nil },
		"by nothing":    func(a *approvals.Agent) { a.Usage = nil },
		"either hooks":  func(a *approvals.Agent) { a.Plugin = &approvals.Plugin{} },
		"does not show": func(a *approvals.Agent) { a.Cells.Prompt = approvals.Impossible("") },
		"the table":     func(a *approvals.Agent) { a.ID = "nobody" },
	} {
		a := agents.Of("claude")
		spoil(&a)
		if got := strings.Join(lacks(a), "\n"); !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// standIn is an agent's program that is added as CONTRIBUTING says: its hook asks whether it
// may do something, and its next hook tells what it did.
func standIn() approvals.Agent {
	return approvals.Agent{
		ID: "standin", Env: []string{"STANDIN_"},
		New: func(d approvals.Deps) approvals.Adapter { return &adapter{deps: d, asks: map[string]*item{}} },
		Usage: &usage.Format{
			Main: func(look usage.Lookup, id string) string { return look.Newest(id + ".jsonl") },
			Parse: func(text []byte, _ bool) (usage.Line, bool) {
				var l struct {
					ID      string
					In, Out int64
				}
				err := json.Unmarshal(text, &l)
				return usage.Line{ID: l.ID, Reply: &usage.Reply{In: l.In, Out: l.Out}}, err == nil
			},
		},
	}
}

type adapter struct {
	deps approvals.Deps
	asks map[string]*item // by session; the test's hooks come one after the other
}

func (a *adapter) Run(ctx context.Context) { <-ctx.Done() }

func (a *adapter) Serve(ctx context.Context, c *hook.Conn) {
	m, err := c.Next(ctx)
	if err != nil {
		return
	}
	s := snapshot.Session{Agent: "standin", ID: m.Payload.Str("session"), PID: os.Getpid(), Folder: m.Payload.Str("folder"), Verified: true, State: snapshot.Working}
	a.deps.Roster.Report(s)
	if it := a.asks[s.ID]; m.Event == "Did" && it != nil {
		it.fate <- approvals.Fate{Is: approvals.Taken, Last: true}
		it.Poke()
		_ = c.Print("")
		return
	}
	it := &item{conn: c, fate: make(chan approvals.Fate, 1), choices: append([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)...)}
	r := approvals.Request(&s, &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey(), Tool: m.Payload.Str("tool"), Door: ask.Shared})
	approvals.Permit(&r, it.choices)
	it.Item = approvals.NewItem(r, a.deps.Rules)
	a.asks[s.ID] = it
	if it.Open(a.deps.Queue, it) == nil {
		it.Follow(ctx)
	}
}

type item struct {
	*approvals.Item
	conn    *hook.Conn
	choices []approvals.Choice
	fate    chan approvals.Fate
}

func (it *item) Look() approvals.Fate {
	select {
	case f := <-it.fate:
		return f
	default:
		return approvals.Fate{}
	}
}

func (it *item) Answer(r ask.Reply) bool {
	d, _, ok := claudehooks.Answer(it.choices, r)
	return ok && it.conn.Print(d.Printed()) == nil
}

// TestAnAgentIsAddedByOneValue has an agent's program ask, be answered, and be counted that
// nothing but its own value knows.
func TestAnAgentIsAddedByOneValue(t *testing.T) {
	dir, err := os.MkdirTemp("", "agents") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	q, sessions := ask.New(ask.Options{Hold: -1}), &sessions.Roster{}
	defer q.Close()
	agent := standIn()
	a := agent.New(approvals.Deps{Queue: q, Roster: sessions})
	s, err := hook.Listen(hook.Options{Path: filepath.Join(dir, "prompts.sock"), Handlers: map[string]hook.Handler{agent.ID: a.(hook.Handler)}})
	if err != nil {
		t.Skip("no socket can be opened here:", err)
	}
	defer s.Close()
	fires := func(event string) string {
		return hook.Ask(t.Context(), hook.Call{
			Socket: filepath.Join(dir, "prompts.sock"), Agent: agent.ID, Env: func(string) string { return "" },
			Input: strings.NewReader(`{"hook_event_name":"` + event + `","session":"s","folder":"/src/shop","tool":"paint"}`),
		})
	}
	printed := make(chan string)
	go func() { printed <- fires("Asks") }()
	hints, stop := q.Hints()
	defer stop()
	await := func(what string, is func(*ask.Snapshot) bool) *ask.Snapshot {
		t.Helper()
		for late := time.After(testwait.Patience); ; {
			if now := q.Pending(); is(now) {
				return now
			}
			select {
			case <-hints:
			case <-late:
				t.Fatalf("never: %s", what)
			}
		}
	}
	open := await("a prompt", func(s *ask.Snapshot) bool { return len(s.Items) == 1 }).Items[0]
	if r := open.Request; r.Client() != "standin" || r.Questions[0].Question != "Allow paint?" {
		t.Errorf("it asks %+v", r)
	}
	if err := q.Answer(open.ID, []ask.Result{{ID: "permission", SelectedOptions: []string{"Allow once"}}}); err != nil {
		t.Fatal(err)
	}
	if got := <-printed; !strings.Contains(got, `"behavior":"allow"`) {
		t.Errorf("its hook prints %s", got)
	}
	fires("Did")
	await("that it was allowed", func(s *ask.Snapshot) bool { return len(s.History) == 1 && s.History[0].End() == ask.EndAllowed })
	if all := sessions.Sessions(); len(all) != 1 || all[0].Agent != "standin" || all[0].Folder != "/src/shop" {
		t.Errorf("the sessions are %+v", all)
	}
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(`{"id":"a","in":5,"out":7}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	count := usage.New(usage.Options{Programs: map[string]usage.Program{agent.ID: {Folder: dir, Format: agent.Usage}}})
	if f, _ := count.Look(&snapshot.Session{Agent: agent.ID, ID: "s"}); f.Usage.In != 5 || f.Usage.Out != 7 {
		t.Errorf("it has used %+v", f.Usage)
	}
}
