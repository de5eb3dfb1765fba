package theme

import (
	"fmt"
	"image/color"
	"math"

	"charm.land/lipgloss/v2"
)

// The least contrast at which colours can be read: of text, and of what is dim on purpose.
const (
	readable    = 4.5
	readableDim = 3
)

// Contrast is how well a text of one colour is read on another, by WCAG 2: from 1, not at
// all, to 21.
func Contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	lin := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

// Weak says which colours of the scheme are hard to read, each on the ground where it is
// worst: that of a black or a white terminal, the panel or the selection.
func (s Scheme) Weak() []string {
	var out []string
	for _, of := range []struct {
		mine, base *Palette
		terminal   string
		ground     string
	}{
		{s.Dark, new(Dark()), "a black terminal", "#000000"},
		{s.Light, new(Light()), "a white terminal", "#ffffff"},
	} {
		if of.mine == nil {
			continue
		}
		p := s.complete(*of.mine, *of.base)
		for _, f := range p.fields() {
			least := readable
			switch f.name {
			case "selection", "panel":
				continue
			case "faint", "border":
				least = readableDim
			}
			where, worst := "", least
			for _, g := range []field{{of.terminal, &of.ground}, {"the panel " + p.Panel, &p.Panel}, {"the selection " + p.Selection, &p.Selection}} {
				if *f.value == "" || *g.value == "" || f.name == "border" && g.value == &p.Selection {
					continue
				}
				if c := Contrast(lipgloss.Color(*f.value), lipgloss.Color(*g.value)); c < worst {
					where, worst = g.name, c
				}
			}
			if where != "" {
				out = append(out, fmt.Sprintf("%s %s is hard to read on %s: contrast %.1f, better %.1f", f.name, *f.value, where, worst, least))
			}
		}
	}
	return out
}
