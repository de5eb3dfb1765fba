package pixelsrc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// Formatted is a source in the standard layout.
type Formatted struct {
	Text string
	// Dropped says what could not be kept: keys written twice, of which only the
	// last value counts.
	Dropped []string
}

// Format lays a source out: strict JSON, one blank line between objects, keys in
// a fixed order, one line per region and per map row. What a reader of the
// source would read stays, comments included. A malformed object is an error
// that names its line; nothing is dropped.
func Format(text string) (Formatted, error) {
	nodes, errs := json5.Parse(text)
	if len(errs) > 0 {
		line, _ := json5.NewLines(text).At(errs[0].Pos)
		return Formatted{}, Failf("Parse error at line %d: %s", line, errs[0].Message)
	}
	f := &formatter{src: text, lines: json5.NewLines(text)}
	at := 0
	if strings.HasPrefix(text, "\uFEFF") {
		at = len("\uFEFF")
	}
	for i := range nodes {
		n := &nodes[i]
		lead := comments(text, at, int(n.Pos))
		at = f.rest(int(n.End))
		f.separate(lead, i > 0)
		f.top(n)
		for _, c := range comments(text, int(n.End), at) {
			f.out.WriteByte(' ')
			f.out.WriteString(c.text)
		}
		f.out.WriteByte('\n')
	}
	if tail := comments(text, at, len(text)); len(tail) > 0 {
		f.separate(tail, len(nodes) > 0)
	}
	out := f.out.String()
	for strings.HasSuffix(out, "\n\n") {
		out = out[:len(out)-1]
	}
	return Formatted{Text: out, Dropped: f.dropped}, nil
}

type formatter struct {
	src     string
	lines   *json5.Lines
	out     strings.Builder
	dropped []string
}

// comment is one comment with where it stood.
type comment struct {
	text       string
	start, end int
}

// comments finds the comments in a piece of the source that holds nothing else
// but white space, commas and colons.
func comments(src string, from, to int) (list []comment) {
	for i := from; i+1 < to; i++ {
		if src[i] != '/' {
			continue
		}
		end := i + 2
		if src[i+1] == '*' {
			if n := strings.Index(src[end:to], "*/"); n >= 0 {
				end += n + 2
			} else {
				end = to
			}
		} else {
			for end < to && src[end] != '\n' && src[end] != '\r' {
				end++
			}
		}
		list = append(list, comment{strings.TrimRight(src[i:end], " \t"), i, end})
		i = end - 1
	}
	return list
}

// rest is the end of the comments that trail an object on its last line.
func (f *formatter) rest(from int) int {
	at := from
	for i := from; i < len(f.src); i++ {
		switch c := f.src[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == ',':
		case c == '/' && i+1 < len(f.src) && (f.src[i+1] == '/' || f.src[i+1] == '*'):
			cs := comments(f.src, i, len(f.src))
			if strings.Contains(cs[0].text, "\n") {
				return at
			}
			i = cs[0].end - 1
			at = cs[0].end
		case c == '\n':
			return at
		default: // another object on the line: what stands between leads it
			return from
		}
	}
	return at
}

// separate writes a blank line, if something came before, and the comments that
// lead an object; blank lines among them are kept.
func (f *formatter) separate(lead []comment, blank bool) {
	if blank {
		f.out.WriteByte('\n')
	}
	for i, c := range lead {
		f.out.WriteString(c.text)
		f.out.WriteByte('\n')
		next := len(f.src)
		if i+1 < len(lead) {
			next = lead[i+1].start
		}
		gap := f.src[c.end:next]
		if end := strings.TrimLeft(gap, " \t\r\n,"); end != "" {
			gap = gap[:len(gap)-len(end)]
		}
		if strings.Count(gap, "\n") > 1 {
			f.out.WriteByte('\n')
		}
	}
}

// item is an element of a list or a member of an object, with its comments.
type item struct {
	key         string
	node        *json5.Node
	lead, trail []comment
}

// items lists the members or elements of a node, and the comments of an empty one.
func (f *formatter) items(n *json5.Node) (list []item, inner []comment) {
	from := int(n.Pos) + 1
	for i := range n.Items {
		it := item{node: &n.Items[i]}
		start := int(it.node.Pos)
		if n.Kind == json5.Object {
			it.key = n.Keys[i].Name
			start = int(n.Keys[i].Pos)
		}
		between := comments(f.src, from, start)
		if i > 0 {
			cut := f.trailing(from, start, between)
			list[len(list)-1].trail = between[:cut]
			between = between[cut:]
		}
		it.lead = append(between, f.afterKey(n, i)...)
		list = append(list, it)
		from = int(it.node.End)
	}
	last := comments(f.src, from, int(n.End)-1)
	if len(list) == 0 {
		return nil, last
	}
	list[len(list)-1].trail = last
	if n.Kind == json5.Object {
		list = f.distinct(list)
	}
	return list, nil
}

// afterKey finds the comments between a key and its value.
func (f *formatter) afterKey(n *json5.Node, i int) []comment {
	if n.Kind != json5.Object {
		return nil
	}
	from, to := int(n.Keys[i].Pos), int(n.Items[i].Pos)
	if c := f.src[from]; c == '"' || c == '\'' { // a slash inside the key is none
		for from++; from < to && f.src[from] != c; from++ {
			if f.src[from] == '\\' {
				from++
			}
		}
	}
	return comments(f.src, min(from, to), to)
}

// trailing counts the comments between two elements that belong to the first:
// those before the comma, and those after it on its line with nothing following
// on the line.
func (f *formatter) trailing(from, to int, list []comment) int {
	at, comma := from, false
	for i, c := range list {
		comma = comma || strings.Contains(f.src[at:c.start], ",")
		if comma && (strings.Contains(f.src[from:c.start], "\n") || !strings.Contains(f.src[c.end:to], "\n")) {
			return i
		}
		at = c.end
	}
	return len(list)
}

// distinct drops all but the last value of a repeated key, at the place of the
// first.
func (f *formatter) distinct(list []item) []item {
	seen := make(map[string]int, len(list))
	out := list[:0:0]
	for _, it := range list {
		if at, ok := seen[it.key]; ok {
			line := f.lines.Line(out[at].node.Pos)
			f.dropped = append(f.dropped, fmt.Sprintf("line %d: duplicate key %q; the last one wins", line, it.key))
			it.lead = slices.Concat(out[at].lead, f.within(out[at].node), it.lead)
			it.trail = append(out[at].trail, it.trail...)
			out[at] = it
			continue
		}
		seen[it.key] = len(out)
		out = append(out, it)
	}
	return out
}

// within lists the comments inside a value.
func (f *formatter) within(n *json5.Node) (all []comment) {
	if n.Kind != json5.Object && n.Kind != json5.Array {
		return nil
	}
	list, inner := f.items(n)
	all = append(all, inner...)
	for _, it := range list {
		all = slices.Concat(all, it.lead, f.within(it.node), it.trail)
	}
	return all
}

// top writes one object of the stream.
func (f *formatter) top(n *json5.Node) {
	list, inner := f.items(n)
	kind := ""
	if t := n.Get("type"); t != nil && t.Kind == json5.String {
		kind = t.Text
	}
	sortKeys(list, topKeys(kind))
	f.members(n, list, inner, func(it item) {
		switch {
		case kind == "sprite" && it.key == "regions" && it.node.Kind == json5.Object && len(it.node.Items) > 1:
			f.opened(it.node, "", func(it item) {
				it.lead = nil
				f.key(it)
				f.value(it.node, nil)
			})
		case kind == "composition" && it.key == "layers" && it.node.Kind == json5.Array && len(it.node.Items) > 0:
			f.opened(it.node, "", func(it item) { f.layer(it.node) })
		default:
			f.member(kind, it)
		}
	})
}

// members writes a list or an object on one line, as far as value does.
func (f *formatter) members(n *json5.Node, list []item, inner []comment, value func(item)) {
	object := n.Kind == json5.Object
	f.out.WriteByte(bracket(object)[0])
	f.inline(inner)
	for i, it := range list {
		if i > 0 {
			f.out.WriteString(", ")
		}
		if object {
			f.key(it)
		} else {
			f.inline(it.lead)
		}
		value(it)
		f.after(it.trail)
	}
	f.out.WriteByte(bracket(object)[1])
}

// opened writes a list or an object with one element a line, below what has an indent.
func (f *formatter) opened(n *json5.Node, indent string, element func(item)) {
	list, _ := f.items(n)
	object := n.Kind == json5.Object
	f.out.WriteByte(bracket(object)[0])
	f.out.WriteByte('\n')
	for i, it := range list {
		for _, c := range it.lead {
			f.out.WriteString(indent + "  " + c.text + "\n")
		}
		f.out.WriteString(indent + "  ")
		element(it)
		f.endLine(it, i+1 < len(list))
	}
	f.out.WriteString(indent)
	f.out.WriteByte(bracket(object)[1])
}

func bracket(object bool) string {
	if object {
		return "{}"
	}
	return "[]"
}

// inline writes comments that stand among other things on a line.
func (f *formatter) inline(list []comment) {
	for _, c := range list {
		f.out.WriteString(block(c.text))
		f.out.WriteByte(' ')
	}
}

// after writes the comments that follow a value.
func (f *formatter) after(list []comment) {
	for _, c := range list {
		f.out.WriteByte(' ')
		f.out.WriteString(block(c.text))
	}
}

// block is a comment that something may follow on its line.
func block(text string) string {
	if strings.HasPrefix(text, "//") {
		return "/*" + strings.ReplaceAll(text[2:], "*/", "* /") + " */"
	}
	return text
}

func (f *formatter) key(it item) {
	f.inline(it.lead)
	f.out.WriteString(quote(it.key))
	f.out.WriteString(": ")
}

// endLine ends the line of an element of an opened list.
func (f *formatter) endLine(it item, more bool) {
	if more {
		f.out.WriteByte(',')
	}
	for i, c := range it.trail {
		f.out.WriteByte(' ')
		if i+1 < len(it.trail) {
			c.text = block(c.text)
		}
		f.out.WriteString(c.text)
	}
	f.out.WriteByte('\n')
}

// layer writes one layer, with each row of a larger map on its own line.
func (f *formatter) layer(n *json5.Node) {
	if n.Kind != json5.Object {
		f.value(n, nil)
		return
	}
	list, inner := f.items(n)
	sortKeys(list, layerKeys())
	f.members(n, list, inner, func(it item) {
		if it.key == "map" && it.node.Kind == json5.Array && len(it.node.Items) > 1 {
			f.opened(it.node, "  ", func(row item) { f.value(row.node, nil) })
		} else {
			f.value(it.node, nil)
		}
	})
}

// member writes a value of a top-level object.
func (f *formatter) member(kind string, it item) {
	var order func([]item)
	switch {
	case it.key == "colors", it.key == "palette":
		order = sortColours
	case it.key == "keyframes" && kind == "animation":
		order = sortKeyframes
	case it.key == "roles", it.key == "relationships", it.key == "ramps", it.key == "sprites" && kind == "composition", it.key == "tags":
		order = sortNames
	case it.key == "emitter":
		order = func(list []item) {
			sortKeys(list, []string{"rate", "lifetime", "velocity", "gravity", "fade", "rotation", "seed"})
		}
	}
	f.value(it.node, order)
}

// value writes a value on one line; order sorts its own members.
func (f *formatter) value(n *json5.Node, order func([]item)) {
	switch n.Kind {
	case json5.String:
		f.out.WriteString(quote(n.Text))
	case json5.Int, json5.Float:
		f.out.WriteString(number(n, f.src[n.Pos:n.End]))
	case json5.Array, json5.Object:
		list, inner := f.items(n)
		if order != nil && n.Kind == json5.Object {
			order(list)
		}
		f.members(n, list, inner, func(it item) { f.value(it.node, nil) })
	default:
		f.out.WriteString(f.src[n.Pos:n.End])
	}
}
