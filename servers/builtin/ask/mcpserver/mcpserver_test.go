package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// session is a client connection that keeps what is sent to it.
type session struct {
	notes chan mcp.JSONRPCNotification
	caps  mcp.ClientCapabilities
	forms func(mcp.ElicitationRequest) (*mcp.ElicitationResult, error)
}

func (s *session) SessionID() string                                   { return "s1" }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notes }
func (s *session) Initialize()                                         {}
func (s *session) Initialized() bool                                   { return true }
func (s *session) GetClientInfo() mcp.Implementation                   { return mcp.Implementation{} }
func (s *session) SetClientInfo(mcp.Implementation)                    {}
func (s *session) GetClientCapabilities() mcp.ClientCapabilities       { return s.caps }
func (s *session) SetClientCapabilities(mcp.ClientCapabilities)        {}
func (s *session) ProtocolVersion() string                             { return "2025-11-25" }
func (s *session) RequestElicitation(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return s.forms(r)
}

// bench is an ask server with one client.
type bench struct {
	t   *testing.T
	q   *questions.Queue
	srv *server.MCPServer
	ctx context.Context
	ses *session
}

// asking plays an agent with a queue of its own, in a time of its own.
func asking(t *testing.T, client string, play func(t *testing.T, q *questions.Queue, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := questions.New(questions.Options{})
		defer q.Close()
		play(t, q, newBench(t, nil, q, client))
	})
}

func newBench(t *testing.T, desk Queue, q *questions.Queue, client string) *bench {
	t.Helper()
	if desk == nil {
		desk = InProcess(q)
	}
	b := &bench{t: t, q: q, srv: New(desk, "0"), ses: &session{notes: make(chan mcp.JSONRPCNotification, 100)}}
	b.ctx = backend.WithCall(b.srv.WithContext(t.Context(), b.ses), backend.Call{Caller: snapshot.Caller{Client: client, Identity: "me", Agent: "a1", Root: "/home/me/shop"}})
	return b
}

type toolResult struct {
	Content           []struct{ Text string }
	StructuredContent struct {
		Status, Message, ID string
		Answers             []map[string]any
	}
	IsError       bool
	ResultType    string
	InputRequests map[string]any
	RequestState  string
}

// call sends tools/call and returns the result; params may hold more than
// name and arguments.
func (b *bench) call(ctx context.Context, params map[string]any) toolResult {
	b.t.Helper()
	raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	out, err := json.Marshal(b.srv.HandleMessage(ctx, raw))
	if err != nil {
		b.t.Fatal(err)
	}
	var reply struct {
		Result *toolResult
		Error  json.RawMessage
	}
	if err := json.Unmarshal(out, &reply); err != nil || reply.Result == nil {
		if ctx.Err() == nil {
			b.t.Fatalf("call: %s %v", out, err)
		}
		return toolResult{}
	}
	return *reply.Result
}

func (b *bench) start(params map[string]any) <-chan toolResult {
	ch := make(chan toolResult, 1)
	go func() { ch <- b.call(b.ctx, params) }()
	synctest.Wait()
	return ch
}

func askParams(args string, token any) map[string]any {
	p := map[string]any{"name": "ask", "arguments": json.RawMessage(args)}
	if token != nil {
		p["_meta"] = map[string]any{"progressToken": token}
	}
	return p
}

const oneQuestion = `{"questions":[{"id":"auth","question":"Auth?","options":["OAuth","API key"]}]}`

func TestAskAnswered(t *testing.T) {
	tests := []struct {
		name    string
		args    string
		results []questions.Result
		text    string
		status  string
	}{
		{"single", oneQuestion, []questions.Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}}, "User answers:\nauth: OAuth", "answered"},
		{"note", oneQuestion, []questions.Result{{ID: "auth", SelectedOptions: []string{"OAuth"}, Note: "v2\tonly"}}, "User answers:\nauth: OAuth (note: v2 only)", "answered"},
		{"free text", oneQuestion, []questions.Result{{ID: "auth", CustomInput: "enterprise\nsso"}}, "User answers:\nauth: \"enterprise sso\"", "answered"},
		{"multi and both", `{"questions":[{"id":"a","question":"A?","multi":true,"options":["x","y","z"]}]}`, []questions.Result{{ID: "a", SelectedOptions: []string{"z", "x"}, CustomInput: "w"}}, "User answers:\na: [x, z] + Other: \"w\"", "answered"},
		{"skipped", oneQuestion, []questions.Result{{ID: "auth", Skipped: true}}, "User answers:\nauth: (skipped)\nThe user skipped auth: do not assume an answer there.", "partial"},
		{"asked back", oneQuestion, []questions.Result{{ID: "auth", Clarify: "which API?"}}, "User answers:\nauth: (asks back: \"which API?\")\nThe user asks back about auth: answer that first, then ask again if you still need to know.", "partial"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asking(t, "claude-code", func(t *testing.T, q *questions.Queue, b *bench) {
				t.Helper()
				ch := b.start(askParams(tt.args, "tok"))
				if err := q.Answer(1, tt.results); err != nil {
					t.Fatal(err)
				}
				got := <-ch
				if got.IsError || got.Content[0].Text != tt.text || got.StructuredContent.Status != tt.status || len(got.StructuredContent.Answers) != 1 {
					t.Errorf("got %+v", got)
				}
				if q.Pending().Parked != 0 {
					t.Error("a delivered answer is still parked")
				}
			})
		})
	}
}

func TestDeclinedAndTimedOutAreNoErrors(t *testing.T) {
	asking(t, "claude-code", func(t *testing.T, q *questions.Queue, b *bench) {
		t.Helper()
		ch := b.start(askParams(oneQuestion, 1))
		_ = q.Decline(1, "not now")
		if got := <-ch; got.IsError || got.StructuredContent.Status != "declined" || !strings.Contains(got.StructuredContent.Message, "not now. Nothing was chosen") {
			t.Errorf("declined: %+v", got)
		}
		ch = b.start(askParams(`{"timeoutSeconds":120,"questions":"[{\"question\":\"A?\"}]"}`, 1))
		if got := <-ch; got.IsError || got.StructuredContent.Status != "timed_out" || !strings.Contains(got.StructuredContent.Message, "2 minutes") {
			t.Errorf("timed out: %+v", got)
		}
	})
}

func TestBadArguments(t *testing.T) {
	for _, args := range []string{`{}`, `{"questions":[]}`, `{"questions":"no"}`, `{"questions":[{"question":"A?","options":["x","x"]}]}`} {
		t.Run(args, func(t *testing.T) {
			q := questions.New(questions.Options{})
			defer q.Close()
			got := newBench(t, nil, q, "x").call(newBench(t, nil, q, "x").ctx, askParams(args, nil))
			if !got.IsError || !strings.Contains(got.Content[0].Text, "Correct this and call ask again.") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestProgressAtOnceThenEvery15Seconds(t *testing.T) {
	for _, token := range []any{"", "tok", 0, 7} {
		t.Run(fmt.Sprintf("%T %v", token, token), func(t *testing.T) {
			asking(t, "claude-code", func(t *testing.T, q *questions.Queue, b *bench) {
				t.Helper()
				ch := b.start(askParams(oneQuestion, token))
				if len(b.ses.notes) != 1 {
					t.Fatalf("%d progress notifications at once, want 1", len(b.ses.notes))
				}
				testwait.Pass(61 * time.Second)
				last := -1.0
				for n := len(b.ses.notes); n > 0; n-- {
					note := <-b.ses.notes
					p := note.Params.AdditionalFields
					at := p["progress"].(float64)
					if at <= last || len(p["message"].(string)) > 120 || note.Method != "notifications/progress" {
						t.Errorf("after %v came %+v", last, p)
					}
					last = at
				}
				if last != 60 {
					t.Errorf("last progress is %v, want 60", last)
				}
				_ = q.Decline(1, "")
				<-ch
				testwait.Pass(time.Minute)
				if len(b.ses.notes) != 0 {
					t.Error("progress after the result")
				}
			})
		})
	}
}

func TestPendingHandOver(t *testing.T) {
	tests := []struct {
		client string
		token  any
		hint   string
		after  time.Duration
	}{
		{"codex-mcp-client", "t", "", 280 * time.Second},
		{"gemini-cli-mcp-client", nil, "", 580 * time.Second},
		{"somebody", "t", "", 50 * time.Second},
		{"cursor-vscode", "t", "", 40 * time.Second},
		{"Visual Studio Code", "t", "", 280 * time.Second},
		{"claude-code", nil, "", 50 * time.Second},
		{"opencode", nil, "", 50 * time.Second},
		{"codex-mcp-client", nil, "3600000", time.Hour - 20*time.Second},
		{"somebody", nil, "30000", 15 * time.Second},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.client, tt.token, tt.hint), func(t *testing.T) {
			asking(t, tt.client, func(t *testing.T, q *questions.Queue, b *bench) {
				t.Helper()
				b.ctx = backend.WithCall(b.ctx, backend.Call{Caller: snapshot.Caller{Client: tt.client, Identity: "me", Hints: map[string]string{"MCPDECK_CLIENT_TIMEOUT_MS": tt.hint}}})
				start := time.Now()
				got := <-b.start(askParams(oneQuestion, tt.token))
				if took := time.Since(start); took != tt.after {
					t.Errorf("handed over after %v, want %v", took, tt.after)
				}
				s := got.StructuredContent
				if s.Status != "pending" || got.IsError || !strings.Contains(s.Message, s.ID) || len(s.ID) < 20 {
					t.Fatalf("got %+v", got)
				}
				wait := map[string]any{"name": "ask_wait", "arguments": map[string]any{"id": s.ID}}
				ch := b.start(wait)
				if err := q.Answer(1, []questions.Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}}); err != nil {
					t.Fatal(err)
				}
				if got := <-ch; got.Content[0].Text != "User answers:\nauth: OAuth" {
					t.Errorf("ask_wait: %+v", got)
				}
			})
		})
	}
}

func TestAskWait(t *testing.T) {
	asking(t, "somebody", func(t *testing.T, q *questions.Queue, b *bench) {
		t.Helper()
		id := (<-b.start(askParams(oneQuestion, nil))).StructuredContent.ID
		if err := q.Answer(1, []questions.Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}}); err != nil {
			t.Fatal(err)
		}
		stranger := backend.WithCall(b.ctx, backend.Call{Caller: snapshot.Caller{Identity: "other"}})
		wait := map[string]any{"name": "ask_wait", "arguments": map[string]any{"id": id}}
		if got := b.call(stranger, wait); !got.IsError {
			t.Errorf("another agent fetched the answer: %+v", got)
		}
		if got := b.call(b.ctx, wait); got.StructuredContent.Status != "answered" {
			t.Errorf("answered while nobody waited: %+v", got)
		}
		if got := b.call(b.ctx, wait); !got.IsError {
			t.Errorf("fetched twice: %+v", got)
		}
		if got := b.call(b.ctx, map[string]any{"name": "ask_wait"}); !got.IsError {
			t.Errorf("no id: %+v", got)
		}
	})
}

func TestCancelMarksTheQuestion(t *testing.T) {
	asking(t, "claude-code", func(t *testing.T, q *questions.Queue, b *bench) {
		t.Helper()
		ctx, cancel := context.WithCancel(b.ctx)
		b.ctx = ctx
		ch := b.start(askParams(oneQuestion, 1))
		cancel()
		<-ch
		it := q.Pending().Items[0]
		if it.Absent != questions.Gone || it.Why != "the agent stopped waiting" {
			t.Errorf("got %+v", it)
		}
	})
}

func TestEveryToolIsWhole(t *testing.T) {
	deck := InDeck(noQueue{}, "0")
	backendtest.EveryToolIsWhole(t, "../README.md", deck)
	for _, d := range backendtest.Definitions(t, deck) {
		a := d.Annotations
		if !*a.ReadOnlyHint || *a.DestructiveHint || *a.OpenWorldHint || d.OutputSchema == nil {
			t.Errorf("%s: hints %+v, schema of results %s", d.Name, a, d.OutputSchema)
		}
		if d.Meta["anthropic/alwaysLoad"] != true || d.Meta["requiresUserInteraction"] != nil {
			t.Errorf("%s: got %v, want it always loaded and no interaction required", d.Name, d.Meta)
		}
	}
}

func TestAskWithoutADeckIsUnavailable(t *testing.T) {
	b := newBench(t, noQueue{}, nil, "x")
	if got := b.call(b.ctx, askParams(oneQuestion, nil)); !got.IsError || got.StructuredContent.Status != "unavailable" {
		t.Errorf("got %+v", got)
	}
}

func TestSeveralCallsAtOnce(t *testing.T) {
	asking(t, "claude-code", func(t *testing.T, q *questions.Queue, b *bench) {
		t.Helper()
		first := b.start(askParams(oneQuestion, 1))
		second := b.start(askParams(strings.Replace(oneQuestion, "Auth?", "Cache?", 1), 2))
		_ = q.Answer(2, []questions.Result{{ID: "auth", SelectedOptions: []string{"API key"}}})
		if got := <-second; got.StructuredContent.Answers[0]["question"] != "Cache?" {
			t.Errorf("second: %+v", got)
		}
		_ = q.Answer(1, []questions.Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}})
		if got := <-first; got.StructuredContent.Answers[0]["question"] != "Auth?" {
			t.Errorf("first: %+v", got)
		}
	})
}

func TestShutdownTellsTheRelayToTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := questions.New(questions.Options{})
		b := newBench(t, nil, q, "claude-code")
		raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": askParams(oneQuestion, 1)})
		ch := make(chan []byte, 1)
		go func() {
			out, _ := json.Marshal(b.srv.HandleMessage(b.ctx, raw))
			ch <- out
		}()
		synctest.Wait()
		q.Close()
		if out := <-ch; !bytes.Contains(out, []byte(`"mcpdeck/retry":true`)) {
			t.Errorf("got %s, want an error that may be retried", out)
		}
	})
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{oneQuestion, `{"questions":"[]","timeoutSeconds":"90"}`, `[]`, `{"title":7,"timeoutSeconds":1e400}`, `{"questions":{"question":"x","options":["a","a"]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var req mcp.CallToolRequest
		req.Params.RawArguments = raw
		a, err := parseAsk(req)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		if len(a.Questions) == 0 || a.Timeout < 0 || a.ResumeKey == "" {
			t.Fatalf("got %+v", a)
		}
	})
}
