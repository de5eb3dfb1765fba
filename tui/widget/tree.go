package widget

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Node is one row of a Tree.
type Node struct {
	ID       string // unique in the tree; what is open is kept by it
	Label    string // may be styled
	Note     string // at the right end; may be styled
	Children []*Node
}

// Tree is a tree of rows that open and close, with a cursor.
type Tree struct {
	List List

	roots []*Node
	open  map[string]bool
	rows  []treeRow
}

type treeRow struct {
	node *Node
	lead string // the lines before the label
}

// SetNodes replaces the nodes. What was open stays open, and the cursor stays
// on its node.
func (t *Tree) SetNodes(roots []*Node) {
	t.roots = roots
	t.layout()
}

// Current is the node under the cursor, nil when there is none.
func (t *Tree) Current() *Node {
	if i := t.List.Cursor; i >= 0 && i < len(t.rows) {
		return t.rows[i].node
	}
	return nil
}

// Open tells whether a node shows its children.
func (t *Tree) Open(id string) bool { return t.open[id] }

// SetOpen opens or closes a node.
func (t *Tree) SetOpen(id string, open bool) {
	if t.open == nil {
		t.open = map[string]bool{}
	}
	t.open[id] = open
	t.layout()
}

// Toggle opens or closes the node under the cursor and tells whether it has
// children.
func (t *Tree) Toggle() bool {
	n := t.Current()
	if n == nil || len(n.Children) == 0 {
		return false
	}
	t.SetOpen(n.ID, !t.open[n.ID])
	return true
}

// Right opens the node, or goes to its first child.
func (t *Tree) Right() {
	n := t.Current()
	if n == nil || len(n.Children) == 0 {
		return
	}
	if t.open[n.ID] {
		t.List.Move(1)
		return
	}
	t.SetOpen(n.ID, true)
}

// Left closes the node, or goes to its parent.
func (t *Tree) Left() {
	n := t.Current()
	if n == nil {
		return
	}
	if t.open[n.ID] && len(n.Children) > 0 {
		t.SetOpen(n.ID, false)
		return
	}
	for i := t.List.Cursor - 1; i >= 0; i-- {
		for _, c := range t.rows[i].node.Children {
			if c == n {
				t.List.MoveTo(i)
				return
			}
		}
	}
}

// Reveal opens what holds a node and puts the cursor on it.
func (t *Tree) Reveal(id string) {
	var path []string
	var walk func(ns []*Node) bool
	walk = func(ns []*Node) bool {
		for _, n := range ns {
			if n.ID == id {
				return true
			}
			if walk(n.Children) {
				path = append(path, n.ID)
				return true
			}
		}
		return false
	}
	if !walk(t.roots) {
		return
	}
	for _, p := range path {
		t.SetOpen(p, true)
	}
	for i, r := range t.rows {
		if r.node.ID == id {
			t.List.MoveTo(i)
		}
	}
}

// layout lists the rows that are to be seen.
func (t *Tree) layout() {
	id := ""
	if n := t.Current(); n != nil {
		id = n.ID
	}
	t.rows = t.rows[:0]
	t.add(t.roots, "", 0)
	t.List.SetLen(len(t.rows))
	for i, r := range t.rows {
		if r.node.ID == id {
			t.List.MoveTo(i)
		}
	}
}

// The marks of tree lines in a lead; the theme has their glyphs.
const (
	leadBlank  = ' '
	leadPipe   = '|'
	leadBranch = '+'
	leadLast   = '`'
)

func (t *Tree) add(ns []*Node, lead string, depth int) {
	for i, n := range ns {
		mark, under := string(leadBranch), string(leadPipe)
		if i == len(ns)-1 {
			mark, under = string(leadLast), string(leadBlank)
		}
		if depth == 0 {
			mark, under = "", ""
		}
		t.rows = append(t.rows, treeRow{n, lead + mark})
		if t.open[n.ID] {
			t.add(n.Children, lead+under, depth+1)
		}
	}
}

// Render draws h rows of w cells.
func (t *Tree) Render(th *theme.Theme, w, h int, focus bool) []string {
	return t.List.Render(th, w, h, focus, func(i, w int) string {
		r := t.rows[i]
		var lines strings.Builder
		for _, c := range r.lead {
			switch c {
			case leadPipe:
				lines.WriteString(th.Glyph.Pipe)
			case leadBranch:
				lines.WriteString(th.Glyph.Branch)
			case leadLast:
				lines.WriteString(th.Glyph.Last)
			default:
				lines.WriteString("  ")
			}
		}
		mark := " "
		if len(r.node.Children) > 0 {
			mark = th.Glyph.Closed
			if t.open[r.node.ID] {
				mark = th.Glyph.Open
			}
		}
		return Ends(th.Border.Render(lines.String())+th.Muted.Render(mark)+" "+r.node.Label, r.node.Note, w)
	})
}
