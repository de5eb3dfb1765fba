package calllog

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// recorder writes down what it gets; first, if it is set, is called before that once.
type recorder struct {
	first func()
	mu    sync.Mutex // the log's goroutine records
	calls []snapshot.Call
	body  []snapshot.CallBody
}

func (r *recorder) Record(c snapshot.Call, b snapshot.CallBody) {
	if first := r.first; first != nil {
		r.first = nil
		first()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls, r.body = append(r.calls, c), append(r.body, b)
}

func (r *recorder) statuses() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, c := range r.calls {
		all = append(all, string(c.Status))
	}
	return strings.Join(all, " ")
}

func text(s string) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": s}}})
	return b
}

func begin(l *Log) *Record {
	return l.Begin(&Figures{}, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: "tool"})
}

func TestTheLogEndsWithAllThatIsQueued(t *testing.T) {
	rec := &recorder{}
	l := New(Options{Recorder: rec})
	l.Start()
	taken, stopped, second := make(chan struct{}), make(chan struct{}), begin(l)
	rec.first = func() {
		defer close(taken)
		second.End(snapshot.ToolError, nil, "")
		go func() { defer close(stopped); l.Stop() }()
		select {
		case <-stopped:
			t.Error("the log ended while a step was being taken")
		case <-time.After(50 * time.Millisecond):
		}
	}
	begin(l).End(snapshot.OK, nil, "")
	<-taken
	<-stopped
	if got, want := rec.statuses(), "ok error"; got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
}

func TestOnlySlowCallsAreRecordedBeforeTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{}
		l := New(Options{Recorder: rec})
		recorded := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := rec.statuses(); got != want {
				t.Errorf("recorded %q, want %q", got, want)
			}
		}
		l.Start()
		first := begin(l)
		testwait.Pass(slow / 2)
		second := begin(l)
		first.End(snapshot.OK, nil, "")
		testwait.Pass(slow * 3 / 4)
		recorded("ok")
		testwait.Pass(slow)
		recorded("ok running")
		testwait.Pass(10 * slow)
		second.End(snapshot.OK, nil, "")
		testwait.Pass(slow)
		recorded("ok running ok")
		begin(l)
		l.Stop()
		recorded("ok running ok running")
	})
}

func TestACallIsLoggedWithoutItsBodiesWhereTooMuchWaits(t *testing.T) {
	rec := &recorder{}
	l := New(Options{Recorder: rec})
	large := make(json.RawMessage, keptQueue/3+1) // no JSON: that is found out fast
	for range 4 {
		begin(l).End(snapshot.OK, large, "")
	}
	if l.queued > keptQueue || l.queued == 0 {
		t.Errorf("%d bytes wait, want some, at most %d", l.queued, keptQueue)
	}
	l.work()
	for i, b := range rec.body {
		if want := i < 2; (b.Result != nil) != want || b.Cut == want || rec.calls[i].Status != snapshot.OK {
			t.Errorf("call %d: a body %v, cut %v", i, b.Result != nil, b.Cut)
		}
	}
	begin(l).End(snapshot.OK, text("small"), "")
	l.work()
	if n := len(rec.body); n != 5 || rec.body[4].Cut || l.queued != 0 {
		t.Errorf("%d are recorded, the last cut %v; %d bytes wait", n, rec.body[4].Cut, l.queued)
	}
}

func TestWhatCannotBeReadDoesNotEndTheLog(t *testing.T) {
	rec := &recorder{first: func() { panic("a call") }}
	l := New(Options{Recorder: rec})
	begin(l).End(snapshot.OK, nil, "")
	begin(l).End(snapshot.OK, nil, "")
	l.work()
	if len(rec.calls) != 1 {
		t.Errorf("%d calls are recorded behind one that panicked", len(rec.calls))
	}
}

func TestWhyACallFailedIsLoggedRedacted(t *testing.T) {
	rec := &recorder{}
	l := New(Options{Recorder: rec})
	begin(l).End(snapshot.Refused, nil, "connect to https://ada:hunter2@example.com: refused")
	l.work()
	const want = "connect to https://[redacted]@example.com: refused"
	if calls, _ := l.Since(0); calls[0].Result != want {
		t.Errorf("on the screen: %s, want %s", calls[0].Result, want)
	}
	if rec.calls[0].Result != want || string(rec.body[0].Result) != `{"error":"`+want+`"}` {
		t.Errorf("recorded: %s and %s, want %s", rec.calls[0].Result, rec.body[0].Result, want)
	}
}

func TestASecretInTheNameOfAToolIsNotLogged(t *testing.T) {
	rec := &recorder{}
	l := New(Options{Recorder: rec, Redact: redact.Rules{ShapeOnly: true}})
	l.Start()
	for _, tool := range []string{"ghp_0123456789abcdefghijklmnopqrstuvwxyz", "password=q7Rk2vTz9Lw4", "get_token"} {
		l.Begin(&Figures{}, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: tool}).End(snapshot.Refused, nil, "unknown tool \""+tool+"\"")
	}
	l.Stop()
	var names []string
	shown, _ := l.Since(0)
	for _, c := range append(rec.calls, shown...) {
		names = append(names, c.Tool, c.Result)
	}
	all := strings.Join(names, "\n")
	if strings.Contains(all, "q7Rk") || strings.Contains(all, "ghp_0") || !strings.Contains(all, "get_token") {
		t.Errorf("logged %s", all)
	}
}

func TestTheLogIsBounded(t *testing.T) {
	l := New(Options{})
	f := &Figures{}
	large := json.RawMessage(`{"x":"` + strings.Repeat("y", 1<<18) + `"}`)
	for range 80 {
		l.Begin(f, snapshot.Caller{}, Request{Server: "m", Tool: "t", Args: large}).End(snapshot.OK, text("fine"), "")
		l.work()
	}
	if l.bodies > keptBodies || l.bodies == 0 {
		t.Errorf("%d bytes of bodies are kept, want some, at most %d", l.bodies, keptBodies)
	}
	for range kept {
		l.Begin(f, snapshot.Caller{}, Request{Server: "m", Tool: "t"}).End(snapshot.OK, nil, "")
	}
	l.work()
	calls, version := l.Since(0)
	if len(calls) != kept {
		t.Errorf("%d calls are kept, want %d", len(calls), kept)
	}
	if again, v := l.Since(version); again != nil || v != version {
		t.Errorf("%d calls changed since the last look", len(again))
	}
}

// BenchmarkRecordCall is all that the log does for a call, in batches.
func BenchmarkRecordCall(b *testing.B) {
	l := New(Options{})
	f, args, result := &Figures{}, json.RawMessage(`{"action":"read","key":"colours","limit":10}`), text("hello: the colours are as they were\n")
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		l.Begin(f, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: "t", Args: args}).End(snapshot.OK, result, "")
		if n%64 == 63 {
			l.work()
		}
	}
}

func TestACallShowsHowFarItIs(t *testing.T) {
	l := New(Options{})
	r := l.Begin(&Figures{}, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: "t"})
	for i := range 1000 { // before the log looks
		r.Progress(float64(i), 2000)
	}
	if n := len(l.queue); n != 1 {
		t.Errorf("%d steps are queued, want 1", n)
	}
	l.work()
	r.Progress(1500, 2000)
	l.work()
	if all, _ := l.Since(0); len(all) != 1 || all[0].Done != 1500 || all[0].Total != 2000 {
		t.Errorf("got %+v", all)
	}
	r.End(snapshot.OK, nil, "")
	r.Progress(1600, 2000)
	l.work()
	if all, _ := l.Since(0); all[0].Total != 0 || all[0].Status != snapshot.OK {
		t.Errorf("after its end: %+v", all[0])
	}
}
