package claude

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// reports looks at all files, and reports what differs from what was shown.
func (d *desk) reports(shown map[string]snapshot.Session) {
	files := newSessionFiles(d.folder)
	for _, name := range files.due(time.Now(), true) {
		files.read(name)
	}
	d.a.report(files.known, shown)
}

func TestSessionsAreListedWithWhatTheyWaitFor(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		shown := map[string]snapshot.Session{}
		state := func(want snapshot.SessionState) snapshot.Session {
			t.Helper()
			d.reports(shown)
			all := d.roster.Sessions()
			if len(all) != 1 || all[0].State != want || all[0].Folder != d.project || all[0].PID != os.Getpid() || all[0].Place.TmuxPane != "%7" {
				t.Fatalf("sessions %+v, want %s", all, want)
			}
			return all[0]
		}
		state(snapshot.Working)
		d.status("waiting", "input needed")
		state(snapshot.WaitsForAnswer)
		d.status("waiting", "sandbox request")
		if s := state(snapshot.Waiting); s.WaitingFor != "sandbox request" {
			t.Errorf("it waits for %q", s.WaitingFor)
		}
		d.status("busy", "")
		h := d.form() // held: its terminal is busy
		if s := state(snapshot.WaitsForAnswer); s.WaitingFor == "" {
			t.Errorf("it waits for nothing: %+v", s)
		}
		_ = h.conn.Close()
		testwait.Pass(unrecorded + watchEvery)
		d.status("shell", "")
		state(snapshot.Background)
		d.status("dancing", "")
		if s := state(snapshot.StateUnknown); !strings.Contains(s.Note, "dancing") {
			t.Errorf("the note is %q", s.Note)
		}
		d.writes(session{ID: "cleared", Status: "idle"})
		if s := state(snapshot.Idle); s.ID != "cleared" {
			t.Errorf("the session is %+v", s)
		}
		if err := os.Remove(filepath.Join(d.folder, "sessions", strconv.Itoa(os.Getpid())+".json")); err != nil {
			t.Fatal(err)
		}
		d.reports(shown)
		if all := d.roster.Sessions(); len(all) != 1 || all[0].State != snapshot.Ended {
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
					shown := map[string]snapshot.Session{}
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
		shown := map[string]snapshot.Session{}
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
		shown := map[string]snapshot.Session{}
		d.reports(shown)
		if n := shown[sessionID].Subagents; n != 2 {
			t.Errorf("%d sub-agents run", n)
		}
	})
}

// TestFilesThatWereLeftBehindAreNotReadAgain has the files of many processes that were killed,
// and of one that lives, looked at for an hour.
func TestFilesThatWereLeftBehindAreNotReadAgain(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		const many = 5000
		dir := filepath.Join(d.folder, "sessions")
		name := func(i int) string { return strconv.Itoa(1<<23+i) + ".json" } // beyond what a process may have as its ID
		leave := func(name, status string) {
			t.Helper()
			pid := strings.TrimSuffix(name, ".json")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"pid":`+pid+`,"sessionId":"old","status":"`+status+`"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := range many {
			leave(name(i), "busy")
		}
		f := newSessionFiles(d.folder)
		look := func(all bool) {
			for _, name := range f.due(time.Now(), all) {
				f.read(name)
			}
		}
		look(true)
		if f.reads != many+1 || len(f.known) != 1 {
			t.Fatalf("%d files are read, %d processes known", f.reads, len(f.known))
		}
		f.reads = 0
		const looks = int(time.Hour / lookAround)
		for range looks {
			testwait.Pass(lookAround)
			look(false)
		}
		if f.reads != looks { // that of the living process
			t.Errorf("%d files are read in %d looks", f.reads, looks)
		}
		if most := many * int(time.Hour/sweepEvery); f.stats > most {
			t.Errorf("%d files are looked at, at most %d should be", f.stats, most)
		}
		// A file that is written, and a new one.
		f.reads = 0
		leave(name(7), "shell")
		leave("new.json", "busy")
		testwait.Pass(sweepEvery)
		look(false)
		if f.reads != 3 {
			t.Errorf("%d files are read, not the living process's, the one that was written and the new one", f.reads)
		}
	})
}
