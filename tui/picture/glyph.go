package picture

import (
	"math/bits"
	"sync"
)

// Set is a set of glyphs that a terminal's font can draw. Every set contains the half
// blocks, so pixels that fill half cells are exact in all of them.
type Set uint8

// The glyph sets, poorest first.
const (
	// Half is U+2580 alone: two square pixels per cell, one above the other. It works everywhere.
	Half Set = iota
	// Block is Block Elements: quadrants and eighths, present in every modern font.
	Block
	// Sextant adds cells of 2 by 3 parts (Unicode 13) to quadrants.
	Sextant
	// Octant has cells of 2 by 4 square parts (Unicode 16), which include quadrants.
	Octant
	// Best is the union of all sets.
	Best
)

// String returns the name used in settings and on the command line.
func (s Set) String() string {
	return [...]string{"half", "block", "sextant", "octant", "best"}[min(s, Best)]
}

// shape is a glyph's shape on a lattice of 8 by 24 samples, which the parts of every set
// divide evenly: bit x of row y is set where the glyph paints its foreground.
type shape [latticeRows]uint8

const (
	latticeCols = 8
	latticeRows = 24
)

// glyph is a character, its shape, and the character with the complementary shape, or 0 if
// the set has none.
type glyph struct {
	char, complement rune
	shape            shape
}

// glyphs holds the candidates of all sets. Patterns number the parts row by row from the
// top left, lowest bit first.
type glyphs struct {
	half    glyph
	quad    [16]glyph
	sextant [64]glyph
	octant  [256]glyph
	lower   [8]glyph // lower[n] fills the lowest n eighths
	left    [8]glyph // left[n] fills the leftmost n eighths
	inverse map[rune]rune
}

// grid returns the shape of a pattern of 2 by rows parts.
func grid(pattern, rows int) shape {
	var s shape
	for y := range s {
		part := y * rows / latticeRows * 2
		if pattern>>part&1 != 0 {
			s[y] |= 0x0F
		}
		if pattern>>(part+1)&1 != 0 {
			s[y] |= 0xF0
		}
	}
	return s
}

// glyphTable builds the table once: a few hundred small entries.
var glyphTable = sync.OnceValue(func() *glyphs {
	g := &glyphs{inverse: map[rune]rune{}}
	g.half = glyph{char: '▀', complement: '▄', shape: grid(0b0011, 2)}
	for p := range g.quad {
		g.quad[p] = glyph{quadChar(p), quadChar(15 ^ p), grid(p, 2)}
	}
	for p := range g.sextant {
		g.sextant[p] = glyph{sextantChar(p), sextantChar(63 ^ p), grid(p, 3)}
	}
	for p := range g.octant {
		g.octant[p] = glyph{octantChar(p), octantChar(255 ^ p), grid(p, 4)}
	}
	for n := 1; n < 8; n++ {
		lower := glyph{char: '▁' + rune(n-1)}
		for y := latticeRows - 3*n; y < latticeRows; y++ {
			lower.shape[y] = 0xFF
		}
		left := glyph{char: '▏' - rune(n-1)}
		for y := range left.shape {
			left.shape[y] = 1<<n - 1
		}
		g.lower[n], g.left[n] = lower, left
	}
	for _, table := range [][]glyph{{g.half}, g.quad[:], g.sextant[:], g.octant[:]} {
		for _, one := range table {
			if one.char != 0 && one.complement != 0 {
				g.inverse[one.char], g.inverse[one.complement] = one.complement, one.char
			}
		}
	}
	return g
})

func quadChar(pattern int) rune {
	return [16]rune{' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'}[pattern]
}

// sextantChar returns the character for a pattern. The 60 sextants follow the order of
// their patterns from U+1FB00, skipping the four that exist as older characters.
func sextantChar(pattern int) rune {
	switch pattern {
	case 0:
		return ' '
	case 0b010101:
		return '▌'
	case 0b101010:
		return '▐'
	case 63:
		return '█'
	}
	char := rune(0x1FB00 + pattern - 1)
	if pattern > 0b010101 {
		char--
	}
	if pattern > 0b101010 {
		char--
	}
	return char
}

// octantChar returns the character for a pattern, or 0 if common fonts lack it: its
// complement with swapped colours looks the same. The 230 octants follow the order of their
// patterns from U+1CD00, skipping those that are older characters or located elsewhere.
func octantChar(pattern int) rune {
	if char, elsewhere := octantElsewhere(pattern); elsewhere {
		return char
	}
	char := rune(0x1CD00 + pattern)
	for p := range pattern {
		if _, elsewhere := octantElsewhere(p); elsewhere {
			char--
		}
	}
	return char
}

func octantElsewhere(pattern int) (rune, bool) {
	// Quadrants repeat each part in two rows.
	upper, lower := pattern&0xF, pattern>>4
	if upper&3 == upper>>2 && lower&3 == lower>>2 {
		return quadChar(upper&3 | lower&3<<2), true
	}
	switch pattern {
	case 0b11000000:
		return '▂', true
	case 0b11111100:
		return '▆', true
	case 0b00000011, 0b00111111: // upper quarter and three quarters, U+1FB82 and U+1FB85
		return 0, true
	}
	// A single corner part, or the middle half of one side: U+1CEA0, A3, A8, AB, U+1FBE6, E7.
	if bits.OnesCount(uint(pattern)) == 1 && (pattern&0b11000011) != 0 || pattern == 0b00010100 || pattern == 0b00101000 {
		return 0, true
	}
	return 0, false
}
