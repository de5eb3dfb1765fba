package calllog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestAnAgentShowsWhatItCallsAndWaitsFor(t *testing.T) {
	l, f := New(Options{}), &Figures{}
	start := func(tool string) *Record {
		return l.Begin(f, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: tool})
	}
	shown := func(what, inFlight string, calls, errors uint64, waiting bool) {
		t.Helper()
		var a snapshot.Agent
		f.Fill(&a)
		if got := strings.Join(a.InFlight, " "); got != inFlight || a.Calls != calls || a.Errors != errors || a.Waiting != waiting {
			t.Errorf("%s: in flight %q, %d calls, %d errors, waiting %v", what, got, a.Calls, a.Errors, a.Waiting)
		}
	}
	waits := func(id uint64, want bool) {
		t.Helper()
		l.work()
		calls, _ := l.Since(0)
		if i := slices.IndexFunc(calls, func(c snapshot.Call) bool { return c.ID == id }); i < 0 || calls[i].Waiting != want {
			t.Errorf("call %d of %+v waits, want %v", id, calls, want)
		}
	}
	shown("before", "", 0, 0, false)
	first, second := start("one"), start("two")
	shown("two calls", "one two", 2, 0, false)
	answered, again := first.Wait(), second.Wait()
	shown("both wait", "one two", 2, 0, true)
	waits(first.ID(), true)
	answered()
	answered() // counts once
	shown("one waits", "one two", 2, 0, true)
	waits(first.ID(), false)
	waits(second.ID(), true)
	second.End(snapshot.ToolError, nil, "")
	waits(second.ID(), false)
	again()
	shown("one has failed", "one", 2, 1, false)
	waits(second.ID(), false)
	first.End(snapshot.OK, nil, "")
	shown("after", "", 2, 1, false)
	var a snapshot.Agent
	if f.Fill(&a); a.LastTool != "two" || a.LastCall.IsZero() {
		t.Errorf("called last: %q at %v", a.LastTool, a.LastCall)
	}
}

func TestTheDeckWaitsForCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		l.Drain(t.Context()) // there is none
		first, second := begin(l), begin(l)
		drained := make(chan struct{})
		go func() { defer close(drained); l.Drain(t.Context()) }()
		over := func() bool {
			synctest.Wait()
			select {
			case <-drained:
				return true
			default:
				return false
			}
		}
		first.End(snapshot.OK, nil, "")
		if over() {
			t.Error("nobody waits for the second call")
		}
		second.End(snapshot.OK, nil, "")
		if !over() {
			t.Error("the deck waits for calls that have ended")
		}
		begin(l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		drained = make(chan struct{})
		go func() { defer close(drained); l.Drain(ctx) }()
		testwait.Pass(time.Minute / 2)
		if over() {
			t.Error("nobody waits for a call in flight")
		}
		testwait.Pass(time.Minute)
		if !over() {
			t.Error("the deck waits for longer than it may")
		}
	})
}

func TestASnapshotHasTheNewestCalls(t *testing.T) {
	l := New(Options{})
	for i := range snapshotCalls + 10 {
		status := snapshot.OK
		if i%2 == 1 {
			status = snapshot.ToolError
		}
		l.Begin(&Figures{}, snapshot.Caller{}, Request{Server: fmt.Sprint("m", i%2), Tool: "t"}).End(status, nil, "")
	}
	last := begin(l)
	l.work()
	var s snapshot.Snapshot
	servers := l.Fill(&s)
	const ended = snapshotCalls + 10
	if n := len(s.Calls); n != snapshotCalls || s.Calls[n-1].ID != last.ID() || s.Calls[n-1].Status != snapshot.Running {
		t.Errorf("%d calls, the last %+v", n, s.Calls[n-1])
	}
	if s.Total != ended || s.Errors != ended/2 || servers["m0"] != ended/2 || servers["m"] != 0 {
		t.Errorf("%d calls, %d errors, by server %v", s.Total, s.Errors, servers)
	}
}

func TestWhatCallsCarriedIsKeptWhileThereIsRoom(t *testing.T) {
	changes := 0
	l := New(Options{Changed: func() { changes++ }})
	running := l.Begin(&Figures{}, snapshot.Caller{}, Request{Server: "m", Tool: "t", Args: json.RawMessage(`{"n":1}`)})
	l.work()
	var words strings.Builder
	for i := 0; words.Len() < 2<<20; i++ {
		fmt.Fprintf(&words, "line %d of the file\n", i)
	}
	var ended []*Record
	for range 10 {
		r := begin(l)
		r.End(snapshot.OK, text(words.String()), "")
		ended = append(ended, r)
		l.work()
	}
	if l.bodies > keptBodies || l.bodies < keptBodies/2 {
		t.Errorf("%d bytes of at most %d are kept", l.bodies, keptBodies)
	}
	if changes != 11 {
		t.Errorf("the screen was told of %d changes", changes)
	}
	if b, ok := l.Body(running.ID()); !ok || string(b.Args) != `{"n":1}` {
		t.Errorf("what a running call carries: %s, %v", b.Args, ok)
	}
	if _, ok := l.Body(ended[0].ID()); ok {
		t.Error("the oldest result is still kept")
	}
	if b, ok := l.Body(ended[9].ID()); !ok || !strings.Contains(string(b.Result), "line 7 of the file") || b.Cut {
		t.Errorf("the newest result: %.60s, %v, cut %v", b.Result, ok, b.Cut)
	}
	if _, ok := l.Body(99); ok {
		t.Error("a call that there is not carried something")
	}
	for words.Len() <= bodyLimit {
		words.WriteString(words.String())
	}
	long := begin(l)
	long.End(snapshot.OK, text(words.String()), "")
	l.work()
	if b, ok := l.Body(long.ID()); !ok || !b.Cut || !json.Valid(b.Result) || len(b.Result) > 2*bodyLimit {
		t.Errorf("a result over the limit: %d bytes, %v, cut %v", len(b.Result), ok, b.Cut)
	}
}
