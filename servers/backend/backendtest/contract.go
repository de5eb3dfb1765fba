// Package backendtest holds what the router expects of every server, wherever it runs.
package backendtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Contract plays what the router does with servers. open returns one, not started, with these
// tools, whose names may begin with anything: echo (returns its text), params (returns its
// arguments), fail (an error of the protocol, with the code -32042), steps (three steps of
// progress), wait (until it is cancelled), change (changes a list), crash (panics, or ends the
// program) and any number that begin with ask (a form with one field, and returns the answer);
// the prompt greet; and the resource fake://a, of which touch reports a change.
func Contract(t *testing.T, open func(t *testing.T) backend.Server) {
	t.Helper()
	for name, play := range map[string]func(*testing.T, *stage){
		"lists":                         lists,
		"a call":                        calls,
		"arguments":                     arguments,
		"an error":                      fails,
		"progress before the result":    progresses,
		"a call that is cancelled":      cancels,
		"a question":                    asks,
		"a question to nobody":          declines,
		"a list that changes":           changes,
		"a subscription":                subscribes,
		"a panic or the end of a child": crashes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{Server: open(t)}
			if err := s.Start(t.Context(), &s.Events); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				if err := s.Stop(ctx); err != nil {
					t.Error(err)
				}
			})
			s.until(t, "a list of tools", func() bool { return s.tool("echo") != "" })
			play(t, s)
		})
	}
}

// stage is a server that is up, and the events it reports.
type stage struct {
	backend.Server
	Events
}

type said struct{ session, method, params string }

// until waits for what happens in another goroutine.
func (s *stage) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// tool is the whole name of a tool; "" if there is none.
func (s *stage) tool(name string) string {
	for _, d := range s.Catalogue().Tools {
		if d.Key == name || strings.HasSuffix(d.Key, "_"+name) {
			return d.Key
		}
	}
	return ""
}

// client is the other side of a request.
type client struct {
	mu    sync.Mutex
	heard []said
	asked []said
}

// answer is what a client says to a form.
const answer = `{"action":"accept","content":{"name":"Ada"}}`

func (c *client) Notify(method string, params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, said{"", method, string(params)})
}

func (c *client) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, said{"", method, string(params)})
	return json.RawMessage(answer), nil
}

// version is that of clients without a handshake.
const version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`

// call makes a request to call a tool. members are those of its params beside its name.
func (s *stage) call(c backend.Client, tool, members, meta, capabilities string, stateless bool) *backend.Request {
	if stateless {
		meta = strings.TrimSuffix(version+`,"io.modelcontextprotocol/clientCapabilities":`+capabilities+","+meta, ",")
	}
	params := `{"name":` + string(rawjson.Quote(s.tool(tool))) + members + `,"_meta":{` + meta + `}}`
	r := backend.New(rpc.Message{ID: json.RawMessage("7"), Method: "tools/call", Params: json.RawMessage(params)})
	r.Client, r.Capabilities = c, json.RawMessage(capabilities)
	return r
}

// serve has a request of an agent answered, as the router does.
func (s *stage) serve(ctx context.Context, r *backend.Request) (reply backend.Reply, err error) {
	ctx = backend.WithCall(ctx, backend.Call{Caller: snapshot.Caller{Agent: "ada", Client: "tester"}})
	err = recovery.Call("a request", func() error { reply = s.Serve(ctx, r); return nil })
	return reply, err
}

// result has a call answered and returns its result.
func (s *stage) result(t *testing.T, r *backend.Request) string {
	t.Helper()
	reply, err := s.serve(t.Context(), r)
	if err != nil || reply.Result == nil {
		t.Fatalf("got %s, %v", reply.Error, err)
	}
	return string(reply.Result)
}

func lists(t *testing.T, s *stage) {
	t.Helper()
	c := s.Catalogue()
	var all []backend.Definition
	for _, d := range c.Tools {
		all = append(all, d.Definition)
	}
	if len(c.Prompts) == 0 || !slices.ContainsFunc(c.Resources, func(d backend.Definition) bool { return d.Key == "fake://a" }) {
		t.Errorf("prompts %v, resources %v", c.Prompts, c.Resources)
	}
	for _, d := range slices.Concat(all, c.Prompts, c.Resources) {
		o, err := rawjson.Parse(d.Raw)
		if own := o.Str("name"); err != nil || own != d.Key && o.Str("uri") != d.Key || strings.ContainsAny(string(d.Raw), "\r\n") {
			t.Errorf("%s is listed as %s", d.Key, d.Raw)
		}
	}
	if s.Info().Name == "" || s.Info().Title == "" {
		t.Errorf("it is called %+v", s.Info())
	}
}

func calls(t *testing.T, s *stage) {
	t.Helper()
	for _, stateless := range []bool{false, true} {
		got := s.result(t, s.call(&client{}, "echo", `,"arguments":{"text":"<\u00e9>"}`, "", "{}", stateless))
		o, _ := rawjson.SplitObject(json.RawMessage(got))
		content, _ := rawjson.SplitArray(o.Get("content"))
		if len(content) != 1 {
			t.Fatalf("got %s", got)
		}
		if block, err := rawjson.SplitObject(content[0]); err != nil || block.Str("text") != "<é>" {
			t.Errorf("got %s", got)
		}
	}
}

func arguments(t *testing.T, s *stage) {
	t.Helper()
	for _, args := range []string{
		`{"z":1.0,"n":9007199254740993,"a":[1e2,{"b":null}],"\u00e9":"<\u00e9>"}`,
		`{"large":"` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		got := s.result(t, s.call(&client{}, "params", `,"arguments":`+args, "", "{}", false))
		if !strings.Contains(got, args) && !strings.Contains(decoded(got), args) {
			t.Errorf("the server got %.300s, want %.300s", got, args)
		}
	}
}

// decoded is the first text of a result.
func decoded(result string) string {
	var r struct{ Content []struct{ Text string } }
	if json.Unmarshal([]byte(result), &r) != nil || len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

func fails(t *testing.T, s *stage) {
	t.Helper()
	reply, err := s.serve(t.Context(), s.call(&client{}, "fail", "", "", "{}", false))
	o, _ := rawjson.SplitObject(reply.Error)
	if err != nil || string(o.Get("code")) != "-32042" {
		t.Errorf("got %s, %v", reply, err)
	}
}

func progresses(t *testing.T, s *stage) {
	t.Helper()
	s.result(t, s.call(&client{}, "echo", "", "", "{}", false)) // else it may say first that it starts
	for _, stateless := range []bool{false, true} {
		c := &client{}
		s.result(t, s.call(c, "steps", "", `"progressToken":"<t>"`, "{}", stateless))
		c.mu.Lock()
		for i, n := range c.heard {
			o, err := rawjson.SplitObject(json.RawMessage(n.params))
			if n.method != "notifications/progress" || err != nil || o.Str("progressToken") != "<t>" || strings.TrimSuffix(string(o.Get("progress")), ".0") != fmt.Sprint(i+1) {
				t.Errorf("heard %s", n)
			}
		}
		if len(c.heard) != 3 {
			t.Errorf("heard %q before the result", c.heard)
		}
		c.mu.Unlock()
	}
}

func cancels(t *testing.T, s *stage) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	recovery.Go("a call", func() {
		defer close(done)
		_, _ = s.serve(ctx, s.call(&client{}, "wait", "", "", "{}", false)) // nobody gets it
	})
	cancel()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a cancelled call goes on")
	}
	s.result(t, s.call(&client{}, "echo", `,"arguments":{"text":"after"}`, "", "{}", false))
}

// asks has each of the tools ask, by a request or by a result, of clients of both eras.
func asks(t *testing.T, s *stage) {
	t.Helper()
	for _, d := range s.Catalogue().Tools {
		name := d.Key[strings.LastIndex(d.Key, "_")+1:]
		if !strings.HasPrefix(name, "ask") {
			continue
		}
		for _, stateless := range []bool{false, true} {
			c := &client{}
			got := s.result(t, s.call(c, name, "", "", `{"elicitation":{}}`, stateless))
			if o, _ := rawjson.SplitObject(json.RawMessage(got)); stateless && o.Str("resultType") == "input_required" {
				requests, err := rawjson.SplitObject(o.Get("inputRequests"))
				if err != nil || len(requests) != 1 {
					t.Fatalf("%s asks for %s", d.Key, got)
				}
				members := `,"inputResponses":{` + string(rawjson.Quote(requests[0].Key)) + `:` + answer + `},"requestState":` + string(o.Get("requestState"))
				got = s.result(t, s.call(c, name, members, "", `{"elicitation":{}}`, true))
			} else if len(c.asked) != 1 || c.asked[0].method != "elicitation/create" || !strings.Contains(c.asked[0].params, `"name"`) {
				t.Errorf("%s asked %q", d.Key, c.asked)
			}
			if !strings.Contains(decoded(got), "Ada") {
				t.Errorf("%s, of a stateless client: %t: got %s", d.Key, stateless, got)
			}
		}
	}
}

func declines(t *testing.T, s *stage) {
	t.Helper()
	for _, stateless := range []bool{false, true} {
		c := &client{}
		reply, err := s.serve(t.Context(), s.call(c, "ask", "", "", `{}`, stateless))
		if len(c.asked) > 0 || err != nil || strings.Contains(string(reply.Result), "Ada") {
			t.Errorf("a client that answers nothing was asked %q: got %s, %v", c.asked, reply, err)
		}
	}
}

func changes(t *testing.T, s *stage) {
	t.Helper()
	listed := func() string {
		raw, _ := rpc.Raw([]any{s.Catalogue().Tools, s.Catalogue().Resources}) // always encodes
		return string(raw)
	}
	before := listed()
	s.result(t, s.call(&client{}, "change", "", "", "{}", false))
	s.until(t, "another list", func() bool {
		return s.Changes() > 0 && listed() != before
	})
}

func subscribes(t *testing.T, s *stage) {
	t.Helper()
	const session = "ada"
	if l, ok := s.Server.(backend.Subscriber); ok {
		l.Subscribed(session, backend.Subscriptions{Resources: []string{"fake://a"}})
	}
	var told Said
	s.until(t, "word of the resource", func() bool { // it may take the server a moment
		s.result(t, s.call(&client{}, "touch", `,"arguments":{"uri":"fake://a"}`, "", "{}", false))
		time.Sleep(20 * time.Millisecond)
		all := s.Said()
		i := slices.IndexFunc(all, func(n Said) bool { return n.Method == "notifications/resources/updated" })
		if i >= 0 {
			told = all[i]
		}
		return i >= 0
	})
	if o, err := rawjson.SplitObject(json.RawMessage(told.Params)); err != nil || o.Str("uri") != "fake://a" || told.Session != "" && told.Session != session {
		t.Errorf("told %+v", told)
	}
}

func crashes(t *testing.T, s *stage) {
	t.Helper()
	reply, err := s.serve(t.Context(), s.call(&client{}, "crash", "", "", "{}", false))
	if o, _ := rawjson.SplitObject(reply.Result); err == nil && reply.Error == nil && !o.Flag("isError") {
		t.Errorf("got %s", reply)
	}
	s.until(t, "the server to be back", func() bool {
		reply, err := s.serve(t.Context(), s.call(&client{}, "echo", `,"arguments":{"text":"back"}`, "", "{}", false))
		return err == nil && strings.Contains(string(reply.Result), "back")
	})
}
