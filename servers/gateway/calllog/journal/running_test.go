package journal

import (
	"path/filepath"
	"strings"
	"testing"
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

func TestCallsThatADeckLeftRunningAreLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	first, _ := testJournal(t, Options{Path: path})
	must(t, first.Open(t.Context()))
	for n := 1; n <= 3; n++ {
		first.Record(running(n, time.Minute))
	}
	must(t, first.Sync(t.Context()))
	first.Record(call(2))
	first.Record(call(4))
	must(t, first.Sync(t.Context()))
	if s := first.current(); s.calls != 4 || len(first.begun) != 2 {
		t.Errorf("%d calls are counted, %d run", s.calls, len(first.begun))
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
