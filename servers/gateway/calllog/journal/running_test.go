package journal

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// running is a call in flight that began so long ago.
func running(n int, age time.Duration) (snapshot.Call, snapshot.CallBody) {
	c, b := call(n)
	c.Status, c.Started, c.Duration, c.Result = snapshot.Running, time.Now().Add(-age), 0, ""
	b.Result = nil
	return c, b
}

func TestOnlySlowCallsAreWrittenBeforeTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := New(Options{})
		waiting := func(want string) {
			t.Helper()
			synctest.Wait()
			j.mu.Lock()
			defer j.mu.Unlock()
			var got []string
			for _, it := range j.queue {
				got = append(got, string(it.call.Status))
			}
			if s := strings.Join(got, " "); s != want {
				t.Errorf("waits to be written: %q, want %q", s, want)
			}
		}
		j.Begin(running(1, 0))
		time.Sleep(slow / 2)
		j.Begin(running(2, 0))
		j.Record(call(1))
		time.Sleep(slow * 3 / 4)
		waiting("ok")
		time.Sleep(slow)
		waiting("ok running")
		time.Sleep(10 * slow)
		j.Record(call(2))
		waiting("ok running ok")
		if !j.queue[2].again || j.queue[0].again || j.timed || len(j.calls) != 0 {
			t.Errorf("queue %+v, timed %v, %d in flight", j.queue, j.timed, len(j.calls))
		}
	})
}

func TestCallsThatADeckLeftRunningAreLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	first, _ := testJournal(t, Options{Path: path})
	must(t, first.Open(t.Context()))
	for n := 1; n <= 3; n++ {
		first.Begin(running(n, time.Minute))
	}
	first.mu.Lock()
	first.putBegun(slow)
	first.mu.Unlock()
	must(t, first.Sync(t.Context()))
	first.Record(call(2))
	first.Record(call(4))
	must(t, first.Sync(t.Context()))
	if s := first.current(); s.calls != 4 {
		t.Errorf("%d calls are counted", s.calls)
	}
	// Nobody sees what has not ended.
	follower, err := OpenReader(t.Context(), path)
	must(t, err)
	defer follower.Close()
	seen, err := follower.Search(t.Context(), Query{})
	if err != nil || ids(seen) != "2 4" {
		t.Fatalf("while they run: %s, %v", ids(seen), err)
	}
	second, w := testJournal(t, Options{Path: path})
	second.run = first.run + 1
	must(t, second.Open(t.Context())) // the first one has not closed it
	lost, err := follower.Search(t.Context(), Query{After: seen[1].ID})
	if err != nil || ids(lost) != "1 3" {
		t.Fatalf("lost: %s, %v", ids(lost), err)
	}
	if e := lost[0]; e.Status != snapshot.Lost || !strings.Contains(e.Result, "closed before") {
		t.Errorf("%+v", e)
	}
	if b, ok := second.EntryBody(t.Context(), lost[0].ID); !ok || b.Result != nil || !strings.Contains(string(b.Args), "1.txt") {
		t.Errorf("body %+v, %v", b, ok)
	}
	second.Record(call(1))
	must(t, second.Sync(t.Context()))
	if got, err := second.Search(t.Context(), Query{NotRun: second.run}); err != nil || ids(got) != "2 4 1 3" {
		t.Errorf("of earlier runs: %s, %v", ids(got), err)
	}
	if w.String() != "" {
		t.Errorf("warned: %s", w)
	}
}

func TestCloseWritesWhatStillRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	first, _ := testJournal(t, Options{Path: path})
	must(t, first.Open(t.Context()))
	first.Begin(running(1, 0))
	must(t, first.Close(t.Context()))
	second, _ := testJournal(t, Options{Path: path})
	second.run = first.run + 1
	must(t, second.Open(t.Context()))
	if got, err := second.Search(t.Context(), Query{Status: snapshot.Lost}); err != nil || ids(got) != "1" {
		t.Errorf("%s, %v", ids(got), err)
	}
}
