// Package tomledit changes what stands in a TOML text and leaves all else as it is, to the
// byte. What it makes of odd forms is to be read again before it is written.
package tomledit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Entry is the name of a table, or a key with its value.
type Entry struct {
	Path       []string // whole, with that of the table it stands in
	Table      []string // path of the name above it; a name's own
	Header     bool     // it is the name of a table
	Inline     bool     // its value is an inline table
	Start, End int      // in the text, of a table its name
	Value      int      // where the value starts
}

// Under reports whether a path begins with another.
func Under(path, above []string) bool {
	return len(path) >= len(above) && slices.Equal(path[:len(above)], above)
}

// Text is a TOML text that is being edited.
type Text struct {
	Raw     []byte // before the edits
	Entries []Entry
	edits   []edit
}

// edit is a text for what stands from start to end.
type edit struct {
	start, end int
	text       string
}

// Parse finds where all keys and tables stand.
func Parse(raw []byte) (*Text, error) {
	t := &Text{Raw: raw}
	var table []string
	p := unstable.Parser{}
	p.Reset(raw)
	for p.NextExpression() {
		n := p.Expression()
		var e Entry
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			e.Header = true
		case unstable.KeyValue:
			e.Path = slices.Clone(table)
			e.Inline = n.Value().Kind == unstable.InlineTable
			e.Start = int(n.Raw.Offset)
			e.End = e.Start + len(bytes.TrimRight(p.Raw(n.Raw), " \t\r"))
		default:
			continue
		}
		for it := n.Key(); it.Next(); {
			k := it.Node()
			e.Path = append(e.Path, string(k.Data))
			after := int(k.Raw.Offset + k.Raw.Length)
			if e.Header {
				e.Start, e.End = int(k.Raw.Offset), after
				continue
			}
			e.Value = after + bytes.IndexByte(raw[after:], '=') + 1
			e.Value += len(raw[e.Value:]) - len(bytes.TrimLeft(raw[e.Value:], " \t"))
		}
		if e.Header {
			table = e.Path
		}
		e.Table = table
		t.Entries = append(t.Entries, e)
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("read it as TOML: %w", err)
	}
	return t, nil
}

// Replace puts a text in place of what stands from start to end, or of what was put there.
func (t *Text) Replace(start, end int, text string) {
	if i := t.edited(start, end); i >= 0 {
		t.edits[i].text = text
		return
	}
	t.edits = append(t.edits, edit{start, end, text})
}

// Between is what stands from start to end, or what was put there.
func (t *Text) Between(start, end int) string {
	if i := t.edited(start, end); i >= 0 {
		return t.edits[i].text
	}
	return string(t.Raw[start:end])
}

// edited is the edit of a place, -1 for none. Nothing stands where lines are added.
func (t *Text) edited(start, end int) int {
	return slices.IndexFunc(t.edits, func(e edit) bool { return e.start == start && e.end == end && start < end })
}

// Remove takes an entry out with its lines.
func (t *Text) Remove(e Entry) {
	t.Replace(bytes.LastIndexByte(t.Raw[:e.Start], '\n')+1, t.lineEnd(e.End), "")
}

// AddAfter adds a line behind that of an entry.
func (t *Text) AddAfter(e Entry, line string) { t.add(t.lineEnd(e.End), line) }

// Add adds a line to a table, as its last; false if there is no such table.
func (t *Text) Add(table []string, line string) bool {
	for _, e := range slices.Backward(t.Entries) {
		if slices.Equal(e.Table, table) {
			t.AddAfter(e, line)
			return true
		}
	}
	if len(table) == 0 {
		t.add(0, line)
	}
	return len(table) == 0
}

func (t *Text) add(at int, line string) {
	if at > 0 && t.Raw[at-1] != '\n' {
		line = "\n" + line
	}
	t.Replace(at, at, line+"\n")
}

// lineEnd is the place behind the line's end.
func (t *Text) lineEnd(at int) int {
	if i := bytes.IndexByte(t.Raw[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(t.Raw)
}

// Bytes is the text with all edits made.
func (t *Text) Bytes() []byte {
	slices.SortStableFunc(t.edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, e := range t.edits {
		out = append(append(out, t.Raw[at:max(at, e.start)]...), e.text...)
		at = max(at, e.end)
	}
	return append(out, t.Raw[at:]...)
}
