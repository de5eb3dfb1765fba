package router

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/search"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// The two tools by which agents reach the tools of lazy servers.
const (
	findName = "find_tools"
	callName = "call_tool"
)

// SetLazy has views list nothing of a server but, for all servers of which that is so,
// two tools that find and call theirs. Sessions that search long lists by themselves have
// the whole list all the same. The server need not be there yet.
func (h *Host) SetLazy(name string, lazy bool) {
	h.mu.Lock()
	changed := h.lazy[name] != lazy
	h.lazy[name] = lazy
	h.mu.Unlock()
	if m := h.module(name); m != nil && changed {
		h.refreshViews(m)
		h.changed()
	}
}

// IsLazy tells whether views list a server by the two tools alone, while it is on.
func (h *Host) IsLazy(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lazy[name]
}

// searches tells whether a session finds tools in a long list by itself.
func searches(c snapshot.Caller) bool { return clients.Searches(c.Client, c.Hints[clients.SearchHint]) }

// finder are the tools of a view that are to be found.
type finder struct {
	tools        []search.Tool
	servers      []string          // that they belong to, in the view's order
	instructions map[string]string // by server
	index        func() *search.Index
}

// finder is made for the lazy servers of the view, nil when no tool of theirs is offered.
func (v *View) finder() *finder {
	f := &finder{instructions: map[string]string{}}
	for _, m := range v.all() {
		if o := v.offerOf(m); v.lazy(m) && len(v.lazyTools(o)) > 0 {
			f.servers = append(f.servers, m.id.Name)
			f.instructions[m.id.Name] = strings.TrimSpace(o.Instructions)
		}
	}
	if len(f.servers) == 0 {
		return nil
	}
	f.index = sync.OnceValue(func() *search.Index { return search.New(f.tools) })
	return f
}

// lazyTools are those of an offer that can be left to the finder. A gateway, and what
// waits for the user and must be found again by its name, is listed.
func (v *View) lazyTools(o offer) []backend.ToolDefinition {
	if v.Spec.Gateway && len(o.Gateway) > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.Tools), func(t backend.ToolDefinition) bool { return t.Off != "" || t.Resumable || o.leads(t.Key) })
}

// has tells whether the tools of a server are to be found; of no server without a
// finder.
func (f *finder) has(server string) bool { return f != nil && slices.Contains(f.servers, server) }

// add takes in a tool that the view has.
func (f *finder) add(server string, t backend.ToolDefinition) {
	f.tools = append(f.tools, search.Tool{Server: server, Name: t.Key, Definition: t.Raw})
}

const (
	serversNamed = 290 // bytes of the names of servers in the description
	toolsFound   = 5
	aboutLength  = 300  // characters of a description
	foundLength  = 6000 // bytes of what was found
)

// definitions are the two tools.
func (f *finder) definitions() []backend.ToolDefinition {
	names := strings.Join(f.servers, ", ")
	if len(names) > serversNamed {
		names = names[:strings.LastIndex(names[:serversNamed], ",")] + " and others"
	}
	return []backend.ToolDefinition{
		own(findName, `{"name":"`+findName+`","title":"Find tools","description":`+string(rawjson.Quote(
			"Find tools that are not in your list, by what they do. They belong to these servers: "+names+".\n"+
				"The result has names and input schemas for "+callName+". The exact name of a tool gets its whole definition, an empty query gets all names."))+
			`,"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"what you want to do, in a few words"},`+
			`"server":{"type":"string","description":"only tools of this server"}},"required":["query"]},"annotations":{"readOnlyHint":true}}`, backend.Policy{Load: admission.Small}),
		own(callName, `{"name":"`+callName+`","title":"Call a tool","description":"Call a tool that `+findName+` has found. The result is the tool's own.",`+
			`"inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"of the tool"},`+
			`"arguments":{"type":"object","description":"as its input schema has them"}},"required":["name","arguments"]}}`, backend.Policy{Load: admission.Waits}),
	}
}

// Serve answers a call of find_tools. Those of call_tool are routed.
func (f *finder) Serve(_ context.Context, r *backend.Request) backend.Reply {
	args, err := rawjson.SplitObject(r.Args)
	if err != nil && len(r.Args) > 0 {
		return refused("The arguments must be an object with query.")
	}
	return f.find(strings.TrimSpace(args.Str("query")), strings.TrimSpace(args.Str("server")))
}

// find answers a search.
func (f *finder) find(query, server string) backend.Reply {
	if server != "" && !f.has(server) {
		return refused(fmt.Sprintf("unknown server %q; there are %s", sanitize.Cut(sanitize.Line(server), 64), strings.Join(f.servers, ", ")))
	}
	if query == "" {
		return said(f.names(server))
	}
	if t := f.named(query, server); t != nil {
		return said(string(t.Definition))
	}
	hits := f.index().Find(query, server, toolsFound)
	if len(hits) == 0 {
		return said("No tool fits. Use other words, or an empty query for all names.")
	}
	return said(digest(hits))
}

// names are those of all tools by server. What one server says of itself follows.
func (f *finder) names(server string) string {
	var b strings.Builder
	for _, s := range f.servers {
		if server != "" && s != server {
			continue
		}
		var names []string
		for _, t := range f.tools {
			if t.Server == s {
				names = append(names, t.Name)
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", s, strings.Join(names, ", "))
	}
	if text := f.instructions[server]; text != "" {
		b.WriteString("\n" + text + "\n")
	}
	return b.String()
}

// named is the tool of that name, or the only one whose name ends in it behind the
// server's; nil for none.
func (f *finder) named(name, server string) *search.Tool {
	var found []*search.Tool
	for i, t := range f.tools {
		if server != "" && t.Server != server {
			continue
		}
		if t.Name == name {
			return &f.tools[i]
		}
		if strings.HasSuffix(t.Name, "_"+name) {
			found = append(found, &f.tools[i])
		}
	}
	if len(found) == 1 && !strings.Contains(name, " ") {
		return found[0]
	}
	return nil
}

// digest is what an agent needs to call one of the tools that were found. Of schemas
// there are as many as fit, the best first.
func digest(hits []search.Tool) string {
	type entry struct {
		Name   string          `json:"name"`
		About  string          `json:"description,omitempty"`
		Schema json.RawMessage `json:"inputSchema,omitempty"`
		Note   string          `json:"note,omitempty"`
	}
	entries := make([]entry, len(hits))
	schemas := make([]json.RawMessage, len(hits))
	for i, t := range hits {
		o, _ := rawjson.SplitObject(t.Definition) // a view lists nothing else
		entries[i] = entry{Name: t.Name, About: sanitize.Cut(o.Str("description"), aboutLength), Note: "for its input schema, search for this name"}
		schemas[i] = o.Get("inputSchema")
	}
	text := func() string {
		var b strings.Builder
		for _, e := range entries {
			line := json.NewEncoder(&b)
			line.SetEscapeHTML(false)
			_ = line.Encode(e) // texts and JSON
		}
		return b.String()
	}
	for i := range entries {
		was := entries[i]
		entries[i].Schema, entries[i].Note = schemas[i], ""
		if len(text()) > foundLength {
			entries[i] = was
		}
	}
	return text()
}
