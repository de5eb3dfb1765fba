package pencil

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// Whatever goes wrong is a result, and says something about the app.
func TestErrorsAreReadByTheirText(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		want  []string
		app   App
		took  time.Duration
	}{
		{"the app is absent", []string{"--absent", "3s"}, []string{absentText, "failed to connect to running Pencil app: desktop"}, AppAbsent, 3 * time.Second},
		{"the app is confused", []string{"--confused", "9"}, []string{"probably referencing the wrong .pen file", doubtText}, AppUnknown, 3 * time.Second},
		{"no file is open", []string{"--no-file"}, []string{"a file needs to be open", `started for "desktop"`}, AppNoFile, 0},
		{"the app never answers", []string{"--silent", "62s"}, []string{"wrong .pen file"}, AppUnknown, 62 * time.Second},
		{"the program never answers", []string{"--silent", "2h"}, []string{Options{CallTimeout: 75 * time.Second}.texts().Deadline}, AppUnknown, 75 * time.Second},
		{"the program ends in the call", []string{"--exit-on-call"}, []string{lostText}, AppUnknown, 0},
		{"the first answer is confused", []string{"--confused", "1"}, []string{"nothing"}, AppReachable, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *watched, o *program) {
				t.Helper()
				o.becomes(standin.Pipes(tt.flags...))
				w.switchedOn(t)
				began := time.Now()
				r := w.call(t, "pencil_batch_get", "")
				for _, want := range tt.want {
					if !strings.Contains(firstText(r), want) {
						t.Errorf("got %q, want %q", firstText(r), want)
					}
				}
				if took := time.Since(began).Truncate(time.Second); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				synctest.Wait()
				if app, _ := w.app.get(); app != tt.app {
					t.Errorf("app %q, want %q", app, tt.app)
				}
				if len(r.Content()) != 1 || r.IsError != (tt.app != AppReachable) {
					t.Errorf("error %v, %d blocks", r.IsError, len(r.Content()))
				}
			})
		})
	}
}

func TestTwoUnansweredCallsMeanThatTheAppIsSilent(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--silent", "62s"))
		w.switchedOn(t)
		for range 2 {
			w.call(t, "pencil_batch_get", "")
		}
		synctest.Wait()
		if s := w.Status(); s.App != AppSilent || s.Sign() != (upstream.Sign{Tone: upstream.Warning, Note: "not answering"}) {
			t.Errorf("app %q, sign %+v", s.App, s.Sign())
		}
	})
}

func TestOnlyReadsAreRepeated(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--confused", "1"))
		w.switchedOn(t)
		began := time.Now()
		if r := w.call(t, "pencil_batch_design", ""); !r.IsError || time.Since(began) > time.Second {
			t.Errorf("a write was repeated: %q after %v", firstText(r), time.Since(began))
		}
		testwait.Pass(firstUse)
	})
}

func TestCallsWaitTheirTurn(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--absent", "3s"))
		w.switchedOn(t)
		var mu sync.Mutex
		var notes []string
		var order []int
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				in := upstream.Call{Tool: "pencil_batch_get", Progress: func(p child.Progress) {
					mu.Lock()
					defer mu.Unlock()
					notes = append(notes, fmt.Sprint(i, " ", p.Message))
				}}
				if _, err := w.Call(t.Context(), in); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
			})
			synctest.Wait()
		}
		if s := w.Status(); s.Running != 1 || s.Waiting != 2 {
			t.Errorf("%d running, %d waiting", s.Running, s.Waiting)
		}
		wg.Wait()
		if got := fmt.Sprint(order); got != "[0 1 2]" {
			t.Errorf("order %s", got)
		}
		if got := fmt.Sprint(notes); got != "[1 waiting for Pencil, you are next 2 waiting for Pencil, 1 ahead of you 2 waiting for Pencil, you are next]" {
			t.Errorf("notes %s", got)
		}
	})
}

// Whoever calls again at once is not told to wait for the call just answered.
func TestACallIsOverWhenItIsAnswered(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		w.switchedOn(t)
		w.busy.Store(int64(time.Minute)) // the screen is
		for range 2 {
			_, err := w.Call(t.Context(), upstream.Call{Tool: "pencil_batch_get", Progress: func(p child.Progress) {
				t.Errorf("told %q", p.Message)
			}})
			if n := w.Status().Running; err != nil || n != 0 {
				t.Errorf("error %v, and %d running after the answer", err, n)
			}
		}
	})
}

func TestQueueOfCallsHasAnEnd(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--silent", "2h"))
		w.switchedOn(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range child.MaxWaiting + 1 {
			go w.Call(ctx, upstream.Call{Tool: "pencil_batch_get"})
			synctest.Wait()
		}
		if got := firstText(w.call(t, "pencil_batch_get", "")); got != fmt.Sprintf("Pencil is busy, with %d calls waiting. Try again later.", child.MaxWaiting) {
			t.Errorf("got %q", got)
		}
		cancel()
		synctest.Wait()
		if n := w.Status().Waiting; n != 0 {
			t.Errorf("%d wait after all have left", n)
		}
		// The call that was sent keeps its slot, and a later one gives up waiting.
		began := time.Now()
		r := w.call(t, "pencil_batch_get", "")
		if !r.IsError || time.Since(began) < 75*time.Second {
			t.Errorf("%q after %v", firstText(r), time.Since(began))
		}
	})
}

func TestOffTurnsAwayWhoWaits(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--absent", "3s"))
		w.switchedOn(t)
		results := make(chan string, 2)
		for range 2 {
			go func() { results <- firstText(w.call(t, "pencil_batch_get", "")) }()
			synctest.Wait()
		}
		w.Off()
		if got := <-results; got != (Options{Key: "p"}).texts().Off {
			t.Errorf("the waiting call: %q", got)
		}
		if got := <-results; !strings.HasPrefix(got, absentText) {
			t.Errorf("the call at work: %q", got)
		}
	})
}

func TestWithdrawnCallFreesTheAgentNotTheSlot(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--silent", "20s"))
		w.switchedOn(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := w.Call(ctx, upstream.Call{Tool: "pencil_batch_get"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if time.Since(began) != time.Second {
			t.Errorf("freed after %v", time.Since(began))
		}
		w.call(t, "pencil_batch_get", "")
		if took := time.Since(began); took != 40*time.Second {
			t.Errorf("the next call ended after %v", took)
		}
		if s := w.Status(); s.Failed != 2 || s.OK != 0 {
			t.Errorf("%d calls failed, %d did not", s.Failed, s.OK)
		}
	})
}

func TestProgressIsMappedAndGrows(t *testing.T) {
	w := start(t, "--progress", "3")
	w.switchedOn(t)
	var got []child.Progress
	_, err := w.Call(t.Context(), upstream.Call{Tool: "pencil_batch_get", Meta: json.RawMessage(`{"trace":"x"}`), Progress: func(p child.Progress) {
		p.Raw = nil
		got = append(got, p)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "[{1 3 step []} {2 3 step []} {3 3 step []}]" {
		t.Errorf("got %v", got)
	}
}

func TestStatusShowsTheActiveFile(t *testing.T) {
	w := start(t)
	w.switchedOn(t)
	w.call(t, "pencil_get_editor_state", "{}")
	w.until(t, "the file", func(s Status) bool { return s.File == "/designs/menu.pen" && s.App == AppReachable })
}

func TestGatewayListsDescribesAndCalls(t *testing.T) {
	w := start(t)
	call := func(args string) (string, bool) {
		t.Helper()
		r, err := w.Gateway(t.Context(), upstream.Call{Tool: CallTool, Args: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range r.Content() {
			o, _ := rawjson.SplitObject(c)
			all = append(all, o.Str("text"))
		}
		return strings.Join(all, "\n"), r.IsError
	}
	for _, action := range []string{"tools", "describe", "call"} {
		if got, isError := call(`{"action":"` + action + `","tool":"batch_get"}`); got != (Options{Key: "p"}).texts().Off || !isError {
			t.Errorf("%s while off: %q", action, got)
		}
	}
	w.switchedOn(t)
	tests := []struct {
		name, args, want string
		isError          bool
	}{
		{"tools", `{"action":"tools"}`, "pencil_batch_get: Read nodes.", false},
		{"nothing", `{}`, "pencil_batch_get: Read nodes.", false},
		{"describe", `{"action":"describe","tool":"batch_get"}`, `"name":"pencil_batch_get"`, false},
		{"describe has the instructions", `{"action":"describe","tool":"pencil_batch_get"}`, "This is a stand-in", false},
		{"call", `{"tool":"batch_get","arguments":{"n":9007199254740993}}`, `{"n":9007199254740993}`, false},
		{"call with a string", `{"tool":"pencil_batch_get","arguments_json":"{\"a\":\n\"x\\ny\"}"}`, `{"a":"x\ny"}`, false},
		{"empty arguments beside a string", `{"tool":"batch_get","arguments":{},"arguments_json":"{}"}`, `{}`, false},
		{"both", `{"tool":"batch_get","arguments":{"a":1},"arguments_json":"{}"}`, "not both", true},
		{"string is no JSON", `{"tool":"batch_get","arguments_json":"{"}`, "not valid JSON", true},
		{"arguments are no object", `{"tool":"batch_get","arguments":"x"}`, "must be an object", true},
		{"unknown tool", `{"tool":"nope"}`, "Use action tools", true},
		{"unknown action", `{"action":"on","tool":"batch_get"}`, "action must be", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, isError := call(tt.args); !strings.Contains(got, tt.want) || isError != tt.isError {
				t.Errorf("got %q, error %v", got, isError)
			}
		})
	}
}

func TestFailedGatewayCallSaysToDescribe(t *testing.T) {
	w := start(t, "--result", "error")
	w.switchedOn(t)
	r, err := w.Gateway(t.Context(), upstream.Call{Args: json.RawMessage(`{"tool":"batch_get"}`)})
	if err != nil || len(r.Content()) != 2 || !strings.Contains(string(r.Content()[1]), "describe") {
		t.Errorf("%s %v", r.Raw, err)
	}
}

func TestControl(t *testing.T) {
	w := start(t)
	tests := []struct{ verb, want string }{
		{"off", "Pencil mode is already off."},
		{"on", "Pencil mode is on: 14 tools offered."},
		{"on", "Pencil mode is already on: 14 tools offered."},
		{"status", "tools      14, offered"},
		{"reconnect", "Pencil mode is on: 14 tools offered."},
		{"toggle", "Pencil mode is off; Pencil's MCP server answers with 14 tools."},
	}
	for _, tt := range tests {
		r, err := w.Control(t.Context(), upstream.Request{Verb: tt.verb})
		if err != nil || !strings.Contains(r.Text, tt.want) {
			t.Errorf("%s: %q, %v", tt.verb, r.Text, err)
		}
	}
	if _, err := w.Control(t.Context(), upstream.Request{Verb: "dance"}); err == nil {
		t.Error("an unknown verb was taken")
	}
}

// 20 agents that come and go while a user plays with the switch.
func TestManyCallsWhileTheSwitchMoves(t *testing.T) {
	o := options(t, "--progress", "2")
	o.MaxInFlight = 4
	w := startWith(t, o)
	w.switchedOn(t)
	var agents sync.WaitGroup
	stop := make(chan struct{})
	for i := range 20 {
		agents.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*time.Millisecond)
				r, err := w.Call(ctx, upstream.Call{Tool: "pencil_batch_get", Agent: fmt.Sprint(i), Progress: func(child.Progress) {}})
				cancel()
				if err == nil && len(r.Content()) != 1 {
					t.Errorf("%d blocks", len(r.Content()))
					return
				}
				w.Status()
			}
		})
	}
	for range 20 {
		w.Toggle()
		time.Sleep(2 * time.Millisecond) // the switch is to move in the midst of calls
		w.Reconnect()
		time.Sleep(10 * time.Millisecond) // likewise
	}
	close(stop)
	agents.Wait()
	w.settle(t)
	w.Off()
	w.switchedOn(t)
	if got := firstText(w.call(t, "pencil_batch_get", `{"a":1}`)); got != `{"a":1}` {
		t.Errorf("afterwards: %q", got)
	}
}

func TestLongCallsShowSignsOfLife(t *testing.T) {
	virtual(t, func(t *testing.T, w *watched, o *program) {
		t.Helper()
		o.becomes(standin.Pipes("--silent", "50s"))
		w.switchedOn(t)
		var got []child.Progress
		if _, err := w.Call(t.Context(), upstream.Call{Tool: "pencil_batch_get", Progress: func(p child.Progress) { got = append(got, p) }}); err != nil {
			t.Fatal(err)
		}
		if len(got) != 3 {
			t.Errorf("%d signs in 50 s: %v", len(got), got)
		}
		for i := 1; i < len(got); i++ {
			if got[i].Value <= got[i-1].Value {
				t.Errorf("progress does not grow: %v", got)
			}
		}
	})
}

func TestAnswersAboveTheLimitFailTheCallAlone(t *testing.T) {
	w := start(t, "--result", "big", "--size", fmt.Sprint(rpc.MaxLine))
	w.switchedOn(t)
	if got := firstText(w.call(t, "pencil_batch_get", "")); got != "Pencil tool error: the response is larger than 33.6 MB" {
		t.Errorf("got %.100q", got)
	}
	if s := w.Status(); s.Link != upstream.LinkReady {
		t.Errorf("link %s", s.Link)
	}
}

func TestThousandTools(t *testing.T) {
	w := start(t, "--many", "1000", "--pages", "7")
	w.switchedOn(t)
	if s := w.Status(); len(s.Tools) != 1014 {
		t.Errorf("%d tools", len(s.Tools))
	}
}
