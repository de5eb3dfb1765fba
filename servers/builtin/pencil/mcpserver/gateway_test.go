package mcpserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// Clients that ask for the tools once have the gateway in both modes, and all
// tools if they start while the mode is on; no other client hears of it.
func TestClientsThatKeepTheirListHaveTheGateway(t *testing.T) {
	tests := []struct {
		client, setting string
		clients         []string
		has             bool
	}{
		{"codex-mcp-client", "auto", nil, true},
		{"codex-mcp-client", "", nil, true},
		{"Cursor", "auto", nil, true},
		{"cursor-vscode", "auto", nil, true},
		{"Kiro", "auto", nil, true},
		{"claude-ai", "auto", nil, true},
		{"claude-ai (via mcp-remote 0.1.37)", "auto", nil, true},
		{"claude-code", "auto", nil, false},
		{"kiro-cli", "auto", nil, false},
		{"Q DEV CLI", "auto", nil, false},
		{"opencode", "auto", nil, false},
		{"opencode", "always", nil, true},
		{"codex-mcp-client", "never", nil, false},
		{"codex-mcp-client", "auto", []string{"open*"}, false},
		{"OpenCode", "auto", []string{"open*"}, true},
		{"codex-mcp-client", "auto", []string{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.client+" "+tt.setting+" "+strings.Join(tt.clients, ","), func(t *testing.T) {
			o := options(t)
			o.Gateway, o.GatewayClients = tt.setting, tt.clients
			d := newDeck(t, o)
			look := func(when string, a *agent, others int) {
				t.Helper()
				got := a.tools()
				if slices.Contains(got, pencil.CallTool) != tt.has {
					t.Errorf("%s: %v", when, got)
				}
				if got = slices.DeleteFunc(got, func(s string) bool { return s == pencil.CallTool }); len(got) != others {
					t.Errorf("%s: %d other tools, want %d", when, len(got), others)
				}
			}
			a := connectAs(t, d.host, router.ViewSpec{}, tt.client)
			look("off", a, 1)
			d.on()
			a.read() // the list has changed
			look("on", a, 15)
			look("alone", connectAs(t, d.host, router.ViewSpec{Servers: []string{"pencil"}}, tt.client), 15)
			if got := a.call("tools/call", `{"name":"pencil_call","arguments":{"tool":"batch_get","arguments":{"n":1}}}`); tt.has && !strings.Contains(got, `{\"n\":1}`) {
				t.Errorf("through the gateway: %s", got)
			}
		})
	}
}

// The same through HTTP, where a request may bring the client's name.
func TestGatewayThroughHTTP(t *testing.T) {
	d := newDeck(t, options(t))
	h := &transport.HTTP{Host: d.host}
	for client, has := range map[string]bool{"codex-mcp-client": true, "claude-code": false} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"` + client +
			`","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/list")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Body.String(); !strings.Contains(got, `"echo"`) || strings.Contains(got, pencil.CallTool) != has {
			t.Errorf("%s: %d %s", client, w.Code, got)
		}
	}
}

// What such a client did not ask for again it reaches all the same, and the
// list of agents can say so.
func TestAgentsWithTheGatewayAreKnown(t *testing.T) {
	d := newDeck(t, options(t))
	for client, has := range map[string]bool{"codex-mcp-client": true, "claude-code": false} {
		a := connectAs(t, d.host, router.ViewSpec{}, client)
		a.tools()
		for _, info := range d.host.Snapshot().Agents {
			if info.Client == client && info.Gateway != has {
				t.Errorf("%s: gateway %v", client, info.Gateway)
			}
		}
	}
}

func TestGatewayIsSmall(t *testing.T) {
	if b := New(pencil.New(pencil.Options{})).Catalogue().Gateway[0].Raw; len(b) >= 700 {
		t.Errorf("%d bytes", len(b))
	}
}

func TestGatewayIsNoReadOnlyTool(t *testing.T) {
	var tool mcp.Tool
	if err := json.Unmarshal(New(pencil.New(pencil.Options{})).Catalogue().Gateway[0].Raw, &tool); err != nil {
		t.Fatal(err)
	}
	a := tool.Annotations
	if *a.ReadOnlyHint || !*a.DestructiveHint || *a.OpenWorldHint {
		t.Errorf("hints %+v", a)
	}
}

func TestEveryToolOfTheDeckItselfIsWhole(t *testing.T) {
	backendtest.EveryToolIsWhole(t, "../README.md", New(pencil.New(pencil.Options{Gateway: "always"})))
}
