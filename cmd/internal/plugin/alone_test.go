package plugin

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	ask "github.com/mcpdeck/mcpdeck/servers/builtin/ask/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	clippyserver "github.com/mcpdeck/mcpdeck/servers/builtin/clippy/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	logicstampserver "github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	pixelsrcserver "github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/mcpserver"
)

// forms answers the forms of a server, and keeps what they say.
type forms struct{ shown []string }

func (f *forms) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	f.shown = append(f.shown, r.Params.Message)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"a0": "0"},
	}}, nil
}

// Each server is a plain one of mcp-go, which the library's own client uses without a deck. That
// of another program is none, and is itself what Pencil's row offers.
func TestServersArePlainServers(t *testing.T) {
	calls := map[string]struct {
		tool string
		args map[string]any
		want string
		form string
		open func(home string) *server.MCPServer
	}{
		"ask":      {"ask", map[string]any{"questions": []any{map[string]any{"question": "Which?", "options": []any{"x", "y"}}}}, "q1: x", "Which?", func(string) *server.MCPServer { return ask.New(nil, "1") }},
		"pixelsrc": {"pixelsrc_prime", map[string]any{"brief": true}, "palette", "", func(string) *server.MCPServer { return pixelsrcserver.New(pixelsrc.New(pixelsrc.Options{}), "1") }},
		"logicstamp": {"logicstamp_list_bundles", map[string]any{"snapshotId": "snap_none"}, "SNAPSHOT_UNKNOWN", "", func(home string) *server.MCPServer {
			service, err := logicstamp.New(logicstamp.Options{Dir: filepath.Join(home, "snapshots"), WorkDir: home})
			if err != nil {
				t.Fatal(err)
			}
			return logicstampserver.New(service, "1")
		}},
		"clippy": {"manage_memory", map[string]any{"action": "write", "key": "k", "value": "v"}, "Memory updated: k = v", "", func(home string) *server.MCPServer {
			return clippyserver.New(clippy.New(clippy.Options{Home: home, Dir: home}), "1")
		}},
	}
	for _, p := range All() {
		if p.HasSwitch {
			continue
		}
		t.Run(p.Name(), func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Chdir(home)
			row, ok := calls[p.Name()]
			if !ok {
				t.Fatal("no row of calls opens it and calls one of its tools")
			}
			var shown forms
			c, err := client.NewInProcessClientWithOptions(row.open(home), client.WithElicitationHandler(&shown))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			var hello mcp.InitializeRequest
			hello.Params.ProtocolVersion, hello.Params.ClientInfo = "2025-11-25", mcp.Implementation{Name: "tester", Version: "1"}
			if _, err := c.Initialize(t.Context(), hello); err != nil {
				t.Fatal(err)
			}
			listed, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(listed.Tools, func(t mcp.Tool) bool { return t.Name == row.tool }) {
				t.Fatalf("it lists %v", listed.Tools)
			}
			var call mcp.CallToolRequest
			call.Params.Name, call.Params.Arguments = row.tool, row.args
			result, err := c.CallTool(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprint(result.StructuredContent)
			for _, content := range result.Content {
				text += mcp.GetTextFromContent(content)
			}
			if !strings.Contains(text, row.want) {
				t.Errorf("%s answers %s, want %s", row.tool, text, row.want)
			}
			if row.form != "" && (len(shown.shown) != 1 || !strings.Contains(shown.shown[0], row.form)) {
				t.Errorf("the user is shown %q", shown.shown)
			}
		})
	}
}
