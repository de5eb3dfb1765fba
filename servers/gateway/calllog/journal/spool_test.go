package journal

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// spooling is the journal of a process without a deck.
func spooling(t *testing.T, path string) *Journal {
	t.Helper()
	j := New(Options{Spool: path, Warn: func(s string) { t.Errorf("warned: %s", s) }})
	must(t, j.OpenSpool())
	return j
}

func spoolPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state", "spool.jsonl")
}

// found are the calls of the deck that takes the spool.
func found(t *testing.T, path string) []Entry {
	t.Helper()
	j, w := testJournal(t, Options{Spool: path})
	must(t, j.Open(t.Context()))
	got, err := j.Search(t.Context(), Query{Limit: -1, Bodies: true})
	must(t, err)
	if w.String() != "" {
		t.Errorf("warned: %s", w)
	}
	return got
}

func TestCallsWithoutADeckReachTheNextOne(t *testing.T) {
	path := spoolPath(t)
	first := spooling(t, path)
	first.Record(call(1))
	must(t, first.Sync(t.Context()))
	second := spooling(t, path)
	second.run = first.run + 1
	second.Record(call(2))
	must(t, second.Close(t.Context()))
	first.Record(call(3))
	must(t, first.Close(t.Context()))
	got := found(t, path)
	if len(got) != 3 {
		t.Fatalf("%d calls", len(got))
	}
	for _, e := range got {
		wanted, body := call(int(e.Call.ID))
		if e.Tool != wanted.Tool || e.Args != wanted.Args || !e.Started.Equal(wanted.Started) || e.Duration != wanted.Duration || string(e.Body.Args) != string(body.Args) || string(e.Body.Result) != string(body.Result) {
			t.Errorf("got %+v, want %+v with %s, %s", e, wanted, body.Args, body.Result)
		}
	}
	if there(path) {
		t.Error("the spool is still there")
	}
	if again := found(t, path); len(again) != 0 {
		t.Errorf("%d calls were taken twice", len(again))
	}
}

func TestACallIsTakenOnceThoughItEndsAfterADeckHasOpened(t *testing.T) {
	path := spoolPath(t)
	headless := spooling(t, path)
	c, body := call(1)
	running := c
	running.Status, running.Duration, running.Result = snapshot.Running, 0, ""
	headless.Record(running, snapshot.CallBody{Args: body.Args})
	must(t, headless.Sync(t.Context()))
	opened, _ := testJournal(t, Options{Spool: path})
	opened.tickEvery = 10 * time.Millisecond
	must(t, opened.Open(t.Context()))
	if got, err := opened.Search(t.Context(), Query{}); err != nil || len(got) != 1 || got[0].Status != snapshot.Lost {
		t.Fatalf("%v, %+v", err, got)
	}
	headless.Record(c, body)
	must(t, headless.Close(t.Context()))
	testwait.Until(t, "it is taken in", func() bool { return !there(path) })
	if got, err := opened.Search(t.Context(), Query{}); err != nil || len(got) != 1 || got[0].Status != c.Status || got[0].Result != c.Result {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestTheSpoolIsBounded(t *testing.T) {
	s := spool{spoolPath(t), 64 << 10}
	big, _ := json.Marshal(strings.Repeat("x", 8<<10))
	c, _ := call(1)
	for n := range 100 {
		c.ID = uint64(n + 1)
		must(t, s.add(t.Context(), 7, []item{{call: c, body: snapshot.CallBody{Args: big}}}))
	}
	huge, _ := json.Marshal(strings.Repeat("x", spoolLine))
	c.ID = 101
	must(t, s.add(t.Context(), 7, []item{{call: c, body: snapshot.CallBody{Args: huge}}}))
	var size int64
	for _, path := range []string{s.path, s.older()} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Size() > s.most {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
		size += info.Size()
	}
	got := found(t, s.path)
	if len(got) < 5 || got[len(got)-1].Call.ID != 101 || !got[len(got)-1].Body.Cut || got[len(got)-2].Call.ID != 100 {
		t.Errorf("%d calls of %d bytes", len(got), size)
	}
}

func TestWhatAKilledProcessLeftIsTaken(t *testing.T) {
	path := spoolPath(t)
	j := spooling(t, path)
	j.Record(call(1))
	must(t, j.Close(t.Context()))
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(b, b[:len(b)/2]...), 0o600))
	next := spooling(t, path)
	next.Record(call(2))
	next.Record(call(3))
	must(t, next.Close(t.Context()))
	if got := found(t, path); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

func TestManyProcessesSpoolAtOnce(t *testing.T) {
	path := spoolPath(t)
	const writers, each = 8, 25
	var all sync.WaitGroup
	for w := range writers {
		j := spooling(t, path)
		j.run = int64(w + 1)
		all.Go(func() {
			for n := range each {
				j.Record(call(n + 1))
			}
			if err := j.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := found(t, path); len(got) != writers*each {
		t.Errorf("%d calls", len(got))
	}
}

func TestTheSpoolIsNoLink(t *testing.T) {
	path := spoolPath(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(other, path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	c, body := call(1)
	if err := (spool{path, spoolBytes}).add(t.Context(), 1, []item{{call: c, body: body}}); err == nil || there(other) {
		t.Errorf("the link was followed: %v", err)
	}
}
