package settings

import (
	"iter"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Entry is a key to which a settings file gives a value, or the beginning of a table there.
type Entry struct {
	Path  []string
	Kind  unstable.Kind // of the value; of a table Table, ArrayTable or InlineTable
	Value string        // of a number, a string, a date and a boolean
	At    unstable.Position
}

// IsTable reports whether keys follow.
func (e *Entry) IsTable() bool {
	return e.Kind == unstable.Table || e.Kind == unstable.ArrayTable || e.Kind == unstable.InlineTable
}

// Entries yields what is in a settings file, in its order, up to what cannot be parsed: also
// the keys of inline tables, but for those in lists.
func Entries(b []byte) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		var p unstable.Parser
		p.Reset(Text(b))
		var table []string
		for p.NextExpression() {
			n := p.Expression()
			if n.Kind == unstable.Comment {
				continue
			}
			if !visit(&p, table, n, yield) {
				return
			}
			if n.Kind != unstable.KeyValue {
				table, _ = pathOf(nil, n)
			}
		}
	}
}

// visit yields a table's name, or a key and its value, with all that is in it.
func visit(p *unstable.Parser, table []string, n *unstable.Node, yield func(Entry) bool) bool {
	if n.Kind != unstable.KeyValue {
		path, at := pathOf(nil, n)
		return yield(Entry{Path: path, Kind: n.Kind, At: p.Shape(at).Start})
	}
	path, at := pathOf(table, n)
	v := n.Value()
	if v.Kind != unstable.Array { // which does not say where it is
		at = v.Raw
	}
	if !yield(Entry{Path: path, Kind: v.Kind, Value: string(v.Data), At: p.Shape(at).Start}) {
		return false
	}
	if v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			if !visit(p, path, it.Node(), yield) {
				return false
			}
		}
	}
	return true
}

// pathOf is the whole name of what a node is about, and where the last part of it is.
func pathOf(table []string, n *unstable.Node) (path []string, at unstable.Range) {
	path = slices.Clone(table)
	for it := n.Key(); it.Next(); {
		path, at = append(path, string(it.Node().Data)), it.Node().Raw
	}
	return path, at
}
