package router

import (
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
)

func TestAToolThatTheLibraryCannotReadIsOfferedAsItStands(t *testing.T) {
	const bad = `{"name":"git_bad","inputSchema":{"type":"object","properties":{"x":{"type":"object","x-mcp-header":"no good\u0000"}}}}`
	var all []backend.ToolDefinition
	for _, raw := range []string{`{"name":"git_good","inputSchema":{"type":"object"}}`, bad, `{"inputSchema":{"type":"object"}}`} {
		all = append(all, backend.ToolDefinition{Definition: backend.Definition{Raw: json.RawMessage(raw)}})
	}
	if tools := rawTools(all); len(tools) != 2 || string(tools[1].Raw) != bad {
		t.Errorf("%d tools, %s", len(tools), tools[len(tools)-1].Raw)
	}
}
