package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/mcpdeck/mcpdeck/servers/arrange"
	"github.com/mcpdeck/mcpdeck/servers/clients"
)

// setTOML edits an entry as it stands: as a table, as dotted keys, or inside an
// inline table.
func setTOML(before []byte, at place, ms []clients.Member) ([]byte, error) {
	exprs, err := expressions(before)
	if err != nil {
		return nil, err
	}
	e := tomlEdit{text: before, exprs: exprs, entry: at.path, drop: at.drop}
	if !slices.ContainsFunc(exprs, func(x expression) bool { return hasPrefix(x.path, e.entry) }) {
		return e.add(ms)
	}
	for _, x := range exprs {
		if n := len(e.entry); len(x.path) > n && hasPrefix(x.path, e.entry) && slices.Contains(e.drop, x.path[n]) {
			e.replace(e.lineStart(x.start), e.lineEnd(x.end), "")
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
	return e.done(), e.err
}

// expression is a header or a key with its value.
type expression struct {
	path       []string // whole, with that of the table it stands in
	table      []string // path of the header above it; a header's own
	header     bool
	inline     bool // its value is an inline table
	start, end int  // in the text, of a header its name
	value      int  // start of the value
}

func expressions(text []byte) ([]expression, error) {
	var out []expression
	var current []string
	p := unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		n := p.Expression()
		var x expression
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			x.header = true
		case unstable.KeyValue:
			x.path = slices.Clone(current)
			x.inline = n.Value().Kind == unstable.InlineTable
			x.start = int(n.Raw.Offset)
			x.end = x.start + len(bytes.TrimRight(p.Raw(n.Raw), " \t"))
		default:
			continue
		}
		for it := n.Key(); it.Next(); {
			k := it.Node()
			x.path = append(x.path, string(k.Data))
			if x.header {
				x.start, x.end = int(k.Raw.Offset), int(k.Raw.Offset+k.Raw.Length)
			} else {
				after := int(k.Raw.Offset + k.Raw.Length)
				x.value = after + bytes.IndexByte(text[after:], '=') + 1
				x.value += len(text[x.value:]) - len(bytes.TrimLeft(text[x.value:], " \t"))
			}
		}
		if x.header {
			current = x.path
		}
		x.table = current
		out = append(out, x)
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("read it as TOML: %w", err)
	}
	return out, nil
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// replacement is a text for what stands from start to end.
type replacement struct {
	start, end int
	text       string
}

// tomlEdit collects replacements in a text.
type tomlEdit struct {
	text  []byte
	exprs []expression
	entry []string
	drop  []string
	edits []replacement
	err   error
}

func (e *tomlEdit) replace(start, end int, text string) {
	e.edits = append(e.edits, replacement{start, end, text})
}

// done is the text with all replacements made.
func (e *tomlEdit) done() []byte {
	arrange.Stable(e.edits, func(a, b replacement) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, r := range e.edits {
		out = append(append(out, e.text[at:max(at, r.start)]...), r.text...)
		at = max(at, r.end)
	}
	return append(out, e.text[at:]...)
}

func (e *tomlEdit) lineStart(at int) int { return bytes.LastIndexByte(e.text[:at], '\n') + 1 }

// lineEnd is the place behind the line's end.
func (e *tomlEdit) lineEnd(at int) int {
	if i := bytes.IndexByte(e.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(e.text)
}

// add writes an entry that is not there yet: into the section's inline table,
// or as a table at the end.
func (e *tomlEdit) add(ms []clients.Member) ([]byte, error) {
	for _, x := range e.exprs {
		if x.inline && slices.Equal(x.path, e.entry[:1]) {
			inside := bytes.TrimRight(e.text[x.value:x.end-1], " \t")
			comma := ", "
			if len(bytes.TrimSpace(inside)) == 1 { // the brace
				comma = " "
			}
			e.replace(x.value+len(inside), x.end, comma+e.entry[1]+" = "+tomlLiteral(entryMap(ms))+" }")
			return e.done(), nil
		}
	}
	var b bytes.Buffer
	b.Write(e.text)
	if len(e.text) > 0 {
		if e.text[len(e.text)-1] != '\n' {
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
	return b.Bytes(), nil
}

// put sets one value below the entry.
func (e *tomlEdit) put(key []string, value any) {
	path := slices.Concat(e.entry, key)
	for _, x := range e.exprs {
		switch {
		case x.header:
		case slices.Equal(x.path, path):
			e.replace(x.value, x.end, tomlLiteral(value))
			return
		case x.inline && hasPrefix(path, x.path):
			e.putInline(x, path[len(x.path):], value)
			return
		}
	}
	// A line of its own, in the table that is nearest.
	var place *expression
	for i, x := range e.exprs {
		fits := hasPrefix(path, x.table) && (x.header || hasPrefix(x.path, e.entry))
		if fits && (place == nil || len(x.table) > len(place.table)) {
			place = &e.exprs[i]
		}
	}
	if place == nil {
		e.err = errByHand
		return
	}
	at := e.lineEnd(place.end)
	line := strings.Join(path[len(place.table):], ".") + " = " + tomlLiteral(value) + "\n"
	if at > 0 && e.text[at-1] != '\n' {
		line = "\n" + line
	}
	e.replace(at, at, line)
}

// putInline writes an inline table anew: there is no style in it to keep.
func (e *tomlEdit) putInline(x expression, key []string, value any) {
	i := slices.IndexFunc(e.edits, func(r replacement) bool { return r.start == x.value && r.end == x.end })
	text := string(e.text[x.value:x.end])
	if i >= 0 {
		text = e.edits[i].text
	}
	var file struct{ X map[string]any }
	if err := toml.Unmarshal([]byte("X = "+text), &file); err != nil {
		e.err = fmt.Errorf("read it as TOML: %w", err)
		return
	}
	in := file.X
	if depth := len(e.entry) - len(x.path); depth >= 0 {
		entry := in
		for _, k := range e.entry[len(x.path):] {
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
	if i >= 0 {
		e.edits[i].text = tomlLiteral(file.X)
		return
	}
	e.replace(x.value, x.end, tomlLiteral(file.X))
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
