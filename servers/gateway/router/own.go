package router

import (
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// routed is the offer with a router for all of it: what has handlers is served by a server
// made of them.
func (o Offer) routed(id Identity, version string) Offer {
	all := slices.Concat(o.Tools, o.Stub, o.Gateway)
	some := slices.ContainsFunc(all, func(t Tool) bool { return t.Handler != nil }) || len(o.Resources)+len(o.Templates)+len(o.Prompts) > 0
	if !some {
		return o
	}
	s := inproc.New(inproc.Options{Info: id}, func(more ...server.ServerOption) *server.MCPServer { return o.server(id, version, more) })
	for _, tools := range []*[]Tool{&o.Tools, &o.Stub, &o.Gateway} {
		*tools = slices.Clone(*tools)
		for i := range *tools {
			if t := &(*tools)[i]; t.Handler != nil {
				t.Raw, t.Handler, t.router = t.definition(), nil, s
			}
		}
	}
	for _, r := range o.Resources {
		o.RawResources = append(o.RawResources, backend.Definition{Key: r.Resource.URI, Raw: encoded(r.Resource)})
	}
	for _, t := range o.Templates {
		o.RawTemplates = append(o.RawTemplates, backend.Definition{Key: t.Template.URITemplate.Raw(), Raw: encoded(t.Template)})
	}
	for _, p := range o.Prompts {
		o.RawPrompts = append(o.RawPrompts, backend.Definition{Key: p.Prompt.Name, Raw: encoded(p.Prompt)})
	}
	o.Resources, o.Templates, o.Prompts = nil, nil, nil
	if o.Router == nil {
		o.Router = s
	}
	return o
}

// server is an MCP server of the offer's handlers.
func (o Offer) server(id Identity, version string, more []server.ServerOption) *server.MCPServer {
	options := append(more, server.WithToolCapabilities(false))
	if len(o.Prompts) > 0 {
		options = append(options, server.WithPromptCapabilities(false))
	}
	if len(o.Resources)+len(o.Templates) > 0 {
		options = append(options, server.WithResourceCapabilities(true, false))
	}
	if len(o.Prompts)+len(o.Templates) > 0 {
		options = append(options, server.WithCompletions())
	}
	if o.PromptCompletion != nil {
		options = append(options, server.WithPromptCompletionProvider(o.PromptCompletion))
	}
	if o.ResourceCompletion != nil {
		options = append(options, server.WithResourceCompletionProvider(o.ResourceCompletion))
	}
	s := server.NewMCPServer(id.ServerName, version, options...)
	for _, t := range slices.Concat(o.Tools, o.Stub, o.Gateway) {
		if t.Handler != nil {
			s.AddTool(t.Tool, t.Handler)
		}
	}
	for _, r := range o.Resources {
		s.AddResource(r.Resource, r.Handler)
	}
	for _, t := range o.Templates {
		s.AddResourceTemplate(t.Template, t.Handler)
	}
	for _, p := range o.Prompts {
		s.AddPrompt(p.Prompt, p.Handler)
	}
	return s
}

// bare is a result of an inproc without what it says of the answer itself.
func bare(result json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(result)
	if err != nil {
		return result
	}
	o = slices.DeleteFunc(o, func(m rawjson.Member) bool {
		return m.Key == "_meta" || m.Key == "resultType" && string(m.Value) == `"complete"`
	})
	return o.JSON()
}
