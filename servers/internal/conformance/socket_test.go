package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// The suite speaks HTTP only. What it proved there is carried over to byte
// streams by asking both for the same and comparing.

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

func TestStreamAnswersLikeHTTP(t *testing.T) {
	h, err := NewHost(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Stop(context.Background()) })
	url, err := Serve(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	tool := func(name string, extra ...any) map[string]any {
		p := map[string]any{"name": name, "arguments": map[string]any{}}
		for i := 0; i+1 < len(extra); i += 2 {
			p[extra[i].(string)] = extra[i+1]
		}
		return p
	}
	type request struct {
		method string
		params map[string]any
		modern bool // only the 2026 revision has it
	}
	requests := []request{
		{"tools/list", nil, false},
		{"resources/list", nil, false},
		{"resources/templates/list", nil, false},
		{"prompts/list", nil, false},
		{"no/such/method", nil, false},
		{"server/discover", nil, true},
		{"resources/read", map[string]any{"uri": "test://static-text"}, false},
		{"resources/read", map[string]any{"uri": "test://static-binary"}, false},
		{"resources/read", map[string]any{"uri": "test://template/7/data"}, false},
		{"resources/read", map[string]any{"uri": "test://nothing"}, false},
		{"prompts/get", map[string]any{"name": "test_prompt_with_arguments", "arguments": map[string]any{"arg1": "a", "arg2": "b"}}, false},
		{"prompts/get", map[string]any{"name": "test_prompt_with_image"}, false},
		{"prompts/get", map[string]any{"name": "nothing"}, false},
		{"prompts/get", map[string]any{"name": "test_input_required_result_prompt"}, true},
		{"completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "test_prompt_with_arguments"}, "argument": map[string]any{"name": "arg1", "value": "par"}}, false},
		{"tools/call", tool("test_simple_text"), false},
		{"tools/call", tool("test_image_content"), false},
		{"tools/call", tool("test_audio_content"), false},
		{"tools/call", tool("test_multiple_content_types"), false},
		{"tools/call", tool("test_error_handling"), false},
		{"tools/call", tool("nothing"), false},
		{"tools/call", tool("test_missing_capability"), true},
		{"tools/call", tool("test_input_required_result_elicitation"), true},
		{"tools/call", tool("test_input_required_result_multi_round"), true},
		{"tools/call", tool("test_input_required_result_tampered_state", "requestState", "asked.00", "inputResponses",
			map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"ok": true}}}), true},
	}
	for _, era := range []string{legacy, modern} {
		overHTTP, overStream := newHTTP(t, url, era), newStream(t, h, era)
		for _, r := range requests {
			if r.modern && era == legacy {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %v", era, r.method, r.params["name"]), func(t *testing.T) {
				a, b := overHTTP.ask(t, r.method, r.params), overStream.ask(t, r.method, r.params)
				if a != b {
					t.Errorf("over HTTP   %s\nover stream %s", a, b)
				}
				if !strings.HasPrefix(a, `{"error":`) && !strings.HasPrefix(a, `{"result":`) {
					t.Errorf("no answer: %s", a)
				}
			})
		}
	}
}

// message is a request of the era.
func message(id int, era, method string, params map[string]any) []byte {
	p := map[string]any{}
	for k, v := range params {
		p[k] = v
	}
	if era == modern {
		p["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    modern,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "0"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}},
		}
	}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": p})
	return b
}

func initialize() []byte {
	return message(0, legacy, "initialize", map[string]any{
		"protocolVersion": legacy, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "0"},
	})
}

// answer is the result or error of a response, with keys in order.
func answer(t *testing.T, line []byte) string {
	t.Helper()
	var r map[string]any
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatalf("no JSON: %q", line)
	}
	delete(r, "jsonrpc")
	delete(r, "id")
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type httpClient struct {
	url, era, session string
	n                 int
}

func newHTTP(t *testing.T, url, era string) *httpClient {
	t.Helper()
	c := &httpClient{url: url, era: era}
	if era == legacy {
		header, _ := c.post(t, initialize(), "initialize", "")
		c.session = header.Get("Mcp-Session-Id")
		c.post(t, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), "notifications/initialized", "")
	}
	return c
}

func (c *httpClient) post(t *testing.T, body []byte, method, name string) (http.Header, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": c.era,
		"Mcp-Session-Id": c.session, "Mcp-Method": method, "Mcp-Name": name,
	} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.LastIndex(b, []byte("data: ")); strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") && i >= 0 {
		b = b[i+len("data: "):]
	}
	return resp.Header, b
}

func (c *httpClient) ask(t *testing.T, method string, params map[string]any) string {
	t.Helper()
	c.n++
	name, _ := params["name"].(string)
	if uri, ok := params["uri"].(string); ok {
		name = uri
	}
	_, b := c.post(t, message(c.n, c.era, method, params), method, name)
	return answer(t, b)
}

type streamClient struct {
	era string
	n   int
	in  io.Writer
	out *bufio.Reader
}

func newStream(t *testing.T, h *router.Host, era string) *streamClient {
	t.Helper()
	view, err := h.View(router.ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := net.Pipe()
	agent := h.Connect(snapshot.Caller{Transport: "unix"}, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = transport.Serve(context.Background(), theirs, theirs, view, agent)
	}()
	t.Cleanup(func() {
		_ = mine.Close()
		<-done
		agent.Close()
	})
	c := &streamClient{era: era, in: mine, out: bufio.NewReader(mine)}
	if era == legacy {
		c.send(t, initialize())
		c.receive(t)
		c.send(t, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	}
	return c
}

func (c *streamClient) send(t *testing.T, line []byte) {
	t.Helper()
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

// receive returns the next response.
func (c *streamClient) receive(t *testing.T) []byte {
	t.Helper()
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(line, []byte(`"method":`)) || bytes.Contains(line, []byte(`"result":`)) {
			return line
		}
	}
}

func (c *streamClient) ask(t *testing.T, method string, params map[string]any) string {
	t.Helper()
	c.n++
	c.send(t, message(c.n, c.era, method, params))
	return answer(t, c.receive(t))
}
