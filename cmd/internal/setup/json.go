package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcpdeck/mcpdeck/servers/clients"
)

func setJSON(before []byte, at place, ms []clients.Member) ([]byte, error) {
	if len(bytes.TrimSpace(before)) == 0 {
		before = []byte("{}\n")
	}
	root, err := hujson.Parse(before)
	if err != nil {
		return nil, fmt.Errorf("read it as JSON: %w", err)
	}
	w := jsonWriter{indent: indentOf(before)}
	depth := len(at.path)
	parent, name := &root, at.path[depth-1]
	servers, ok := parent.Value.(*hujson.Object)
	for i, key := range at.path[:depth-1] {
		if servers, err = w.object(parent, key, i+1); err != nil {
			return nil, err
		}
		parent, ok = &hujson.Value{Value: servers}, true
	}
	if !ok {
		return nil, fmt.Errorf("find %q: the file does not hold an object", name)
	}
	if inner := lookup(servers, name); inner != nil {
		entry, ok := inner.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("find %q: it is not an object", name)
		}
		entry.Members = without(entry.Members, at.drop)
		w.merge(entry, ms, depth+1)
		return root.Pack(), nil
	}
	w.set(servers, name, w.written(ms, depth), depth)
	return root.Pack(), nil
}

// without leaves members out. Behind the last there is a comma if there was one.
func without(ms []hujson.ObjectMember, drop []string) []hujson.ObjectMember {
	var out []hujson.ObjectMember
	for _, m := range ms {
		if !slices.Contains(drop, m.Name.Value.(hujson.Literal).String()) {
			out = append(out, m)
		}
	}
	if n := len(out); n > 0 && n < len(ms) && ms[len(ms)-1].Value.AfterExtra == nil {
		out[n-1].Value.AfterExtra = nil
	}
	return out
}

// jsonWriter adds members in the style of the file.
type jsonWriter struct{ indent string }

// lookup is the value under a name, nil if there is none.
func lookup(o *hujson.Object, name string) *hujson.Value {
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i].Value
		}
	}
	return nil
}

// object returns the object under key, made if it is not there.
func (w jsonWriter) object(v *hujson.Value, key string, depth int) (*hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("find %q: the file does not hold an object", key)
	}
	if found := lookup(o, key); found != nil {
		inner, ok := found.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("find %q: it is not an object", key)
		}
		return inner, nil
	}
	inner := &hujson.Object{}
	w.set(o, key, hujson.Value{Value: inner}, depth)
	return inner, nil
}

// merge sets members of an entry, and those of its maps, one by one: others
// are the user's.
func (w jsonWriter) merge(o *hujson.Object, ms []clients.Member, depth int) {
	for _, m := range ms {
		values, isMap := m.Value.(map[string]string)
		old := lookup(o, m.Key)
		if isMap && old != nil {
			if inner, ok := old.Value.(*hujson.Object); ok {
				for k, v := range values {
					w.merge(inner, []clients.Member{{Key: k, Value: v}}, depth+1)
				}
				continue
			}
		}
		w.set(o, m.Key, literal(m.Value), depth)
	}
}

// set replaces a member's value or appends the member on a line of its own.
func (w jsonWriter) set(o *hujson.Object, key string, value hujson.Value, depth int) {
	value.BeforeExtra, value.AfterExtra = hujson.Extra(" "), nil
	if old := lookup(o, key); old != nil {
		if meaning(*old) != meaning(value) {
			old.Value = value.Value
		}
		return
	}
	// A comma stands behind the last member if something, even nothing, is
	// noted after it. Comments before the brace stay where they are.
	var after hujson.Extra
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		after = hujson.Extra{}
	}
	comments := bytes.TrimRight(o.AfterExtra, " \t\r\n")
	value.AfterExtra = after
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: append(comments, "\n"+strings.Repeat(w.indent, depth)...), Value: hujson.String(key)},
		Value: value,
	})
	o.AfterExtra = hujson.Extra("\n" + strings.Repeat(w.indent, depth-1))
}

// meaning is a value without what only people see.
func meaning(v hujson.Value) string {
	v = v.Clone()
	v.Minimize()
	return v.String()
}

// written is an entry, its members at depth+1.
func (w jsonWriter) written(ms []clients.Member, depth int) hujson.Value {
	o := &hujson.Object{}
	for _, m := range ms {
		w.set(o, m.Key, literal(m.Value), depth+1)
	}
	return hujson.Value{Value: o}
}

// literal is a value as people write it: a space behind each comma and colon.
func literal(value any) hujson.Value {
	b, _ := json.Marshal(value) // plain values always encode
	v, _ := hujson.Parse(b)     // and read back
	for part := range v.All() {
		switch t := part.Value.(type) {
		case *hujson.Object:
			for i := range t.Members {
				t.Members[i].Value.BeforeExtra = hujson.Extra(" ")
				if i > 0 {
					t.Members[i].Name.BeforeExtra = hujson.Extra(" ")
				}
			}
		case *hujson.Array:
			for i := range t.Elements {
				if i > 0 {
					t.Elements[i].BeforeExtra = hujson.Extra(" ")
				}
			}
		}
	}
	return v
}

// indentOf is what the file's first indented line begins with.
func indentOf(b []byte) string {
	for l := range bytes.Lines(b) {
		if n := len(l) - len(bytes.TrimLeft(l, " \t")); n > 0 && len(bytes.TrimSpace(l)) > 0 {
			return string(l[:n])
		}
	}
	return "  "
}
