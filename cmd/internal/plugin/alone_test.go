package plugin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	ask "github.com/mcpdeck/mcpdeck/servers/builtin/ask/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
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
	}{
		"ask":        {"ask", map[string]any{"questions": []any{map[string]any{"question": "Which?", "options": []any{"x", "y"}}}}, "q1: x", "Which?"},
		"pixelsrc":   {"pixelsrc_prime", map[string]any{"brief": true}, "palette", ""},
		"logicstamp": {"logicstamp_list_bundles", map[string]any{"snapshotId": "snap_none"}, "SNAPSHOT_UNKNOWN", ""},
		"clippy":     {"manage_memory", map[string]any{"action": "write", "key": "k", "value": "v"}, "Memory updated: k = v", ""},
	}
	for _, p := range All() {
		if p.HasSwitch {
			continue
		}
		t.Run(p.Name(), func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Chdir(home)
			cfg, err := config.Load(config.Flags{Port: -1, State: filepath.Join(home, "state"), Sections: Sections()})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(cfg.Paths.State, 0o700); err != nil {
				t.Fatal(err)
			}
			made, err := p.New(&Env{Config: cfg, Version: "1.0"})
			if err != nil {
				t.Fatal(err)
			}
			if p.Name() == "ask" { // there is no deck that it could wait for
				made.Module = ask.New(nil)
			}
			var shown forms
			c, err := client.NewInProcessClientWithOptions(router.NewMCPServer(made.Module, "1.0"), client.WithElicitationHandler(&shown))
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
			row := calls[p.Name()]
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
