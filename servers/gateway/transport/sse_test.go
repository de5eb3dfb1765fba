package transport_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// talkative is a server whose tools say things before their results.
type talkative struct {
	*transporttest.Fixture
	instructions string
}

func newTalkative(f *transporttest.Fixture, instructions string) talkative {
	form := func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := server.ServerFromContext(ctx).RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
			Message: "Well?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}})
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultText(string(r.Action)), nil
	}
	f.Add("form", form)
	return talkative{f, instructions}
}

func (s talkative) Catalogue() *backend.Catalogue {
	c := s.Fixture.Catalogue()
	if s.instructions != "" {
		c.Instructions = s.instructions
	}
	return c
}

// webClient is a client over HTTP.
type webClient struct {
	url     string
	session string // "": none
}

// post sends a message and returns the response, which has begun.
func (c *webClient) post(ctx context.Context, message string) (*http.Response, error) {
	return c.send(ctx, http.MethodPost, message)
}

func (c *webClient) send(ctx context.Context, method, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if m, err := rawjson.Parse([]byte(body)); err == nil && strings.Contains(body, "2026-07-28") {
		params, _ := rawjson.Parse(m.Get("params"))
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", m.Str("method"))
		r.Header.Set("Mcp-Name", params.Str("name"))
	}
	return http.DefaultClient.Do(r)
}

// begin opens a session with a stream that it listens on, which is read to its end.
func (c *webClient) begin(t *testing.T) {
	t.Helper()
	answer, err := c.post(t.Context(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"elicitation":{}},"clientInfo":{"name":"tester","version":"1"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	c.session = answer.Header.Get("Mcp-Session-Id")
	if answer, err = c.post(t.Context(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	stream, err := c.send(t.Context(), http.MethodGet, "")
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	go func() {
		defer stream.Body.Close()
		for in := bufio.NewScanner(stream.Body); in.Scan(); {
			if strings.Contains(in.Text(), "progress") || strings.Contains(in.Text(), `"id":`) {
				t.Errorf("on the stream of the session: %s", in.Text())
			}
		}
	}()
}

// call calls a tool and returns the kinds of messages on the request's own stream, in order.
// It answers what the server asks.
func (c *webClient) call(ctx context.Context, modern bool, tool, token string) (kinds string, err error) {
	answer, err := c.post(ctx, `{"jsonrpc":"2.0","id":1`+token+`,"method":"tools/call","params":`+transporttest.With(`{"name":"`+tool+`","_meta":{"progressToken":"t`+token+`"}}`, modern)+`}`)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	in := bufio.NewReader(answer.Body)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return kinds, nil
		}
		if err != nil {
			return kinds, err
		}
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		switch m, err := rawjson.Parse([]byte(line)); {
		case err != nil || len(m) == 0: // between messages
		case strings.Contains(line, "mcpdeck/"):
			return kinds, fmt.Errorf("the client got a member of the deck's own: %s", line)
		case m.Get("result") != nil && string(m.Get("id")) == "1"+token:
			kinds += "."
		case m.Str("method") == "notifications/progress" && strings.Contains(line, `"t`+token+`"`):
			kinds += "p"
		case m.Str("method") == "sampling/createMessage", m.Str("method") == "elicitation/create":
			kinds += "?"
			reply, err := c.post(ctx, `{"jsonrpc":"2.0","id":`+string(m.Get("id"))+`,"result":{"action":"accept","content":{}}}`)
			if err != nil {
				return kinds, err
			}
			_ = reply.Body.Close()
		default:
			return kinds, fmt.Errorf("got %s", line)
		}
	}
}

// load keeps every processor busy until the test ends.
func load(t *testing.T) {
	t.Helper()
	var over atomic.Bool
	var all sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for !over.Load() {
				runtime.Gosched()
			}
		})
	}
	t.Cleanup(func() { over.Store(true); all.Wait() })
}

func TestWhatARequestSaysComesOnItsOwnStreamBeforeItsReply(t *testing.T) {
	srv := httptest.NewServer(&transport.HTTP{Host: routertest.Start(t, newTalkative(transporttest.NewFixture(), ""), newCard("one"))})
	defer srv.Close()
	defer srv.CloseClientConnections()
	load(t)
	const at, calls = 8, 40
	for _, modern := range []bool{false, true} {
		c := &webClient{url: srv.URL + "/mcp"}
		if !modern {
			c.begin(t)
		}
		tools := map[string]string{"steps": "ppppp.", "one_steps": "ppp."}
		if !modern {
			tools["form"], tools["one_ask"] = "?.", "?."
		}
		for tool, want := range tools {
			t.Run(fmt.Sprintf("%s, modern %v", tool, modern), func(t *testing.T) {
				var all sync.WaitGroup
				for n := range at {
					all.Go(func() {
						for i := range calls {
							if got, err := c.call(t.Context(), modern, tool, fmt.Sprintf("%d%03d", n, i)); err != nil || got != want {
								t.Errorf("call %d of %d: %q instead of %q: %v", i, n, got, want, err)
								return
							}
						}
					})
				}
				all.Wait()
			})
		}
	}
}

// A session is there when its client reads of it, however long the rest of the response is.
func TestASessionIsUsableBeforeItsResponseHasEnded(t *testing.T) {
	h := routertest.Start(t, newTalkative(transporttest.NewFixture(), strings.Repeat("Be kind. ", 1<<14)))
	srv := httptest.NewServer(&transport.HTTP{Host: h})
	defer srv.Close()
	for range 20 {
		c := &webClient{url: srv.URL + "/mcp"}
		answer, err := c.post(t.Context(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+transporttest.Handshake+`}`)
		if err != nil {
			t.Fatal(err)
		}
		before := len(h.Snapshot().Agents)
		c.session = answer.Header.Get("Mcp-Session-Id")
		if got, err := c.call(t.Context(), false, "echo", "1"); got != "." || err != nil {
			t.Fatal(got, err)
		}
		if after := len(h.Snapshot().Agents); after != before {
			t.Fatalf("the session was not known: %d agents became %d", before, after)
		}
		_ = answer.Body.Close()
	}
}

// A server cannot make the deck send a message of another kind.
func TestAWrapperOfAnothersStaysWhatItIs(t *testing.T) {
	srv := httptest.NewServer(&transport.HTTP{Host: routertest.Start(t, transporttest.NewFixture(), wrapping{newCard("one")})})
	defer srv.Close()
	c := &webClient{url: srv.URL + "/mcp"}
	answer, err := c.post(t.Context(), `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":`+transporttest.With(`{"name":"one_echo","_meta":{}}`, true)+`}`)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(got), `"params":`+wrapped) {
		t.Errorf("got %s: %v", got, err)
	}
}

const wrapped = `{"mcpdeck/message":"eyJ9","mcpdeck/receipt":"1"}`

type wrapping struct{ *card }

func (w wrapping) Serve(_ context.Context, r *backend.Request) backend.Reply {
	r.Client.Notify("notifications/progress", []byte(wrapped))
	return backend.Reply{Result: []byte(`{}`)}
}
