package router

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const ofModern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestWhatIsAnsweredWithoutAServer(t *testing.T) {
	h := started(t, Options{Version: "1", Servers: []backend.Server{&module{name: "a", tools: []string{"a_x"}}, &module{name: "b"}}})
	v := viewOf(t, h)
	const shown = `"capabilities":` + capabilities + `,"serverInfo":{"name":"mcpdeck","version":"1","title":"mcpdeck"},"instructions":"Use a.\n\nUse b."`
	const whose = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcpdeck","version":"1","title":"mcpdeck"}},"resultType":"complete"`
	for _, tt := range []struct{ method, params, want string }{
		{"initialize", `{"protocolVersion":"2025-06-18","clientInfo":{"name":"c"}}`, `{"protocolVersion":"2025-06-18",` + shown + `}`},
		{"initialize", `{"protocolVersion":"1999-01-01"}`, `{"protocolVersion":"2025-11-25",` + shown + `}`},
		{"initialize", `{"protocolVersion":"2026-07-28"}`, `{"protocolVersion":"2025-11-25",` + shown + `}`},
		{"initialize", `{}`, `{"protocolVersion":"2025-03-26",` + shown + `}`},
		{"initialize", `{"protocolVersion":7}`, `{"code":-32600,"message":"protocolVersion must be a string"}`},
		{"initialize", `{` + ofModern + `}`, `{"code":-32601,"message":"\"initialize\" was removed in protocol version 2026-07-28"}`},
		{"server/discover", `{}`, `{"code":-32601,"message":"\"server/discover\" requires protocol version 2026-07-28 or later"}`},
		{
			"server/discover", `{` + ofModern + `}`, `{` + whose + `,"ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],` +
				`"capabilities":` + capabilities + `,"instructions":"Use a.\n\nUse b."}`,
		},
		{"ping", `{}`, `{}`},
		{"ping", `{` + ofModern + `}`, `{"code":-32601,"message":"\"ping\" was removed in protocol version 2026-07-28"}`},
		{"logging/setLevel", `{"level":"info"}`, `{}`},
		{"logging/setLevel", `{"level":"loud"}`, `{"code":-32602,"message":"invalid logging level 'loud'"}`},
		{"resources/subscribe", `{"uri":"x://y"}`, `{}`},
		{"resources/unsubscribe", `{}`, `{"code":-32602,"message":"uri is required"}`},
		{"prompts/get", `{"name":"x"}`, `{"code":-32602,"message":"prompt 'x' not found"}`},
		{"resources/read", `{"uri":"x"}`, `{"code":-32002,"message":"resource 'x' not found","data":{"uri":"x"}}`},
		{"resources/read", `{"uri":"x",` + ofModern + `}`, `{"code":-32602,"message":"resource 'x' not found","data":{"uri":"x"}}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"x"}}`, `{"completion":{"values":[]}}`},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"x"},` + ofModern + `}`, `{` + strings.Replace(whose, `,"resultType"`, `,"completion":{"values":[]},"resultType"`, 1) + `}`},
		{"completion/complete", `{"ref":{"type":"x"}}`, `{"code":-32600,"message":"unknown reference type: x"}`},
		{"tasks/get", `{"taskId":"x"}`, `{"code":-32601,"message":"method tasks/get not found"}`},
		{"tools/list", `{"cursor":"x"}`, `{"code":-32602,"message":"invalid cursor"}`},
		{
			"tools/list", strings.Replace(`{`+ofModern+`}`, "2026-07-28", "2027-01-01", 1),
			`{"code":-32022,"message":"unsupported protocol version: \"2027-01-01\" (supported: [2026-07-28 2025-11-25 2025-06-18 2025-03-26 2024-11-05])",` +
				`"data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2027-01-01"}}`,
		},
		{"tools/list", strings.Replace(`{`+ofModern+`}`, `{}`, `7`, 1), `{"code":-32602,"message":"missing or invalid _meta field io.modelcontextprotocol/clientCapabilities"}`},
		{"subscriptions/listen", `{"notifications":7,` + ofModern + `}`, `{"code":-32602,"message":"notifications must be an object with the wanted kinds as keys"}`},
		{"subscriptions/listen", `{"notifications":{},` + ofModern + `}`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"resultType":"complete"}`},
	} {
		a := h.Connect(snapshot.Caller{}, nil)
		reply := say(t.Context(), a, v, tt.method, tt.params)
		if got := string(reply.Result) + string(reply.Error); got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.method, tt.params, got, tt.want)
		}
		a.Close()
	}
}

// hearer is a client that hears what is said about its request.
type hearer struct {
	backend.Nobody
	mu    sync.Mutex
	heard []string
}

func (h *hearer) Notify(_ string, params json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard = append(h.heard, string(params))
}

// A handler may say more than mcp-go keeps of it: all arrives, before the answer.
func TestAllThatAHandlerSaysArrivesBeforeItsAnswer(t *testing.T) {
	const many = 2000
	m := &module{name: "a", tools: []string{"a_x"}, handler: func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range many {
			_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progress": i})
		}
		return mcp.NewToolResultText("done"), nil
	}}
	h := started(t, Options{Servers: []backend.Server{m}})
	a := h.Connect(snapshot.Caller{}, nil)
	defer a.Close()
	client := &hearer{}
	r := backend.New(rpc.Message{ID: json.RawMessage("1"), Method: "tools/call", Params: json.RawMessage(`{"name":"a_x"}`)})
	r.Client = client
	reply := viewOf(t, h).Route(a, r)(t.Context())
	if n := len(client.heard); n != many || client.heard[many-1] != `{"progress":1999}` || !strings.Contains(string(reply.Result), "done") {
		t.Errorf("%d messages were heard; the answer is %s %s", n, reply.Result, reply.Error)
	}
}

func TestAnAgentThatIsConnectedAgainIsWhatItWas(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "a"}}})
	v := viewOf(t, h)
	l := &listener{}
	a := h.Connect(snapshot.Caller{Transport: "http"}, nil)
	a.Attach(v, func(method string, _ json.RawMessage) { l.heard = append(l.heard, method) })
	a.Greet(Greeting{Client: "c", ClientVersion: "2", Version: "2025-11-25", Capabilities: json.RawMessage(`{"roots":{}}`)})
	say(t.Context(), a, v, "resources/subscribe", `{"uri":"a://b"}`)
	a.Close()
	h.module("a").Notify("", resourceUpdated, json.RawMessage(`{"uri":"a://b"}`))
	again := a.Resume()
	defer again.Close()
	if c := again.Caller(); c.Client != "c" || c.ClientVersion != "2" || c.Transport != "http" || string(again.Capabilities()) != `{"roots":{}}` {
		t.Errorf("it is %+v now", c)
	}
	h.module("a").Notify("", resourceUpdated, json.RawMessage(`{"uri":"a://b"}`))
	if got := l.told(); len(got) != 1 {
		t.Errorf("told %q, want the update since", got)
	}
}
