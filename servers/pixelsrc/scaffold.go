package pixelsrc

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl/colour"
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

// sketch is what a scaffold is made from.
type sketch struct {
	name          string
	palette       string
	w, h          int
	cellW, cellH  int
	tokens        []string
	colours       []string
	problem       string
	paletteObject string // the palette's own line, "" for a built-in
	use           []string
}

func runScaffold(c *call) Answer {
	kind := c.args.Word("asset_type", "")
	s := readSketch(c.args)
	if c.args.problem != "" {
		return fail("%s", c.args.problem)
	}
	switch {
	case kind == "":
		return fail("asset_type is required: sprite, animation, palette, composition.")
	case s.problem != "":
		return fail("%s", s.problem)
	}
	switch kind {
	case "sprite":
		return s.answer(s.sprite)
	case "animation", "anim":
		return s.answer(s.animation)
	case "palette":
		return s.answer(s.paletteOnly)
	case "composition":
		return s.answer(s.composition)
	}
	return fail("Unknown asset_type '%s': use one of sprite, animation, palette, composition.", kind)
}

func readSketch(a *Args) *sketch {
	s := &sketch{w: 16, h: 16}
	s.name, _ = a.Text("name")
	s.palette, _ = a.Text("palette")
	s.palette = strings.TrimSpace(s.palette)
	size, sized := a.Pair("size")
	if sized {
		s.w, s.h = size[0], size[1]
	}
	w, h := a.Int("width", s.w), a.Int("height", s.h)
	if sized && (w != s.w || h != s.h) {
		s.fail("size is %dx%d but width and height say %dx%d; give one of them", s.w, s.h, w, h)
	}
	s.w, s.h = w, h
	s.cellW, s.cellH = a.Int("cell_width", 8), a.Int("cell_height", 8)
	for _, t := range splitList(a, "tokens") {
		t = bare(t)
		if !tokenRule().MatchString(t) && s.problem == "" {
			s.fail("the token %q is not a name: letters, digits, _ and -, a letter first", t)
		}
		s.tokens = append(s.tokens, t)
	}
	s.colours = splitColours(a)
	if !nameRule().MatchString(s.name) {
		s.fail("the name %q must be lower case letters, digits and underscores, a letter first (^[a-z][a-z0-9_]*$)", s.name)
	}
	for _, d := range []struct {
		field string
		v     int
		max   int
	}{{"width", s.w, 4096}, {"height", s.h, 4096}, {"cell_width", s.cellW, 4096}, {"cell_height", s.cellH, 4096}} {
		if d.v < 1 || d.v > d.max {
			s.fail("%s is %d; it must be 1 to %d (size too)", d.field, d.v, d.max)
		}
	}
	if s.w*s.h > 4<<20 {
		s.fail("size %dx%d is more than 4 Mi pixels", s.w, s.h)
	}
	for _, v := range s.colours {
		if _, err := colour.Parse(v); err != nil {
			s.fail("the colour %q is not valid: %v", v, err)
		}
	}
	return s
}

func (s *sketch) fail(format string, args ...any) {
	if s.problem == "" {
		s.problem = "Cannot scaffold: " + fmt.Sprintf(format, args...) + "."
	}
}

// answer makes the source and checks what its making found.
func (s *sketch) answer(make func() string) Answer {
	out := make()
	if s.problem != "" {
		return fail("%s", s.problem)
	}
	f, err := Format(out)
	if err != nil {
		return fail("Cannot scaffold: %v", err)
	}
	return say(f.Text)
}

// splitList reads a list written with commas; empty parts are dropped.
func splitList(a *Args, name string) (list []string) {
	text, _ := a.Text(name)
	for _, t := range strings.Split(text, ",") {
		if t = strings.TrimSpace(t); t != "" {
			list = append(list, t)
		}
	}
	return list
}

// splitColours splits at the commas outside parentheses.
func splitColours(a *Args) (list []string) {
	text, _ := a.Text("colors")
	depth, from := 0, 0
	for i, r := range text + "," {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth > 0 && i < len(text) {
				continue
			}
			if t := strings.TrimSpace(text[from:i]); t != "" {
				list = append(list, t)
			}
			from = i + 1
		}
	}
	return list
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
func (s *sketch) prepare(name string) (reference string) {
	if strings.HasPrefix(s.palette, "@") {
		p, ok := pxl.Builtin(s.palette[1:])
		if !ok {
			s.fail("%s", strings.TrimSuffix(notFound("palette", s.palette, atNames()), "."))
			return ""
		}
		for _, e := range p.Colors {
			if t := bare(e.Token); t != "_" && len(s.use) < 2 {
				s.use = append(s.use, t)
			}
		}
		return s.palette
	}
	if s.palette != "" {
		name = s.palette
		if !nameRule().MatchString(name) {
			s.fail("the palette %q is neither a built-in such as @pico8 nor a name of lower case letters, digits and underscores", name)
		}
	}
	tokens := s.tokens
	if len(tokens) == 0 {
		tokens = []string{"outline", "base"}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"palette","name":%s,"colors":{"_":"#00000000"`, quote(name))
	seen := map[string]bool{"_": true}
	for i, t := range tokens {
		if seen[t] {
			continue
		}
		seen[t] = true
		value := hue(i, len(tokens))
		switch {
		case i < len(s.colours):
			value = s.colours[i]
		case len(s.tokens) == 0:
			value = [2]string{"#22223B", "#4A90D9"}[i]
		}
		fmt.Fprintf(&b, `,%s:%s`, quote(t), quote(value))
		s.use = append(s.use, t)
	}
	b.WriteString("}}\n")
	s.paletteObject = b.String()
	return name
}

// body is a picture that shows the palette's first tokens: a frame and its
// inside, moved down by lift rows.
func (s *sketch) body(w, h, lift int) string {
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

func (s *sketch) object(name, palette string, w, h, lift int) string {
	if len(s.use) == 0 {
		return ""
	}
	return fmt.Sprintf(`{"type":"sprite","name":%s,"size":[%d,%d],"palette":%s,"regions":%s}`+"\n",
		quote(name), w, h, quote(palette), s.body(w, h, lift))
}

func (s *sketch) sprite() string {
	palette := s.prepare(s.name + "_palette")
	return s.paletteObject + s.object(s.name, palette, s.w, s.h, 0)
}

func (s *sketch) animation() string {
	palette := s.prepare(s.name + "_palette")
	return s.paletteObject +
		s.object(s.name+"_1", palette, s.w, s.h, 0) +
		s.object(s.name+"_2", palette, s.w, s.h, 1) +
		fmt.Sprintf(`{"type":"animation","name":%s,"frames":[%s,%s],"duration":200}`+"\n",
			quote(s.name), quote(s.name+"_1"), quote(s.name+"_2"))
}

func (s *sketch) paletteOnly() string {
	colours := [][2]string{{"_", "#00000000"}}
	switch {
	case s.palette != "":
		found := s.copied()
		if found == nil {
			names := []string{}
			for _, p := range presets() {
				names = append(names, p.name)
			}
			s.fail("%s", strings.TrimSuffix(notFound("palette preset", s.palette, append(names, atNames()...)), "."))
		}
		colours = append(colours, found...)
	case len(s.colours) > 0:
		for i, v := range s.colours {
			t := fmt.Sprintf("c%d", i+1)
			if i < len(s.tokens) {
				t = s.tokens[i]
			}
			colours = append(colours, [2]string{t, v})
		}
	default:
		for i, t := range s.tokens {
			colours = append(colours, [2]string{t, hue(i, len(s.tokens))})
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"palette","name":%s,"colors":{`, quote(s.name))
	seen := map[string]bool{}
	for _, c := range colours {
		if seen[c[0]] {
			continue
		}
		if len(seen) > 0 {
			b.WriteByte(',')
		}
		seen[c[0]] = true
		b.WriteString(quote(c[0]) + ":" + quote(c[1]))
	}
	b.WriteString("}}\n")
	return b.String()
}

// copied are the colours of a preset or, with or without @, a built-in palette.
func (s *sketch) copied() (colours [][2]string) {
	for _, p := range presets() {
		if p.name == s.palette {
			for _, kv := range strings.Fields(p.colours) {
				t, v, _ := strings.Cut(kv, "=")
				colours = append(colours, [2]string{t, v})
			}
			return colours
		}
	}
	c, ok := card(strings.TrimPrefix(s.palette, "@"))
	if !ok {
		return nil
	}
	return c.Tokens
}

// symbols are the characters that stand for tiles in a map.
const symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func (s *sketch) composition() string {
	palette := s.prepare(s.name + "_palette")
	if s.w%s.cellW != 0 || s.h%s.cellH != 0 {
		s.fail("the canvas %dx%d is not a multiple of the cell %dx%d; change size or cell_width and cell_height", s.w, s.h, s.cellW, s.cellH)
		return ""
	}
	columns, rows := s.w/s.cellW, s.h/s.cellH
	if columns*rows > len(symbols) {
		s.fail("%d columns of %d rows are more than 62 tiles; use a larger cell", columns, rows)
		return ""
	}
	var tiles, keys, lines strings.Builder
	for r := range rows {
		if r > 0 {
			lines.WriteByte(',')
		}
		lines.WriteString(`"` + symbols[r*columns:(r+1)*columns] + `"`)
		for c := range columns {
			name := fmt.Sprintf("%s_tile_%d_%d", s.name, c, r)
			tiles.WriteString(s.object(name, palette, s.cellW, s.cellH, 0))
			if r+c > 0 {
				keys.WriteByte(',')
			}
			fmt.Fprintf(&keys, `"%c":%s`, symbols[r*columns+c], quote(name))
		}
	}
	return s.paletteObject + tiles.String() +
		fmt.Sprintf(`{"type":"composition","name":%s,"size":[%d,%d],"cell_size":[%d,%d],"sprites":{%s},"layers":[{"name":"main","map":[%s]}]}`+"\n",
			quote(s.name), s.w, s.h, s.cellW, s.cellH, keys.String(), lines.String())
}
