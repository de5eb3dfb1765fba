package shape

import (
	"fmt"
	"strings"
	"testing"
)

// TestEllipses holds how far ellipses reach from their centre column, row by row from the centre outwards.
func TestEllipses(t *testing.T) {
	for _, r := range []struct {
		rx, ry int
		half   string
	}{
		{1, 1, "1 0"},
		{2, 2, "3 2 1"},
		{3, 3, "4 3 2 1"},
		{4, 4, "5 5 4 3 1"},
		{5, 5, "6 6 5 4 3 2"},
		{6, 6, "7 7 6 5 4 3 2"},
		{7, 7, "8 8 8 7 6 5 4 2"},
		{8, 8, "10 10 9 8 7 6 5 4 2"},
		{9, 9, "11 11 11 10 9 8 7 6 4 2"},
		{10, 10, "12 12 12 11 10 9 8 7 6 5 3"},
		{12, 12, "14 14 14 14 13 12 11 10 9 8 7 5 3"},
		{16, 16, "19 19 19 19 19 18 17 16 15 14 13 12 11 9 8 6 3"},
		{20, 20, "24 24 23 23 23 23 22 21 20 19 18 17 16 15 14 13 12 11 9 7 4"},
		{32, 32, "38 38 38 38 38 38 37 37 37 36 35 34 33 32 31 30 29 28 27 26 25 24 23 22 21 20 19 17 16 14 12 9 5"},
		{1, 2, "2 1 0"},
		{2, 1, "2 1"},
		{1, 4, "2 1 1 1 0"},
		{4, 1, "4 3"},
		{5, 3, "6 5 4 2"},
		{3, 5, "4 4 3 3 2 1"},
		{6, 4, "7 6 5 4 2"},
		{8, 2, "8 7 5"},
		{2, 8, "2 2 2 2 2 2 2 1 0"},
		{10, 1, "9 8"},
		{12, 5, "13 12 11 10 8 5"},
		{5, 12, "5 5 5 5 5 5 5 5 4 4 3 2 1"},
	} {
		t.Run(fmt.Sprintf("%dx%d", r.rx, r.ry), func(t *testing.T) {
			a := NewArena(1 << 20)
			s := a.Ellipse(50, 60, r.rx, r.ry)
			sorted(t, s)
			var got []string
			for d := 0; s.Has(50, 60+d); d++ {
				w := 0
				for s.Has(50+w+1, 60+d) {
					w++
				}
				if !s.Has(50-w, 60-d) || s.Has(50-w-1, 60-d) {
					t.Errorf("row %d is not symmetric", d)
				}
				got = append(got, fmt.Sprint(w))
			}
			if g := strings.Join(got, " "); g != r.half {
				t.Errorf("got  %s\nwant %s", g, r.half)
			}
		})
	}
	if s := NewArena(1<<20).Ellipse(0, 0, 0, 5); s != nil {
		t.Error("a radius of 0 draws something")
	}
}

// TestBudget runs out of budget: the shape ends early and says so.
func TestBudget(t *testing.T) {
	a := NewArena(10)
	if s := a.Rect(0, 0, 5, 100, 0); len(s) > 10 || !a.Exceeded {
		t.Errorf("%d runs, exceeded %v", len(s), a.Exceeded)
	}
	a.Reset(1000)
	if s := a.Rect(0, 0, 5, 100, 0); s.Count() != 500 || a.Exceeded {
		t.Errorf("%d pixels, exceeded %v", s.Count(), a.Exceeded)
	}
}

func TestPathErrors(t *testing.T) {
	for _, text := range []string{"", "L1,1", "M1", "M1,1 2,2", "M1,1 C2,2", "M1-1", "M1,1 L40000,1", "Mnan,1", "M 0x1 2"} {
		if pts, err := ParsePath(text, false); err == nil {
			t.Errorf("%q gives %v", text, pts)
		}
	}
	pts, err := ParsePath("m1.9,1.9 h-3 V7.5 z l2,0", false)
	if err != nil || fmt.Sprint(pts) != "[{1 1} {-1 1} {-1 7} {3 1}]" {
		t.Errorf("%v %v", pts, err)
	}
}
