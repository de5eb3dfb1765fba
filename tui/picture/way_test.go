package picture

import (
	"image"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryWayIsWhole says what a newcomer's way to show pictures lacks.
func TestEveryWayIsWhole(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 40, 40))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var protocols bool
	names := map[Mode]bool{}
	for _, w := range ways() {
		m := w.mode()
		t.Run(string(m), func(t *testing.T) {
			if got, err := ParseMode(string(m)); m == Auto || err != nil || got != m {
				t.Errorf("mode %q: got %q, %v; want a name of its own", m, got, err)
			}
			if names[m] {
				t.Errorf("mode %q is another way's, too", m)
			}
			names[m] = true
			if !strings.Contains(string(page), "`"+string(m)+"`") {
				t.Error("README.md does not list it")
			}
			if w, h := w.unit(10, 20); w < 1 || h < 1 {
				t.Errorf("unit %d by %d", w, h)
			}
			if Encode(img, Target{Mode: m, Cols: 4, Rows: 2}) == "" {
				t.Error("nothing is printed")
			}
			p, sends := w.(protocol)
			if protocols && !sends {
				t.Error("text stands below a protocol, and help lists it first")
			}
			if protocols = sends; !sends {
				return
			}
			if ask, _ := p.query(); ask != "" && !strings.HasPrefix(ask, "\x1b") {
				t.Errorf("query %q would be printed", ask)
			}
			c := Caps{Mode: m, Cells: ModeHalf, CellW: 10, CellH: 20, Registers: 256}
			g := NewGallery(c, 1)
			lines, sent := frameOf(g, img)
			if len(lines) != 2 || sent == "" {
				t.Errorf("got %d lines and %d bytes beside them, want 2 lines and the picture", len(lines), len(sent))
			}
			shown := strings.Contains(sent, "\x1b_G")
			if freed := g.Close(); shown != (freed != "") {
				t.Errorf("%q frees the picture: kept by the terminal %v", freed, shown)
			}
		})
	}
}

// frameOf draws a frame with one picture: its lines, and what is sent beside them.
func frameOf(g *Gallery, img *image.NRGBA) (lines []string, sent string) {
	var out strings.Builder
	to := g.Output(&out)
	g.Begin()
	lines = g.Lines(Spec{Slot: "a", Key: "a", Cols: 4, Rows: 2, Now: true, Make: func() *image.NRGBA { return img }})
	g.End(append(slices.Clone(lines), "last"), []Placed{{"a", 0, 0, 4, 2}})
	sent = g.Send()
	frame := "frame" + endOfFrame
	_, _ = to.Write([]byte(frame))
	return lines, strings.ReplaceAll(sent, nudge, "") + strings.TrimSuffix(strings.Replace(out.String(), "frame", "", 1), endOfFrame)
}
