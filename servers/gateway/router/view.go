package router

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// ViewSpec names what a connection wants.
type ViewSpec struct {
	Servers []string // none: all
	// Gateway asks for a fixed list of tools where a server's list changes, for
	// clients that never refresh theirs.
	Gateway bool
	// Passthrough asks for one server as it is without the deck, under its own names.
	Passthrough bool
	// Profile is the name of the profile that the connection has; "" for none.
	Profile string
}

// viewKey is a ViewSpec that can be compared.
type viewKey struct {
	gateway, asIs    bool
	profile, servers string
}

// key is that of a spec whose servers are sorted.
func (s ViewSpec) key() viewKey {
	return viewKey{s.Gateway, s.Passthrough, s.Profile, strings.Join(s.Servers, "\x00")}
}

// Narrows reports whether the view is another one but for its profile.
func (v *View) Narrows(other *View) bool {
	mine := v.Spec.key()
	mine.profile = ""
	return mine == other.Spec.key()
}

// View is the merged MCP server for one spec. Connections with the same spec
// share it.
type View struct {
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

// refreshPatience is how long an agent may take to ask for a changed list.
const refreshPatience = 10 * time.Second

// ErrUnknownServer is what View returns for a name that is no server's.
var ErrUnknownServer = errors.New("no such server")

// View returns the view for spec. The error names the first unknown server and
// wraps ErrUnknownServer.
func (h *Host) View(spec ViewSpec) (*View, error) {
	names := spec.Servers
	if len(names) > 1 {
		names = slices.Compact(slices.Sorted(slices.Values(names)))
	}
	for _, n := range names {
		if h.module(n) == nil {
			return nil, h.unknownServer(n, spec)
		}
	}
	if spec.Passthrough && len(names) != 1 {
		return nil, fmt.Errorf("%w: a view as it is has one server", ErrUnknownServer)
	}
	spec.Servers = names
	key := spec.key()
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
		v.info = v.introduction()
		v.mu.Lock() // whoever finds it now waits until it lists something
		h.views[key] = v
	}
	h.mu.Unlock()
	if fresh {
		v.makeLists()
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
	hides := spec.Passthrough || slices.ContainsFunc(h.profiles, func(p Profile) bool { return len(p.Servers) > 0 })
	h.mu.Unlock()
	if hides {
		return fmt.Errorf("%w: %q", ErrUnknownServer, name)
	}
	return fmt.Errorf("%w: %q (known: %s)", ErrUnknownServer, name, strings.Join(h.Names(), ", "))
}

// introduction is who the view is, as JSON.
func (v *View) introduction() string {
	i := struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Title   string `json:"title"`
	}{"mcpdeck", v.host.opts.Version, "mcpdeck"}
	if all := v.all(); len(all) == 1 {
		i.Name, i.Title = all[0].id.ServerName, all[0].id.Title
	}
	raw, _ := rpc.Raw(i) // always encodes
	return string(raw)
}

// refreshResources tells servers that resources are listed.
func (v *View) refreshResources() {
	for _, m := range v.all() {
		if r, ok := m.Server.(backend.Refresher); ok {
			_ = recovery.Call("resources of "+m.id.Name, func() error { r.Refresh(); return nil })
		}
	}
}

// wants tells whether a server belongs in the view.
func (v *View) wants(m *registration) bool {
	if p := v.profile.Load(); p != nil && len(p.Servers) > 0 && !slices.Contains(p.Servers, m.id.Name) {
		return false
	}
	return len(v.Spec.Servers) == 0 || slices.Contains(v.Spec.Servers, m.id.Name)
}

// all are the view's servers now.
func (v *View) all() []*registration {
	all := v.host.all()
	if len(v.Spec.Servers) == 0 && v.profile.Load() == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(m *registration) bool { return !v.wants(m) })
}

// has tells whether a server is there, and in the view.
func (v *View) has(m *registration) bool { return v.wants(m) && slices.Contains(v.host.all(), m) }

// alone tells whether a server is the view's only one.
func (v *View) alone(m *registration) bool {
	all := v.all()
	return len(all) == 1 && all[0] == m
}

// refresh lists what the servers offer now. What is the same as before causes no notification.
func (v *View) refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.makeLists()
}

// makeLists is refresh for a caller that holds mu.
func (v *View) makeLists() {
	l := lists{listing: listing{lists: map[string][]entry{}, finder: v.finder(), routes: map[backend.Kind]map[string]route{}}}
	if l.finder != nil {
		l.to = v.searching(false)
		for _, t := range l.finder.definitions() {
			l.addTool(v, v.host.own, l.finder, t)
		}
	}
	for _, m := range v.all() {
		v.addServer(&l, m, v.offerOf(m))
	}
	l.sort()
	v.listing.Store(&l.listing)
	if v.changed(toolsList) {
		v.announce(toolsChanged)
		v.toolsVersion.Add(1)
		v.toolsAt.Store(time.Now().UnixNano())
		time.AfterFunc(refreshPatience, v.host.changed)
	}
	resources, templates := v.changed(resourcesList), v.changed(templatesList)
	if resources || templates { // told once
		v.announce(resourcesChanged)
	}
	if v.changed(promptsList) {
		v.announce(promptsChanged)
	}
}

// addServer lists what a server offers.
func (v *View) addServer(l *lists, m *registration, o offer) {
	lazy := l.finder.has(m.id.Name)
	toFind := map[string]bool{}
	if lazy {
		for _, t := range v.lazyTools(o) {
			toFind[t.Key] = true
		}
	}
	for _, t := range v.toolsOf(m, o) {
		l.to = toolFilter{}
		switch {
		case !v.Spec.Gateway && o.GatewayFor != nil && o.leads(t.Key):
			l.to = toolFilter{gateway, func(c snapshot.Caller) bool { return o.GatewayFor(c.Client) }}
		case toFind[t.Key]:
			l.to = v.searching(true)
		}
		if l.addTool(v, m, o.by, t) && toFind[t.Key] {
			l.finder.add(m.id.Name, t)
		}
	}
	l.to = toolFilter{}
	if lazy {
		l.to = v.searching(true)
	}
	l.addOthers(v, m, o)
}

// changed reports whether a list, or who gets what of it, differs from what it was.
func (v *View) changed(list string) bool {
	content, _ := json.Marshal(v.listing.Load().lists[list]) // always encodes
	before, listed := v.digest[list]
	v.digest[list] = string(content)
	return before != string(content) && (listed || string(content) != "null")
}

func (v *View) toolsOf(m *registration, o offer) []backend.ToolDefinition {
	if v.Spec.Gateway && len(o.Gateway) > 0 {
		return o.Gateway
	}
	tools := slices.Clone(o.Tools)
	if v.alone(m) {
		tools = append(tools, o.Fallback...)
	}
	if o.GatewayFor != nil {
		tools = append(tools, o.Gateway...)
	}
	return slices.DeleteFunc(tools, func(t backend.ToolDefinition) bool { return t.Off != "" })
}

// instructions are those of the view for a session. Those of what it does not list, it
// finds.
func (v *View) instructions(c snapshot.Caller) string {
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

func (h *Host) refreshViews(m *registration) {
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
