package sessions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// fakeDeck says who is connected.
type fakeDeck struct {
	agents []snapshot.Agent
	notify.Feed
}

func (d *fakeDeck) Snapshot() *snapshot.Snapshot { return &snapshot.Snapshot{Agents: d.agents} }

// run looks at everything while test does its work, in a bubble with its own clock.
func run(t *testing.T, o sessions.Options, test func(r *sessions.Roster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &sessions.Roster{}
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx, o) }()
		testwait.Pass(time.Second)
		test(r)
		cancel()
		<-done
	})
}

func find(r *sessions.Roster, id string) snapshot.Session {
	all := r.Sessions()
	if i := slices.IndexFunc(all, func(s snapshot.Session) bool { return s.ID == id }); i >= 0 {
		return all[i]
	}
	return snapshot.Session{}
}

// ended is the ID of a process that runs no longer.
func ended(t *testing.T) int {
	t.Helper()
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^$"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	return p.Pid
}

func TestASessionWhoseProcessIsGoneEndsAfterTenSecondsAndLeavesAfterAnHour(t *testing.T) {
	pid := ended(t)
	run(t, sessions.Options{}, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "claude", ID: "dead", PID: pid, State: snapshot.Working})
		r.Report(snapshot.Session{Agent: "claude", ID: "here", PID: os.Getpid(), State: snapshot.Working})
		testwait.Pass(9 * time.Second)
		if s := find(r, "dead"); s.State != snapshot.Working {
			t.Errorf("it is %s before ten seconds", s.State)
		}
		testwait.Pass(6 * time.Second)
		if s := find(r, "dead"); s.State != snapshot.Ended {
			t.Errorf("then it is %s", s.State)
		}
		testwait.Pass(59 * time.Minute)
		if s := find(r, "dead"); s.State != snapshot.Ended {
			t.Errorf("within the hour it is %q", s.State)
		}
		testwait.Pass(2 * time.Minute)
		if s := find(r, "dead"); s.ID != "" {
			t.Error("after an hour it is still there")
		}
		if s := find(r, "here"); s.State != snapshot.Working {
			t.Errorf("without news a session became %s", s.State)
		}
	})
}

func TestAnOpenPromptMakesItsSessionWaitWhateverElseIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := ask.New(ask.Options{Hold: -1})
		ctx, cancel := context.WithCancel(t.Context())
		r := &sessions.Roster{}
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx, sessions.Options{Queue: q}) }()
		prompt := func(id string, kind ask.PromptKind) *ask.Call {
			c, err := q.Open(ask.Request{
				Questions: []ask.Question{{ID: "q", Question: "Which database?", Kind: ask.Text, AllowOther: true, Required: true}},
				Prompt:    &ask.Prompt{Kind: kind, ID: id, Agent: "claude", Session: "s", Tool: "Bash", Command: "make all"},
			})
			if err != nil {
				t.Fatal(err)
			}
			testwait.Pass(time.Second)
			return c
		}
		first := prompt("p1", ask.Permission)
		if s := find(r, "s"); s.State != snapshot.WaitsForPermission || s.WaitingFor != "Bash make all" {
			t.Errorf("before its adapter reported it: %+v", s)
		}
		second := prompt("p2", ask.OwnQuestion)
		for _, state := range []snapshot.SessionState{snapshot.Working, snapshot.Idle, snapshot.StateUnknown} {
			r.Report(snapshot.Session{Agent: "claude", ID: "s", State: state})
			if s := find(r, "s"); s.State != snapshot.WaitsForPermission {
				t.Errorf("reported as %s it is %s", state, s.State)
			}
		}
		first.Settled("answered in its terminal")
		testwait.Pass(time.Second)
		if s := find(r, "s"); s.State != snapshot.WaitsForAnswer || s.WaitingFor != "Which database?" {
			t.Errorf("of the second prompt: %+v", s)
		}
		second.Settled("answered in its terminal")
		plan := prompt("p3", ask.Plan)
		if s := find(r, "s"); !s.State.Waits() || s.Word() != "plan?" {
			t.Errorf("of a plan: %+v", s)
		}
		plan.Settled("answered in its terminal")
		testwait.Pass(time.Second)
		if s := find(r, "s"); s.State != snapshot.StateUnknown {
			t.Errorf("without a prompt it is %s", s.State)
		}
		cancel()
		<-done
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAConnectionJoinsItsSession(t *testing.T) {
	caller := func(id, client, folder string, pid int, hints ...string) snapshot.Caller {
		c := snapshot.Caller{Agent: id, Client: client, Root: folder, PID: pid, Hints: map[string]string{}}
		if len(hints) == 2 {
			c.Hints[hints[0]] = hints[1]
		}
		return c
	}
	named := caller("c9", "codex-mcp-client", "/src/twice", os.Getpid())
	named.Session = "t3"
	d := &fakeDeck{agents: []snapshot.Agent{
		{Caller: caller("c1", "claude-code", "/elsewhere", 7, "CLAUDE_CODE_SESSION_ID", "s1")},
		{Caller: caller("c2", "codex-mcp-client", "/src/menu", os.Getpid())},
		{Caller: caller("c3", "codex-mcp-client", "/src/shop", os.Getpid())},
		{Caller: caller("c8", "codex-mcp-client", "/src/twice", os.Getpid())},
		{Caller: named},
		{Caller: caller("c4", "cursor-vscode", "/src/till", 99), InFlight: []string{"pixelsrc_render"}},
		{Caller: caller("c5", "cursor-vscode", "/src/till", 99)},
		{Caller: caller("c6", "zed", "", 0), Gone: time.Now()},
		{Caller: snapshot.Caller{Agent: "c7", Transport: snapshot.ByCommand}},
	}}
	run(t, sessions.Options{Deck: d}, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "claude", ID: "s1", State: snapshot.Idle})
		r.Report(snapshot.Session{Agent: "codex", ID: "t1", PID: os.Getpid(), Folder: "/src/shop", State: snapshot.Idle})
		r.Report(snapshot.Session{Agent: "codex", ID: "t2", PID: os.Getpid(), Folder: "/src/menu", State: snapshot.Idle})
		r.Report(snapshot.Session{Agent: "codex", ID: "t3", PID: os.Getpid(), Folder: "/src/twice", State: snapshot.Idle})
		r.Report(snapshot.Session{Agent: "codex", ID: "t4", PID: os.Getpid(), Folder: "/src/twice", State: snapshot.Idle})
		var got []string
		for _, s := range r.Sessions() {
			got = append(got, fmt.Sprintf("%s %s %s %s", s.Agent, s.ID, s.State, s.Connection))
		}
		slices.Sort(got)
		want := "claude s1 idle c1, codex t1 idle c3, codex t2 idle c2, codex t3 idle c9, codex t4 idle c8, cursor c4 working c4"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
	})
}

func TestASessionThatOnlyAsksIsOneWithItsConnection(t *testing.T) {
	prompt := func(session string, pid int, folder string) ask.Request {
		return ask.Request{
			Questions: []ask.Question{{ID: "q", Question: "Allow Bash?", Kind: ask.Choice, Options: []ask.Option{{Label: "Deny"}}, Required: true}},
			Prompt:    &ask.Prompt{Kind: ask.Permission, ID: session, Agent: "codex", Session: session, Tool: "Bash", Grants: []ask.Grant{{Scope: ask.Once}}},
			Peer:      ask.Peer{PID: pid, Agent: pid, Cwd: folder, Key: session},
		}
	}
	for name, tt := range map[string]struct {
		asks ask.Request
		conn snapshot.Caller
		want string
	}{
		"by its process":  {prompt("s", os.Getpid(), "/src/shop/cart"), snapshot.Caller{Client: "codex-mcp-client", Root: "/src/shop", PID: os.Getpid()}, "codex s"},
		"by its folder":   {prompt("s", 0, "/src/shop"), snapshot.Caller{Client: "codex-mcp-client", Root: "/src/shop", PID: os.Getpid()}, "codex s"},
		"over HTTP":       {prompt("s", os.Getpid(), "/src/shop"), snapshot.Caller{Client: "codex-mcp-client", Root: "/src/shop"}, "codex s"},
		"another process": {prompt("s", 1, "/src/shop"), snapshot.Caller{Client: "codex-mcp-client", Root: "/src/shop", PID: os.Getpid()}, "codex c, codex s"},
		"another folder":  {prompt("s", 0, "/src/shop"), snapshot.Caller{Client: "codex-mcp-client", Root: "/src/menu", PID: os.Getpid()}, "codex c, codex s"},
		"another client":  {prompt("s", os.Getpid(), "/src/shop"), snapshot.Caller{Client: "gemini", Root: "/src/shop", PID: os.Getpid()}, "codex s, gemini c"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := ask.New(ask.Options{Hold: -1})
				if _, err := q.Open(tt.asks); err != nil {
					t.Fatal(err)
				}
				tt.conn.Agent = "c"
				ctx, cancel := context.WithCancel(t.Context())
				r, done := &sessions.Roster{}, make(chan struct{})
				go func() {
					defer close(done)
					r.Run(ctx, sessions.Options{Queue: q, Deck: &fakeDeck{agents: []snapshot.Agent{{Caller: tt.conn}}}})
				}()
				testwait.Pass(time.Second)
				var got []string
				for _, s := range r.Sessions() {
					got = append(got, s.Agent+" "+s.ID)
				}
				slices.Sort(got)
				if s := strings.Join(got, ", "); s != tt.want {
					t.Errorf("got %s, want %s", s, tt.want)
				}
				if s := find(r, "s"); s.State != snapshot.WaitsForPermission {
					t.Errorf("it is %s", s.State)
				}
				cancel()
				<-done
				if err := q.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestASessionOfUnknownStateIsAtWorkDuringItsCalls(t *testing.T) {
	d := &fakeDeck{agents: []snapshot.Agent{{Caller: snapshot.Caller{Agent: "c", Client: "codex-mcp-client", PID: os.Getpid()}, InFlight: []string{"pixelsrc_render"}}}}
	run(t, sessions.Options{Deck: d}, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "codex", ID: "s", PID: os.Getpid(), State: snapshot.StateUnknown})
		if s := find(r, "s"); s.State != snapshot.Working || s.LastTool != "pixelsrc_render" {
			t.Errorf("got %+v", s)
		}
	})
}

func TestAProgramThatNobodyReportsIsNotSetUp(t *testing.T) {
	found := []process.Running{
		{PID: 100000001, Name: "opencode"},
		{PID: 100000002, Parent: 100000001, Name: "opencode"},
		{PID: 100000003, Name: "gemini"},
		{PID: 100000004, Name: "vi"},
		{PID: 100000005, Name: "kimi-code"},
		{PID: 100000006, Name: "goose"},
	}
	run(t, sessions.Options{Running: func() []process.Running { return found }}, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "gemini", ID: "g", PID: 100000003, State: snapshot.Idle})
		all := r.Sessions()
		if len(all) != 4 {
			t.Fatalf("got %+v", all)
		}
		for id, want := range map[string][2]string{"process 100000001": {"opencode", "not set up"}, "process 100000005": {"kimi", "not set up"}, "process 100000006": {"goose", "only its process is known"}} {
			if s := find(r, id); s.Agent != want[0] || s.State != snapshot.StateUnknown || s.Note != want[1] {
				t.Errorf("got %+v", s)
			}
		}
	})
}

func TestWhatAProgramReportsWinsOverWhatItsFilesSay(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "projects", "-src-shop", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"type":"ai-title","aiTitle":"From the file"}
{"type":"assistant","message":{"id":"a","model":"odd","content":[{"type":"tool_use","name":"Bash","input":{"command":"make"}}],"usage":{"input_tokens":10,"output_tokens":2}}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	count := usage.New(usage.Options{Programs: map[string]usage.Program{"claude": {Folder: home, Format: usage.Claude()}}, State: state})
	run(t, sessions.Options{Usage: count}, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "claude", ID: "s", Folder: "/src/shop", State: snapshot.Idle, Title: "Its own"})
		testwait.Pass(time.Second)
		s := find(r, "s")
		if s.Title != "Its own" || s.Usage != (snapshot.Usage{In: 10, Out: 2}) || s.Cost.Known || s.LastTool != "Bash" || s.LastSubject != "make" || s.Context.Used != 10 {
			t.Errorf("got %+v", s)
		}
	})
	if kept, err := os.ReadDir(state); err != nil || len(kept) != 1 {
		t.Errorf("kept %v: %v", kept, err)
	}
}

func TestOtherOptionsHoldForSessionsThatHaveEnded(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "projects", "-src-shop", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"message":{"id":"a","model":"m","usage":{"input_tokens":10}}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var prices atomic.Pointer[usage.Prices]
	var keep atomic.Int64
	keep.Store(int64(10 * time.Hour))
	count := usage.New(usage.Options{Programs: map[string]usage.Program{"claude": {Folder: home, Format: usage.Claude()}}, Prices: prices.Load})
	o := sessions.Options{Usage: count, Keep: func() time.Duration { return time.Duration(keep.Load()) }}
	run(t, o, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "claude", ID: "s", Folder: "/src/shop", State: snapshot.Ended, Since: time.Now()})
		testwait.Pass(2 * time.Hour)
		if s := find(r, "s"); s.ID == "" || s.Cost.Known {
			t.Errorf("got %+v", s)
		}
		table, err := usage.ParsePrices([]byte(`{"m":{"input_cost_per_token":2}}`), "")
		if err != nil {
			t.Fatal(err)
		}
		prices.Store(table)
		r.Look()
		testwait.Pass(time.Second)
		if s := find(r, "s"); s.Cost.USD != 20 {
			t.Errorf("with other prices it costs %+v", s.Cost)
		}
		hints, stop := r.Hints()
		defer stop()
		keep.Store(0)
		r.Look()
		testwait.Pass(time.Second)
		if s := find(r, "s"); s.ID != "" || len(hints) == 0 {
			t.Errorf("still there, or nobody is told: %+v", s)
		}
	})
}

// recorded returns options that have sessions counted by what Claude Code records of them, and
// what writes its record of the session s.
func recorded(t *testing.T) (o sessions.Options, write func(line string)) {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, "projects", "-src-shop", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	o.Usage = usage.New(usage.Options{Programs: map[string]usage.Program{"claude": {Folder: home, Format: usage.Claude()}}})
	return o, func(line string) {
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tenTokens is what it records of a message.
const tenTokens = `{"message":{"id":"a","model":"odd","usage":{"input_tokens":10,"output_tokens":2}}}`

func TestSessionsThatChangeAllTheTimeAreCountedAllTheSame(t *testing.T) {
	o, write := recorded(t)
	write(tenTokens)
	run(t, o, func(r *sessions.Roster) {
		for i := range 20 {
			r.Report(snapshot.Session{Agent: "claude", ID: "s", Folder: "/src/shop", State: snapshot.Idle, Title: fmt.Sprint(i)})
			testwait.Pass(100 * time.Millisecond)
		}
		if s := find(r, "s"); s.Usage.In != 10 {
			t.Errorf("after two seconds its tokens are %+v", s.Usage)
		}
	})
}

// TestTheFirstSessionIsCountedSoon reports one right after the first look, which found
// none: mcpdeck sessions waits 400 ms for more to be known.
func TestTheFirstSessionIsCountedSoon(t *testing.T) {
	o, write := recorded(t)
	write(tenTokens)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := &sessions.Roster{}
		go r.Run(ctx, o)
		testwait.Pass(10 * time.Millisecond)
		r.Report(snapshot.Session{Agent: "claude", ID: "s", Folder: "/src/shop", State: snapshot.Idle})
		testwait.Pass(399 * time.Millisecond)
		if s := find(r, "s"); s.Usage.In != 10 {
			t.Errorf("its tokens are %+v", s.Usage)
		}
	})
}

// TestWhatWasAskedInANewSessionIsReadSoon has its program record that after the session was
// looked at for the first time.
func TestWhatWasAskedInANewSessionIsReadSoon(t *testing.T) {
	o, write := recorded(t)
	run(t, o, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "claude", ID: "s", Folder: "/src/shop", State: snapshot.Working})
		testwait.Pass(1500 * time.Millisecond)
		if s := find(r, "s"); s.Name() != snapshot.Unseen {
			t.Errorf("it is called %q", s.Name())
		}
		write(`{"type":"user","message":{"role":"user","content":"Mend the tests"}}`)
		testwait.Pass(600 * time.Millisecond)
		if s := find(r, "s"); s.Name() != "Mend the tests" {
			t.Errorf("it is called %q", s.Name())
		}
	})
}

// TestSubAgentsOfASessionAreThoseAtWork lists a session of which one sub-agent works and
// one asks.
func TestSubAgentsOfASessionAreThoseAtWork(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-src-shop", "s")
	if err := os.MkdirAll(filepath.Join(dir, "subagents"), 0o700); err != nil {
		t.Fatal(err)
	}
	const line = `{"type":"user","message":{"role":"user","content":"go"},"timestamp":"2026-08-02T09:00:00Z"}` + "\n"
	for _, path := range []string{dir + ".jsonl", filepath.Join(dir, "subagents", "agent-a.jsonl"), filepath.Join(dir, "subagents", "agent-b.jsonl")} {
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, sessions.Options{Usage: usage.New(usage.Options{Programs: map[string]usage.Program{"claude": {Folder: home, Format: usage.Claude()}}})}, func(r *sessions.Roster) {
		s := snapshot.Session{Agent: "claude", ID: "s", Folder: "/src/shop", Subagents: 1}
		for _, w := range []struct {
			state snapshot.SessionState
			want  int
		}{{snapshot.Working, 2}, {snapshot.WaitsForPermission, 2}, {snapshot.Background, 2}, {snapshot.StateUnknown, 2}, {snapshot.Idle, 1}, {snapshot.Ended, 0}} {
			s.State, s.Since = w.state, time.Now()
			r.Report(s)
			if w.state != snapshot.Idle && w.state != snapshot.Ended {
				testwait.Pass(15 * time.Second) // its files are looked at
			}
			if n := find(r, "s").Subagents; n != w.want {
				t.Errorf("%s: %d sub-agents, want %d", w.state, n, w.want)
			}
		}
	})
}
