package claude

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/deck"
)

// reports looks at all files, and reports what differs from what was shown.
func (d *desk) reports(shown map[string]deck.Session) {
	known := map[string]session{}
	for _, name := range d.a.files(known) {
		d.a.read(known, name)
	}
	d.a.report(known, shown)
}

func TestSessionsAreListedWithWhatTheyWaitFor(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		shown := map[string]deck.Session{}
		state := func(want deck.SessionState) deck.Session {
			t.Helper()
			d.reports(shown)
			all := d.roster.Sessions()
			if len(all) != 1 || all[0].State != want || all[0].Folder != d.project || all[0].PID != os.Getpid() || all[0].Place.TmuxPane != "%7" {
				t.Fatalf("sessions %+v, want %s", all, want)
			}
			return all[0]
		}
		state(deck.Working)
		d.status("waiting", "input needed")
		state(deck.WaitsForAnswer)
		d.status("busy", "")
		h := d.form() // held: its terminal is busy
		if s := state(deck.WaitsForAnswer); s.WaitingFor == "" {
			t.Errorf("it waits for nothing: %+v", s)
		}
		_ = h.conn.Close()
		time.Sleep(unrecorded + watchEvery)
		d.status("shell", "")
		state(deck.Background)
		d.status("dancing", "")
		if s := state(deck.StateUnknown); !strings.Contains(s.Note, "dancing") {
			t.Errorf("the note is %q", s.Note)
		}
		d.writes(session{ID: "cleared", Status: "idle"})
		if s := state(deck.Idle); s.ID != "cleared" {
			t.Errorf("the session is %+v", s)
		}
		if err := os.Remove(filepath.Join(d.folder, "sessions", strconv.Itoa(os.Getpid())+".json")); err != nil {
			t.Fatal(err)
		}
		d.reports(shown)
		if all := d.roster.Sessions(); len(all) != 1 || all[0].State != deck.Ended {
			t.Errorf("left are %+v", all)
		}
	})
}

// TestASessionOfTwoProcessesIsWhereItLastDidSomething lists one that is resumed while its
// first process still runs.
func TestASessionOfTwoProcessesIsWhereItLastDidSomething(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second session
		want          int
	}{
		"the latest status":               {session{PID: 7, Stamp: 2}, session{PID: 9, Stamp: 1}, 7},
		"of equal ones the later process": {session{PID: 7, Stamp: 1}, session{PID: 9, Stamp: 1}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				tt.first.ID, tt.second.ID = sessionID, sessionID
				known := map[string]session{"7.json": tt.first, "9.json": tt.second}
				for range 50 { // a map has no order
					shown := map[string]deck.Session{}
					if d.a.report(known, shown); shown[sessionID].PID != tt.want {
						d.t.Errorf("it is said to run in %d, want %d", shown[sessionID].PID, tt.want)
						break
					}
				}
			})
		})
	}
}

func TestASessionIsListedWithWhenItsProcessBegan(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.writes(session{ID: sessionID, Status: "busy", Began: 1795421723430})
		shown := map[string]deck.Session{}
		d.reports(shown)
		if began := shown[sessionID].Started; began.UnixMilli() != 1795421723430 {
			t.Errorf("it began %v", began)
		}
	})
}

func TestSubAgentsThatAskAreCounted(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		for i, id := range []string{"", "a1", "a2", "a2"} {
			d.bash("make "+strconv.Itoa(i), map[string]any{"agent_id": id, "agent_type": "tests"})
		}
		shown := map[string]deck.Session{}
		d.reports(shown)
		if n := shown[sessionID].Subagents; n != 2 {
			t.Errorf("%d sub-agents run", n)
		}
	})
}
