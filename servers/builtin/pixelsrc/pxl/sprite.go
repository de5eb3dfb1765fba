package pxl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
)

// way says on which way a sprite is drawn; the reference treats them differently.
type way uint8

const (
	alone  way = iota // asked for by name
	member            // of a composition
	frame             // of an animation
)

// renderer draws objects of one document for one call.
type renderer struct {
	doc      *Document
	diags    []Diagnostic
	opt      RenderOptions
	states   []string
	tokens   bool
	checking bool // drawn to find out what is wrong
	arena    *shape.Arena
	sprites  map[string]*picture
	comps    map[string]*bitmap
	stack    []string // compositions being drawn
	budget   budget
}

// picture is a drawn sprite with what later steps need to know of it.
type picture struct {
	b      *bitmap
	recipe *recipe
	names  []string // token of every region number
	shapes []shape.Set
	order  []int
}

// recipe is a sprite with its source followed and its palette worked out.
type recipe struct {
	object  string
	pos     int32
	sizePos int32
	sprite  *Sprite
	regions []Region
	has     bool // there are regions, perhaps none
	size    *[2]int
	colors  *tokens
	steps   []Op // sprite transforms, those of variants behind those of their base
}

func (r *renderer) sink(object string) *sink {
	return &sink{doc: r.doc, object: object, list: &r.diags}
}

func (r *renderer) reference() bool { return r.doc.dialect == Reference }

// lookup finds a sprite or variant by name and works out how to draw it; nil when there is none.
func (r *renderer) lookup(kind Kind, name string, w way) *recipe {
	if s, ok := r.doc.sprites[name]; ok && kind != KindVariant {
		return r.spriteRecipe(s, w, nil)
	}
	if v, ok := r.doc.variants[name]; ok && kind != KindSprite {
		if r.reference() && w == frame {
			return nil
		}
		return r.variantRecipe(v, w, nil)
	}
	return nil
}

// named draws the sprite or variant of a name, once where it stands for the same on every way;
// nil when there is none.
func (r *renderer) named(name string, w way) *bitmap {
	keep := w == member || !r.reference()
	if p, ok := r.sprites[name]; ok && keep {
		return p.b
	}
	rec := r.lookup("", name, w)
	if rec == nil {
		return nil
	}
	p := r.draw(rec, r.reference())
	r.applyStates(p)
	if r.sprites == nil {
		r.sprites = map[string]*picture{}
	}
	if keep {
		r.sprites[name] = p
	}
	return p.b
}

// spriteRecipe follows the chain of sources. via is the names on the way here.
func (r *renderer) spriteRecipe(s *Sprite, w way, via []string) *recipe {
	object := "sprite " + strconv.Quote(s.Name)
	out := &recipe{
		object: object, pos: s.pos, sizePos: s.sizePos, sprite: s, regions: s.Regions, has: s.HasRegions,
		size: s.Size, steps: s.Transform,
	}
	if s.Palette != nil || s.Source == "" {
		out.colors = r.doc.paletteOf(s.Palette, object)
	}
	if s.Source == "" || (r.reference() && w == frame) {
		out.colors = cmp.Or(out.colors, &tokens{missing: true})
		return out
	}
	out.regions, out.has = nil, false
	var from *recipe
	switch base := r.doc.sprites[s.Source]; {
	case slices.Contains(via, s.Name) || len(via) > maxNesting:
		r.sink(object).fail(s.pos, CodeMissingSource, "give one of them regions of its own", "its source refers back to itself: %s", strings.Join(append(via, s.Name), " -> "))
		out.size = &[2]int{1, 1}
		out.has = true
	case base != nil:
		from = r.spriteRecipe(base, w, append(via, s.Name))
	case !r.reference() && r.doc.variants[s.Source] != nil:
		from = r.variantRecipe(r.doc.variants[s.Source], w, append(via, s.Name))
	default:
		r.sink(object).fail(s.pos, CodeMissingSource, r.suggest(r.sink(object), s.Source, KindSprite), "its source %q does not exist", s.Source)
	}
	if from != nil {
		out.regions, out.has, out.size = from.regions, from.has, cmp.Or(out.size, from.size)
		out.colors = cmp.Or(out.colors, from.colors)
	}
	out.colors = cmp.Or(out.colors, &tokens{missing: true})
	return out
}

// names lists the names of a kind of object in the order of the text.
func (d *Document) names(kinds ...Kind) []string {
	var out []string
	seen := map[string]bool{}
	for i := range d.objects {
		if name := d.objects[i].Name; slices.Contains(kinds, d.objects[i].Kind) && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// suggest asks whether a known name was meant, unless nothing more is reported.
func (r *renderer) suggest(s *sink, name string, kinds ...Kind) string {
	if len(*s.list) >= maxDiagnostics {
		return ""
	}
	return s.meant(name, r.doc.names(kinds...))
}

// variantRecipe lays the variant's colours over those of its base.
func (r *renderer) variantRecipe(v *Variant, w way, via []string) *recipe {
	object := "variant " + strconv.Quote(v.Name)
	missing := func(help, format string, args ...any) *recipe {
		r.sink(object).fail(v.basePos, CodeMissingBase, help, format, args...)
		return &recipe{object: object, pos: v.pos, sizePos: v.pos, sprite: &Sprite{Name: v.Name}, has: true, size: &[2]int{1, 1}, colors: &tokens{}}
	}
	var base *recipe
	if s := r.doc.sprites[v.Base]; s != nil {
		base = r.baseRecipe(s, w)
	} else if b := r.doc.variants[v.Base]; b != nil && !r.reference() {
		if slices.Contains(via, v.Name) || len(via) >= maxComposition {
			return missing("base one of them on a sprite", "its base refers back to itself: %s", strings.Join(append(via, v.Name), " -> "))
		}
		base = r.variantRecipe(b, w, append(via, v.Name))
	} else {
		return missing(r.suggest(r.sink(object), v.Base, KindSprite, KindVariant), "its base %q does not exist", v.Base)
	}
	out := *base
	out.object, out.pos = object, v.pos
	out.colors = r.recolour(v, base)
	if !r.reference() {
		out.steps = append(slices.Clip(base.steps), v.Transform...)
	}
	return &out
}

// baseRecipe is the sprite under a variant. The reference takes it as written: a
// base with a source has no regions, and transforms do not carry over.
func (r *renderer) baseRecipe(s *Sprite, w way) *recipe {
	if !r.reference() {
		return r.spriteRecipe(s, w, nil)
	}
	out := r.spriteRecipe(s, frame, nil)
	out.steps = nil
	return out
}

// recolour makes the palette of a variant.
func (r *renderer) recolour(v *Variant, base *recipe) *tokens {
	d := r.doc
	object := "variant " + strconv.Quote(v.Name)
	over := &PaletteRef{Inline: v.Palette, IsMap: true, Pos: v.pos}
	var changes *tokens
	switch {
	case v.PaletteRef != "":
		over.Name, over.IsMap = v.PaletteRef, false
		changes = d.paletteOf(over, object)
	case r.reference():
		changes = d.raw(object, v.Palette)
	default:
		d.mu.Lock()
		entries := append(d.variableEntries(base.sprite.Palette), v.Palette...)
		changes = d.build(object, entries, nil, nil)
		d.mu.Unlock()
	}
	out := base.colors.clone()
	out.missing = out.missing && len(changes.names) == 0
	if changes.missing {
		out.diags = append(slices.Clip(out.diags), changes.diags...)
		return out
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, name := range changes.names {
		p := d.parse(changes.values[i])
		if changes.bad[i] {
			p = parsed{changes.colours[i], errText("invalid")}
		}
		out.set(d.dialect, name, changes.values[i], p)
	}
	out.diags = append(slices.Clip(out.diags), changes.diags...)
	return out
}

// raw reads entries as they stand: nothing is resolved or removed.
func (d *Document) raw(object string, entries []Entry) *tokens {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &tokens{index: map[string]int{}}
	s := &sink{doc: d, object: object, list: &t.diags}
	for _, e := range entries {
		p := d.parse(e.Value)
		if p.err != nil {
			s.fail(e.Pos, CodeColour, s.colourHelp(e.Value), "colour of %s, painted magenta: %v", e.Token, p.err)
		}
		t.set(Reference, e.Token, e.Value, p)
	}
	return t
}

// variableEntries lists the variables that a sprite's palette defines.
func (d *Document) variableEntries(ref *PaletteRef) []Entry {
	var from, out []Entry
	if ref == nil {
		return nil
	}
	if from = ref.Inline; !ref.IsMap {
		if p := d.palettes[ref.Name]; p != nil {
			from = p.Colors
		}
	}
	for _, e := range from {
		if strings.HasPrefix(e.Token, "--") {
			out = append(out, e)
		}
	}
	return out
}

// draw carries out a recipe up to the sprite transforms, which are left out when
// plain is set.
func (r *renderer) draw(rec *recipe, plain bool) *picture {
	r.diags = append(r.diags, rec.colors.diags...)
	s := r.sink(rec.object)
	p := &picture{recipe: rec}
	if !r.canvas(rec, s) {
		p.b = standIn(r.tokens)
		return p
	}
	rules := r.rules(rec)
	_, smooths := r.smoothing(rec)
	needs := r.tokens || smooths || len(rules) > 0 || needsTokens(rec.steps)
	w, h := rec.size[0], rec.size[1]
	p.b = newBitmap(w, h, needs)
	r.paint(p, rec, s, rules)
	if plain || len(rec.steps) == 0 {
		return p
	}
	e := effect{r: r, s: s, dial: r.doc.dialect, colors: rec.colors, names: p.names}
	before := p.b
	if p.b = e.run(p.b, rec.steps); p.b != before {
		r.spend(s, rec.pos, 0, max(0, p.b.w*p.b.h-w*h))
	}
	return p
}

func needsTokens(ops []Op) bool {
	for i := range ops {
		if n := ops[i].Name; n == "sel-out" || n == "dither" {
			return true
		}
	}
	return false
}

// canvas checks that a sprite has regions and a size within the limits.
func (r *renderer) canvas(rec *recipe, s *sink) bool {
	if !rec.has {
		s.warn(rec.pos, CodeNoRegions, "add regions or a source", "it has no regions")
		return false
	}
	if rec.size == nil {
		s.fail(rec.pos, CodeMissingSize, "add size: [width, height]", "it has no size")
		return false
	}
	w, h := rec.size[0], rec.size[1]
	if w < 1 || h < 1 || w > MaxSide || h > MaxSide || w*h > maxArea {
		s.fail(rec.sizePos, CodeSize, "use 1 to 4096 pixels a side and at most 4,194,304 in total", "invalid size %d×%d", w, h)
		return false
	}
	return r.spend(s, rec.pos, w*h, w*h)
}

// paint rasterises the regions and paints them in z order.
func (r *renderer) paint(p *picture, rec *recipe, s *sink, rules []activeRule) {
	work := r.doc.part(maxWork)
	r.takeArena().Reset(work)
	r.arena.Stop = func() bool { return r.doc.stopped() != nil }
	d := drawing{s: s, dial: r.doc.dialect, tell: r.checking || !r.reference(), regions: rec.regions, w: p.b.w, h: p.b.h, arena: r.arena}
	d.rasterise()
	r.budget.works += work - r.arena.Left
	p.shapes = d.sets
	n := len(rec.regions)
	z := make([]int, n)
	p.order = make([]int, n)
	for i := range rec.regions {
		z[i], p.order[i] = zOf(&rec.regions[i]), i
	}
	var looks []look
	if len(rules) > 0 && r.spend(s, rec.pos, len(rules)*n, 0) {
		looks = rulesFor(rules, rec)
	}
	for i := range looks {
		if looks[i].z != nil {
			z[i] = *looks[i].z
		}
	}
	slices.SortStableFunc(p.order, func(a, b int) int { return cmp.Compare(z[a], z[b]) })
	if p.b.tok != nil {
		p.names = make([]string, n, n+1)
		for i := range rec.regions {
			p.names[i] = rec.regions[i].Token
		}
	}
	r.background(p, rec, s)
	for _, i := range p.order {
		g := &rec.regions[i]
		if i < len(looks) && looks[i].hidden {
			continue
		}
		c, ok := magenta(), false
		if k := rec.colors.find(g.Token); k >= 0 {
			c, ok = rec.colors.colours[k], true
		}
		if i < len(looks) && looks[i].color != nil {
			c, ok = *looks[i].color, true
		}
		if !ok && !rec.colors.missing {
			s.warn(g.Pos, CodeToken, s.meant(g.Token, rec.colors.names), "no token %q in the palette; painting the region magenta", g.Token)
		}
		if !r.spend(s, g.Pos, p.b.paint(d.sets[i], c, uint16(min(i, int(noToken)-1))), 0) {
			break
		}
	}
}

// takeArena gives the renderer the memory of an earlier one, if there was one.
func (r *renderer) takeArena() *shape.Arena {
	if r.arena == nil {
		var ok bool
		if r.arena, ok = r.doc.arenas.Get().(*shape.Arena); !ok {
			r.arena = shape.NewArena(0)
		}
	}
	return r.arena
}

// release hands the memory of the shapes on; no set may be used afterwards.
func (r *renderer) release() {
	if r.arena != nil {
		r.doc.arenas.Put(r.arena)
		r.arena = nil
	}
}

// background paints the sprite's background token, unless a region is the background.
func (r *renderer) background(p *picture, rec *recipe, s *sink) {
	token := rec.sprite.Background
	if token == "" || r.reference() {
		return
	}
	for i := range rec.regions {
		if rec.regions[i].Shape == ShapeBackground {
			return
		}
	}
	c := magenta()
	if k := rec.colors.find(token); k >= 0 {
		c = rec.colors.colours[k]
	} else {
		s.warn(rec.pos, CodeToken, didYouMean(token, rec.colors.names), "no token %q in the palette for the background", token)
	}
	number := noToken
	if p.b.tok != nil {
		number = uint16(min(len(p.names), int(noToken)-1))
		p.names = append(p.names, token)
	}
	p.b.paint(shape.Set(r.arena.Rect(0, 0, p.b.w, p.b.h, 0)), c, number)
}

// zOf is the height of a region: its own z, else that of its role. A background lies under everything.
func zOf(g *Region) int {
	switch {
	case g.Shape == ShapeBackground:
		return -1 << 40
	case g.Z != nil:
		return *g.Z
	}
	switch g.Role {
	case "anchor":
		return 100
	case "boundary":
		return 80
	case "shadow", "highlight":
		return 60
	case "fill":
		return 40
	}
	return 0
}
