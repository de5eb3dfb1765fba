package conformance

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Module is the fixtures as a server of the deck. All names and texts are the
// suite's.
type Module struct {
	seal sealer

	mu    sync.Mutex
	scope router.Scope
	tools int // added by test_trigger_tool_change
	asked int // prompts, by test_trigger_prompt_change
}

// New returns the fixtures.
func New() *Module { return &Module{seal: newSealer()} }

// Identity implements router.Module.
func (*Module) Identity() router.Identity {
	return router.Identity{Name: "conformance", Title: "Conformance fixtures", ServerName: "conformance"}
}

// Start implements router.Module.
func (m *Module) Start(_ context.Context, scope router.Scope) error {
	m.mu.Lock()
	m.scope = scope
	m.mu.Unlock()
	scope.SetState(snapshot.State{Status: snapshot.Ready})
	return nil
}

// Stop implements router.Module.
func (*Module) Stop(context.Context) error { return nil }

// Offer implements router.Module.
func (m *Module) Offer() router.Offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := router.Offer{
		Tools:            append(append(contentTools(), noticeTools()...), roundTripTools(m.seal)...),
		Resources:        resources(),
		Templates:        templates(),
		Prompts:          prompts(),
		Instructions:     "Fixtures of the conformance suite.",
		PromptCompletion: completion{},
	}
	o.Tools = append(o.Tools,
		tool("test_trigger_tool_change", "Adds a tool or takes it away", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			m.change(func() { m.tools = 1 - m.tools })
			return mcp.NewToolResultText("changed"), nil
		}),
		tool("test_trigger_prompt_change", "Adds a prompt or takes it away", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			m.change(func() { m.asked = 1 - m.asked })
			return mcp.NewToolResultText("changed"), nil
		}))
	if m.tools > 0 {
		o.Tools = append(o.Tools, tool("test_added", "Is there after a change", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("here"), nil
		}))
	}
	if m.asked > 0 {
		o.Prompts = append(o.Prompts, prompt("test_added_prompt", "Is there after a change", nil, "here"))
	}
	return o
}

func (m *Module) change(fn func()) {
	m.mu.Lock()
	fn()
	scope := m.scope
	m.mu.Unlock()
	scope.Changed()
}

type completion struct{}

// CompletePromptArgument implements server.PromptCompletionProvider.
func (completion) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"paris", "park", "party"}, Total: 3}, nil
}

// tool is a tool without arguments.
func tool(name, text string, handler server.ToolHandlerFunc, options ...mcp.ToolOption) router.Tool {
	no := false
	options = append([]mcp.ToolOption{mcp.WithDescription(text), mcp.WithToolAnnotation(mcp.ToolAnnotation{
		ReadOnlyHint: &no, DestructiveHint: &no, IdempotentHint: &no, OpenWorldHint: &no,
	})}, options...)
	return router.Tool{Tool: mcp.NewTool(name, options...), Handler: handler}
}

func prompt(name, text string, args []string, messages ...any) server.ServerPrompt {
	options := []mcp.PromptOption{mcp.WithPromptDescription(text)}
	for _, a := range args {
		options = append(options, mcp.WithArgument(a, mcp.ArgumentDescription("an argument"), mcp.RequiredArgument()))
	}
	return server.ServerPrompt{
		Prompt: mcp.NewPrompt(name, options...),
		Handler: func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			result := &mcp.GetPromptResult{Description: text}
			for _, m := range messages {
				var c mcp.Content
				switch m := m.(type) {
				case string:
					c = mcp.NewTextContent(m)
				case mcp.Content:
					c = m
				case func(map[string]string) mcp.Content:
					c = m(r.Params.Arguments)
				}
				result.Messages = append(result.Messages, mcp.NewPromptMessage(mcp.RoleUser, c))
			}
			return result, nil
		},
	}
}
