package pxl

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// field is one key of an object with a fixed schema.
type field[T any] struct {
	name string
	set  func(*decoder, *T, *json5.Node)
}

// newer is a key that only the documented dialect reads.
func newer[T any](name string, set func(*decoder, *T, *json5.Node)) field[T] {
	return field[T]{name, func(d *decoder, t *T, n *json5.Node) {
		if !d.ref {
			set(d, t, n)
		}
	}}
}

// decoder turns nodes into typed objects. Its first error sticks.
type decoder struct {
	sink
	notes sink
	ref   bool // reference dialect
	depth int
	err   string
	errAt int32
}

func (d *decoder) bad(n *json5.Node, format string, args ...any) {
	if d.err == "" {
		d.err, d.errAt = fmt.Sprintf(format, args...), n.Pos
	}
}

// fields decodes an object by its table. In the reference dialect a duplicate key is an error.
func fields[T any](d *decoder, n *json5.Node, t *T, table []field[T]) {
	if n.Kind != json5.Object {
		d.bad(n, "expected an object, found %s", n.Kind)
		return
	}
	var seen uint64
	for i := range n.Keys {
		name := n.Keys[i].Name
		at := -1
		for k := range table {
			if table[k].name == name {
				at = k
				break
			}
		}
		if at < 0 {
			if name != "type" && d.notes.list != nil && len(*d.notes.list) < maxDiagnostics {
				names := make([]string, len(table))
				for k := range table {
					names[k] = table[k].name
				}
				d.notes.warn(n.Keys[i].Pos, CodeUnknownField, didYouMean(name, names), "unknown key %q, ignored", name)
			}
			continue
		}
		if seen&(1<<at) != 0 {
			if d.ref {
				d.bad(&n.Items[i], "duplicate key %q", name)
				return
			}
			d.notes.warn(n.Keys[i].Pos, CodeDuplicateKey, "keep one of them", "duplicate key %q; the last one wins", name)
		}
		seen |= 1 << at
		if n.Items[i].Kind == json5.Null {
			continue
		}
		table[at].set(d, t, &n.Items[i])
	}
}

// entries walks a map in order; the last value of a duplicate key wins, in the place of the first.
func (d *decoder) entries(n *json5.Node, f func(key json5.Key, v *json5.Node)) {
	if n.Kind != json5.Object {
		d.bad(n, "expected an object, found %s", n.Kind)
		return
	}
	last := make(map[string]int, len(n.Keys))
	for i, k := range n.Keys {
		last[k.Name] = i
	}
	if len(last) == len(n.Keys) {
		for i, k := range n.Keys {
			f(k, &n.Items[i])
		}
		return
	}
	for _, k := range n.Keys {
		at := last[k.Name]
		if at < 0 {
			d.notes.warn(k.Pos, CodeDuplicateKey, "keep one of them", "duplicate key %q; the last one wins", k.Name)
			continue
		}
		f(k, &n.Items[at])
		last[k.Name] = -1
	}
}

func (d *decoder) str(n *json5.Node) string {
	if n.Kind != json5.String {
		d.bad(n, "expected a string, found %s", n.Kind)
	}
	return n.Text
}

func (d *decoder) boolean(n *json5.Node) bool {
	if n.Kind != json5.Bool {
		d.bad(n, "expected true or false, found %s", n.Kind)
	}
	return n.Truth()
}

func (d *decoder) float(n *json5.Node) float64 {
	if n.Kind != json5.Int && n.Kind != json5.Float {
		d.bad(n, "expected a number, found %s", n.Kind)
		return 0
	}
	v, ok := finite(n)
	if !ok {
		d.bad(n, "NaN is not allowed")
	}
	return v
}

// finite gives a number without the infinities, which become very large; NaN is not ok.
func finite(n *json5.Node) (v float64, ok bool) {
	v = n.Float()
	return min(max(v, -1e30), 1e30), v == v
}

// integer reads a whole number. The documented dialect takes 2.0 for 2.
func (d *decoder) integer(n *json5.Node, lo, hi int64) int {
	v := int64(0)
	switch {
	case n.Kind == json5.Int:
		v = n.Int()
	case n.Kind == json5.Float && !d.ref && n.Float() == math.Trunc(n.Float()):
		v = int64(min(max(n.Float(), -1<<62), 1<<62))
	case n.Kind == json5.Float:
		d.bad(n, "expected an integer, found %s", strconv.FormatFloat(n.Float(), 'g', -1, 64))
		return 0
	default:
		d.bad(n, "expected an integer, found %s", n.Kind)
		return 0
	}
	// What is only too far away is taken as far as it goes; a size below
	// zero means nothing.
	if !d.ref && (v > hi || v < lo && lo < 0) {
		to := min(max(v, lo), hi)
		d.warn(n.Pos, CodeRange, "", "number outside %d…%d, read as %d", lo, hi, to)
		return int(to)
	}
	if v < lo || v > hi {
		d.bad(n, "%d is outside %d…%d", v, lo, hi)
		return 0
	}
	return int(v)
}

const maxInt = 1<<31 - 1

func (d *decoder) unsigned(n *json5.Node) int { return d.integer(n, 0, maxInt) }
func (d *decoder) signed(n *json5.Node) int   { return d.integer(n, -maxInt-1, maxInt) }

// coord reads a coordinate; the reference knows no negative ones.
func (d *decoder) coord(n *json5.Node) int {
	if d.ref {
		return d.unsigned(n)
	}
	return d.signed(n)
}

// edge reads a coordinate or size of a box, which may reach far beyond what is drawn.
func (d *decoder) edge(n *json5.Node) int { return d.integer(n, -1<<53, 1<<53) }

// list walks an array.
func (d *decoder) list(n *json5.Node, f func(*json5.Node)) {
	if n.Kind != json5.Array {
		d.bad(n, "expected a list, found %s", n.Kind)
		return
	}
	for i := range n.Items {
		f(&n.Items[i])
	}
}

// listOf reads the elements of an array.
func listOf[T any](d *decoder, n *json5.Node, read func(*json5.Node) T) []T {
	out := make([]T, 0, len(n.Items))
	d.list(n, func(v *json5.Node) { out = append(out, read(v)) })
	return out
}

// membersOf reads the members of a map, as entries walks it.
func membersOf[T any](d *decoder, n *json5.Node, read func(json5.Key, *json5.Node) T) []T {
	out := make([]T, 0, len(n.Items))
	d.entries(n, func(k json5.Key, v *json5.Node) { out = append(out, read(k, v)) })
	return out
}

func (d *decoder) strings(n *json5.Node) []string { return listOf(d, n, d.str) }

// tuple reads a list of exactly as many numbers as dst is long.
func (d *decoder) tuple(n *json5.Node, read func(*decoder, *json5.Node) int, dst []int) {
	if n.Kind != json5.Array || len(n.Items) != len(dst) {
		found := n.Kind.String()
		if n.Kind == json5.Array {
			found = fmt.Sprintf("a list of %d", len(n.Items))
		}
		d.bad(n, "expected a list of %s, found %s", humanize.Count(len(dst), "number"), found)
		return
	}
	for i := range dst {
		dst[i] = read(d, &n.Items[i])
	}
}

func (d *decoder) pair(n *json5.Node, read func(*decoder, *json5.Node) int) *[2]int {
	var p [2]int
	d.tuple(n, read, p[:])
	return &p
}

// oneOf reads a string out of a fixed set.
func (d *decoder) oneOf(n *json5.Node, allowed ...string) string {
	s := d.str(n)
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	if d.err == "" {
		d.bad(n, "%q is not one of %v", s, allowed)
	}
	return s
}

// object decodes one top-level object and registers it. False means that the
// reference reads no further.
func (d *Document) object(n *json5.Node) bool {
	line, column := d.lines.At(n.Pos)
	o := Object{Line: line, Column: column, Node: n}
	dec := &decoder{ref: d.dialect == Reference}
	dec.sink = sink{doc: d, list: &d.diags}
	dec.notes = sink{doc: d, list: &d.notes}
	if n.Kind != json5.Object {
		dec.fail(n.Pos, CodeSyntax, "", "expected an object at the top level, found %s", n.Kind)
		return !dec.ref
	}
	t := n.Get("type")
	if t == nil || t.Kind != json5.String {
		dec.fail(n.Pos, CodeMissingType, `add type: "sprite", or another of palette, variant, composition, animation`, "the object has no type")
		return !dec.ref
	}
	kind := t.Text
	if kind == "state_rules" && !dec.ref {
		kind = string(KindStateRules)
	}
	o.Kind = Kind(kind)
	if nm := n.Get("name"); nm != nil && nm.Kind == json5.String {
		o.Name = nm.Text
	}
	if o.Kind == KindImport {
		if from := n.Get("from"); from != nil && from.Kind == json5.String {
			o.Name = from.Text
		}
	}
	dec.object = o.title()
	dec.notes.object = dec.object
	if !dec.typed(&o, n) {
		names := make([]string, 0, 9)
		for _, k := range Kinds() {
			names = append(names, string(k))
		}
		help := didYouMean(strings.ToLower(kind), names)
		if i := slices.Index(names, strings.ToLower(kind)); i >= 0 {
			help = "did you mean " + names[i] + "?"
		}
		if help == "" {
			help = "use one of " + strings.Join(names, ", ")
		}
		dec.warn(n.Pos, CodeUnknownType, help, "unknown type %q", kind)
		return !dec.ref
	}
	if dec.err != "" {
		dec.fail(dec.errAt, CodeSyntax, "", "failed to parse %s: %s", kind, dec.err)
		return !dec.ref
	}
	d.objects = append(d.objects, o)
	d.register(&d.objects[len(d.objects)-1], dec, n.Pos)
	return true
}

// typed decodes by kind; false for a kind that does not exist.
func (d *decoder) typed(o *Object, n *json5.Node) bool {
	switch o.Kind {
	case KindPalette:
		o.Palette = d.palette(n)
	case KindSprite:
		o.Sprite = d.sprite(n)
	case KindVariant:
		o.Variant = d.variant(n)
	case KindComposition:
		o.Composition = d.composition(n)
	case KindAnimation:
		o.Animation = d.animation(n)
	case KindStateRules:
		o.StateRules = d.stateRules(n)
	case KindParticle:
		o.Particle = d.particle(n)
	case KindTransform:
		d.transformObject(n)
	case KindImport:
		d.importObject(n)
	default:
		return false
	}
	return true
}

// register enters the object under its name and tells of names used twice.
func (d *Document) register(o *Object, dec *decoder, pos int32) {
	twice := false
	switch o.Kind {
	case KindPalette:
		twice = enter(d.palettes, o.Palette.Name, o.Palette)
	case KindSprite:
		twice = enter(d.sprites, o.Name, o.Sprite)
	case KindVariant:
		twice = enter(d.variants, o.Name, o.Variant)
	case KindComposition:
		twice = enter(d.compositions, o.Name, o.Composition)
	case KindAnimation:
		twice = enter(d.animations, o.Name, o.Animation)
	default: // nothing refers to the others by name
	}
	switch {
	case !twice:
	case o.Kind == KindPalette, o.Kind == KindVariant: // the reference does not tell
		dec.notes.warn(pos, CodeDuplicateName, "rename one of them", "duplicate %s name %q; the last one wins", o.Kind, o.Name)
	default:
		dec.warn(pos, CodeDuplicateName, "rename one of them", "duplicate name; the last definition wins")
	}
}

// enter puts an object under its name, and reports whether another stood there.
func enter[T any](all map[string]*T, name string, object *T) (twice bool) {
	_, twice = all[name]
	all[name] = object
	return twice
}
