package inproc_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

func TestAServerOfHandlersKeepsTheContract(t *testing.T) {
	backendtest.Contract(t, func(*testing.T) backend.Server {
		return inproc.New(inproc.Options{Info: backend.Info{Name: "plain", Title: "Plain"}}, plain)
	})
}

// plain is a server as anyone makes it with mcp-go.
func plain(options ...server.ServerOption) *server.MCPServer {
	options = append(options, server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true), server.WithElicitation())
	s := server.NewMCPServer("plain", "1", options...)
	for name, do := range map[string]server.ToolHandlerFunc{
		"echo": func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(r.GetString("text", "")), nil
		},
		"params": func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
		},
		"fail": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &rpc.Error{Code: -32042, Message: "as told"}
		},
		"steps": func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 3 {
				params := map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1, "total": 3}
				if err := server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", params); err != nil {
					return nil, err
				}
			}
			return mcp.NewToolResultText("done"), nil
		},
		"wait": func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"change": func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			server.ServerFromContext(ctx).AddTool(mcp.NewTool("grown"), nil)
			return mcp.NewToolResultText("changed"), nil
		},
		"touch": func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			server.ServerFromContext(ctx).SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": r.GetString("uri", "")})
			return mcp.NewToolResultText("touched"), nil
		},
		"crash":    func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("as told") },
		"ask":      asks,
		"askagain": asksByAResult,
	} {
		s.AddTool(mcp.NewTool(name), do)
	}
	s.AddPrompt(mcp.NewPrompt("greet"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return mcp.NewGetPromptResult("greets", nil), nil
	})
	s.AddResource(mcp.NewResource("fake://a", "a"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) { return nil, nil })
	return s
}

// form is what the tools ask.
var form = mcp.ElicitationParams{
	Mode: mcp.ElicitationModeForm, Message: "Your name?",
	RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
}

// asks asks by a request.
func asks(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	got, err := server.ServerFromContext(ctx).RequestElicitation(ctx, mcp.ElicitationRequest{Params: form})
	if err != nil {
		return nil, err
	}
	return answered(got), nil
}

// asksByAResult asks by a result, and gets the answer with another call.
func asksByAResult(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if got := server.ElicitationResponse(r.Params.InputResponses, "name"); got != nil {
		return answered(got), nil
	}
	return server.NewInputRequestBuilder("state").Elicit("name", form).ToolResult(), nil
}

func answered(got *mcp.ElicitationResult) *mcp.CallToolResult {
	b, _ := json.Marshal(got.Content) // of what JSON had
	return mcp.NewToolResultText(string(b))
}
