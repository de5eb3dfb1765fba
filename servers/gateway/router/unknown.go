package router

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// unknown says that the view has no tool of that name, and what to do about it.
func (v *View) unknown(tool string) string {
	said := fmt.Sprintf("unknown tool %q", sanitize.Cut(sanitize.Line(tool), 64))
	var all, have []string
	for _, m := range v.all() {
		names := v.listed(m)
		if len(names) > 0 {
			have = append(have, m.id.Name)
		}
		all = append(all, names...)
	}
	for _, m := range v.host.all() {
		if !v.has(m) && v.mayName(m) && slices.Contains(v.listed(m), tool) {
			return fmt.Sprintf("%s on this connection: it belongs to %s, which this connection does not include; connect to %s too, or to all servers", said, m.id.Name, m.id.Name)
		}
	}
	if name := fuzzy.Meant(tool, all); name != "" {
		return fmt.Sprintf("%s; did you mean %q?", said, name)
	}
	for _, m := range v.all() {
		if names := v.listed(m); len(names) > 0 && strings.HasPrefix(tool, m.id.Name) {
			return fmt.Sprintf("%s; the tools of %s are %s", said, m.id.Name, strings.Join(names, ", "))
		}
	}
	if len(all) == 0 {
		return said + "; there are no tools now"
	}
	return fmt.Sprintf("%s; call tools/list to see the tools of %s", said, strings.Join(have, ", "))
}

// mayName reports whether an agent may hear of a server that the view does not have: not
// in place of a server as it is, and not of what its profile hides.
func (v *View) mayName(m *registration) bool {
	p := v.profile.Load()
	return !v.Spec.Passthrough && (p == nil || len(p.Servers) == 0 || slices.Contains(p.Servers, m.id.Name))
}

// listed are the names of a server's tools as a view like this lists them to
// every client.
func (v *View) listed(m *registration) (names []string) {
	o := v.offerOf(m)
	tools := o.Tools
	switch {
	case v.Spec.Gateway && len(o.Gateway) > 0:
		tools = o.Gateway
	case v.alone(m):
		tools = slices.Concat(tools, o.Fallback)
	}
	for _, t := range tools {
		if t.Off == "" {
			names = append(names, t.Key)
		}
	}
	return names
}

// refusal is the answer to a call of a tool that belongs to a server of this view but
// is not listed now, "" when there is none.
func (v *View) refusal(tool string) (text, module string) {
	for _, m := range v.all() {
		o := v.offerOf(m)
		for _, t := range o.Tools {
			if t.Key == tool && t.Off != "" {
				return t.Off, m.id.Name
			}
		}
		if o.Refuse != nil {
			if text := o.Refuse(tool); text != "" {
				return text, m.id.Name
			}
		}
	}
	return "", ""
}
