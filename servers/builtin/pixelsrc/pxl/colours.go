package pxl

import "image/color"

// TokenColour is a token of a palette with its colour worked out: variables
// replaced, ramps expanded.
type TokenColour struct {
	Token string
	Value string // the colour as text, variables replaced
	Color color.NRGBA
	Valid bool // false when Value is no colour; Color is magenta then
}

// Colours lists what a sprite's palette reference stands for, in the order of its
// definition; ok is false when there is no such palette.
func (d *Document) Colours(ref *PaletteRef) (list []TokenColour, ok bool) {
	t := d.paletteOf(ref, "")
	for i, n := range t.names {
		list = append(list, TokenColour{n, t.values[i], t.colours[i], !t.bad[i]})
	}
	return list, !t.missing
}
