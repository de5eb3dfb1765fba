package main

import (
	"strings"
	"testing"
	"unicode"
)

// The signs that mark rows, and what is drawing: frames, selects, diffs, the running step, a
// spinner, pictures.
const (
	rowSigns = "◆●✓○✗!?→"
	drawing  = "▌│▸▾←↑↓"
)

// No sign stands on a page but those that mean something, and what is drawing.
func TestPagesHaveNoOtherSigns(t *testing.T) {
	n := 0
	for path, rows := range goldenFrames(t) {
		if !strings.HasPrefix(path, "tui/page/") {
			continue
		}
		n++
		for _, row := range rows {
			for _, r := range row {
				switch {
				case r < 0x2190 || r > 0x2bff, strings.ContainsRune(rowSigns+drawing, r):
				case r >= 0x2500 && r <= 0x259f, unicode.Is(unicode.Braille, r): // boxes, blocks and the spinner
				case strings.ContainsRune("−≈≥≤⏳✏⚠", r): // arithmetic, and Pencil's widget
				default:
					t.Errorf("%s draws %q: %s", path, r, row)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d frames were read", n)
	}
}
