package streamable_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child/streamable"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL + "/mcp"
}

func options(url string) (child.Options, *streamable.Options) {
	to := &streamable.Options{Name: "fake", URL: url, Version: "test", Log: new(child.Log)}
	return child.Options{
		Name: "fake", Limit: testwait.Patience, Version: "test", Log: to.Log, Capabilities: json.RawMessage(`{"elicitation":{}}`),
		Open: func() (child.Link, error) { return streamable.Open(*to) },
	}, to
}

func connect(t *testing.T, o child.Options) *child.Conn {
	t.Helper()
	c, tools, err := child.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.End)
	if len(tools) < 9 {
		t.Errorf("%d tools", len(tools))
	}
	return c
}

// call calls a tool and returns its text, or its error.
func call(t *testing.T, c *child.Conn, tool, args string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Patience)
	defer cancel()
	result, err := c.Call(ctx, "tools/call", rawjson.Object{{Key: "name", Value: rawjson.Quote(tool)}, {Key: "arguments", Value: json.RawMessage(args)}})
	if err != nil {
		return "", err
	}
	o, err := rawjson.SplitObject(result)
	if err != nil {
		t.Fatal(err)
	}
	content, _ := rawjson.SplitArray(o.Get("content"))
	if len(content) == 0 {
		return string(result), nil
	}
	first, err := rawjson.SplitObject(content[0])
	if err != nil {
		t.Fatal(err)
	}
	return first.Str("text"), nil
}

func says(t *testing.T, c *child.Conn, tool, args, want string) {
	t.Helper()
	if got, err := call(t, c, tool, args); err != nil || got != want {
		t.Errorf("%s says %.200q, error %v; want %.200q", tool, got, err, want)
	}
}

// variants are the servers that a child must be able to speak to.
func variants() map[string]*fake.Server {
	return map[string]*fake.Server{
		"modern":             {NoLegacy: true},
		"modern, JSON":       {NoLegacy: true, HTTP: fake.Faults{JSON: true}},
		"legacy":             {NoModern: true},
		"legacy, JSON":       {NoModern: true, HTTP: fake.Faults{JSON: true}},
		"legacy, no session": {NoModern: true, HTTP: fake.Faults{NoSessions: true}},
		"legacy, no stream":  {NoModern: true, HTTP: fake.Faults{NoStream: true}},
		"both":               {},
		"both, sticky":       {Sticky: true},
		"the older":          {NoModern: true, HTTP: fake.Faults{OnlySSE: true}},
	}
}

func TestCallsOverHTTP(t *testing.T) {
	for name, s := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(serve(t, s.Handler()))
			c := connect(t, o)
			if modern := !s.NoModern; modern != (c.Era() == child.Modern) {
				t.Errorf("era %s", c.Era())
			}
			says(t, c, "echo", `{"text":"a\nb <&> \u2028"}`, "a\nb <&> \u2028")
			says(t, c, "large", `{"bytes":3000000}`, strings.Repeat("x", 3000000))
			_, err := call(t, c, "fail", `{}`)
			if refused, ok := errors.AsType[*rpc.Error](err); !ok || refused.Code != -32042 {
				t.Errorf("fail: %v", err)
			} else if data, _ := refused.Data.(json.RawMessage); string(data) != `{"n":1.0}` {
				t.Errorf("its data is %s", data)
			}
			for kind, want := range map[child.Kind]int{child.Prompts: 1, child.Resources: 1, child.Templates: 1} {
				if list, err := c.List(t.Context(), kind); len(list) != want || err != nil {
					t.Errorf("%d, error %v", len(list), err)
				}
			}
			if strings.Contains(name, "legacy") && !s.HTTP.NoSessions {
				says(t, c, "count", `{}`, "1")
				says(t, c, "count", `{}`, "2") // one session for all
			}
			c.End()
			if n, want := s.Count(http.MethodDelete), strings.HasPrefix(name, "legacy") && !s.HTTP.NoSessions; n > 1 || (n == 1) != want {
				t.Errorf("the session was ended %d times", n)
			}
			if _, err := c.Call(t.Context(), "ping", nil); !errors.Is(err, rpc.ErrGone) {
				t.Errorf("a request afterwards: %v", err)
			}
		})
	}
}

func TestProgressOverHTTPComesBeforeTheAnswer(t *testing.T) {
	for name, s := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(serve(t, s.Handler()))
			c := connect(t, o)
			var steps []string
			r, err := c.Start(t.Context(), "tools/call", func(id string) rawjson.Object {
				return rawjson.Object{{Key: "name", Value: json.RawMessage(`"steps"`)}, {Key: "_meta", Value: json.RawMessage(`{"progressToken":"` + id + `"}`)}}
			}, func(params json.RawMessage) {
				o, _ := rawjson.SplitObject(params)
				steps = append(steps, string(o.Get("progress")))
			})
			if err != nil {
				t.Fatal(err)
			}
			if a := <-r.Reply; a.Err != nil || !slices.Equal(steps, []string{"1.0", "2.0", "3.0"}) {
				t.Errorf("steps %q, error %v", steps, a.Err)
			}
		})
	}
}

// A user may take as long as they like to answer.
func TestAServerMayAskTheUserOverHTTP(t *testing.T) {
	for _, name := range []string{"legacy", "legacy, no session", "legacy, no stream", "the older"} {
		s := variants()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(serve(t, s.Handler()))
			asked := make(chan rpc.Message, 1)
			o.Ask = func(_ *child.Conn, m rpc.Message) { asked <- m }
			c := connect(t, o)
			if s.HTTP.NoSessions {
				t.Skip("an answer finds its request by the session")
			}
			done := make(chan string)
			go func() {
				got, err := call(t, c, "ask", `{}`)
				done <- fmt.Sprint(got, " ", err)
			}()
			m := <-asked
			if m.Method != "elicitation/create" {
				t.Errorf("asked %s", m.Method)
			}
			says(t, c, "echo", `{"text":"meanwhile"}`, "meanwhile")
			c.Say(rpc.Message{ID: m.ID, Result: json.RawMessage(`{"action":"decline"}`)})
			if got := <-done; got != `{"action":"decline"} <nil>` {
				t.Errorf("it was answered %s", got)
			}
		})
	}
	t.Run("modern", func(t *testing.T) {
		o, _ := options(serve(t, new(fake.Server).Handler()))
		c := connect(t, o)
		if got, err := call(t, c, "ask", `{}`); err != nil || !strings.Contains(got, `"resultType":"input_required"`) {
			t.Errorf("%s, %v", got, err)
		}
	})
}

func TestChangesAreToldOverHTTP(t *testing.T) {
	for _, name := range []string{"modern", "legacy", "the older"} {
		s := variants()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(serve(t, s.Handler()))
			c := connect(t, o)
			testwait.Until(t, "a stream", func() bool { return s.Count("subscriptions/listen")+s.Count(http.MethodGet) > 0 })
			s.Change()
			select {
			case <-c.Changed():
			case <-time.After(testwait.Patience):
				t.Error("the change is not told")
			}
		})
	}
}

func TestCancelledCallsEndOverHTTP(t *testing.T) {
	for _, name := range []string{"modern", "legacy", "legacy, no stream", "the older"} {
		s := variants()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(serve(t, s.Handler()))
			c := connect(t, o)
			r, err := c.Start(t.Context(), "tools/call", func(string) rawjson.Object { return rawjson.Object{{Key: "name", Value: json.RawMessage(`"wait"`)}} }, nil)
			if err != nil {
				t.Fatal(err)
			}
			testwait.Until(t, "the call", func() bool { return s.Count("tools/call") == 1 })
			c.Offer(r.Cancelled(""))
			if a := <-r.Reply; !errors.Is(a.Err, context.Canceled) {
				t.Errorf("got %v", a.Err)
			}
			if c.Era() == child.Legacy {
				testwait.Until(t, "the word of it", func() bool { return s.Count("notifications/cancelled") == 1 })
			} else if s.Count("notifications/cancelled") > 0 {
				t.Error("the end of the stream says it")
			}
		})
	}
}

// What a request says in its headers is what its body says.
func TestHeadersOfTheModernEra(t *testing.T) {
	s := &fake.Server{}
	o, to := options(serve(t, s.Handler()))
	to.Headers = map[string]string{"Authorization": "Bearer x", "Mcp-Method": "forged"}
	c := connect(t, o)
	says(t, c, "headers", `{"text":"t","region":"Zürich","in":{"n":7.0}}`, "t")
	says(t, c, "headers", `{"text":"t","region":null,"in":{"n":1.5}}`, "t")
	if _, err := c.Call(t.Context(), "resources/read", rawjson.Object{{Key: "uri", Value: json.RawMessage(`" fake://a"`)}}); err != nil {
		t.Error(err)
	}
	var got []string
	for _, r := range s.Seen() {
		h := http.Header(r.Header)
		if r.Verb != http.MethodPost || h.Get("Mcp-Method") != r.Method || h.Get("Mcp-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Session-Id") != "" ||
			h.Get("Authorization") != "Bearer x" || h.Get("Accept") != "application/json, text/event-stream" || h.Get("User-Agent") != "mcpdeck/test" {
			t.Errorf("%s %s with %v", r.Verb, r.Method, h)
		}
		if r.Method == "tools/call" || r.Method == "resources/read" {
			got = append(got, h.Get("Mcp-Name"), h.Get("Mcp-Param-Region"), h.Get("Mcp-Param-Number"))
		}
	}
	if want := []string{"headers", "=?base64?WsO8cmljaA==?=", "7", "headers", "", "", "=?base64?IGZha2U6Ly9h?=", "", ""}; !slices.Equal(got, want) {
		t.Errorf("headers %q, want %q", got, want)
	}
}

func TestHeadersOfTheLegacyEra(t *testing.T) {
	s := &fake.Server{NoModern: true}
	o, _ := options(serve(t, s.Handler()))
	c := connect(t, o)
	says(t, c, "echo", `{"text":"t"}`, "t")
	testwait.Until(t, "the stream", func() bool { return s.Count(http.MethodGet) == 1 })
	for _, r := range s.Seen() {
		h := http.Header(r.Header)
		greets := r.Method == "initialize" || r.Method == "server/discover"
		version, session := "2025-11-25", "session-2" // the first is that of the question for the era
		if greets {
			version, session = h.Get("Mcp-Protocol-Version"), ""
		}
		if h.Get("Mcp-Protocol-Version") != version || r.Method == "initialize" && version != "" || h.Get("Mcp-Session-Id") != session || !greets && h.Get("Mcp-Method") != "" {
			t.Errorf("%s %s with %v", r.Verb, r.Method, h)
		}
	}
}

func TestWhatIsWrongWithAServerIsSaid(t *testing.T) {
	const dead = "http://127.0.0.1:1" // another test gets no such port
	other := serve(t, new(fake.Server).Handler())
	away := serve(t, http.RedirectHandler(strings.Replace(other, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect))
	turned := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }))
	secured := httptest.NewUnstartedServer(new(fake.Server).Handler())
	secured.Config.ErrorLog = log.New(io.Discard, "", 0) // it says who hangs up
	secured.StartTLS()
	t.Cleanup(secured.Close)
	for _, tt := range []struct{ name, url, want string }{
		{"nobody there", dead + "/?key=secret", "the server cannot be reached: dial tcp"},
		{"not found", serve(t, http.NotFoundHandler()), "HTTP status 404: 404 page not found"},
		{"broken", serve(t, &fakeStatus{http.StatusBadGateway, ""}), "HTTP status 502"},
		{"wants a sign-in", serve(t, &fakeStatus{http.StatusUnauthorized, `Bearer realm="x"`}), "HTTP status 401"},
		{"sends elsewhere", away, "redirects to another one"},
		{"turns a message into a question", turned, "in a way that cannot be followed"},
		{"no certificate of the system's", secured.URL, "the server cannot be reached: tls: failed to verify certificate"},
		{"clear text to elsewhere", "http://example.com/mcp", "example.com is not on this machine"},
		{"another scheme", "ftp://localhost/", "must begin with https://"},
		{"no URL", "://", "the URL is invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options(tt.url)
			_, _, err := child.Open(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Fatalf("error %v, want %s", err, tt.want)
			}
			if status, ok := errors.AsType[*child.StatusError](err); ok && status.Code == 401 && status.Challenge != `Bearer realm="x"` {
				t.Errorf("the challenge is %q", status.Challenge)
			}
		})
	}
}

type fakeStatus struct {
	code      int
	challenge string
}

func (f *fakeStatus) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if f.challenge != "" {
		w.Header().Set("WWW-Authenticate", f.challenge)
	}
	w.WriteHeader(f.code)
}

func TestARedirectWithinTheServerIsFollowed(t *testing.T) {
	s := new(fake.Server)
	o, _ := options(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusPermanentRedirect)
			return
		}
		s.Handler().ServeHTTP(w, r)
	})))
	says(t, connect(t, o), "echo", `{"text":"t"}`, "t")
}

func TestTheCertificateOfAServerIsChecked(t *testing.T) {
	srv := httptest.NewTLSServer(new(fake.Server).Handler())
	t.Cleanup(srv.Close)
	o, to := options(srv.URL)
	to.Roots = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	c := connect(t, o)
	says(t, c, "echo", `{"text":"t"}`, "t")
	c.End()
}

func TestAServerIsReachedThroughTheProxy(t *testing.T) {
	s := new(fake.Server)
	hosts := make(chan string, 100)
	proxy := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts <- r.URL.Host
		s.Handler().ServeHTTP(w, r)
	}))
	o, to := options("http://mcp.test/x")
	to.AllowHTTP = true
	to.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy) }
	connect(t, o)
	if got := <-hosts; got != "mcp.test" {
		t.Errorf("it was asked for %s", got)
	}
}

func TestAnswersOverTheLimitFailTheirCallAlone(t *testing.T) {
	for _, name := range []string{"legacy", "legacy, JSON", "the older"} {
		s := variants()[name]
		t.Run(name, func(t *testing.T) {
			o, _ := options(serve(t, s.Handler()))
			c := connect(t, o)
			other, err := c.Start(t.Context(), "tools/call", func(string) rawjson.Object { return rawjson.Object{{Key: "name", Value: json.RawMessage(`"wait"`)}} }, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := call(t, c, "large", fmt.Sprintf(`{"bytes":%d}`, rpc.MaxLine)); !errors.Is(err, rpc.ErrTooLarge) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			says(t, c, "echo", `{"text":"next"}`, "next")
			if !c.Waits(other.ID) {
				t.Error("another call ended with it")
			}
			c.Offer(other.Cancelled(""))
			<-other.Reply
		})
	}
}

// The older transport names where to send messages: that must be the same server.
func TestTheOlderTransportSendsNothingElsewhere(t *testing.T) {
	o, to := options(serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: http://127.0.0.1:1/x\n\n")
	})))
	to.Transport = streamable.SSE
	if _, _, err := child.Open(t.Context(), o); err == nil || err.Error() != "it wants messages to be sent to another server" {
		t.Errorf("got %v", err)
	}
}

func TestTheOlderTransportEndsWithItsStream(t *testing.T) {
	s := variants()["the older"]
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(srv.Close)
	o, to := options(srv.URL)
	to.Transport = streamable.SSE
	c := connect(t, o)
	srv.CloseClientConnections()
	<-c.Gone()
	if c.Cause() != "its stream ended" {
		t.Errorf("cause %q", c.Cause())
	}
}
