package pixelsrc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Explanation describes objects of a source.
type Explanation struct {
	JSON string // of one object, or a list of several
	Text string // the same to read
	Note string // what was left out and how to get it; "" for nothing
}

// Explain describes the objects of a source, or the one of a name when that is not
// nil; a built-in palette has a name with @. Of all objects the first from are skipped,
// of one as many entries of its lists.
func (src *Source) Explain(ctx context.Context, name *string, from int) (Explanation, error) {
	ex := &excerpt{}
	skip := max(from, 0)
	if name != nil {
		ex.from, skip = skip, 0
		if d := explainBuiltin(*name, ex); d != nil {
			return ex.of(JSON(d), d.text()), nil
		}
	}
	var names []string
	var found []json.RawMessage
	var texts []string
	size, chosen := 0, 0
	for _, o := range src.Objects() {
		title := o.Name
		if o.Kind == pxl.KindImport {
			title = word(o.Node, "from")
		}
		names = append(names, title)
		if name != nil && title != *name {
			continue
		}
		if chosen++; chosen <= skip || size > MaxListed || ctx.Err() != nil {
			continue
		}
		data, text := src.explain(&o, ex)
		found = append(found, json.RawMessage(JSON(data)))
		texts = append(texts, text)
		size += len(found[len(found)-1]) + len(text)
	}
	switch {
	case len(names) == 0:
		if ds := src.Diagnostics(); len(ds) > 0 {
			return Explanation{}, Failf("Could not read any object: line %d: %s.", ds[0].Line, ds[0].Message)
		}
		return Explanation{}, Failf("No objects in the source: it is empty.")
	case len(found) == 0 && skip > 0:
		return Explanation{}, Failf("The source has %s; from=%d is past the end.", humanize.Count(chosen, "object"), skip)
	case len(found) == 0:
		return Explanation{}, Failf("%s", NotFound("Object", *name, names))
	}
	if upTo := skip + len(found); skip > 0 || upTo < chosen {
		ex.notes = append([]string{fmt.Sprintf("Objects %d to %d of %d.", skip+1, upTo, chosen)}, ex.notes...)
		if upTo < chosen {
			ex.notes[0] += fmt.Sprintf(" Call again with from=%d for more, or with name for a single object.", upTo)
		}
	}
	data := string(found[0])
	if len(found) > 1 {
		data = JSON(found)
	}
	return ex.of(data, strings.Join(texts, "\n"+strings.Repeat("=", 40)+"\n\n")), nil
}

// of is an explanation with a note of what was left out.
func (e *excerpt) of(data, text string) Explanation {
	x := Explanation{JSON: data, Text: text}
	if len(e.notes) > 0 {
		x.Note = strings.Join(e.notes, "\n") + fmt.Sprintf("\nLong lists are cut to %d entries; pass the object's name and from=%d for more.", MaxEntries, e.from+MaxEntries)
	}
	return x
}

// swatch is a token with its colour.
type swatch struct {
	Token     string  `json:"token"`
	Color     string  `json:"color"`
	ColorName *string `json:"color_name"`
}

func swatchOf(token string, c color.NRGBA, valid bool, text string) swatch {
	s := swatch{Token: token, Color: text}
	if valid {
		s.Color = colour.Hex(c)
		name := colourName(c)
		s.ColorName = &name
	}
	return s
}

// PaletteData is a palette, explained.
type PaletteData struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Count   int      `json:"color_count"`
	Colors  []swatch `json:"colors"`
	Builtin bool     `json:"is_builtin"`
}

// explainBuiltin describes the palette of a name with @, nil when there is none.
func explainBuiltin(name string, ex *excerpt) *PaletteData {
	plain, ok := strings.CutPrefix(name, "@")
	p, known := pxl.Builtin(plain)
	if !ok || !known {
		return nil
	}
	d := &PaletteData{Type: "palette", Name: name, Builtin: true}
	for _, e := range p.Colors {
		c, err := colour.Parse(e.Value)
		d.Colors = append(d.Colors, swatchOf(pxl.Bare(e.Token), c, err == nil, e.Value))
	}
	d.finish(ex)
	return d
}

func (d *PaletteData) finish(ex *excerpt) {
	d.Count = len(d.Colors)
	slices.SortFunc(d.Colors, func(a, b swatch) int { return cmp.Compare(a.Token, b.Token) })
	d.Colors = part(ex, "Palette "+d.Name, "colors", d.Colors)
}

func (d *PaletteData) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Palette: %s\nColors: %d\n\nCOLOR MAPPINGS\n", d.Name, d.Count)
	writeSwatches(&b, d.Colors)
	return b.String()
}

func writeSwatches(b *strings.Builder, list []swatch) {
	for _, s := range list {
		name := "not a colour"
		if s.ColorName != nil {
			name = *s.ColorName
		}
		fmt.Fprintf(b, "  %-12s %-9s %s\n", s.Token, s.Color, name)
	}
}

// explain gives an object as data and as text.
func (src *Source) explain(o *pxl.Object, ex *excerpt) (data any, text string) {
	switch o.Kind {
	case pxl.KindPalette:
		d := &PaletteData{Type: "palette", Name: o.Name, Colors: []swatch{}}
		list, _ := src.Colours(&pxl.PaletteRef{Name: o.Name})
		for _, t := range list {
			d.Colors = append(d.Colors, swatchOf(t.Token, t.Color, t.Valid, t.Value))
		}
		d.finish(ex)
		return d, d.text()
	case pxl.KindSprite:
		return src.explainSprite(o, ex)
	case pxl.KindVariant:
		return explainVariant(o, ex)
	case pxl.KindComposition:
		return explainComposition(o, ex)
	case pxl.KindAnimation:
		return src.explainAnimation(o, ex)
	default:
		return explainOther(o)
	}
}

type tokenData struct {
	Token      string  `json:"token"`
	Count      int     `json:"count"`
	Percentage float64 `json:"percentage"`
	Color      string  `json:"color"`
	ColorName  *string `json:"color_name"`
}

type regionData struct {
	Token     string   `json:"token"`
	Shape     string   `json:"shape"`
	Bounds    [4]int   `json:"bounds"`
	Z         int      `json:"z"`
	Role      string   `json:"role,omitempty"`
	Pixels    int      `json:"pixels"`
	Visible   int      `json:"visible_pixels"`
	Modifiers []string `json:"modifiers,omitempty"`
}

type paletteInfo struct {
	Name    string `json:"name"`
	Builtin bool   `json:"builtin"`
	Colors  int    `json:"colors"`
}

// SpriteData is a sprite, explained.
type SpriteData struct {
	Type         string       `json:"type"`
	Name         string       `json:"name"`
	Width        int          `json:"width"`
	Height       int          `json:"height"`
	Cells        int          `json:"total_cells"`
	PaletteRef   string       `json:"palette_ref"`
	Palette      paletteInfo  `json:"palette"`
	Tokens       []tokenData  `json:"tokens"`
	Clear        int          `json:"transparent_count"`
	Transparency float64      `json:"transparency_ratio"`
	Consistent   bool         `json:"consistent_rows"`
	Regions      []regionData `json:"regions"`
	Issues       []string     `json:"issues"`
	Description  string       `json:"description"`

	unique int // tokens, before those of an excerpt were chosen
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return math.Round(1000*float64(n)/float64(of)) / 10
}

func (src *Source) explainSprite(o *pxl.Object, ex *excerpt) (any, string) {
	d := &SpriteData{Type: "sprite", Name: o.Name, Consistent: true, Tokens: []tokenData{}, Regions: []regionData{}, Issues: []string{}}
	if o.Sprite.Size != nil {
		d.Width, d.Height = o.Sprite.Size[0], o.Sprite.Size[1]
	}
	d.Cells = d.Width * d.Height
	src.describePalette(d, o.Sprite.Palette)
	regions, err := src.Regions(o.Name)
	if err != nil {
		d.Issues = append(d.Issues, err.Error())
	}
	if d.Cells == 0 && o.Sprite.Source != "" {
		if res, err := src.Render(pxl.RenderOptions{Kind: pxl.KindSprite, Name: o.Name}); err == nil {
			d.Width, d.Height = res.Native.X, res.Native.Y
			d.Cells = d.Width * d.Height
		}
	}
	byToken := map[string]int{}
	opaque := 0
	for i, r := range regions {
		token := pxl.Bare(r.Token)
		at, ok := byToken[token]
		if !ok {
			at = len(d.Tokens)
			byToken[token] = at
			s := swatchOf(token, r.Color, true, "")
			d.Tokens = append(d.Tokens, tokenData{Token: token, Color: s.Color, ColorName: s.ColorName})
		}
		d.Tokens[at].Count += r.Visible
		if r.Color.A > 0 {
			opaque += r.Visible
		}
		info := regionData{
			Token: token, Shape: r.Shape.String(), Z: r.Z, Role: r.Role, Pixels: r.Pixels, Visible: r.Visible,
			Bounds: [4]int{r.Bounds.Min.X, r.Bounds.Min.Y, r.Bounds.Dx(), r.Bounds.Dy()},
		}
		if i < len(o.Sprite.Regions) && o.Sprite.Regions[i].Token == r.Token {
			info.Modifiers = modifiers(o.Node, r.Token)
		}
		d.Regions = append(d.Regions, info)
		if r.Pixels > 0 && r.Visible == 0 {
			d.Issues = append(d.Issues, fmt.Sprintf("token %s is fully covered", token))
		}
	}
	for i := range d.Tokens {
		d.Tokens[i].Percentage = percent(d.Tokens[i].Count, d.Cells)
	}
	slices.SortStableFunc(d.Tokens, func(a, b tokenData) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Token, b.Token)) })
	d.Clear = max(d.Cells-opaque, 0)
	d.Transparency = percent(d.Clear, d.Cells)
	context := fmt.Sprintf("sprite %q", o.Name)
	for _, i := range src.Issues() {
		if i.Context == context || strings.HasPrefix(i.Context, context+" ") {
			d.Issues = append(d.Issues, i.Message)
		}
	}
	d.Description = d.sentence()
	d.unique = len(d.Tokens)
	of := "Sprite " + d.Name
	d.Tokens, d.Regions, d.Issues = part(ex, of, "tokens", d.Tokens), part(ex, of, "regions", d.Regions), part(ex, of, "issues", d.Issues)
	return d, d.text()
}

func (src *Source) describePalette(d *SpriteData, ref *pxl.PaletteRef) {
	if ref == nil {
		return
	}
	d.PaletteRef = ref.Name
	if ref.IsMap {
		d.PaletteRef = "inline"
	}
	list, _ := src.Colours(ref)
	d.Palette = paletteInfo{Name: d.PaletteRef, Builtin: strings.HasPrefix(ref.Name, "@") && !strings.HasPrefix(ref.Name, "@include:"), Colors: len(list)}
}

// modifiers lists the keys of a region that are neither its shape nor z and role.
func modifiers(sprite *json5.Node, token string) (list []string) {
	regions := sprite.Get("regions")
	if regions == nil {
		return nil
	}
	n := regions.Get(token)
	if n == nil {
		return nil
	}
	for _, k := range n.Keys {
		if !slices.Contains(append(pxl.ShapeKeys(), "z", "role"), k.Name) {
			list = append(list, k.Name)
		}
	}
	return list
}

func (d *SpriteData) sentence() string {
	s := fmt.Sprintf("A %dx%d sprite of %s on palette %s", d.Width, d.Height, humanize.Count(len(d.Regions), "region"), d.PaletteRef)
	var main []string
	for _, t := range d.Tokens {
		if t.Count > 0 && len(main) < 3 && t.ColorName != nil && *t.ColorName != "transparent" {
			main = append(main, fmt.Sprintf("%s (%s, %.1f%%)", t.Token, *t.ColorName, t.Percentage))
		}
	}
	if len(main) > 0 {
		s += "; mostly " + strings.Join(main, ", ")
	}
	return s + fmt.Sprintf("; %.1f%% transparent.", d.Transparency)
}

func (d *SpriteData) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Sprite: %s\nSize: %dx%d\nPalette: %s\n\nTOKENS USED\n", d.Name, d.Width, d.Height, d.PaletteRef)
	for _, t := range d.Tokens {
		name := ""
		if t.ColorName != nil {
			name = *t.ColorName
		}
		fmt.Fprintf(&b, "  %-12s %4dx %5.1f%%  %s %s\n", t.Token, t.Count, t.Percentage, t.Color, name)
	}
	fmt.Fprintf(&b, "\nSTRUCTURE\n  transparent: %d of %s (%.1f%%)\n  unique tokens: %d\n", d.Clear, humanize.Count(d.Cells, "pixel"), d.Transparency, d.unique)
	if len(d.Issues) > 0 {
		b.WriteString("\nISSUES\n")
		for _, i := range d.Issues {
			b.WriteString("  " + i + "\n")
		}
	}
	return b.String()
}
