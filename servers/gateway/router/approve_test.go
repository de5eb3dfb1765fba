package router

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// named is a worker whose tools have other names here than at their server.
type named struct{ *worker }

func (named) Called(r *backend.Request) backend.Called {
	return backend.Called{Tool: "its " + r.Key, Args: r.Args, Ask: r.Key == "look"}
}

func approving(t *testing.T, approve func(context.Context, Wanted) *Refusal) (*worker, *Host, *calling) {
	t.Helper()
	w := newWorker()
	h, err := New(Options{Servers: []backend.Server{named{w}}, Limits: admission.Limits{Slots: 1, AgentQueue: 1}, Approve: approve})
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	t.Cleanup(func() { _ = h.Stop(context.Background()) })
	v, err := h.View(ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	return w, h, &calling{t, v, h.Connect(snapshot.Caller{Client: "one", Transport: "unix"}, nil)}
}

func TestACallThatIsNotApprovedDoesNotReachItsServer(t *testing.T) {
	refusals := map[string]*Refusal{"its draw": {Text: "The user did not allow this call."}, "its question": {Text: "The user has not decided yet.", Pending: true}}
	w, _, c := approving(t, func(_ context.Context, q Wanted) *Refusal { return refusals[q.Tool] })
	for tool, want := range map[string]string{
		"draw":     `{"result":{"resultType":"complete","content":[{"type":"text","text":"The user did not allow this call."}],"isError":true}}`,
		"question": `{"result":{"content":[{"type":"text","text":"The user has not decided yet."}]}}`,
	} {
		if got := c.do(t.Context(), "tools/call", tool); got != want {
			t.Errorf("%s: %s", tool, got)
		}
	}
	if len(w.entered) != 0 {
		t.Error("a call has reached the server")
	}
	close(w.release)
	if got := c.do(t.Context(), "tools/call", "look"); !strings.Contains(got, "done") {
		t.Errorf("one that is approved: %s", got)
	}
}

func TestACallThatWaitsForItsUserTakesNoPlace(t *testing.T) {
	decide := make(chan struct{})
	var waiting atomic.Int32
	w, h, c := approving(t, func(ctx context.Context, q Wanted) *Refusal {
		if q.Tool != "its draw" {
			return nil
		}
		defer q.Waits()()
		waiting.Add(1)
		defer waiting.Add(-1)
		select {
		case <-decide:
		case <-ctx.Done():
			return &Refusal{}
		}
		return nil
	})
	answers := make(chan string, 10)
	for range 5 {
		go func() { answers <- c.do(t.Context(), "tools/call", "draw") }()
	}
	testwait.Until(t, "all wait", func() bool { return waiting.Load() == 5 })
	if running, queued := h.admission.Load(); running != 0 || queued != 0 {
		t.Errorf("%d run, %d are queued", running, queued)
	}
	if calls := h.Snapshot().Agents; len(calls) != 1 || !calls[0].Waiting {
		t.Errorf("it does not wait: %+v", calls)
	}
	ctx, leave := context.WithTimeout(t.Context(), time.Hour)
	gone := make(chan string, 1)
	go func() { gone <- c.do(ctx, "tools/call", "draw") }()
	testwait.Until(t, "all wait", func() bool { return waiting.Load() == 6 })
	leave()
	<-gone
	close(w.release)
	close(decide)
	for range 5 {
		if got := <-answers; !strings.Contains(got, "done") && !strings.Contains(got, "retry in about") {
			t.Errorf("it is %s", got)
		}
	}
	if n := len(w.entered); n > 5 || n == 0 {
		t.Errorf("%d calls have reached the server", n)
	}
}

func TestWithoutADeckWhatIsToBeAskedIsRefused(t *testing.T) {
	w, _, c := approving(t, nil)
	if got := c.do(t.Context(), "tools/call", "look"); !strings.Contains(got, "no deck is open to ask them") || len(w.entered) != 0 {
		t.Errorf("it is %s", got)
	}
}
