package servers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/near"
	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// unknown says that the view has no tool of that name, and what to do about it.
func (v *View) unknown(tool string) string {
	said := fmt.Sprintf("no tool is called %q", plain.Cut(plain.Line(tool), 64))
	var all, have []string
	for _, m := range v.modules {
		names := v.listed(m)
		if len(names) > 0 {
			have = append(have, m.id.Name)
		}
		all = append(all, names...)
	}
	for _, m := range v.host.modules {
		if !slices.Contains(v.modules, m) && slices.Contains(v.listed(m), tool) {
			return fmt.Sprintf("%s on this connection: it is one of the server %s, and this connection has only %s; connect to %s as well, or to all servers", said, m.id.Name, strings.Join(v.Spec.Servers, ", "), m.id.Name)
		}
	}
	if name := meant(tool, all); name != "" {
		return fmt.Sprintf("%s; did you mean %q?", said, name)
	}
	for _, m := range v.modules {
		if names := v.listed(m); len(names) > 0 && strings.HasPrefix(tool, m.id.Name) {
			return fmt.Sprintf("%s; the tools of %s are %s", said, m.id.Name, strings.Join(names, ", "))
		}
	}
	if len(all) == 0 {
		return said + "; there are none at present"
	}
	return fmt.Sprintf("%s; tools/list has the %d there are, of %s", said, len(all), strings.Join(have, ", "))
}

// listed are the names of a module's tools as a view like this lists them to
// every client.
func (v *View) listed(m *hosted) (names []string) {
	o := m.current()
	tools := o.Tools
	switch {
	case v.Spec.Gateway && len(o.Gateway) > 0:
		tools = o.Gateway
	case len(v.modules) == 1 && v.modules[0] == m:
		tools = slices.Concat(tools, o.Stub)
	}
	for _, t := range tools {
		names = append(names, t.Tool.Name)
	}
	return names
}

// meant is the name that a wrong one may stand for: one that it is the end of, or
// has as its end, one that is a slip or two away, or one that has all its words;
// "" when there is none or several are as near.
func meant(wrong string, names []string) string {
	const most = 64
	if len(wrong) > 2*most {
		return ""
	}
	best, at, tied := "", 3, false
	for _, name := range names {
		d := at + 1
		switch short, long := fold(wrong), fold(name); {
		case short == long, len(short) >= 4 && strings.HasSuffix(long, "_"+short), strings.HasSuffix(short, "_"+long):
			d = 0
		case len(short) <= most && len(long) <= most && len(short) >= 4:
			d = near.Slips(short, long)
			if d >= at && words(short, long) {
				d = 2
			}
		}
		switch {
		case d < at:
			best, at, tied = name, d, false
		case d == at:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return best
}

// fold makes names alike that differ only in how words are joined.
func fold(name string) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(strings.ToLower(name))
}

// words tells whether all words of a name, two at least, are in another.
func words(short, long string) bool {
	list, in := strings.Split(short, "_"), strings.Split(long, "_")
	return len(list) > 1 && !slices.ContainsFunc(list, func(w string) bool { return !slices.Contains(in, w) })
}
