package pencil

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
)

const oneField = `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}}`

// A form of the child reaches a user, and the answer the child, raw both ways.
func TestElicitation_TheChildMayAsk(t *testing.T) {
	tests := []struct {
		name, mode string
		answer     upstream.Elicited
		err        error
		want       string
	}{
		{"accepted", "form", upstream.Elicited{Action: "accept", Content: []byte(`{"n":9007199254740993}`)}, nil, `{"action":"accept","content":{"n":9007199254740993}}`},
		{"mode left out", "", upstream.Elicited{Action: "accept", Content: []byte(`{}`)}, nil, `{"action":"accept","content":{}}`},
		{"declined", "form", upstream.Elicited{Action: "decline"}, nil, `{"action":"decline"}`},
		{"cancelled", "form", upstream.Elicited{Action: "cancel"}, nil, `{"action":"cancel"}`},
		{"a form that cannot be shown", "form", upstream.Elicited{}, errors.New(`21 "fields" are too many`), `{"code":-32602,"message":"21 \"fields\" are too many"}`},
		{"a web page", "url", upstream.Elicited{Action: "accept"}, nil, `{"code":-32602,"message":"only forms can be shown to the user: use mode form with requestedSchema"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t, "--form", oneField, "--message", "How many?\nExactly.", "--mode", tt.mode)
			var got upstream.Elicitation
			o.Elicit = func(_ context.Context, e upstream.Elicitation) (upstream.Elicited, error) {
				got = e
				return tt.answer, tt.err
			}
			w := startWith(t, o)
			w.switchedOn(t)
			if text := firstText(w.call(t, "pencil_batch_get", `{}`)); text != tt.want {
				t.Errorf("the child was told %s, want %s", text, tt.want)
			}
			if tt.mode == "url" {
				return
			}
			if got.Message != "How many?\nExactly." || string(got.Schema) != oneField || got.PID != w.Status().PID ||
				len(got.Calls) != 1 || got.Calls[0].Agent != "tester" || got.Calls[0].Tool != "pencil_batch_get" {
				t.Errorf("the user was asked %+v", got)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		w := start(t, "--form", oneField)
		w.switchedOn(t)
		if text := firstText(w.call(t, "pencil_batch_get", `{}`)); text != "the client cannot ask" {
			t.Errorf("got %s", text)
		}
	})
}

// What a user takes is not counted in a call's time, nor held against the app;
// the agent is seen to wait.
func TestWaitingForTheUserIsNotCounted(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--form", oneField))
		var waits atomic.Int32
		o.personWho(func(context.Context, upstream.Elicitation) (upstream.Elicited, error) {
			if waits.Load() != 1 {
				t.Error("the call does not wait for the user")
			}
			time.Sleep(20*time.Minute + 7*time.Second) // not when a sign of life is due (on the bubble's clock)
			return upstream.Elicited{Action: "accept", Content: []byte(`{"n":1}`)}, nil
		})
		w.switchedOn(t)
		var last child.Progress
		r, err := w.Call(t.Context(), upstream.Call{
			Tool: "pencil_batch_get", Progress: func(p child.Progress) { last = p },
			WaitForUser: func() func() { waits.Add(1); return func() { waits.Add(-1) } },
		})
		if err != nil || firstText(r) != `{"action":"accept","content":{"n":1}}` {
			t.Errorf("got %s, %v", firstText(r), err)
		}
		if waits.Load() != 0 {
			t.Error("the call still waits for the user")
		}
		if !strings.Contains(last.Message, "the user's answer") {
			t.Errorf("the agent was told %q", last.Message)
		}
		synctest.Wait()
		if s := w.Status(); s.App != AppReachable || s.Failed != 0 {
			t.Errorf("app %s, %d failed", s.App, s.Failed)
		}
	})
}

// A form goes when nobody waits for it any more, and not before.
func TestElicitation_FormsAreWithdrawn(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		after time.Duration
		end   func(o *program)
	}{
		{"by the child", []string{"--withdraw", "30s"}, 30 * time.Second, func(*program) {}},
		{"by the child's end", nil, 40 * time.Second, func(o *program) {
			time.Sleep(40 * time.Second) // on the bubble's clock
			o.kill()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *watched, o *program) {
				t.Helper()
				o.becomes(standin.Pipes(append(tt.flags, "--form", oneField)...))
				ended := make(chan time.Duration, 1)
				o.personWho(func(ctx context.Context, _ upstream.Elicitation) (upstream.Elicited, error) {
					began := time.Now()
					<-ctx.Done()
					ended <- time.Since(began)
					return upstream.Elicited{Action: "cancel"}, ctx.Err()
				})
				w.switchedOn(t)
				go w.Call(context.Background(), upstream.Call{Tool: "pencil_batch_get"})
				tt.end(o)
				if got := <-ended; got != tt.after {
					t.Errorf("withdrawn after %v, want %v", got, tt.after)
				}
			})
		})
	}
}
