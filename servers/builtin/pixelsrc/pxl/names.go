package pxl

import (
	"image/color"
	"slices"
	"strings"
)

// Named is a colour with the name that a source has for it.
type Named struct {
	Name  string
	Color color.NRGBA
}

// spriteNames are the sprites that a result shows, each once; an empty name stands for
// one that is not known.
func spriteNames(res *Result) []string {
	if res.Kind == KindSprite {
		return []string{res.Name}
	}
	if res.Kind != KindAnimation || len(res.Frames) == 0 {
		return []string{""}
	}
	var names []string
	for _, f := range res.Frames {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Names are the names that the source has for the colours of what was drawn: those of the
// palettes of the sprites that are shown, or of all palettes where it is not known which those
// are.
func (d *Document) Names(res *Result) []Named {
	var out []Named
	seen := map[Named]bool{}
	add := func(t Named) {
		if !seen[t] && !strings.HasPrefix(t.Name, "--") {
			seen[t] = true
			out = append(out, t)
		}
	}
	if t := res.Tokens; t != nil {
		for i, name := range t.Names {
			add(Named{Name: name, Color: t.Colors[i]})
		}
	}
	entries := func(list []Entry) {
		for _, e := range list {
			if c, err := d.Colour(e.Value); err == nil {
				add(Named{Name: e.Token, Color: c})
			}
		}
	}
	found := true
	for _, name := range spriteNames(res) {
		o, ok := d.Find(KindSprite, name)
		if !ok || o.Sprite.Palette == nil {
			found = false
			continue
		}
		entries(o.Sprite.Palette.Inline)
		if p, ok := d.Find(KindPalette, o.Sprite.Palette.Name); ok {
			entries(p.Palette.Colors)
		}
	}
	if found {
		return out
	}
	for _, o := range d.Objects() {
		switch {
		case o.Palette != nil:
			entries(o.Palette.Colors)
		case o.Sprite != nil && o.Sprite.Palette != nil:
			entries(o.Sprite.Palette.Inline)
		}
	}
	return out
}
