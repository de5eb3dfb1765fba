package router

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Profile is what some connections have of the servers that are on. It turns none on.
type Profile struct {
	Name    string
	Servers []string          // none: all
	Tools   map[string]string // "allow" or else off, by name or by a pattern with * at either end
	// Lazy are the servers that are lazy for these connections, whatever their client,
	// "*" for all; nil: those that are lazy, for clients that do not search.
	Lazy  []string
	Match Match
}

// Match says which connections have a profile that they do not name. What is "" fits
// any; without a word it fits none.
type Match struct {
	Client  string // that it says it is: an ID of the table of clients, or a pattern of the name
	Project string // folder that its project is, or lies in; absolute
	Program string // pattern of the name of its program, as the system has it
}

// fits tells whether a connection has the profile.
func (m Match) fits(c snapshot.Caller) bool {
	if m == (Match{}) {
		return false
	}
	known, _ := clients.Of(c.Client)
	client := strings.ToLower(m.Client)
	return (m.Client == "" || c.Client != "" && (known.ID == client || clients.Match(client, strings.ToLower(c.Client)))) &&
		(m.Project == "" || c.Folder() != "" && file.Within(m.Project, c.Folder())) &&
		(m.Program == "" || clients.Match(m.Program, c.Program))
}

// SetProfiles replaces the profiles that there are, the first that fits counting. Views
// of one that is no longer there keep it as it was.
func (h *Host) SetProfiles(all []Profile) {
	h.mu.Lock()
	h.profiles = all
	var views []*View
	for _, v := range h.views {
		if p := h.profile(v.Spec.Profile); p != nil {
			v.profile.Store(p)
			views = append(views, v)
		}
	}
	h.mu.Unlock()
	for _, v := range views {
		v.refresh()
	}
}

// profile finds one by its name, nil for none. The caller holds mu.
func (h *Host) profile(name string) *Profile {
	i := slices.IndexFunc(h.profiles, func(p Profile) bool { return p.Name == name })
	if name == "" || i < 0 {
		return nil
	}
	return &h.profiles[i]
}

// For is the view for a connection that named no profile, by what is known of it.
func (v *View) For(c snapshot.Caller) *View {
	if v.Spec.Profile != "" || v.Spec.Passthrough {
		return v
	}
	v.host.mu.Lock()
	spec := v.Spec
	if i := slices.IndexFunc(v.host.profiles, func(p Profile) bool { return p.Match.fits(c) }); i >= 0 {
		spec.Profile = v.host.profiles[i].Name
	}
	v.host.mu.Unlock()
	if spec.Profile == "" {
		return v
	}
	fitting, err := v.host.View(spec)
	if err != nil { // it is gone meanwhile
		return v
	}
	return fitting
}

// narrowed is an offer without what the view's profile hides: to an agent, that is not
// there at all. A gateway cannot be narrowed, and goes if it leads to some of that.
func (v *View) narrowed(o offer) offer {
	p := v.profile.Load()
	if p == nil || len(p.Tools) == 0 {
		return o
	}
	c := *o.Catalogue
	hides := func(t backend.ToolDefinition) bool { return !p.allows(t.Key) }
	if slices.ContainsFunc(c.Tools, hides) {
		c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t backend.ToolDefinition) bool { return hides(t) || o.leads(t.Key) })
		c.Gateway, c.GatewayFor = nil, nil
	}
	if refuse := c.Refuse; refuse != nil {
		c.Refuse = func(tool string) string {
			if !p.allows(tool) {
				return ""
			}
			return refuse(tool)
		}
	}
	return offer{&c, o.by}
}

// narrow returns the servers of a view that the profile leaves; as in a view, none are all.
func (p *Profile) narrow(servers []string) []string {
	switch {
	case len(p.Servers) == 0:
		return servers
	case len(servers) == 0:
		return p.Servers
	}
	return slices.DeleteFunc(slices.Clone(servers), func(name string) bool { return !slices.Contains(p.Servers, name) })
}

// allows tells whether a tool is not turned off: an exact name counts before a pattern,
// and of patterns the longest.
func (p *Profile) allows(tool string) bool {
	if word, exact := p.Tools[tool]; exact {
		return word == "allow"
	}
	best, word := -1, "allow"
	for pattern, w := range p.Tools {
		if clients.Match(pattern, tool) && (len(pattern) > best || len(pattern) == best && w != "allow") {
			best, word = len(pattern), w
		}
	}
	return word == "allow"
}

// lazy tells whether the view lists a server by the two tools alone.
func (v *View) lazy(m *registration) bool {
	if p := v.profile.Load(); p != nil && p.Lazy != nil {
		return slices.Contains(p.Lazy, m.id.Name) || slices.Contains(p.Lazy, "*")
	}
	return v.host.IsLazy(m.id.Name)
}

// searches tells whether a session has the whole list all the same.
func (v *View) searches(c snapshot.Caller) bool {
	if p := v.profile.Load(); p != nil && p.Lazy != nil {
		return false
	}
	return searches(c)
}
