package sessions_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestSessionIsUnreadFromTheEndOfATurnUntilTheUserLooks(t *testing.T) {
	const idle, works, background, waits, ended = snapshot.Idle, snapshot.Working, snapshot.Background, snapshot.WaitsForPermission, snapshot.Ended
	said := &snapshot.Record{Said: "Done."}
	for _, tt := range []struct {
		name   string
		states []snapshot.SessionState
		record *snapshot.Record
		read   bool // before the last state
		want   bool
	}{
		{name: "a turn has ended", states: []snapshot.SessionState{works, idle}, record: said, want: true},
		{name: "and what is said is not known", states: []snapshot.SessionState{works, idle}, want: true},
		{name: "without a message", states: []snapshot.SessionState{works, idle}, record: &snapshot.Record{Prompt: "x"}},
		{name: "with a prompt at last", states: []snapshot.SessionState{works, waits, idle}, record: said, want: true},
		{name: "and what it started runs on", states: []snapshot.SessionState{works, background, idle}, record: said, want: true},
		{name: "it was found idle", states: []snapshot.SessionState{idle}, record: said},
		{name: "it works", states: []snapshot.SessionState{works, idle, works}, record: said},
		{name: "the user looked", states: []snapshot.SessionState{works, idle, idle}, record: said, read: true},
		{name: "the user looked before", states: []snapshot.SessionState{works, idle}, record: said, read: true, want: true},
		{name: "the user ended it", states: []snapshot.SessionState{works, idle, ended}, record: said},
		{name: "what it started still runs", states: []snapshot.SessionState{works, background}, record: said},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r sessions.Roster
			for i, state := range tt.states {
				if tt.read && i == len(tt.states)-1 {
					r.MarkRead("claude", "s")
				}
				r.Report(snapshot.Session{Agent: "claude", ID: "s", State: state, Since: time.Now(), Record: tt.record})
			}
			if s := find(&r, "s"); s.Unread != tt.want {
				t.Errorf("unread: %v", s.Unread)
			}
		})
	}
}

func TestUnreadSessionsComeBehindThoseThatWait(t *testing.T) {
	var r sessions.Roster
	hints, stop := r.Hints()
	defer stop()
	at := time.Now()
	for _, id := range []string{"first", "second"} {
		r.Report(snapshot.Session{Agent: "claude", ID: id, State: snapshot.Working})
		at = at.Add(time.Second)
		r.Report(snapshot.Session{Agent: "claude", ID: id, State: snapshot.Idle, Since: at})
	}
	for id, state := range map[string]snapshot.SessionState{"waits": snapshot.Waiting, "works": snapshot.Working, "idle": snapshot.Idle} {
		r.Report(snapshot.Session{Agent: "claude", ID: id, State: state, Since: at})
	}
	ids := func() (all []string) {
		for _, s := range r.Sessions() {
			all = append(all, s.ID)
		}
		return all
	}
	if got := ids(); !slices.Equal(got, []string{"waits", "second", "first", "works", "idle"}) {
		t.Errorf("got %v", got)
	}
	<-hints
	r.MarkRead("claude", "second")
	r.MarkRead("claude", "nobody")
	<-hints
	if got := ids(); !slices.Equal(got, []string{"waits", "first", "works", "idle", "second"}) {
		t.Errorf("got %v", got)
	}
}

func TestSessionBeforeTheUsersEyesIsRead(t *testing.T) {
	var mu sync.Mutex // the roster asks from a goroutine of its own
	var all []string
	asked := func() (got []string) {
		mu.Lock()
		defer mu.Unlock()
		got, all = all, nil
		return got
	}
	o := sessions.Options{Shown: func(_ context.Context, s snapshot.Session) bool {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, s.ID)
		return s.ID == "seen"
	}}
	run(t, o, func(r *sessions.Roster) {
		for _, id := range []string{"seen", "hidden", "elsewhere"} {
			s := snapshot.Session{Agent: "claude", ID: id, State: snapshot.Working, Place: snapshot.Place{TmuxPane: "%1"}}
			if id == "elsewhere" {
				s.Place = snapshot.Place{}
			}
			r.Report(s)
			s.State = snapshot.Idle
			r.Report(s)
		}
		testwait.Pass(3 * time.Second)
		if got := asked(); find(r, "seen").Unread || !find(r, "hidden").Unread || !find(r, "elsewhere").Unread || slices.Contains(got, "elsewhere") {
			t.Errorf("asked of %v", got)
		}
		testwait.Pass(10 * time.Minute)
		if got := asked(); len(got) > 65 {
			t.Errorf("asked %d times in ten minutes", len(got))
		}
	})
}

func TestUnreadIsKeptBetweenRuns(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	path := filepath.Join(home, "projects", "-src-shop", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := func(test func(r *sessions.Roster)) {
		t.Helper()
		count := usage.New(usage.Options{Programs: map[string]usage.Program{"claude": {Folder: home, Format: usage.Claude()}}, State: state})
		run(t, sessions.Options{Usage: count}, test)
	}
	for _, agent := range []string{"claude", "opencode"} { // the one has files, the other says what is in them
		report := func(r *sessions.Roster, s snapshot.SessionState) {
			r.Report(snapshot.Session{Agent: agent, ID: "s", Folder: "/src/shop", State: s})
			testwait.Pass(3 * time.Second)
		}
		again(func(r *sessions.Roster) {
			report(r, snapshot.Working)
			report(r, snapshot.Idle)
		})
		again(func(r *sessions.Roster) {
			if report(r, snapshot.Idle); !find(r, "s").Unread {
				t.Error(agent, "is in another run not known to be unread")
			}
			r.MarkRead(agent, "s")
		})
		again(func(r *sessions.Roster) {
			if report(r, snapshot.Idle); find(r, "s").Unread {
				t.Error(agent, "is in another run not known to be read")
			}
		})
	}
}

func TestWhatIsNoConversationHasNoRow(t *testing.T) {
	deck := &fakeDeck{agents: []snapshot.Agent{{Caller: snapshot.Caller{Agent: "a1", Client: "cursor", PID: 41}}, {Caller: snapshot.Caller{Agent: "a2", Client: "claude-code", PID: 42}}, {Caller: snapshot.Caller{Agent: "a3", Client: "claude-code", PID: 43}}}}
	o := sessions.Options{Deck: deck, Running: func() []process.Running { return []process.Running{{PID: 100_000_001, Name: "opencode"}} }}
	run(t, o, func(r *sessions.Roster) {
		r.Report(snapshot.Session{Agent: "claude", ID: "s", PID: 42, State: snapshot.Idle})
		r.Report(snapshot.Session{Agent: "claude", ID: "parked", PID: 43, State: snapshot.Idle, Hidden: "its terminal shows another"})
		r.Report(snapshot.Session{Agent: "claude", ID: "job", PID: 43, State: snapshot.Idle, Folder: "/elsewhere"})
		var rows []string
		for _, s := range r.Sessions() {
			if s.Hidden == "" {
				rows = append(rows, s.ID+" "+s.Connection)
			}
		}
		slices.Sort(rows)
		if !slices.Equal(rows, []string{"job a3", "s a2"}) {
			t.Errorf("rows %v of %+v", rows, r.Sessions())
		}
	})
}
