package quant

import (
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

func ramp(extra bool) *image.NRGBA {
	w := 32
	if extra {
		w = 33
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, 1))
	for i := range 32 {
		img.SetNRGBA(i, 0, color.NRGBA{R: uint8(8 * i), G: uint8(4 * i), B: uint8(2 * i), A: 255})
	}
	return img
}

func TestReduce(t *testing.T) {
	for _, row := range []struct {
		name  string
		extra bool
		limit int
		want  string
	}{
		{"G 2", false, 2, "#381C0E #B85C2E"},
		{"G 4", false, 4, "#201008 #582C16 #984C26 #D86C36"},
		{"G 16", false, 16, "#000000 #100804 #201008 #30180C #402010 #502814 #603018 #70381C #884422 #904824 #A05028 #B0582C #C06030 #D86C36 #E8743A #F87C3E"},
		{"GT 2", true, 2, "#00000000 #783C1E"},
		{"GT 4", true, 4, "#00000000 #381C0E #984C26 #D86C36"},
		{"GT 16", true, 16, "#00000000 #000000 #100804 #201008 #30180C #482412 #603018 #70381C #884422 #904824 #A05028 #B0582C #C06030 #D86C36 #E8743A #F87C3E"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := Reduce(t.Context(), ramp(row.extra), row.limit)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range r.Palette {
				got = append(got, colour.Hex(c))
			}
			slices.Sort(got)
			want := strings.Fields(row.want)
			slices.Sort(want)
			for i := range want {
				// A box of two colours has both equally near its mean: which of the
				// two is taken hangs on the last bit, so a neighbour is as good.
				if i >= len(got) || got[i] != want[i] && (row.limit < 16 || !neighbours(t, got[i], want[i])) {
					t.Fatalf("got  %v\nwant %v", got, want)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d colours, want %d", len(got), len(want))
			}
		})
	}
}

func neighbours(t *testing.T, a, b string) bool {
	t.Helper()
	p, err := colour.Parse(a)
	if err != nil {
		t.Fatal(err)
	}
	q, err := colour.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	d := int(p.R) - int(q.R)
	return d == 8 || d == -8
}

func TestSplitOfPixels(t *testing.T) {
	for limit, want := range map[int][]int{2: {15, 17}, 4: {7, 8, 8, 9}} {
		r, err := Reduce(t.Context(), ramp(false), limit)
		if err != nil {
			t.Fatal(err)
		}
		n := make([]int, limit)
		for _, at := range r.Of {
			n[at]++
		}
		slices.Sort(n)
		if !slices.Equal(n, want) {
			t.Errorf("limit %d: got %v, want %v", limit, n, want)
		}
	}
}

func TestAlphaIsKept(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 1))
	img.SetNRGBA(0, 0, color.NRGBA{255, 0, 0, 255})
	img.SetNRGBA(1, 0, color.NRGBA{255, 0, 0, 128})
	img.SetNRGBA(2, 0, color.NRGBA{9, 9, 9, 0})
	r, err := Reduce(t.Context(), img, 8)
	if err != nil {
		t.Fatal(err)
	}
	if r.Distinct != 3 || len(r.Palette) != 3 || r.Palette[2] != (color.NRGBA{}) {
		t.Errorf("got %+v", r)
	}
}
