package pixelsrc

import (
	"context"
	"encoding/base64"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/redact"
)

// Module offers a Server over MCP.
type Module struct{ server *Server }

// NewModule returns the module of a server.
func NewModule(s *Server) *Module { return &Module{s} }

// Identity implements [host.Module].
func (m *Module) Identity() host.Identity {
	return host.Identity{Name: "pixelsrc", Title: "Pixelsrc", ServerName: "pixelsrc-mcp"}
}

// Start implements [host.Module].
func (m *Module) Start(_ context.Context, scope host.Scope) error {
	m.server.recent.notify(scope.Tell)
	scope.SetState(deck.State{Status: deck.Ready})
	return nil
}

// Stop implements [host.Module].
func (m *Module) Stop(context.Context) error {
	m.server.recent.notify(nil)
	return nil
}

// Offer implements [host.Module].
func (m *Module) Offer() host.Offer {
	o := host.Offer{Instructions: Instructions, PromptCompletion: m, ResourceCompletion: m}
	for _, t := range m.server.Tools() {
		tool := mcp.NewToolWithRawSchema(t.Name, t.Description, t.Schema)
		tool.Title = t.Title
		tool.Annotations = mcp.ToolAnnotation{
			Title: t.Title, ReadOnlyHint: mcp.ToBoolPtr(true), DestructiveHint: mcp.ToBoolPtr(false),
			IdempotentHint: mcp.ToBoolPtr(true), OpenWorldHint: mcp.ToBoolPtr(false),
		}
		o.Tools = append(o.Tools, host.Tool{Tool: tool, Handler: m.call, Work: t.Work, Redact: redact.Kind{Colours: true}})
	}
	for _, r := range Resources() {
		res := mcp.NewResource(r.URI, r.Name, mcp.WithResourceDescription(r.Description), mcp.WithMIMEType(r.MIME))
		res.Title = r.Title
		o.Resources = append(o.Resources, server.ServerResource{Resource: res, Handler: m.read})
	}
	for _, r := range Templates() {
		res := mcp.NewResourceTemplate(r.URI, r.Name, mcp.WithTemplateDescription(r.Description), mcp.WithTemplateMIMEType(r.MIME))
		res.Title = r.Title
		o.Templates = append(o.Templates, server.ServerResourceTemplate{Template: res, Handler: m.read})
	}
	for _, p := range Prompts() {
		prompt := mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, mcp.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
		}
		o.Prompts = append(o.Prompts, server.ServerPrompt{Prompt: prompt, Handler: m.prompt})
	}
	return o
}

// caller is who is behind a request.
func caller(ctx context.Context) Caller {
	c := host.CallerFrom(ctx)
	return Caller{Agent: c.Agent, Name: c.Name(), Root: c.Root, Refused: c.Refused}
}

func (m *Module) call(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a := m.server.Call(ctx, caller(ctx), req.Params.Name, req.Params.Arguments)
	res := &mcp.CallToolResult{IsError: a.Failed, Content: make([]mcp.Content, 0, len(a.Blocks))}
	for _, b := range a.Blocks {
		if b.Data != nil {
			res.Content = append(res.Content, mcp.NewImageContent(base64.StdEncoding.EncodeToString(b.Data), b.MIME))
			continue
		}
		res.Content = append(res.Content, mcp.NewTextContent(b.Text))
	}
	return res, nil
}

func (m *Module) read(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	mime, text, err := Read(req.Params.URI)
	if err != nil {
		code := mcp.RESOURCE_NOT_FOUND
		if mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
			code = mcp.INVALID_PARAMS
		}
		return nil, &host.Error{Code: code, Message: err.Error()}
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: mime, Text: text}}, nil
}

func (m *Module) prompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	c, err := m.server.Fill(ctx, caller(ctx), req.Params.Name, req.Params.Arguments)
	if err != nil {
		return nil, &host.Error{Code: mcp.INVALID_PARAMS, Message: "fill in prompt: " + err.Error()}
	}
	return mcp.NewGetPromptResult(c.Description, []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent(c.Assistant)),
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(c.User)),
	}), nil
}

// CompletePromptArgument implements [server.PromptCompletionProvider].
func (m *Module) CompletePromptArgument(_ context.Context, prompt string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return completion(Complete(prompt, a.Name, a.Value)), nil
}

// CompleteResourceArgument implements [server.ResourceCompletionProvider].
func (m *Module) CompleteResourceArgument(_ context.Context, uri string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return completion(Complete(uri, a.Name, a.Value)), nil
}

func completion(values []string) *mcp.Completion {
	return &mcp.Completion{Values: values, Total: len(values)}
}
