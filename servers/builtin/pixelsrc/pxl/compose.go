package pxl

import (
	"image"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
)

// cell is what a symbol of a composition stands for; b is nil for nothing.
type cell struct {
	b     *bitmap
	name  string
	solid bool // every pixel is opaque
}

// composing is one composition under construction.
type composing struct {
	r     *renderer
	c     *Composition
	s     *sink
	cells map[string]cell
	w, h  int
	skip  []string        // symbols that contain the composition itself
	big   map[string]bool // symbols told to exceed the cell
	lost  map[string]bool // symbols told to be unknown
}

func (r *renderer) renderComposition(res *Result, c *Composition) error {
	b, _ := r.compose(c)
	res.Native = image.Pt(b.w, b.h)
	out, name := r.smoothPlain(b)
	res.Antialias = name
	m, err := enlarge(out, r.opt.Scale)
	if err != nil {
		return err
	}
	res.Frames = []frames.Frame{{Image: m, Name: c.Name}}
	return nil
}

// compose draws a composition. ok is false when it contains itself.
func (r *renderer) compose(c *Composition) (b *bitmap, ok bool) {
	object := "composition " + strconv.Quote(c.Name)
	s := r.sink(object)
	if b, ok := r.comps[c.Name]; ok {
		return b, true
	}
	if i := slices.Index(r.stack, c.Name); i >= 0 || len(r.stack) >= maxComposition {
		path := strings.Join(append(r.stack[max(i, 0):], c.Name), " -> ")
		if i >= 0 {
			s.fail(c.pos, CodeCycle, "remove one of them from the cycle", "it contains itself: %s; the layer is skipped", path)
		} else {
			s.fail(c.pos, CodeCycle, "", "compositions nest deeper than %d: %s; the layer is skipped", maxComposition, path)
		}
		return nil, false
	}
	r.stack = append(r.stack, c.Name)
	k := &composing{r: r, c: c, s: s, cells: map[string]cell{}, big: map[string]bool{}, lost: map[string]bool{}}
	b = k.run()
	r.stack = r.stack[:len(r.stack)-1]
	if r.comps == nil {
		r.comps = map[string]*bitmap{}
	}
	r.comps[c.Name] = b
	return b, true
}

// member draws what a name in a composition means: a sprite, a variant, and in the
// documented dialect a composition. A name that means nothing is one transparent pixel.
func (r *renderer) member(name string, pos int32, s *sink) (*bitmap, bool) {
	if b := r.named(name, member); b != nil {
		return b, true
	}
	if c := r.doc.compositions[name]; c != nil && !r.reference() {
		return r.compose(c)
	}
	s.warn(pos, CodeMissingSprite, r.suggest(s, name, KindSprite, KindVariant, KindComposition), "no sprite %q", name)
	return standIn(false), true
}

func (k *composing) run() *bitmap {
	var base *bitmap
	if k.c.Base != "" {
		base, _ = k.r.member(k.c.Base, k.c.pos, k.s)
	}
	for _, sym := range k.c.Symbols {
		if sym.None {
			k.cells[sym.Key] = cell{}
			continue
		}
		b, ok := k.r.member(sym.Name, sym.Pos, k.s)
		k.cells[sym.Key] = cell{b: b, name: sym.Name, solid: b != nil && b.solid()}
		if !ok {
			k.skip = append(k.skip, sym.Key)
		}
	}
	if !k.size(base) {
		return standIn(false)
	}
	out := newBitmap(k.w, k.h, false)
	if base != nil {
		out.blend(base, 0, 0, nil, 1, false)
	}
	for i := range k.c.Layers {
		if !k.r.budget.left() {
			break
		}
		k.layer(out, &k.c.Layers[i])
	}
	return out
}

// columns and rows of a layer's map.
func extent(l *Layer) (columns, rows int) {
	for _, line := range l.Map {
		columns = max(columns, utf8.RuneCountInString(line))
	}
	return columns, len(l.Map)
}

// size works out the canvas: as given, else the base's, else what the layers need.
func (k *composing) size(base *bitmap) bool {
	cw, ch := k.c.CellSize[0], k.c.CellSize[1]
	switch {
	case k.c.Size != nil:
		k.w, k.h = k.c.Size[0], k.c.Size[1]
	case base != nil:
		k.w, k.h = base.w, base.h
	default:
		for i := range k.c.Layers {
			l := &k.c.Layers[i]
			columns, rows := extent(l)
			k.w, k.h = max(k.w, columns*cw), max(k.h, rows*ch)
			if l.Sprite != "" && (k.r.doc.sprites[l.Sprite] != nil || k.r.doc.variants[l.Sprite] != nil) {
				if b, ok := k.r.member(l.Sprite, l.Pos, k.s); ok {
					k.w, k.h = max(k.w, l.X+b.w), max(k.h, l.Y+b.h)
				}
			}
		}
	}
	if k.w < 1 || k.h < 1 {
		k.s.fail(k.c.pos, CodeMissingSize, "add size: [width, height], a base or a map", "its size cannot be determined")
		return false
	}
	if err := fits(k.w, k.h); err != nil {
		k.s.fail(k.c.pos, CodeSize, "use 1 to 4096 pixels a side and at most 4,194,304 in total", "invalid size %d×%d", k.w, k.h)
		return false
	}
	if n := k.w * k.h; !k.r.spend(k.s, k.c.pos, n, n) {
		return false
	}
	if k.gridded() && (k.w%cw != 0 || k.h%ch != 0) {
		k.s.warn(k.c.pos, CodeCell, "make the size a multiple of the cell", "its size %d×%d is not a multiple of its cell size %d×%d", k.w, k.h, cw, ch)
	}
	return true
}

func (k *composing) gridded() bool { return k.c.CellSize != [2]int{1, 1} }

// layer draws one layer onto the canvas.
func (k *composing) layer(out *bitmap, l *Layer) {
	mode, opacity := k.look(l)
	if l.HasMap && k.gridded() {
		columns, rows := extent(l)
		if w, h := k.w/k.c.CellSize[0], k.h/k.c.CellSize[1]; columns != w || rows != h {
			k.s.warn(l.MapPos, CodeCell, "give every cell a character", "the map has %d×%d cells, but the canvas has %d×%d", columns, rows, w, h)
		}
	}
	if l.Sprite != "" {
		b, ok := k.r.member(l.Sprite, l.Pos, k.s)
		if !ok {
			return
		}
		b = k.transform(b, l)
		k.r.spend(k.s, l.Pos, out.blend(b, l.X, l.Y, mode, opacity, false)+1, 0)
	}
	if k.skips(l) {
		return
	}
	if len(l.Transform) > 0 && !k.r.reference() && (l.HasMap || l.Fill != "") {
		if !k.r.spend(k.s, l.Pos, k.w*k.h, 0) {
			return
		}
		own := newBitmap(k.w, k.h, false)
		k.cellsOf(own, l, nil, 1)
		k.r.spend(k.s, l.Pos, out.blend(k.transform(own, l), 0, 0, mode, opacity, false), 0)
		return
	}
	k.cellsOf(out, l, mode, opacity)
}

func (k *composing) transform(b *bitmap, l *Layer) *bitmap {
	if len(l.Transform) == 0 || k.r.reference() {
		return b
	}
	e := effect{r: k.r, s: k.s, dial: k.r.doc.dialect, colors: &tokens{}}
	return e.run(b.plain(needsTokens(l.Transform)), l.Transform)
}

// skips reports whether a symbol of the layer contains the composition itself.
func (k *composing) skips(l *Layer) bool {
	for _, key := range k.skip {
		if key == l.Fill || slices.ContainsFunc(l.Map, func(line string) bool { return strings.Contains(line, key) }) {
			return true
		}
	}
	return false
}

// cellsOf draws the fill and the map of a layer.
func (k *composing) cellsOf(out *bitmap, l *Layer, mode blendMode, opacity float32) {
	cw, ch := k.c.CellSize[0], k.c.CellSize[1]
	if l.Fill != "" && !k.r.reference() {
		for y := 0; y < k.h; y += ch {
			for x := 0; x < k.w; x += cw {
				if !k.cell(out, l, l.Fill, x, y, mode, opacity) {
					return
				}
			}
		}
	}
	for row, line := range l.Map {
		column := 0
		for i, c := range line {
			key := line[i : i+utf8.RuneLen(c)]
			if !k.cell(out, l, key, column*cw, row*ch, mode, opacity) {
				return
			}
			column++
		}
	}
}

// cell draws one symbol; false when the work of this call is used up.
func (k *composing) cell(out *bitmap, l *Layer, key string, x, y int, mode blendMode, opacity float32) bool {
	c, ok := k.cells[key]
	if !ok {
		if !k.lost[key] {
			k.lost[key] = true
			k.s.warn(l.MapPos, CodeSymbol, "add it to sprites; use null for an empty cell", "character %q is not in sprites", key)
		}
		return true
	}
	if c.b == nil {
		return true
	}
	if k.gridded() && (c.b.w > k.c.CellSize[0] || c.b.h > k.c.CellSize[1]) && !k.big[key] {
		k.big[key] = true
		k.s.warn(l.MapPos, CodeCell, "enlarge cell_size or shrink the sprite", "sprite %q (%d×%d) is larger than its cell (%d×%d)", c.name, c.b.w, c.b.h, k.c.CellSize[0], k.c.CellSize[1])
	}
	return k.r.spend(k.s, k.c.pos, out.blend(c.b, x, y, mode, opacity, c.solid)+1, 0)
}

// look works out blend mode and opacity of a layer.
func (k *composing) look(l *Layer) (blendMode, float32) {
	blend, opacity := l.Blend, l.Opacity
	if !k.r.reference() {
		blend = k.variable(blend, l.blendPos)
		if l.OpacityText != "" {
			text := k.variable(l.OpacityText, l.opacityPos)
			percent := strings.HasSuffix(text, "%")
			v, ok := number(strings.TrimSuffix(text, "%"))
			if percent {
				v /= 100
			}
			if opacity = v; !ok {
				opacity = 1
				k.s.warn(l.opacityPos, CodeBlend, "write a number from 0 to 1", "opacity %s is not a number; using 1", quoted(text))
			}
		}
	} else if l.OpacityText != "" {
		k.s.warn(l.opacityPos, CodeBlend, "write a number from 0 to 1", "opacity %s is not a number; using 1", quoted(l.OpacityText))
	}
	mode, ok := blendOf(blend)
	if !ok {
		k.s.warn(l.blendPos, CodeBlend, "use normal, multiply, screen, overlay, add, subtract, difference, darken or lighten", "unknown blend mode %s; using normal", quoted(blend))
	}
	return mode, float32(opacity)
}

// variable replaces var() by the variables of the file's palettes.
func (k *composing) variable(text string, pos int32) string {
	if !strings.Contains(text, "var(") {
		return strings.TrimSpace(text)
	}
	out, err := k.r.doc.allVariables().resolve(text)
	if err != nil {
		k.s.warn(pos, CodeBlend, "define it in a palette of the file", "%s: %v", quoted(text), err)
		return ""
	}
	return strings.TrimSpace(out)
}

// allVariables gathers the variables of every palette of the file; the last definition holds.
func (d *Document) allVariables() *variables {
	var all []Entry
	for i := range d.objects {
		if p := d.objects[i].Palette; p != nil {
			all = append(all, p.Colors...)
		}
	}
	return variablesOf(all)
}
