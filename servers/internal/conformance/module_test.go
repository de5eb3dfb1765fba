package conformance

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
)

// New returns the fixtures as a server of the deck. All names and texts are the suite's.
func New() *inproc.Server {
	return inproc.New(inproc.Options{
		Info: backend.Info{Name: "conformance", Title: "Conformance fixtures", ServerName: "conformance"},
	}, func(opts ...server.ServerOption) *server.MCPServer {
		s := server.NewMCPServer("conformance", "0", append(opts,
			server.WithToolCapabilities(true), server.WithPromptCapabilities(true), server.WithResourceCapabilities(true, true), server.WithElicitation(), server.WithRoots(),
			server.WithCompletions(), server.WithPromptCompletionProvider(completion{}), server.WithInstructions("Fixtures of the conformance suite."))...)
		s.EnableSampling()
		s.AddTools(slices.Concat(contentTools(), noticeTools(), roundTripTools(newSealer()))...)
		s.AddResources(resources()...)
		s.AddResourceTemplates(templates()...)
		s.AddPrompts(prompts()...)
		s.AddTools(
			changing("test_trigger_tool_change", "Adds a tool or takes it away",
				func() {
					s.AddTools(tool("test_added", "Is there after a change", gives(mcp.NewTextContent("here"))))
				},
				func() { s.DeleteTools("test_added") }),
			changing("test_trigger_prompt_change", "Adds a prompt or takes it away",
				func() { s.AddPrompts(prompt("test_added_prompt", "Is there after a change", nil, "here")) },
				func() { s.DeletePrompts("test_added_prompt") }))
		return s
	})
}

// changing is a tool that does one thing and then the other.
func changing(name, text string, add, remove func()) server.ServerTool {
	var mu sync.Mutex
	there := false
	return tool(name, text, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mu.Lock()
		defer mu.Unlock()
		if there = !there; there {
			add()
		} else {
			remove()
		}
		return mcp.NewToolResultText("changed"), nil
	})
}

type completion struct{}

// CompletePromptArgument implements server.PromptCompletionProvider.
func (completion) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"paris", "park", "party"}, Total: 3}, nil
}

// tool is a tool without arguments.
func tool(name, text string, handler server.ToolHandlerFunc, options ...mcp.ToolOption) server.ServerTool {
	no := false
	options = append([]mcp.ToolOption{mcp.WithDescription(text), mcp.WithToolAnnotation(mcp.ToolAnnotation{
		ReadOnlyHint: &no, DestructiveHint: &no, IdempotentHint: &no, OpenWorldHint: &no,
	})}, options...)
	return server.ServerTool{Tool: mcp.NewTool(name, options...), Handler: handler}
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
