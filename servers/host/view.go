package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// ViewSpec names what a connection wants.
type ViewSpec struct {
	Servers []string // none: all
	// Gateway asks for a fixed list of tools where a module's list changes, for
	// clients that never refresh theirs.
	Gateway bool
	// AsIs asks for one server as it is without the deck, under its own names.
	AsIs bool
	// Profile is the name of the profile that the connection has; "" for none.
	Profile string
}

// View is the merged MCP server for one spec. Connections with the same spec
// share it.
type View struct {
	MCP  *server.MCPServer
	Spec ViewSpec

	host *Host
	info string // whose results are, as JSON

	// How often the list of tools has changed, and when last, in Unix nanoseconds.
	toolsVersion atomic.Uint64
	toolsAt      atomic.Int64

	listing atomic.Pointer[listing]
	profile atomic.Pointer[Profile] // nil: none

	mu     sync.Mutex // one refresh at a time; guards what follows
	digest map[string]string
}

// listing is what the lists have beside the library's own.
type listing struct {
	only    map[string]audience                          // who gets a tool that is not for all, by name
	hidden  map[mcp.MCPMethod]map[string]bool            // what of the other lists is for clients that search
	finder  *finder                                      // of tools that not all clients list; nil: there are none
	turns   map[string]bool                              // of tools that are InTurn
	raw     map[mcp.MCPMethod]map[string]json.RawMessage // definitions that are listed as they stand, by lists
	routes  map[backend.Kind]map[string]route            // who answers for what is listed
	routers []route                                      // the modules that answer for more than they list
}

// audience are the sessions that a tool is for.
type audience struct {
	has     func(deck.Caller) bool
	gateway bool // it is one
}

// refreshPatience is how long an agent may take to ask for a changed list.
const refreshPatience = 10 * time.Second

// ErrUnknownServer is what View returns for a name that is no server's.
var ErrUnknownServer = errors.New("no such server")

// View returns the view for spec. The error names the first unknown server and
// wraps ErrUnknownServer.
func (h *Host) View(spec ViewSpec) (*View, error) {
	names := slices.Compact(slices.Sorted(slices.Values(spec.Servers)))
	for _, n := range names {
		if h.module(n) == nil {
			return nil, h.unknownServer(n, spec)
		}
	}
	if spec.AsIs && len(names) != 1 {
		return nil, fmt.Errorf("%w: a view as it is has one server", ErrUnknownServer)
	}
	spec.Servers = names
	key := fmt.Sprintf("%v %v %q %v", spec.Gateway, spec.AsIs, spec.Profile, names)
	h.mu.Lock()
	profile := h.profile(spec.Profile)
	if spec.Profile != "" && profile == nil {
		h.mu.Unlock()
		return nil, fmt.Errorf("%w: there is no profile %q", ErrUnknownServer, spec.Profile)
	}
	v := h.views[key]
	fresh := v == nil
	if fresh {
		v = &View{Spec: spec, host: h, digest: map[string]string{}}
		v.profile.Store(profile)
		v.MCP = v.build()
		v.mu.Lock() // whoever finds it now waits until it lists something
		h.views[key] = v
	}
	h.mu.Unlock()
	if fresh {
		v.list()
		v.mu.Unlock()
	} else {
		v.mu.Lock()
		v.mu.Unlock() //nolint:staticcheck // an empty section: it waits for the first list
	}
	return v, nil
}

// unknownServer names the servers that there are, unless some of them may be hidden from
// whoever asks: an agent reads it, too.
func (h *Host) unknownServer(name string, spec ViewSpec) error {
	h.mu.Lock()
	hides := spec.AsIs || slices.ContainsFunc(h.profiles, func(p Profile) bool { return len(p.Servers) > 0 })
	h.mu.Unlock()
	if hides {
		return fmt.Errorf("%w: %q", ErrUnknownServer, name)
	}
	return fmt.Errorf("%w: %q (known: %s)", ErrUnknownServer, name, strings.Join(h.Names(), ", "))
}

func (v *View) build() *server.MCPServer {
	name, title := "mcpdeck", "mcpdeck"
	if all := v.all(); len(all) == 1 {
		name, title = all[0].id.ServerName, all[0].id.Title
	}
	info, _ := rpc.Raw(mcp.Implementation{Name: name, Version: v.host.opts.Version, Title: title}) // always encodes
	v.info = string(info)
	hooks := &server.Hooks{}
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, r *mcp.InitializeResult) {
		r.Instructions = v.instructions(callerOf(ctx))
		r.Capabilities.Resources.ListChanged = true // which list tells
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, r *mcp.DiscoverResult) {
		r.Instructions = v.instructions(callerOf(ctx))
		r.Capabilities.Resources.ListChanged = true
	})
	v.hideOthers(hooks)
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) {
		who := callerOf(ctx)
		gateway := v.choose(who, r)
		if q := requestFrom(ctx); q != nil {
			q.agent.listed(v, gateway, v.got(who, r.Tools))
		}
	})
	hooks.AddAfterSetLevel(func(ctx context.Context, _ any, r *mcp.SetLevelRequest, _ *mcp.EmptyResult) {
		if q, s := requestFrom(ctx), server.ClientSessionFromContext(ctx); q != nil && s != nil {
			q.agent.wantsLog(v, s.SessionID(), r.Params.Level)
		}
	})
	hooks.AddBeforeListResources(func(context.Context, any, *mcp.ListResourcesRequest) { v.freshen() })
	hooks.AddBeforeSubscriptionsListen(listens)
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, r *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		if q := requestFrom(ctx); q != nil {
			q.agent.subscribe(r.Params.URI, true)
		}
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, r *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		if q := requestFrom(ctx); q != nil {
			q.agent.subscribe(r.Params.URI, false)
		}
	})
	v.plainAddresses(hooks)
	hooks.AddOnRequestInitialization(instead)
	hooks.AddOnSuccess(func(ctx context.Context, _ any, _ mcp.MCPMethod, _, _ any) { drained(ctx) })
	hooks.AddOnError(v.failed)
	hooks.AddOnError(func(ctx context.Context, id any, _ mcp.MCPMethod, _ any, _ error) {
		if id != nil { // else it is not about a request
			drained(ctx)
		}
	})
	return server.NewMCPServer(name, v.host.opts.Version,
		server.WithTitle(title),
		server.WithHooks(hooks),
		server.WithToolCapabilities(true),
		server.WithPromptCapabilities(true),
		server.WithResourceCapabilities(true, false),
		server.WithCompletions(),
		server.WithLogging(),
		server.WithRecovery(),
		server.WithResourceRecovery(),
		server.WithPromptCompletionProvider(v),
		server.WithResourceCompletionProvider(v),
	)
}

// freshen tells modules that resources are listed.
func (v *View) freshen() {
	for _, m := range v.all() {
		if r, ok := m.Module.(Refresher); ok {
			_ = safe.Call("resources of "+m.id.Name, func() error { r.Refresh(); return nil })
		}
	}
}

// choose leaves out the tools that are not for the session. It tells whether one
// that is for some alone is among the others.
func (v *View) choose(c deck.Caller, r *mcp.ListToolsResult) (special bool) {
	only := v.listing.Load().only
	r.Tools = slices.DeleteFunc(r.Tools, func(t mcp.Tool) bool {
		who, some := only[t.Name]
		has := !some || who.has(c)
		special = special || has && who.gateway
		return !has
	})
	return special
}

// got is what a session gets by a list of tools.
func (v *View) got(c deck.Caller, tools []mcp.Tool) (g deck.Got) {
	l := v.listing.Load()
	for _, t := range tools {
		raw := l.raw[toolsList][t.Name]
		if raw == nil {
			raw = encoded(t)
		}
		g.Tools++
		g.Context += contextOf(raw)
	}
	if l.finder != nil {
		g.Lazy = deck.Finds
		if v.searches(c) {
			g.Lazy = deck.Searches
		}
	}
	return g
}

// Raw returns the definitions that are to be listed as they stand in the answer to
// a request for a list: by the names of tools and prompts, and by the URIs of
// resources and the URI templates of templates that the library lists them with.
func (v *View) Raw(method string) map[string]json.RawMessage {
	return v.listing.Load().raw[mcp.MCPMethod(method)]
}

// wants tells whether a module belongs in the view.
func (v *View) wants(m *hosted) bool {
	if p := v.profile.Load(); p != nil && len(p.Servers) > 0 && !slices.Contains(p.Servers, m.id.Name) {
		return false
	}
	return len(v.Spec.Servers) == 0 || slices.Contains(v.Spec.Servers, m.id.Name)
}

// all are the view's modules now.
func (v *View) all() []*hosted {
	all := v.host.all()
	if len(v.Spec.Servers) == 0 && v.profile.Load() == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(m *hosted) bool { return !v.wants(m) })
}

// has tells whether a module is there, and in the view.
func (v *View) has(m *hosted) bool { return v.wants(m) && slices.Contains(v.host.all(), m) }

// alone tells whether a module is the view's only one.
func (v *View) alone(m *hosted) bool {
	all := v.all()
	return len(all) == 1 && all[0] == m
}

// Go runs one request of a connection on the host's pool of goroutines.
func (v *View) Go(fn func()) { v.host.pool.Go("request", fn) }

// refresh makes the MCP server list what the modules offer now. What is the
// same as before causes no notification.
func (v *View) refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list()
}

// list is refresh for a caller that holds mu.
func (v *View) list() {
	l := lists{listing: listing{only: map[string]audience{}, hidden: map[mcp.MCPMethod]map[string]bool{}, finder: v.finder(), turns: map[string]bool{}, raw: map[mcp.MCPMethod]map[string]json.RawMessage{}, routes: map[backend.Kind]map[string]route{}}}
	if l.finder != nil {
		l.addFinder(v)
	}
	for _, m := range v.all() {
		o := v.offerOf(m)
		if !v.Spec.Gateway && o.ForGateway != nil {
			for _, t := range o.Gateway {
				l.only[t.Tool.Name] = audience{func(c deck.Caller) bool { return o.ForGateway(c.Client) }, true}
			}
		}
		for _, t := range v.toolsOf(m, o) {
			l.addTool(v, m, o.Router, t)
		}
		l.lazy = l.finder.has(m.id.Name)
		if l.lazy {
			l.leave(v, m, v.lazyTools(o))
		}
		l.addTyped(v.host, o)
		if o.Router != nil {
			l.addRaw(v, m, o)
		}
	}
	v.listing.Store(&l.listing)
	v.swap("tools", l.listed[toolsList], func() { v.MCP.SetTools(l.tools...) })
	changed := v.swap("resources", l.content(resourcesList), func() { v.MCP.SetResources(l.resources...) })
	if v.swap("templates", l.content(templatesList), func() { v.MCP.SetResourceTemplates(l.templates...) }) || changed {
		v.MCP.SendNotificationToAllClients(mcp.MethodNotificationResourcesListChanged, nil) // once, which the library would not
	}
	v.swap("prompts", l.content(promptsList), func() { v.MCP.SetPrompts(l.prompts...) })
}

func (v *View) toolsOf(m *hosted, o Offer) []Tool {
	if v.Spec.Gateway && len(o.Gateway) > 0 {
		return o.Gateway
	}
	tools := slices.Clone(o.Tools)
	if v.alone(m) {
		tools = append(tools, o.Stub...)
	}
	if o.ForGateway != nil {
		tools = append(tools, o.Gateway...)
	}
	return slices.DeleteFunc(tools, func(t Tool) bool { return t.Off != "" })
}

// swap replaces a list if it differs from what it was.
func (v *View) swap(kind string, content []any, set func()) (changed bool) {
	b, err := json.Marshal(content)
	if err != nil {
		v.host.Warn("host", fmt.Sprintf("list %s: %v", kind, err))
		return false
	}
	d := string(b)
	if changed = d != v.digest[kind] && (len(content) > 0 || v.digest[kind] != ""); changed {
		v.digest[kind] = d
		if kind == "tools" {
			v.toolsVersion.Add(1)
			v.toolsAt.Store(time.Now().UnixNano())
			time.AfterFunc(refreshPatience, v.host.tell)
		}
		// SetTools panics on a schema annotation that a proxied server may send.
		if err := safe.Call("list "+kind, func() error { set(); return nil }); err != nil {
			v.host.Warn("host", err.Error())
		}
	}
	return changed
}

// instructions are those of the view for a session. Those of what it does not list, it
// finds.
func (v *View) instructions(c deck.Caller) string {
	var parts []string
	finder := v.listing.Load().finder
	for _, m := range v.all() {
		if finder.has(m.id.Name) && !v.searches(c) {
			continue
		}
		s := strings.TrimSpace(v.offerOf(m).Instructions)
		if s != "" && m.gone != nil && !v.alone(m) { // whose words they are
			s = m.id.Title + ":\n" + s
		}
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}

// CompletePromptArgument implements server.PromptCompletionProvider by the
// module that has the prompt.
func (v *View) CompletePromptArgument(ctx context.Context, name string, arg mcp.CompleteArgument, c mcp.CompleteContext) (*mcp.Completion, error) {
	for _, m := range v.all() {
		o := v.offerOf(m)
		if o.PromptCompletion != nil && slices.ContainsFunc(o.Prompts, func(p server.ServerPrompt) bool { return p.Prompt.Name == name }) {
			return admitted(ctx, v.host, admission.Small, func() (*mcp.Completion, error) {
				return o.PromptCompletion.CompletePromptArgument(ctx, name, arg, c)
			})
		}
	}
	return &mcp.Completion{Values: []string{}}, nil
}

// CompleteResourceArgument implements server.ResourceCompletionProvider by the
// module that has the template.
func (v *View) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, c mcp.CompleteContext) (*mcp.Completion, error) {
	for _, m := range v.all() {
		o := v.offerOf(m)
		if o.ResourceCompletion != nil && slices.ContainsFunc(o.Templates, func(t server.ServerResourceTemplate) bool { return t.Template.URITemplate.Raw() == uri }) {
			return admitted(ctx, v.host, admission.Small, func() (*mcp.Completion, error) {
				return o.ResourceCompletion.CompleteResourceArgument(ctx, uri, arg, c)
			})
		}
	}
	return &mcp.Completion{Values: []string{}}, nil
}

func (h *Host) refreshViews(m *hosted) {
	h.mu.Lock()
	var views []*View
	for _, v := range h.views {
		if v.wants(m) {
			views = append(views, v)
		}
	}
	h.mu.Unlock()
	for _, v := range views {
		v.refresh()
	}
}
