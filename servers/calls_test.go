package servers

import (
	"context"
	"testing"
	"time"
)

// hesitant is a recorder that takes its time over the beginning of a call.
type hesitant struct {
	begin func()
	got   []string
}

func (r *hesitant) Begin(Call, CallBody)  { r.begin(); r.got = append(r.got, "begin") }
func (r *hesitant) Record(Call, CallBody) { r.got = append(r.got, "end") }

func TestTheLogEndsWithAllStepsInTheirOrder(t *testing.T) {
	rec := &hesitant{}
	h := started(t, Options{Recorder: rec})
	a := h.Connect(Caller{Client: "tester"}, nil)
	taken, stopped := make(chan struct{}), make(chan struct{})
	var call *record
	begun := make(chan struct{})
	rec.begin = func() {
		defer close(taken)
		<-begun
		h.calls.finish(call, OK, nil, "")
		go func() { defer close(stopped); h.calls.stop(context.Background()) }()
		select {
		case <-stopped:
			t.Error("the log ended while a step was being taken")
		case <-time.After(50 * time.Millisecond):
		}
	}
	call = h.calls.begin(a, "m", "tool", nil)
	close(begun)
	<-taken
	<-stopped
	if len(rec.got) != 2 || rec.got[0] != "begin" || rec.got[1] != "end" {
		t.Errorf("recorded %v", rec.got)
	}
}
