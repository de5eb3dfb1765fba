package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// lists are those of a view while they are made.
type lists struct {
	listing
	tools     []server.ServerTool
	resources []server.ServerResource
	templates []server.ServerResourceTemplate
	prompts   []server.ServerPrompt

	listed map[mcp.MCPMethod][]any // the definitions, to compare lists by
	lazy   bool                    // what is added is for clients that search
}

const (
	toolsList     = mcp.MethodToolsList
	promptsList   = mcp.MethodPromptsList
	resourcesList = mcp.MethodResourcesList
	templatesList = mcp.MethodResourcesTemplatesList
)

// add lists a definition. key is what the library lists it by; to answers for key of
// the kind, and name of the library's own if it differs.
func (l *lists) add(list mcp.MCPMethod, kind backend.Kind, key string, definition any, to route) {
	if l.listed == nil {
		l.listed = map[mcp.MCPMethod][]any{}
	}
	l.listed[list] = append(l.listed[list], definition)
	if l.routes[kind] == nil {
		l.routes[kind] = map[string]route{}
	}
	l.routes[kind][key] = to
	if l.lazy {
		l.hide(list, key)
	}
}

// hide leaves a definition to clients that search, by the key that the library lists it
// with.
func (l *lists) hide(list mcp.MCPMethod, key string) {
	if l.hidden[list] == nil {
		l.hidden[list] = map[string]bool{}
	}
	l.hidden[list][key] = true
}

// content is what a list is compared by with a later one: who sees it belongs to it.
func (l *lists) content(list mcp.MCPMethod) []any {
	if hidden := l.hidden[list]; hidden != nil {
		return append(l.listed[list], hidden)
	}
	return l.listed[list]
}

// addFinder lists the two tools of the finder, for clients that do not search.
func (l *lists) addFinder(v *View) {
	for _, t := range l.finder.definitions() {
		l.addTool(v, v.host.own, nil, t)
		l.only[t.Tool.Name] = audience{has: func(c deck.Caller) bool { return !v.searches(c) }}
	}
}

// leave leaves tools of a module to the finder and to clients that search. Those that
// an earlier module hides stay hidden.
func (l *lists) leave(v *View, m *hosted, tools []Tool) {
	for _, t := range tools {
		if l.routes[backend.Tool][t.Tool.Name].module == m {
			l.finder.add(m.id.Name, t)
			l.only[t.Tool.Name] = audience{has: v.searches}
		}
	}
}

// asIs has a definition listed as it stands, where the library lists one by that key.
func (l *lists) asIs(list mcp.MCPMethod, key string, definition json.RawMessage) {
	if l.raw[list] == nil {
		l.raw[list] = map[string]json.RawMessage{}
	}
	l.raw[list][key] = definition
}

// addTool lists a tool, unless an earlier module has one of its name, or it is the deck's.
func (l *lists) addTool(v *View, m *hosted, router Router, t Tool) {
	if l.has(backend.Tool, t.Tool.Name) || v.taken(m, backend.Tool, t.Tool.Name) {
		return
	}
	to := route{module: m, tool: t}
	if t.Raw != nil {
		l.asIs(toolsList, t.Tool.Name, t.Raw)
	}
	if t.InTurn {
		l.turns[t.Tool.Name] = true
	}
	if t.Handler == nil && router != nil {
		to.router = router
		t.Handler = func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, untyped(ctx)
		}
	}
	l.add(toolsList, backend.Tool, t.Tool.Name, t.definition(), to)
	l.tools = append(l.tools, server.ServerTool{Tool: t.Tool, Handler: v.host.recorded(m, t)})
}

// addTyped lists what handlers of the library answer for, unless an earlier module has
// it.
func (l *lists) addTyped(h *Host, o Offer) {
	for _, r := range o.Resources {
		if l.has(backend.Resource, r.Resource.URI) {
			continue
		}
		l.add(resourcesList, backend.Resource, r.Resource.URI, r.Resource, route{})
		r.Handler = h.resource(r.Handler)
		l.resources = append(l.resources, r)
	}
	for _, t := range o.Templates {
		if l.has(backend.Template, t.Template.URITemplate.Raw()) {
			continue
		}
		l.add(templatesList, backend.Template, t.Template.URITemplate.Raw(), t.Template, route{})
		t.Handler = server.ResourceTemplateHandlerFunc(h.resource(server.ResourceHandlerFunc(t.Handler)))
		l.templates = append(l.templates, t)
	}
	for _, p := range o.Prompts {
		if l.has(backend.Prompt, p.Prompt.Name) {
			continue
		}
		l.add(promptsList, backend.Prompt, p.Prompt.Name, p.Prompt, route{})
		p.Handler = h.prompt(p.Handler)
		l.prompts = append(l.prompts, p)
	}
}

// addRaw lists what a module's router answers for. What an earlier module has keeps its
// place.
func (l *lists) addRaw(v *View, m *hosted, o Offer) {
	to := route{module: m, router: o.Router}
	l.routers = append(l.routers, to)
	for _, d := range o.RawResources {
		if l.has(backend.Resource, d.Key) {
			continue
		}
		l.add(resourcesList, backend.Resource, d.Key, d.Raw, to)
		l.asIs(resourcesList, d.Key, d.Raw)
		l.resources = append(l.resources, server.ServerResource{
			Resource: mcp.Resource{URI: d.Key, Name: nameOf(d)},
			Handler: func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return nil, untyped(ctx)
			},
		})
	}
	for _, d := range o.RawTemplates {
		if l.has(backend.Template, d.Key) {
			continue
		}
		// The library reads a template, and fails on those that it does not know.
		place := fmt.Sprintf("mcpdeck-template:%d", len(l.templates))
		l.add(templatesList, backend.Template, d.Key, d.Raw, to)
		l.asIs(templatesList, place, d.Raw)
		if l.lazy {
			l.hide(templatesList, place)
		}
		l.templates = append(l.templates, server.ServerResourceTemplate{
			Template: mcp.NewResourceTemplate(place, nameOf(d)),
			Handler: func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return nil, untyped(ctx)
			},
		})
	}
	for _, d := range o.RawPrompts {
		if l.has(backend.Prompt, d.Key) || v.taken(m, backend.Prompt, d.Key) {
			continue
		}
		l.add(promptsList, backend.Prompt, d.Key, d.Raw, to)
		l.asIs(promptsList, d.Key, d.Raw)
		l.prompts = append(l.prompts, server.ServerPrompt{
			Prompt: mcp.Prompt{Name: d.Key},
			Handler: func(ctx context.Context, _ mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return nil, untyped(ctx)
			},
		})
	}
}

func (l *lists) has(kind backend.Kind, key string) bool {
	_, has := l.routes[kind][key]
	return has
}

// nameOf is the name in a definition, by which the library sorts.
func nameOf(d backend.Definition) string {
	o, _ := rawjson.SplitObject(d.Raw) // something else has none
	return o.Str("name")
}
