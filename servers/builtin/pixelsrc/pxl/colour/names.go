package colour

import (
	"image/color"
	"slices"

	"golang.org/x/image/colornames"
)

// rebecca is the one name that CSS has more than SVG.
const rebecca = "rebeccapurple"

// longestName is the length of "lightgoldenrodyellow".
const longestName = 20

// Names returns the CSS colour names in alphabetical order, without
// "transparent".
func Names() []string {
	at, _ := slices.BinarySearch(colornames.Names, rebecca)
	return slices.Insert(slices.Clone(colornames.Names), at, rebecca)
}

// Named looks a CSS colour name up, "transparent" included, in any letter case.
func Named(name string) (color.NRGBA, bool) {
	if len(name) > longestName {
		return color.NRGBA{}, false
	}
	key := []byte(name)
	for i, b := range key {
		key[i] = lower(b)
	}
	switch string(key) {
	case rebecca:
		return color.NRGBA{R: 0x66, G: 0x33, B: 0x99, A: 255}, true
	case "transparent":
		return color.NRGBA{}, true
	}
	c, ok := colornames.Map[string(key)]
	return color.NRGBA(c), ok // all are opaque
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
