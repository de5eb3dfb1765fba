package mcpserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// What agents have in their list is, byte for byte in canonical form, what the
// child listed, members that the library does not know included; a stream, HTTP
// and the gateway do not differ.
func TestListedDefinitionsAreTheChildsOwn(t *testing.T) {
	d := newDeck(t, options(t, "--no-guide"))
	d.on()
	stream := connect(t, d.host, router.ViewSpec{})
	overHTTP := &transport.HTTP{Host: d.host}
	tests := []struct {
		name string
		list func() string // the result, or what holds it
	}{
		{"stream", func() string { return stream.call("tools/list", `{}`) }},
		{"stream, alone", func() string {
			return connect(t, d.host, router.ViewSpec{Servers: []string{"pencil"}}).call("tools/list", `{}`)
		}},
		{"HTTP", func() string {
			r := httptest.NewRequest(http.MethodPost, "/mcp/pencil", strings.NewReader(`{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":`+
				`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("MCP-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", "tools/list")
			w := httptest.NewRecorder()
			overHTTP.ServeHTTP(w, r)
			o, err := rawjson.Parse(w.Body.Bytes())
			if err != nil {
				t.Fatalf("%d %s: %v", w.Code, w.Body, err)
			}
			return string(o.Get("result"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := rawjson.Parse([]byte(tt.list()))
			if err != nil {
				t.Fatal(err)
			}
			list, _ := rawjson.SplitArray(o.Get("tools"))
			listed := map[string]string{}
			for _, raw := range list {
				tool, err := rawjson.Parse(raw)
				if err != nil {
					t.Fatal(err)
				}
				if name := tool.Str("name"); strings.HasPrefix(name, "pencil_") && name != "pencil_status" {
					listed[strings.TrimPrefix(name, "pencil_")] = asTheChildSaid(raw)
				}
			}
			want := standin.Definitions("A", false)
			if len(listed) != len(want) {
				t.Errorf("%d tools, want %d", len(listed), len(want))
			}
			for _, raw := range want {
				o, err := rawjson.Parse([]byte(raw))
				if err != nil {
					t.Fatal(err)
				}
				// "x-later" names a tool; only texts are rewritten, so it must have stayed,
				// and taking the "pencil_" off does not hide that it did not.
				if got := listed[o.Str("name")]; got != catalogue.Canonical([]byte(raw)) {
					t.Errorf("got  %s\nwant %s", got, catalogue.Canonical([]byte(raw)))
				}
			}
			if all := string(o.Get("tools")); strings.Contains(all, `null,"pencil_`) {
				t.Error("a name outside the texts was rewritten")
			}
		})
	}
}

// asTheChildSaid takes from a definition what the deck put into its texts.
func asTheChildSaid(definition []byte) string {
	s := catalogue.Canonical(definition)
	if i := strings.Index(s, `\n\nPencil's tools carry`); i >= 0 { // the entry tool
		s = s[:i] + s[i+strings.Index(s[i:], `","`):]
	}
	return strings.ReplaceAll(s, "pencil_", "")
}
