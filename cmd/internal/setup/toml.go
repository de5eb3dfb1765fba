package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/tomledit"
)

// setTOML edits an entry as it stands: as a table, as dotted keys, or inside an
// inline table.
func setTOML(before []byte, at place, ms []clients.Member) ([]byte, error) {
	text, err := tomledit.Parse(before)
	if err != nil {
		return nil, err
	}
	e := tomlEdit{Text: text, entry: at.path, drop: at.drop}
	if !slices.ContainsFunc(e.Entries, func(x tomledit.Entry) bool { return tomledit.Under(x.Path, e.entry) }) {
		return e.add(ms), nil
	}
	for _, x := range e.Entries {
		if n := len(e.entry); len(x.Path) > n && tomledit.Under(x.Path, e.entry) && slices.Contains(e.drop, x.Path[n]) {
			e.Remove(x)
		}
	}
	for _, m := range ms {
		values, ok := m.Value.(map[string]string)
		if !ok {
			e.put([]string{m.Key}, m.Value)
		}
		for _, k := range slices.Sorted(maps.Keys(values)) {
			e.put([]string{m.Key, k}, values[k])
		}
	}
	return e.Bytes(), e.err
}

// removeTOML takes out the tables and keys of an entry.
func removeTOML(before []byte, path []string) ([]byte, error) {
	text, err := tomledit.Parse(before)
	if err != nil {
		return nil, err
	}
	for _, x := range text.Entries {
		if tomledit.Under(x.Path, path) {
			text.Remove(x)
		}
	}
	return text.Bytes(), nil
}

// tomlEdit writes an entry into a text.
type tomlEdit struct {
	*tomledit.Text
	entry []string
	drop  []string
	err   error
}

// add writes an entry that is not there yet: into the section's inline table,
// or as a table at the end.
func (e *tomlEdit) add(ms []clients.Member) []byte {
	for _, x := range e.Entries {
		if x.Inline && slices.Equal(x.Path, e.entry[:1]) {
			inside := bytes.TrimRight(e.Raw[x.Value:x.End-1], " \t")
			comma := ", "
			if len(bytes.TrimSpace(inside)) == 1 { // the brace
				comma = " "
			}
			e.Replace(x.Value+len(inside), x.End, comma+e.entry[1]+" = "+tomlLiteral(entryMap(ms))+" }")
			return e.Bytes()
		}
	}
	var b bytes.Buffer
	b.Write(e.Raw)
	if len(e.Raw) > 0 {
		if e.Raw[len(e.Raw)-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	name := strings.Join(e.entry, ".")
	fmt.Fprintf(&b, "[%s]\n", name)
	var tables []clients.Member
	for _, m := range ms {
		if _, ok := m.Value.(map[string]string); ok {
			tables = append(tables, m)
			continue
		}
		fmt.Fprintf(&b, "%s = %s\n", m.Key, tomlLiteral(m.Value))
	}
	for _, m := range tables {
		fmt.Fprintf(&b, "\n[%s.%s]\n", name, m.Key)
		values := m.Value.(map[string]string)
		for _, k := range slices.Sorted(maps.Keys(values)) {
			fmt.Fprintf(&b, "%s = %s\n", k, tomlLiteral(values[k]))
		}
	}
	return b.Bytes()
}

// put sets one value below the entry.
func (e *tomlEdit) put(key []string, value any) {
	path := slices.Concat(e.entry, key)
	for _, x := range e.Entries {
		switch {
		case x.Header:
		case slices.Equal(x.Path, path):
			e.Replace(x.Value, x.End, tomlLiteral(value))
			return
		case x.Inline && tomledit.Under(path, x.Path):
			e.putInline(x, path[len(x.Path):], value)
			return
		}
	}
	// A line of its own, in the table that is nearest.
	var place *tomledit.Entry
	for i, x := range e.Entries {
		fits := tomledit.Under(path, x.Table) && (x.Header || tomledit.Under(x.Path, e.entry))
		if fits && (place == nil || len(x.Table) > len(place.Table)) {
			place = &e.Entries[i]
		}
	}
	if place == nil {
		e.err = errByHand
		return
	}
	e.AddAfter(*place, strings.Join(path[len(place.Table):], ".")+" = "+tomlLiteral(value))
}

// putInline writes an inline table anew: there is no style in it to keep.
func (e *tomlEdit) putInline(x tomledit.Entry, key []string, value any) {
	var file struct{ X map[string]any }
	if err := toml.Unmarshal([]byte("X = "+e.Between(x.Value, x.End)), &file); err != nil {
		e.err = fmt.Errorf("read it as TOML: %w", err)
		return
	}
	in := file.X
	if depth := len(e.entry) - len(x.Path); depth >= 0 {
		entry := in
		for _, k := range e.entry[len(x.Path):] {
			entry, _ = entry[k].(map[string]any)
		}
		maps.DeleteFunc(entry, func(k string, _ any) bool { return slices.Contains(e.drop, k) })
	}
	for _, k := range key[:len(key)-1] {
		next, ok := in[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			in[k] = next
		}
		in = next
	}
	in[key[len(key)-1]] = value
	e.Replace(x.Value, x.End, tomlLiteral(file.X))
}

func entryMap(ms []clients.Member) map[string]any {
	out := map[string]any{}
	for _, m := range ms {
		out[m.Key] = m.Value
	}
	return out
}

// tomlLiteral is a value on one line.
func tomlLiteral(value any) string {
	switch value.(type) {
	case map[string]any, map[string]string:
		var b bytes.Buffer
		// What was decoded, or is a plain value, encodes.
		_ = toml.NewEncoder(&b).SetTablesInline(true).Encode(map[string]any{"x": value})
		return strings.TrimSpace(strings.TrimPrefix(b.String(), "x = "))
	}
	b, _ := json.Marshal(value) // strings, numbers and lists of strings are written alike
	return strings.ReplaceAll(string(b), `","`, `", "`)
}
