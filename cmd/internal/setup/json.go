package setup

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
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
	if all, ok := root.Value.(*hujson.Object); ok && depth == 0 {
		w.merge(all, ms, "")
		return root.Pack(), nil
	}
	parent, name, lead := &root, at.path[depth-1], ""
	servers, ok := parent.Value.(*hujson.Object)
	for _, key := range at.path[:depth-1] {
		if servers, lead, err = w.object(parent, key, lead); err != nil {
			return nil, err
		}
		parent, ok = &hujson.Value{Value: servers}, true
	}
	if !ok {
		return nil, fmt.Errorf("find %q: the file does not hold an object", name)
	}
	if inner := memberOf(servers, name); inner != nil {
		entry, ok := inner.Value.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("find %q: it is not an object", name)
		}
		entry.Members = without(entry.Members, named(at.drop...))
		w.merge(entry, ms, leadOf(inner.Name.BeforeExtra, lead))
		return root.Pack(), nil
	}
	w.set(servers, name, w.written(ms, w.lead(servers, lead)), lead)
	return root.Pack(), nil
}

func removeJSON(before []byte, path []string) ([]byte, error) {
	root, err := hujson.Parse(before)
	if err != nil {
		return nil, err
	}
	at := &root
	for _, key := range path[:len(path)-1] {
		if at = lookup(*at, key); at == nil {
			return nil, errByHand
		}
	}
	o, ok := at.Value.(*hujson.Object)
	if !ok {
		return nil, errByHand
	}
	o.Members = without(o.Members, named(path[len(path)-1]))
	return root.Pack(), nil
}

// without leaves members out. Behind the last there is a comma if there was one.
func without(ms []hujson.ObjectMember, drop func(hujson.ObjectMember) bool) []hujson.ObjectMember {
	var out []hujson.ObjectMember
	for _, m := range ms {
		if !drop(m) {
			out = append(out, m)
		}
	}
	if n := len(out); n > 0 && n < len(ms) && ms[len(ms)-1].Value.AfterExtra == nil {
		out[n-1].Value.AfterExtra = nil
	}
	return out
}

func named(keys ...string) func(hujson.ObjectMember) bool {
	return func(m hujson.ObjectMember) bool { return slices.Contains(keys, name(m)) }
}

// jsonWriter adds members in the style of the file: below those that are there. Its
// methods are told with what the line begins that holds the opening bracket.
type jsonWriter struct{ indent string }

// leadOf is what the line begins with that a member, an element or a closing bracket
// stands on: outer unless it has a line of its own.
func leadOf(before hujson.Extra, outer string) string {
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 {
		return outer
	}
	return blanks(before[i+1:])
}

// blanks are what a line begins with.
func blanks(line []byte) string { return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]) }

// lead is what the line of a new member begins with.
func (w jsonWriter) lead(o *hujson.Object, outer string) string {
	inner := outer + w.indent
	if n := len(o.Members); n > 0 {
		inner = leadOf(o.Members[n-1].Name.BeforeExtra, inner)
	}
	return inner
}

// memberOf is the member with a name, nil if there is none.
func memberOf(o *hujson.Object, key string) *hujson.ObjectMember {
	for i := range o.Members {
		if name(o.Members[i]) == key {
			return &o.Members[i]
		}
	}
	return nil
}

// lookup is the value under a name, nil if there is none.
func lookup(v hujson.Value, name string) *hujson.Value {
	if o, ok := v.Value.(*hujson.Object); ok {
		if m := memberOf(o, name); m != nil {
			return &m.Value
		}
	}
	return nil
}

// object returns the object under key, made if it is not there, and what its line begins
// with.
func (w jsonWriter) object(v *hujson.Value, key, outer string) (*hujson.Object, string, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, "", fmt.Errorf("find %q: the file does not hold an object", key)
	}
	found := memberOf(o, key)
	if found == nil {
		found = w.set(o, key, hujson.Value{Value: &hujson.Object{}}, outer)
	}
	inner, ok := found.Value.Value.(*hujson.Object)
	if !ok {
		return nil, "", fmt.Errorf("find %q: it is not an object", key)
	}
	return inner, leadOf(found.Name.BeforeExtra, outer), nil
}

// merge sets members of an entry, and those of its maps, one by one: others
// are the user's.
func (w jsonWriter) merge(o *hujson.Object, ms []clients.Member, outer string) {
	for _, m := range ms {
		values, isMap := m.Value.(map[string]string)
		old := memberOf(o, m.Key)
		if isMap && old != nil {
			if inner, ok := old.Value.Value.(*hujson.Object); ok {
				for k, v := range values {
					w.merge(inner, []clients.Member{{Key: k, Value: v}}, leadOf(old.Name.BeforeExtra, outer))
				}
				continue
			}
		}
		w.set(o, m.Key, literal(m.Value), outer)
	}
}

// set replaces a member's value or appends the member on a line of its own, and returns it.
func (w jsonWriter) set(o *hujson.Object, key string, value hujson.Value, outer string) *hujson.ObjectMember {
	value.BeforeExtra, value.AfterExtra = hujson.Extra(" "), nil
	if old := memberOf(o, key); old != nil {
		if meaning(old.Value) != meaning(value) {
			old.Value.Value = value.Value
		}
		return old
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
		Name:  hujson.Value{BeforeExtra: append(comments, "\n"+w.lead(o, outer)...), Value: hujson.String(key)},
		Value: value,
	})
	o.AfterExtra = hujson.Extra("\n" + leadOf(o.AfterExtra, outer))
	return &o.Members[len(o.Members)-1]
}

// meaning is a value without what only people see.
func meaning(v hujson.Value) string {
	v = v.Clone()
	v.Minimize()
	return v.String()
}

// written is an entry.
func (w jsonWriter) written(ms []clients.Member, outer string) hujson.Value {
	o := &hujson.Object{}
	for _, m := range ms {
		w.set(o, m.Key, literal(m.Value), outer)
	}
	return hujson.Value{Value: o}
}

// literal is a value as people write it: a space behind each comma and colon.
func literal(value any) hujson.Value {
	b, _ := rawjson.Encode(value, "") // plain values always encode
	v, _ := hujson.Parse(b)           // and read back
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

// indentOf is the least that a line of the file is indented more than the one before it.
func indentOf(b []byte) string {
	var above, least string
	for l := range bytes.Lines(b) {
		text := bytes.TrimSpace(l)
		if len(text) == 0 || text[0] == '/' || text[0] == '*' { // of comments, the text may be indented
			continue
		}
		lead := blanks(l)
		if more, ok := strings.CutPrefix(lead, above); ok && more != "" && (least == "" || len(more) < len(least)) {
			least = more
		}
		above = lead
	}
	return cmp.Or(least, "  ")
}
