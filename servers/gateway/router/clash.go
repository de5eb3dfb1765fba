package router

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// offered is something that a server offers: of two with the same, views have one.
type offered struct {
	kind backend.Kind
	key  string
}

func (o offered) String() string {
	if o.kind == backend.Tool {
		return o.key
	}
	return string(o.kind) + " " + o.key
}

// everything is what an offer has for agents.
func (o offer) everything() (all []offered) {
	for _, t := range o.Tools {
		if t.Off == "" {
			all = append(all, offered{backend.Tool, t.Key})
		}
	}
	for kind, definitions := range map[backend.Kind][]backend.Definition{backend.Prompt: o.Prompts, backend.Resource: o.Resources, backend.Template: o.Templates} {
		for _, d := range definitions {
			all = append(all, offered{kind, d.Key})
		}
	}
	return all
}

// reserved is the server whose name of a tool or a prompt no guest may use, whether it is
// offered now or not; nil if it is free. An agent that calls a name of the deck's must
// not reach another server, which would see what was meant for the user.
func (h *Host) reserved(o offered) *registration {
	if o.kind == backend.Tool && (o.key == findName || o.key == callName) {
		return h.own
	}
	if o.kind != backend.Tool && o.kind != backend.Prompt {
		return nil
	}
	for _, m := range h.all() {
		if m.gone == nil && m.claims(o) {
			return m
		}
	}
	return nil
}

// claims reports whether a name is the server's own, on or off.
func (m *registration) claims(o offered) bool {
	whole := m.known()
	if o.kind == backend.Prompt {
		return slices.Contains(whole.everything(), o)
	}
	return o.key == m.id.Name+"_status" || whole.Refuse != nil && whole.Refuse(o.key) != "" ||
		slices.ContainsFunc(whole.all(), func(t backend.ToolDefinition) bool { return t.Key == o.key })
}

// taken reports whether a guest may not list something in a view, for the name is the
// deck's own. A server as it is has its own names, in a view of its own.
func (v *View) taken(m *registration, kind backend.Kind, key string) bool {
	return m != nil && m.gone != nil && !v.Spec.Passthrough && v.host.reserved(offered{kind, key}) != nil
}

// findClashes notes what views of all servers have of another server than the one that
// also offers it, and tells the user of what is new.
func (h *Host) findClashes() {
	h.clashing.Lock()
	defer h.clashing.Unlock()
	owner := map[offered]*registration{}
	for _, m := range h.all() {
		hidden := map[offered]string{}
		for _, o := range m.current().everything() {
			first := owner[o]
			if m.gone != nil && first == nil {
				first = h.reserved(o)
			}
			if first == nil {
				owner[o] = m
			} else if first != m {
				hidden[o] = first.id.Title
			}
		}
		m.mu.Lock()
		said := m.hidden
		if m.hidden = hidden; len(said) > 0 || len(hidden) > 0 {
			m.count()
		}
		m.mu.Unlock()
		fresh := map[string][]string{} // by whose it is
		for o, title := range hidden {
			if said[o] != title {
				fresh[title] = append(fresh[title], o.String())
			}
		}
		for _, title := range slices.Sorted(maps.Keys(fresh)) {
			slices.Sort(fresh[title])
			h.Warn(m.id.Name, fmt.Sprintf("hidden, since %s has the same name: %s", title, strings.Join(fresh[title], ", ")))
		}
	}
}

// Hidden lists what agents do not have of a server, since another has the same name: a
// sentence each.
func (h *Host) Hidden(name string) (all []string) {
	m := h.module(name)
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for o, title := range m.hidden {
		all = append(all, o.String()+": "+hiddenBy(title))
	}
	slices.Sort(all)
	return all
}

func hiddenBy(title string) string { return "the name is taken by " + title }

// mark says in details what is hidden.
func (m *registration) mark(d *snapshot.Details) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o, title := range m.hidden {
		if o.kind != backend.Tool {
			d.Notes = append(d.Notes, "hidden: "+o.String()+": "+hiddenBy(title))
			continue
		}
		for i := range d.Tools {
			if d.Tools[i].Name == o.key && d.Tools[i].Verdict == snapshot.Allow {
				d.Tools[i].Verdict, d.Tools[i].Why = snapshot.Hidden, hiddenBy(title)
			}
		}
	}
	slices.Sort(d.Notes)
}
