package pixelsrc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

// pairs is a JSON object that keeps its order.
type pairs [][2]string

// MarshalJSON writes the members in order.
func (p pairs) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, kv := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, s := range kv {
			if j > 0 {
				b.WriteByte(':')
			}
			text, err := json.Marshal(s)
			if err != nil {
				return nil, err
			}
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// PaletteCard describes a built-in palette.
type PaletteCard struct {
	Name   string `json:"name"`
	Colors pairs  `json:"colors"` // braced tokens, sorted
	Tokens pairs  `json:"tokens"` // bare tokens, in catalogue order
	Usage  string `json:"usage"`
}

// PaletteSummary is a line of the list of built-in palettes.
type PaletteSummary struct {
	Name   string   `json:"name"`
	Count  int      `json:"color_count"`
	Tokens []string `json:"tokens,omitempty"`
}

// Palette describes the built-in palette of a name without @.
func Palette(name string) (PaletteCard, bool) {
	p, ok := pxl.Builtin(name)
	if !ok {
		return PaletteCard{}, false
	}
	c := PaletteCard{Name: "@" + name, Usage: fmt.Sprintf(`"palette": "@%s"`, name)}
	for _, e := range p.Colors {
		c.Colors = append(c.Colors, [2]string{e.Token, e.Value})
		c.Tokens = append(c.Tokens, [2]string{pxl.Bare(e.Token), e.Value})
	}
	slices.SortFunc(c.Colors, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return c, true
}

// Palettes lists the built-in palettes; the transparent token is not counted.
func Palettes(tokens bool) []PaletteSummary {
	var list []PaletteSummary
	for _, name := range pxl.Builtins() {
		c, _ := Palette(name)
		s := PaletteSummary{Name: name}
		for _, t := range c.Tokens {
			if t[0] == "_" {
				continue
			}
			s.Count++
			if tokens {
				s.Tokens = append(s.Tokens, t[0])
			}
		}
		list = append(list, s)
	}
	return list
}

// PaletteNames are the built-in palettes' names as sources write them.
func PaletteNames() []string {
	var list []string
	for _, n := range pxl.Builtins() {
		list = append(list, "@"+n)
	}
	return list
}

// colourName is a plain name for a colour, "" for none.
func colourName(c color.NRGBA) string {
	if c.A == 0 {
		return "transparent"
	}
	r, g, b := int(c.R), int(c.G), int(c.B)
	if r == g && g == b {
		switch {
		case r == 0:
			return "black"
		case r < 64:
			return "dark gray"
		case r < 128:
			return "gray"
		case r < 192:
			return "light gray"
		case r < 255:
			return "very light gray"
		}
		return "white"
	}
	h, _, _ := colour.ToHSL(c)
	// From integers, so that a colour on the border of two names keeps its own.
	hi, lo := max(r, g, b), min(r, g, b)
	l := float64(hi+lo) / 510
	s := float64(hi-lo) / float64(hi+lo)
	if l > 0.5 {
		s = float64(hi-lo) / float64(510-hi-lo)
	}
	return shade(l, s) + hueName(int(h))
}

func shade(l, s float64) string {
	switch {
	case s < 0.2:
		return "grayish "
	case l < 0.2:
		return "dark "
	case l > 0.8:
		return "light "
	case s > 0.8 && l > 0.4 && l < 0.6:
		return "bright "
	}
	return ""
}

func hueName(h int) string {
	for _, n := range [...]struct {
		below int
		name  string
	}{{15, "red"}, {45, "orange"}, {75, "yellow"}, {155, "green"}, {185, "cyan"}, {255, "blue"}, {285, "purple"}, {346, "magenta"}} {
		if h < n.below {
			return n.name
		}
	}
	return "red"
}
