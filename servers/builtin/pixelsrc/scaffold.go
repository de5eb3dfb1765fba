package pixelsrc

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// nameRule is what names of new objects must look like.
var nameRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*$`) })

// tokenRule is what new tokens must look like.
var tokenRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) })

// preset is a palette that scaffolds may start from.
type preset struct{ name, colours string }

func presets() []preset {
	return []preset{
		{"forest", "trunk=#8B4513 bark=#654321 leaf=#228B22 moss=#6B8E23 sky=#87CEEB earth=#8B7355"},
		{"medieval", "stone=#808080 iron=#434343 gold=#FFD700 leather=#8B4513 cloth=#800020 skin=#FFCC99"},
		{"synthwave", "neon_pink=#FF1493 neon_blue=#00BFFF purple=#9400D3 dark_bg=#1A0033 grid=#FF00FF sun=#FF6347"},
		{"ocean", "deep=#003366 water=#0077BE wave=#00CED1 foam=#F0F8FF sand=#F4A460 coral=#FF7F50"},
	}
}

// Sketch says what a scaffold is made from.
type Sketch struct {
	Kind, Name   string   // the kind is one of sprite, animation, palette, composition
	Palette      string   // @name, the name of a new one, or a preset; may be empty
	Size, Cell   [2]int   // of the canvas, and of a composition's tiles
	Tokens       []string // of a new palette
	Colours      []string // of the tokens, in their order
	paletteLines string   // the palette's own object, "" for a built-in
	use          []string
	problem      string
}

// Scaffold writes the skeleton of an object: valid source that already renders.
func Scaffold(s Sketch) (string, error) {
	s.check()
	parts, ok := map[string]func() string{
		"sprite": s.sprite, "animation": s.animation, "anim": s.animation, "palette": s.paletteOnly, "composition": s.composition,
	}[s.Kind]
	switch {
	case s.Kind == "":
		return "", Failf("asset_type is required: sprite, animation, palette, composition.")
	case s.problem != "":
		return "", Failf("%s", s.problem)
	case !ok:
		return "", Failf("Unknown asset_type '%s': use one of sprite, animation, palette, composition.", s.Kind)
	}
	text := parts()
	if s.problem != "" {
		return "", Failf("%s", s.problem)
	}
	f, err := Format(text)
	if err != nil {
		return "", Failf("Cannot scaffold: %v", err)
	}
	return f.Text, nil
}

func (s *Sketch) check() {
	s.Palette = strings.TrimSpace(s.Palette)
	for i, t := range s.Tokens {
		s.Tokens[i] = pxl.Bare(t)
		if !tokenRule().MatchString(s.Tokens[i]) {
			s.fail("invalid token %q: use letters, digits, _ and -, starting with a letter", s.Tokens[i])
		}
	}
	if !nameRule().MatchString(s.Name) {
		s.fail("invalid name %q: use lower case letters, digits and underscores, starting with a letter (^[a-z][a-z0-9_]*$)", s.Name)
	}
	for i, v := range [...]int{s.Size[0], s.Size[1], s.Cell[0], s.Cell[1]} {
		if v < 1 || v > pxl.MaxSide {
			s.fail("%s is %d; it must be 1 to %d (size too)", [...]string{"width", "height", "cell_width", "cell_height"}[i], v, pxl.MaxSide)
		}
	}
	if s.Size[0]*s.Size[1] > 4<<20 {
		s.fail("size %dx%d is more than 4,194,304 pixels", s.Size[0], s.Size[1])
	}
	for _, v := range s.Colours {
		if _, err := colour.Parse(v); err != nil {
			s.fail("invalid colour %q: %v", v, err)
		}
	}
}

func (s *Sketch) fail(format string, args ...any) {
	if s.problem == "" {
		s.problem = "Cannot scaffold: " + fmt.Sprintf(format, args...) + "."
	}
}

// hue is the colour of the i-th of n tokens.
func hue(i, n int) string {
	h, s, l := 360*float64(i)/float64(n), 0.7, 0.5
	c := (1 - math.Abs(2*l-1)) * s
	x := c * (1 - math.Abs(math.Mod(h/60, 2)-1))
	m := l - c/2
	rgb := [6][3]float64{{c, x, 0}, {x, c, 0}, {0, c, x}, {0, x, c}, {x, 0, c}, {c, 0, x}}[int(h/60)%6]
	b := func(v float64) uint8 { return uint8(math.Round((v + m) * 255)) }
	return colour.Hex(color.NRGBA{R: b(rgb[0]), G: b(rgb[1]), B: b(rgb[2]), A: 255})
}

// prepare settles the palette that sprites use, under the name of its object.
func (s *Sketch) prepare(name string) (reference string) {
	if strings.HasPrefix(s.Palette, "@") {
		p, ok := pxl.Builtin(s.Palette[1:])
		if !ok {
			s.fail("%s", strings.TrimSuffix(NotFound("palette", s.Palette, PaletteNames()), "."))
			return ""
		}
		for _, e := range p.Colors {
			if t := pxl.Bare(e.Token); t != "_" && len(s.use) < 2 {
				s.use = append(s.use, t)
			}
		}
		return s.Palette
	}
	if s.Palette != "" {
		name = s.Palette
		if !nameRule().MatchString(name) {
			s.fail("invalid palette %q: use a built-in such as @pico8, or a name of lower case letters, digits and underscores", name)
		}
	}
	tokens := s.Tokens
	if len(tokens) == 0 {
		tokens = []string{"outline", "base"}
	}
	colours := [][2]string{{"_", "#00000000"}}
	for i, t := range tokens {
		value := hue(i, len(tokens))
		switch {
		case i < len(s.Colours):
			value = s.Colours[i]
		case len(s.Tokens) == 0:
			value = [2]string{"#22223B", "#4A90D9"}[i]
		}
		colours = append(colours, [2]string{t, value})
	}
	s.paletteLines = paletteLine(name, colours)
	for _, c := range distinct(colours)[1:] {
		s.use = append(s.use, c[0])
	}
	return name
}

// body is a picture that shows the palette's first tokens: a frame and its
// inside, moved down by lift rows.
func (s *Sketch) body(w, h, lift int) string {
	frame, inside := s.use[0], s.use[len(s.use)-1]
	x, y := w/8, h/8
	bw, bh := max(w-2*x, 1), max(h-2*y, 1)
	if lift > 0 && y+bh+lift <= h {
		y += lift
	} else if lift > 0 && bh > 1 {
		y, bh = y+1, bh-1
	}
	if bw < 3 || bh < 3 || frame == inside {
		return fmt.Sprintf(`{%s:{"rect":[%d,%d,%d,%d]}}`, quote(frame), x, y, bw, bh)
	}
	return fmt.Sprintf(`{%s:{"rect":[%d,%d,%d,%d],"z":1},%s:{"stroke":[%d,%d,%d,%d],"z":2}}`,
		quote(inside), x+1, y+1, bw-2, bh-2, quote(frame), x, y, bw, bh)
}

func (s *Sketch) object(name, palette string, w, h, lift int) string {
	if len(s.use) == 0 {
		return ""
	}
	return fmt.Sprintf(`{"type":"sprite","name":%s,"size":[%d,%d],"palette":%s,"regions":%s}`+"\n",
		quote(name), w, h, quote(palette), s.body(w, h, lift))
}

func (s *Sketch) sprite() string {
	palette := s.prepare(s.Name + "_palette")
	return s.paletteLines + s.object(s.Name, palette, s.Size[0], s.Size[1], 0)
}

func (s *Sketch) animation() string {
	palette := s.prepare(s.Name + "_palette")
	return s.paletteLines +
		s.object(s.Name+"_1", palette, s.Size[0], s.Size[1], 0) +
		s.object(s.Name+"_2", palette, s.Size[0], s.Size[1], 1) +
		fmt.Sprintf(`{"type":"animation","name":%s,"frames":[%s,%s],"duration":200}`+"\n",
			quote(s.Name), quote(s.Name+"_1"), quote(s.Name+"_2"))
}

func (s *Sketch) paletteOnly() string {
	colours := [][2]string{{"_", "#00000000"}}
	switch {
	case s.Palette != "":
		found := s.copied()
		if found == nil {
			names := []string{}
			for _, p := range presets() {
				names = append(names, p.name)
			}
			s.fail("%s", strings.TrimSuffix(NotFound("palette preset", s.Palette, append(names, PaletteNames()...)), "."))
		}
		colours = append(colours, found...)
	case len(s.Colours) > 0:
		for i, v := range s.Colours {
			t := fmt.Sprintf("c%d", i+1)
			if i < len(s.Tokens) {
				t = s.Tokens[i]
			}
			colours = append(colours, [2]string{t, v})
		}
	default:
		for i, t := range s.Tokens {
			colours = append(colours, [2]string{t, hue(i, len(s.Tokens))})
		}
	}
	return paletteLine(s.Name, colours)
}

// distinct keeps the first colour of each token.
func distinct(colours [][2]string) (list [][2]string) {
	seen := map[string]bool{}
	for _, c := range colours {
		if !seen[c[0]] {
			seen[c[0]] = true
			list = append(list, c)
		}
	}
	return list
}

func paletteLine(name string, colours [][2]string) string {
	var list []string
	for _, c := range distinct(colours) {
		list = append(list, quote(c[0])+":"+quote(c[1]))
	}
	return fmt.Sprintf(`{"type":"palette","name":%s,"colors":{%s}}`+"\n", quote(name), strings.Join(list, ","))
}

// copied are the colours of a preset or, with or without @, a built-in palette.
func (s *Sketch) copied() (colours [][2]string) {
	for _, p := range presets() {
		if p.name == s.Palette {
			for _, kv := range strings.Fields(p.colours) {
				t, v, _ := strings.Cut(kv, "=")
				colours = append(colours, [2]string{t, v})
			}
			return colours
		}
	}
	c, ok := Palette(strings.TrimPrefix(s.Palette, "@"))
	if !ok {
		return nil
	}
	return c.Tokens
}

// symbols are the characters that stand for tiles in a map.
const symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func (s *Sketch) composition() string {
	palette := s.prepare(s.Name + "_palette")
	if s.Size[0]%s.Cell[0] != 0 || s.Size[1]%s.Cell[1] != 0 {
		s.fail("the canvas %dx%d is not a multiple of the cell %dx%d; change size or cell_width and cell_height", s.Size[0], s.Size[1], s.Cell[0], s.Cell[1])
		return ""
	}
	columns, rows := s.Size[0]/s.Cell[0], s.Size[1]/s.Cell[1]
	if columns*rows > len(symbols) {
		s.fail("%s and %s make more than 62 tiles; use a larger cell", humanize.Count(columns, "column"), humanize.Count(rows, "row"))
		return ""
	}
	var tiles, keys, lines strings.Builder
	for r := range rows {
		if r > 0 {
			lines.WriteByte(',')
		}
		lines.WriteString(`"` + symbols[r*columns:(r+1)*columns] + `"`)
		for c := range columns {
			name := fmt.Sprintf("%s_tile_%d_%d", s.Name, c, r)
			tiles.WriteString(s.object(name, palette, s.Cell[0], s.Cell[1], 0))
			if r+c > 0 {
				keys.WriteByte(',')
			}
			fmt.Fprintf(&keys, `"%c":%s`, symbols[r*columns+c], quote(name))
		}
	}
	return s.paletteLines + tiles.String() +
		fmt.Sprintf(`{"type":"composition","name":%s,"size":[%d,%d],"cell_size":[%d,%d],"sprites":{%s},"layers":[{"name":"main","map":[%s]}]}`+"\n",
			quote(s.Name), s.Size[0], s.Size[1], s.Cell[0], s.Cell[1], keys.String(), lines.String())
}
