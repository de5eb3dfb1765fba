package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// What is laid out in grapheme clusters keeps its columns in a terminal that
// measures code points: nothing is pushed over a frame line.
func TestPerCodePointKeepsColumns(t *testing.T) {
	const coder, family = "👩‍💻", "👨‍👩‍👧‍👦"
	tests := []struct {
		name, row string
		want      string // "" is the row itself
		x, at     int
	}{
		{"ASCII and frames", "│ a │", "", 2, 2},
		{"wide letters are wide both ways", "│ 日本 e\u0301 │", "", 7, 7},
		{"spaces behind it are taken", "│ " + coder + " dev    │", "│ " + coder + " dev  │", 9, 11},
		{"one space stays", "│ " + family + " a       b │", "│ " + family + " a b │", 0, 0},
		{"no spaces", "│ " + coder + " dev│x  │", "│ \ufffd  dev│x  │", 9, 9},
		{"too few spaces", "│" + family + " a  b│", "│\ufffd   a b│", 0, 0},
		{"one of two fits", "│" + coder + coder + " a   │", "│" + coder + "\ufffd  a │", 0, 0},
		{"narrower there", "│⚠️ x│", "│⚠️  x│", 4, 4},
		{"in colours", "\x1b[31m" + coder + "\x1b[m   │", "\x1b[31m" + coder + "\x1b[m │", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.row
			}
			got, at := PerCodePoint(tt.row, nil, tt.x)
			if got != tt.want || at != tt.at {
				t.Errorf("got %q and column %d, want %q and %d", got, at, tt.want, tt.at)
			}
			if w, want := ansi.StringWidthWc(got), ansi.StringWidth(tt.row); w != want {
				t.Errorf("the terminal needs %d cells, laid out were %d", w, want)
			}
		})
	}
}

func TestPerCodePointLeavesPicturesAlone(t *testing.T) {
	row := "👩‍💻  │" + "a    b"
	got, _ := PerCodePoint("👩‍💻"+"a    b", []Span{{2, 8}}, 0)
	if want := "\ufffd a    b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, _ := PerCodePoint(row, []Span{{5, 11}}, 0); !strings.HasSuffix(got, "a    b") {
		t.Errorf("the picture became %q", got)
	}
}

func FuzzPerCodePoint(f *testing.F) {
	f.Add("│ 👩‍💻 dev │ ⚠️ 日本 e\u0301 \x1b[1mx\x1b[m  │", 3)
	f.Fuzz(func(t *testing.T, row string, x int) {
		if strings.ContainsFunc(row, func(r rune) bool { return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffd }) {
			return
		}
		got, _ := PerCodePoint(row, nil, x)
		if w, want := ansi.StringWidthWc(got), ansi.StringWidth(row); w != want {
			t.Errorf("%q became %q: %d cells instead of %d", row, got, w, want)
		}
	})
}

func TestCharactersAreMeasuredAsTheRendererMeasuresThem(t *testing.T) {
	for r := rune(0x2000); r < 0x3000; r++ {
		s := string(r)
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Errorf("%U has %d cells, want %d", r, got, want)
		}
		if row, _ := PerCodePoint(s+" ", nil, 0); ansi.StringWidthWc(row) != ansi.StringWidth(s+" ") {
			t.Errorf("%U becomes %q", r, row)
		}
	}
}
