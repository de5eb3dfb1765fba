package pixelsrc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// SpriteDiff is how one sprite differs between two sources.
type SpriteDiff struct {
	Sprite   string           `json:"sprite"`
	Status   string           `json:"status"`
	Summary  string           `json:"summary"`
	Size     *sizeChange      `json:"dimension_change,omitempty"`
	Palette  []colourChange   `json:"palette_changes,omitempty"`
	Regions  []regionChange   `json:"region_changes,omitempty"`
	Pixels   *pixelChange     `json:"pixel_changes,omitempty"`
	Metadata []metadataChange `json:"metadata_changes,omitempty"`
}

type sizeChange struct {
	Old [2]int `json:"old"`
	New [2]int `json:"new"`
}

type colourChange struct {
	Type  string `json:"type"`
	Token string `json:"token"`
	Old   string `json:"old_color,omitempty"`
	New   string `json:"new_color,omitempty"`
	Color string `json:"color,omitempty"`
}

type regionChange struct {
	Type      string  `json:"type"`
	Token     string  `json:"token"`
	OldPixels *int    `json:"old_pixels,omitempty"`
	NewPixels *int    `json:"new_pixels,omitempty"`
	OldBounds *[4]int `json:"old_bounds,omitempty"`
	NewBounds *[4]int `json:"new_bounds,omitempty"`
}

type pixelChange struct {
	Changed    int     `json:"changed"`
	Total      int     `json:"total"`
	Percentage float64 `json:"percentage"`
	Bounds     [4]int  `json:"bounds"`
}

type metadataChange struct {
	Field string  `json:"field"`
	Old   *string `json:"old"`
	New   *string `json:"new"`
}

// Comparison is how the sprites of two sources differ.
type Comparison struct {
	Sprites []json.RawMessage // each a [SpriteDiff]
	// Partial says what was left out of long lists, Problems what could not be read of
	// the sources.
	Partial, Problems []string
}

// Diff compares the sprites of two sources, or the one of a name; "" compares all.
func Diff(ctx context.Context, a, b *Source, only string) (Comparison, error) {
	sides := [2]*Source{a, b}
	var names []string
	for i, src := range sides {
		if ds := src.Diagnostics(); strings.TrimSpace(src.Text) != "" && len(src.Objects()) == 0 && len(ds) > 0 {
			return Comparison{}, Failf("Could not read source_%c: line %d: %s.", 'a'+i, ds[0].Line, ds[0].Message)
		}
		names = append(names, src.sprites()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return Comparison{}, Failf("No sprites in either source.")
	}
	if only != "" {
		if !slices.Contains(names, only) {
			return Comparison{}, Failf("%s", NotFound("Sprite", only, names))
		}
		names = []string{only}
	}
	list, size, ex := make([]json.RawMessage, 0, len(names)), 0, &excerpt{}
	for i, n := range names {
		if ctx.Err() != nil {
			break
		}
		if size > MaxListed {
			ex.note("Compared %d of %s; the rest starts at %q. Pass sprite to compare one of them.", i, humanize.Count(len(names), "sprite"), n[:min(len(n), 64)])
			break
		}
		list = append(list, json.RawMessage(JSON(diffSprite(ctx, a, b, n, ex))))
		size += len(list[len(list)-1])
	}
	var problems []string
	for i, src := range sides {
		for _, d := range src.Diagnostics() {
			if d.Severity == pxl.Error && len(problems) < maxProblems {
				problems = append(problems, fmt.Sprintf("source_%c line %d: %s", 'a'+i, d.Line, d.Message))
			}
		}
	}
	return Comparison{list, ex.notes, problems}, nil
}

// sprites lists the names of the sprites of a source.
func (src *Source) sprites() (names []string) {
	for _, o := range src.Objects() {
		if o.Kind == pxl.KindSprite {
			names = append(names, o.Name)
		}
	}
	return names
}

func diffSprite(ctx context.Context, a, b *Source, name string, ex *excerpt) SpriteDiff {
	p, inA := a.Find(pxl.KindSprite, name)
	q, inB := b.Find(pxl.KindSprite, name)
	d := SpriteDiff{Sprite: name, Status: "changed"}
	if !inA || !inB {
		d.Status = "removed"
		side := a
		if inB {
			d.Status, side, p = "added", b, q
		}
		w, h := side.declared(p.Sprite, name)
		d.Summary = fmt.Sprintf("Sprite %s (%dx%d)", d.Status, w, h)
		return d
	}
	var parts []string
	var size sizeChange
	size.Old[0], size.Old[1] = a.declared(p.Sprite, name)
	size.New[0], size.New[1] = b.declared(q.Sprite, name)
	if size.Old != size.New {
		d.Size = &size
		parts = append(parts, fmt.Sprintf("Dimensions: %dx%d → %dx%d", size.Old[0], size.Old[1], size.New[0], size.New[1]))
	}
	d.Palette = diffPalettes(a, b, p.Sprite.Palette, q.Sprite.Palette)
	if s := counts(d.Palette, func(c colourChange) string { return c.Type }, " token(s)", " color(s)"); s != "" {
		parts = append(parts, "Palette: "+s)
	}
	d.Regions, d.Pixels = diffRegions(ctx, a, b, name)
	if s := counts(d.Regions, func(c regionChange) string { return c.Type }, "", ""); s != "" {
		parts = append(parts, "Regions: "+s)
	}
	if d.Pixels != nil {
		parts = append(parts, fmt.Sprintf("Pixels: %d of %d changed", d.Pixels.Changed, d.Pixels.Total))
	}
	d.Metadata = diffMetadata(a.Text, b.Text, p.Node, q.Node)
	if n := len(d.Metadata); n > 0 {
		parts = append(parts, fmt.Sprintf("Metadata: ~%d", n))
	}
	d.Summary = strings.Join(parts, ". ")
	if len(parts) == 0 {
		d.Status, d.Summary = "unchanged", "No differences"
	}
	of := "Sprite " + name
	d.Palette, d.Regions = part(ex, of, "palette_changes", d.Palette), part(ex, of, "region_changes", d.Regions)
	return d
}

// declared is the size of a sprite, 0×0 when it has none.
func (src *Source) declared(sp *pxl.Sprite, name string) (w, h int) {
	switch {
	case sp.Size != nil:
		return sp.Size[0], sp.Size[1]
	case sp.Source != "":
		if res, err := src.Render(pxl.RenderOptions{Kind: pxl.KindSprite, Name: name}); err == nil {
			return res.Native.X, res.Native.Y
		}
	}
	return 0, 0
}

// counts writes "+1, -2, ~3" of what was added, removed and changed.
func counts[T any](list []T, kind func(T) string, tokens, colours string) string {
	n := map[string]int{}
	for _, c := range list {
		n[kind(c)]++
	}
	var parts []string
	for _, k := range [...][3]string{{"added", "+", tokens}, {"removed", "-", tokens}, {"changed", "~", colours}} {
		if n[k[0]] > 0 {
			parts = append(parts, fmt.Sprintf("%s%d%s", k[1], n[k[0]], k[2]))
		}
	}
	return strings.Join(parts, ", ")
}

// diffPalettes compares colours by what they are, not how they are written.
func diffPalettes(a, b *Source, p, q *pxl.PaletteRef) (list []colourChange) {
	type entry struct {
		value string
		c     color.NRGBA
		valid bool
	}
	read := func(s *Source, ref *pxl.PaletteRef) map[string]entry {
		m := map[string]entry{}
		all, _ := s.Colours(ref)
		for _, t := range all {
			m[pxl.Bare(t.Token)] = entry{t.Value, t.Color, t.Valid}
		}
		return m
	}
	old, now := read(a, p), read(b, q)
	for t, e := range old {
		f, ok := now[t]
		switch {
		case !ok:
			list = append(list, colourChange{Type: "removed", Token: t})
		case e.c != f.c || e.valid != f.valid || !e.valid && e.value != f.value:
			list = append(list, colourChange{Type: "changed", Token: t, Old: e.value, New: f.value})
		}
	}
	for t, f := range now {
		if _, ok := old[t]; !ok {
			list = append(list, colourChange{Type: "added", Token: t, Color: f.value})
		}
	}
	slices.SortFunc(list, func(x, y colourChange) int { return cmp.Compare(x.Token, y.Token) })
	return list
}

// diffRegions compares the regions by their pixels, z and role, and the pictures.
func diffRegions(ctx context.Context, a, b *Source, name string) (list []regionChange, pixels *pixelChange) {
	before, errA := a.Render(pxl.RenderOptions{Kind: pxl.KindSprite, Name: name, Tokens: true})
	after, errB := b.Render(pxl.RenderOptions{Kind: pxl.KindSprite, Name: name, Tokens: true})
	if errA != nil || errB != nil {
		return nil, nil
	}
	old, _ := a.Regions(name)
	now, _ := b.Regions(name)
	box := func(r image.Rectangle) *[4]int { return &[4]int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} }
	inOld, inNow := byToken(old), byToken(now)
	partner := make([]int, len(old)) // in now; -1: none
	for i, r := range old {
		partner[i] = -1
		if j, ok := inNow[pxl.Bare(r.Token)]; ok {
			partner[i] = j
		}
	}
	moved := movedRegions(ctx, before.Tokens, after.Tokens, partner, len(now))
	for i, r := range old {
		token, j := pxl.Bare(r.Token), partner[i]
		if j < 0 {
			list = append(list, regionChange{Type: "removed", Token: token, OldPixels: &old[i].Pixels, OldBounds: box(r.Bounds)})
			continue
		}
		n := now[j]
		if r.Bounds != n.Bounds || r.Pixels != n.Pixels || r.Z != n.Z || r.Role != n.Role || moved(i, j) {
			list = append(list, regionChange{
				Type: "changed", Token: token, OldPixels: &old[i].Pixels, NewPixels: &now[j].Pixels,
				OldBounds: box(r.Bounds), NewBounds: box(n.Bounds),
			})
		}
	}
	for j, n := range now {
		token := pxl.Bare(n.Token)
		if _, ok := inOld[token]; !ok {
			list = append(list, regionChange{Type: "added", Token: token, NewPixels: &now[j].Pixels, NewBounds: box(n.Bounds)})
		}
	}
	slices.SortStableFunc(list, func(x, y regionChange) int { return cmp.Compare(x.Token, y.Token) })
	return list, diffPixels(before.Image(), after.Image())
}

// byToken finds regions by their tokens, the first of each.
func byToken(regions []pxl.RegionInfo) map[string]int {
	at := make(map[string]int, len(regions))
	for i := range regions {
		token := pxl.Bare(regions[i].Token)
		if _, ok := at[token]; !ok {
			at[token] = i
		}
	}
	return at
}

// movedRegions tells of region i of one picture and its partner in another whether
// they show at different pixels. It looks at each pixel once.
func movedRegions(ctx context.Context, p, q *pxl.TokenMap, partner []int, others int) func(i, j int) bool {
	if p == nil || q == nil {
		return func(int, int) bool { return p != q }
	}
	one, other := make([]bool, len(partner)), make([]bool, others)
	for y := range max(p.Height, q.Height) {
		if ctx.Err() != nil {
			break
		}
		for x := range max(p.Width, q.Width) {
			i, j := p.At(x, y), q.At(x, y)
			known, seen := i >= 0 && i < len(partner), j >= 0 && j < others
			if known && seen && partner[i] == j {
				continue
			}
			if known {
				one[i] = true
			}
			if seen {
				other[j] = true
			}
		}
	}
	return func(i, j int) bool { return one[i] || other[j] }
}

// diffPixels compares pictures on the larger canvas; nil when they are equal.
func diffPixels(p, q *image.NRGBA) *pixelChange {
	w, h := max(p.Rect.Dx(), q.Rect.Dx()), max(p.Rect.Dy(), q.Rect.Dy())
	at := func(img *image.NRGBA, x, y int) color.NRGBA {
		if x >= img.Rect.Dx() || y >= img.Rect.Dy() {
			return color.NRGBA{}
		}
		return pixel(img, x, y)
	}
	d := pixelChange{Total: w * h}
	var box image.Rectangle
	for y := range h {
		for x := range w {
			if at(p, x, y) != at(q, x, y) {
				d.Changed++
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if d.Changed == 0 {
		return nil
	}
	d.Percentage = percent(d.Changed, d.Total)
	d.Bounds = [4]int{box.Min.X, box.Min.Y, box.Dx(), box.Dy()}
	return &d
}

// diffMetadata compares the fields that do not show in the regions' pixels.
func diffMetadata(textA, textB string, a, b *json5.Node) (list []metadataChange) {
	fields := [...]string{"origin", "boxes", "attach_in", "attach_out", "nine_slice", "transform", "source", "antialias", "state-rules", "background"}
	read := func(text string, n *json5.Node, field string) *string {
		v := n.Get(field)
		if m := n.Get("metadata"); v == nil && m != nil && m.Kind == json5.Object {
			v = m.Get(field)
		}
		if v == nil || v.Kind == json5.Null || int(v.End) > len(text) {
			return nil
		}
		f := &formatter{src: text, lines: json5.NewLines(text)}
		f.value(v, sortNames)
		s := f.out.String()
		return &s
	}
	for _, field := range fields {
		old, now := read(textA, a, field), read(textB, b, field)
		if (old == nil) != (now == nil) || old != nil && *old != *now {
			list = append(list, metadataChange{field, old, now})
		}
	}
	return list
}
