package pixelsrc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

type variantData struct {
	Type      string   `json:"type"`
	Name      string   `json:"name"`
	Base      string   `json:"base"`
	Count     int      `json:"override_count"`
	Overrides []swatch `json:"overrides"`
	Palette   string   `json:"palette,omitempty"`
}

func explainVariant(o *pxl.Object, ex *excerpt) (any, string) {
	d := &variantData{Type: "variant", Name: o.Name, Base: o.Variant.Base, Palette: o.Variant.PaletteRef, Overrides: []swatch{}}
	for _, e := range o.Variant.Palette {
		c, err := colour.Parse(e.Value)
		d.Overrides = append(d.Overrides, swatchOf(e.Token, c, err == nil, e.Value))
	}
	d.Count = len(d.Overrides)
	d.Overrides = part(ex, "Variant "+d.Name, "overrides", d.Overrides)
	var b strings.Builder
	fmt.Fprintf(&b, "Variant: %s\nBase: %s\n\nPALETTE OVERRIDES\n", d.Name, d.Base)
	writeSwatches(&b, d.Overrides)
	return d, b.String()
}

type layerData struct {
	Name    string         `json:"name,omitempty"`
	Kind    string         `json:"kind"`
	Blend   string         `json:"blend,omitempty"`
	Opacity float64        `json:"opacity"`
	Cells   map[string]int `json:"cells,omitempty"`
}

// CompositionData is a composition, explained.
type CompositionData struct {
	Type     string      `json:"type"`
	Name     string      `json:"name"`
	Base     *string     `json:"base"`
	Size     *[2]int     `json:"size"`
	CellSize [2]int      `json:"cell_size"`
	Sprites  int         `json:"sprite_count"`
	LayerN   int         `json:"layer_count"`
	Layers   []layerData `json:"layers"`
}

func explainComposition(o *pxl.Object, ex *excerpt) (any, string) {
	c := o.Composition
	d := &CompositionData{Type: "composition", Name: o.Name, Size: c.Size, CellSize: c.CellSize, LayerN: len(c.Layers), Layers: []layerData{}}
	if d.CellSize == [2]int{} {
		d.CellSize = [2]int{1, 1}
	}
	if c.Base != "" {
		d.Base = &c.Base
	}
	names := map[string]string{}
	for _, s := range c.Symbols {
		if !s.None {
			names[s.Key] = s.Name
		}
	}
	d.Sprites = len(c.Symbols)
	for _, l := range c.Layers {
		ld := layerData{Name: l.Name, Kind: "map", Blend: l.Blend, Opacity: 1}
		if l.HasOpacity {
			ld.Opacity = l.Opacity
		}
		switch {
		case l.Sprite != "":
			ld.Kind, ld.Cells = "sprite", map[string]int{l.Sprite: 1}
		case !l.HasMap && l.Fill != "":
			ld.Kind = "fill"
		}
		for _, row := range l.Map {
			for _, r := range row {
				if n, ok := names[string(r)]; ok {
					if ld.Cells == nil {
						ld.Cells = map[string]int{}
					}
					ld.Cells[n]++
				}
			}
		}
		d.Layers = append(d.Layers, ld)
	}
	d.Layers = part(ex, "Composition "+d.Name, "layers", d.Layers)
	var b strings.Builder
	fmt.Fprintf(&b, "Composition: %s\n", d.Name)
	if d.Size != nil {
		fmt.Fprintf(&b, "Size: %dx%d\n", d.Size[0], d.Size[1])
	}
	fmt.Fprintf(&b, "Cell size: %dx%d\nSprites: %d\n\nLAYERS\n", d.CellSize[0], d.CellSize[1], d.Sprites)
	for i, l := range d.Layers {
		n := 0
		for _, k := range l.Cells {
			n += k
		}
		fmt.Fprintf(&b, "  %d. %s %s, %s\n", i+1, l.Kind, l.Name, humanize.Count(n, "cell"))
	}
	return d, b.String()
}

type keyframeData struct {
	Percent   float64  `json:"percent"`
	Sprite    string   `json:"sprite,omitempty"`
	Transform string   `json:"transform,omitempty"`
	Opacity   *float64 `json:"opacity,omitempty"`
}

type timingData struct {
	Function    string `json:"timing_function"`
	Description string `json:"description"`
	Curve       string `json:"curve_type"`
	ASCII       string `json:"ascii_curve,omitempty"`
}

// AnimationData is an animation, explained.
type AnimationData struct {
	Type      string         `json:"type"`
	Name      string         `json:"name"`
	Frames    []string       `json:"frames"`
	Count     int            `json:"frame_count"`
	Duration  int            `json:"duration_ms"`
	Loops     bool           `json:"loops"`
	Keyframes []keyframeData `json:"keyframes,omitempty"`
	Total     int            `json:"total_ms"`
	Timing    timingData     `json:"timing"`
}

func (src *Source) explainAnimation(o *pxl.Object, ex *excerpt) (any, string) {
	a := o.Animation
	d := &AnimationData{Type: "animation", Name: o.Name, Frames: []string{}, Duration: a.Duration, Loops: a.Loop, Count: len(a.Frames)}
	d.Duration = cmp.Or(d.Duration, 100)
	for _, f := range a.Frames {
		d.Frames = append(d.Frames, f.Name)
	}
	for _, k := range a.Keyframes {
		d.Keyframes = append(d.Keyframes, keyframeData{k.At * 100, k.Sprite, k.Transform, k.Opacity})
	}
	if res, err := src.Render(pxl.RenderOptions{Kind: pxl.KindAnimation, Name: o.Name}); err == nil {
		d.Total = int(res.Duration().Milliseconds())
	}
	d.Timing = timing(a.Timing, src.Dialect())
	of := "Animation " + d.Name
	d.Frames, d.Keyframes = part(ex, of, "frames", d.Frames), part(ex, of, "keyframes", d.Keyframes)
	var b strings.Builder
	fmt.Fprintf(&b, "Animation: %s\nDuration: %d ms in total\nLoops: %v\n\nFRAME SEQUENCE\n", d.Name, d.Total, d.Loops)
	for i, f := range d.Frames {
		fmt.Fprintf(&b, "  %d. %s\n", min(ex.from, d.Count)+i+1, f)
	}
	for _, k := range d.Keyframes {
		fmt.Fprintf(&b, "  %5.1f%% %s %s\n", k.Percent, k.Sprite, k.Transform)
	}
	fmt.Fprintf(&b, "\nTIMING\n  %s: %s\n%s", d.Timing.Function, d.Timing.Description, d.Timing.ASCII)
	return d, b.String()
}

// timing describes a timing function and draws its curve.
func timing(name string, dialect pxl.Dialect) timingData {
	if strings.TrimSpace(name) == "" {
		name = "linear"
	}
	d := timingData{Function: name, Curve: "unknown", Description: "unknown timing function"}
	f, err := pxl.Timing(name, dialect)
	if err != nil {
		return d
	}
	key, args, _ := strings.Cut(strings.ToLower(strings.TrimSpace(name)), "(")
	switch key {
	case "linear":
		d.Curve, d.Description = "linear", "Constant speed"
	case "ease-in":
		d.Curve, d.Description = "smooth", "Slow start"
	case "ease-out":
		d.Curve, d.Description = "smooth", "Slow end"
	case "ease", "ease-in-out":
		d.Curve, d.Description = "smooth", "Slow start and end"
	case "cubic-bezier":
		d.Curve, d.Description = "smooth", "Custom cubic bezier ("+strings.TrimSuffix(args, ")")+")"
	case "steps":
		n, where, _ := strings.Cut(strings.TrimSuffix(args, ")"), ",")
		if where = strings.TrimSpace(where); where == "" {
			where = "jump-end"
		}
		d.Curve, d.Description = "stepped", fmt.Sprintf("%s discrete steps, %s", strings.TrimSpace(n), where)
	case "step-start", "step-end":
		d.Curve, d.Description = "stepped", "1 discrete step at the "+strings.TrimPrefix(key, "step-")
	case "bounce":
		d.Curve, d.Description = "bouncy", "Bouncy effect"
	case "elastic":
		d.Curve, d.Description = "elastic", "Overshoots the end and comes back"
	}
	d.ASCII = curve(f)
	return d
}

// curve draws a timing function in 20 columns and 8 rows.
func curve(f func(float64) float64) string {
	var grid [8][20]rune
	for y := range grid {
		for x := range grid[y] {
			grid[y][x] = ' '
		}
	}
	for x := range 20 {
		v := f(float64(x) / 19)
		y := min(max(int((1-v)*7+0.5), 0), 7)
		grid[y][x] = '█'
	}
	var b strings.Builder
	b.WriteString("┌" + strings.Repeat("─", 20) + "┐\n")
	for _, row := range grid {
		b.WriteString("│" + string(row[:]) + "│\n")
	}
	b.WriteString("└" + strings.Repeat("─", 20) + "┘\n")
	return b.String()
}

// explainOther describes the kinds that are not drawn, from their text.
func explainOther(o *pxl.Object) (any, string) {
	n := o.Node
	number := func(v *json5.Node, normal float64) float64 {
		if v == nil || v.Kind != json5.Int && v.Kind != json5.Float {
			return normal
		}
		return v.Float()
	}
	count := func(key string) int {
		if v := n.Get(key); v != nil {
			return len(v.Items)
		}
		return 0
	}
	d := map[string]any{"type": string(o.Kind), "name": o.Name}
	switch o.Kind {
	case pxl.KindParticle:
		e := n.Get("emitter")
		if e == nil {
			e = &json5.Node{}
		}
		life := [2]float64{10, 20}
		if l := e.Get("lifetime"); l != nil && len(l.Items) == 2 {
			life = [2]float64{number(&l.Items[0], 10), number(&l.Items[1], 20)}
		}
		fade := e.Get("fade")
		d["sprite"], d["rate"], d["lifetime"] = word(n, "sprite"), number(e.Get("rate"), 1), life
		d["has_gravity"], d["has_fade"] = e.Get("gravity") != nil, fade != nil && fade.Kind == json5.Bool && fade.Truth()
	case pxl.KindTransform:
		params := []string{}
		if p := n.Get("params"); p != nil {
			for i := range p.Items {
				params = append(params, p.Items[i].Text)
			}
		}
		moving := n.Get("frames") != nil && n.Get("keyframes") != nil
		kind := "custom"
		switch {
		case moving:
			kind = "keyframe animation"
		case count("cycle") > 0:
			kind = "cycling"
		case n.Get("ops") != nil && n.Get("compose") == nil:
			kind = "sequence"
		case n.Get("compose") != nil:
			kind = "parallel composition"
		}
		d["is_parameterized"], d["params"], d["generates_animation"] = len(params) > 0, params, moving
		d["frame_count"], d["transform_type"] = number(n.Get("frames"), 0), kind
	case pxl.KindStateRules:
		selectors := []string{}
		for _, r := range o.StateRules.Rules {
			if !slices.Contains(selectors, r.Selector) {
				selectors = append(selectors, r.Selector)
			}
		}
		d["rule_count"], d["selectors"] = len(o.StateRules.Rules), selectors
	case pxl.KindImport:
		from := word(n, "from")
		var kinds []string
		for _, k := range [...]string{"sprites", "palettes", "transforms", "animations"} {
			if n.Get(k) != nil {
				kinds = append(kinds, k)
			}
		}
		if kinds == nil {
			kinds = []string{"all"}
		}
		delete(d, "name")
		d["from"], d["is_directory"], d["imported_types"] = from, strings.HasSuffix(from, "/"), kinds
		d["is_relative"] = strings.HasPrefix(from, "./") || strings.HasPrefix(from, "../")
		d["alias"] = nil
		if a := word(n, "as"); a != "" {
			d["alias"] = a
		}
		return d, "Import: " + from + "\nBrings: " + strings.Join(kinds, ", ") + "\n"
	default:
	}
	title := string(o.Kind)
	return d, strings.ToUpper(title[:1]) + title[1:] + ": " + o.Name + "\n" + JSON(d) + "\n"
}
