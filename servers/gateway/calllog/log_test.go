package calllog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// recorder writes down what it gets; begin, if it is set, is called first.
type recorder struct {
	begin func()
	steps []string
	calls []snapshot.Call
	body  []snapshot.CallBody
}

func (r *recorder) Begin(snapshot.Call, snapshot.CallBody) {
	if r.begin != nil {
		r.begin()
	}
	r.steps = append(r.steps, "begin")
}

func (r *recorder) Record(c snapshot.Call, b snapshot.CallBody) {
	r.steps, r.calls, r.body = append(r.steps, "end"), append(r.calls, c), append(r.body, b)
}

func text(s string) *Result {
	return &Result{Encode: func() ([]byte, error) {
		return json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": s}}})
	}}
}

func TestTheLogEndsWithAllStepsInTheirOrder(t *testing.T) {
	rec := &recorder{}
	l := New(Options{Recorder: rec})
	l.Start()
	taken, stopped := make(chan struct{}), make(chan struct{})
	var call *Record
	begun := make(chan struct{})
	rec.begin = func() {
		defer close(taken)
		<-begun
		call.End(snapshot.OK, nil, "")
		go func() { defer close(stopped); l.Stop() }()
		select {
		case <-stopped:
			t.Error("the log ended while a step was being taken")
		case <-time.After(50 * time.Millisecond):
		}
	}
	call = l.Begin(&Figures{}, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: "tool"})
	close(begun)
	<-taken
	<-stopped
	if want := []string{"begin", "end"}; !slices.Equal(rec.steps, want) {
		t.Errorf("recorded %v, want %v", rec.steps, want)
	}
}

func TestWhyACallFailedIsLoggedRedacted(t *testing.T) {
	rec := &recorder{}
	l := New(Options{Recorder: rec, Redact: func(_ redact.Kind, _ bool, b json.RawMessage) json.RawMessage {
		return json.RawMessage(strings.ReplaceAll(string(b), "hunter2", "***"))
	}})
	l.Begin(&Figures{}, snapshot.Caller{}, Request{Server: "m", Tool: "t"}).End(snapshot.Refused, nil, "connect to https://ada:hunter2@example.com: refused")
	l.work()
	const want = "connect to https://ada:***@example.com: refused"
	if calls, _ := l.Since(0); calls[0].Result != want {
		t.Errorf("on the screen: %s, want %s", calls[0].Result, want)
	}
	if rec.calls[0].Result != want || string(rec.body[0].Result) != `{"error":"`+want+`"}` {
		t.Errorf("recorded: %s and %s, want %s", rec.calls[0].Result, rec.body[0].Result, want)
	}
}

func TestASecretInTheNameOfAToolIsNotLogged(t *testing.T) {
	rec := &recorder{}
	l := New(Options{Recorder: rec, Redact: redact.Rules{ShapeOnly: true}.Body})
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

func BenchmarkRecordCall(b *testing.B) {
	l := New(Options{})
	l.Start()
	defer l.Stop()
	f, args, result := &Figures{}, json.RawMessage(`{"text":"hello"}`), text("hello")
	b.ReportAllocs()
	for b.Loop() {
		l.Begin(f, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: "t", Args: args}).End(snapshot.OK, result, "")
	}
}

func TestACallShowsHowFarItIs(t *testing.T) {
	l := New(Options{})
	r := l.Begin(&Figures{}, snapshot.Caller{Client: "tester"}, Request{Server: "m", Tool: "t"})
	for i := range 1000 { // before the log looks
		r.Progress(float64(i), 2000)
	}
	if n := len(l.queue); n != 2 {
		t.Errorf("%d steps are queued, want 2", n)
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
