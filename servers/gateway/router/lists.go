package router

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// listing is what a view lists, and who answers for it. It never changes.
type listing struct {
	lists  map[string][]entry                // by method, each sorted by name
	finder *finder                           // of tools that not all clients list; nil: there are none
	routes map[backend.Kind]map[string]route // who answers for what is listed
	owners []route                           // the servers, which may answer for more than they list
}

// entry is a definition in a list.
type entry struct {
	Name     string          // by which the list is sorted
	Raw      json.RawMessage // what is listed
	Audience string          // the name of its audience
	has      func(snapshot.Caller) bool
	context  int // bytes of what a model gets of it
}

// toolFilter are the sessions that something is listed for. The zero value is everybody.
type toolFilter struct {
	name string
	has  func(snapshot.Caller) bool
}

// searching are the sessions that find tools in a long list by themselves, or the others.
func (v *View) searching(really bool) toolFilter {
	return toolFilter{fmt.Sprint("searching: ", really), func(c snapshot.Caller) bool { return v.searches(c) == really }}
}

// gateway is the audience of the tool for sessions that keep the list they started with.
const gateway = "gateway"

const (
	toolsList     = "tools/list"
	promptsList   = "prompts/list"
	resourcesList = "resources/list"
	templatesList = "resources/templates/list"
)

// listMember is the member of the result that has a list.
var listMember = map[string]string{
	toolsList: "tools", promptsList: "prompts", resourcesList: "resources", templatesList: "resourceTemplates",
}

// lists are those of a view while they are made.
type lists struct {
	listing
	to toolFilter // of what is added
}

// add lists a definition and says who answers for its key. It returns false if an earlier
// server has one with the key.
func (l *lists) add(list string, kind backend.Kind, key string, definition json.RawMessage, to route) bool {
	if _, has := l.routes[kind][key]; has {
		return false
	}
	if l.routes[kind] == nil {
		l.routes[kind] = map[string]route{}
	}
	l.routes[kind][key] = to
	o, _ := rawjson.SplitObject(definition) // anything else has no name
	l.lists[list] = append(l.lists[list], entry{Name: o.Str("name"), Raw: definition, Audience: l.to.name, has: l.to.has, context: contextOf(definition)})
	return true
}

// addTool lists a tool. It returns false if an earlier server has one of its name, or it is the
// deck's.
func (l *lists) addTool(v *View, m *registration, by answerer, t backend.ToolDefinition) bool {
	return !v.taken(m, backend.Tool, t.Key) && l.add(toolsList, backend.Tool, t.Key, t.Raw, route{module: m, by: by, load: t.Load, tool: t})
}

// addOthers lists what a server has beside tools. What an earlier one has keeps its place.
func (l *lists) addOthers(v *View, m *registration, o offer) {
	to := route{module: m, by: o.by, load: admission.Waits}
	if to.own() {
		to.load = admission.Medium
	}
	l.owners = append(l.owners, to)
	for _, d := range o.Resources {
		l.add(resourcesList, backend.Resource, d.Key, d.Raw, to)
	}
	for _, d := range o.Templates {
		l.add(templatesList, backend.Template, d.Key, d.Raw, to)
	}
	for _, d := range o.Prompts {
		if !v.taken(m, backend.Prompt, d.Key) {
			l.add(promptsList, backend.Prompt, d.Key, d.Raw, to)
		}
	}
}

// sort puts the lists into the order in which clients get them.
func (l *lists) sort() {
	for _, list := range l.lists {
		slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	}
}

// forCaller returns the entries of a list that a session gets.
func (l *listing) forCaller(list string, c snapshot.Caller) (has []entry) {
	for _, e := range l.lists[list] {
		if e.has == nil || e.has(c) {
			has = append(has, e)
		}
	}
	return has
}

// list answers a request for a list.
func (v *View) list(q *request) backend.Reply {
	r := q.raw
	if r.Params.Str("cursor") != "" { // lists come whole, so nobody was given one
		return backend.Failed(rpc.CodeParams, "invalid cursor")
	}
	if r.Method == resourcesList {
		v.refreshResources()
	}
	who, l := q.agent.Caller(), v.listing.Load()
	entries := l.forCaller(r.Method, who)
	if r.Method == toolsList {
		q.agent.listed(v, slices.ContainsFunc(entries, func(e entry) bool { return e.Audience == gateway }), v.got(l, who, entries))
	}
	var b strings.Builder
	b.WriteByte('{')
	if r.Stateless {
		b.WriteString(`"_meta":{"` + serverInfoKey + `":` + v.serverInfo() + `},"resultType":"complete","ttlMs":0,"cacheScope":"private",`)
	}
	b.WriteString(`"` + listMember[r.Method] + `":[`)
	for i, e := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e.Raw)
	}
	b.WriteString("]}")
	return backend.Reply{Result: json.RawMessage(b.String())}
}

// got is what a session gets by a list of tools.
func (v *View) got(l *listing, c snapshot.Caller, tools []entry) (g snapshot.Got) {
	for _, t := range tools {
		g.Tools++
		g.Context += t.context
	}
	if l.finder != nil {
		g.Lazy = snapshot.Finds
		if v.searches(c) {
			g.Lazy = snapshot.Searches
		}
	}
	return g
}

// Schema is that of a tool's arguments, some of which clients also send in headers; nil if the
// view has none of that name.
func (v *View) Schema(name string) json.RawMessage {
	to, ok := v.listing.Load().routes[backend.Tool][name]
	if !ok {
		return nil
	}
	return schemaOf(to.tool)
}
