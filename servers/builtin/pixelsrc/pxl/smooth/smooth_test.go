package smooth

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"os"
	"strings"
	"testing"
)

type picture struct {
	W, H int
	RGBA string
}

func (p picture) image(t *testing.T) *image.NRGBA {
	t.Helper()
	b, err := hex.DecodeString(p.RGBA)
	if err != nil {
		t.Fatal(err)
	}
	return &image.NRGBA{Pix: b, Stride: 4 * p.W, Rect: image.Rect(0, 0, p.W, p.H)}
}

// TestReferenceKernels holds the kernels to pictures made by the reference engine.
func TestReferenceKernels(t *testing.T) {
	f, err := os.Open("testdata/antialias.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	rows := 0
	for lines.Scan() {
		var row struct {
			ID, Algorithm string
			Strength      float32
			Input, Output picture
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows++
		t.Run(row.ID, func(t *testing.T) {
			got, err := Apply(row.Input.image(t), Options{Algorithm: Algorithm(row.Algorithm), Strength: row.Strength, Containment: true, GradientShadows: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if b := got.Bounds(); b.Dx() != row.Output.W || b.Dy() != row.Output.H {
				t.Fatalf("got %v, want %d×%d", b, row.Output.W, row.Output.H)
			}
			want := row.Output.image(t)
			for i, v := range want.Pix {
				if got.Pix[i] != v {
					t.Fatalf("byte %d (x %d, y %d): got %d, want %d", i, i/4%row.Output.W, i/4/row.Output.W, got.Pix[i], v)
				}
			}
		})
	}
	if rows != 60 {
		t.Errorf("%d rows, want 60", rows)
	}
}

var letters = map[rune]color.NRGBA{
	'.': {}, 'A': {255, 0, 0, 255}, 'B': {0, 255, 0, 255}, 'C': {0, 0, 255, 255}, 'W': {255, 255, 255, 255}, 'K': {0, 0, 0, 255},
}

func drawn(s string) *image.NRGBA {
	rows := strings.Split(s, " / ")
	img := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		for x, r := range row {
			img.SetNRGBA(x, y, letters[r])
		}
	}
	return img
}

func text(img *image.NRGBA) string {
	var b strings.Builder
	r := img.Bounds()
	for y := range r.Dy() {
		if y > 0 {
			b.WriteString(" / ")
		}
	next:
		for x := range r.Dx() {
			for l, c := range letters {
				if img.NRGBAAt(x, y) == c {
					b.WriteRune(l)
					continue next
				}
			}
			b.WriteByte('+')
		}
	}
	return b.String()
}

func TestScale(t *testing.T) {
	if got := text(Scale(drawn("A.B / .C."), 2)); got != "AA..BB / AA..BB / ..CC.. / ..CC.." {
		t.Error(got)
	}
}

func TestScale2x(t *testing.T) {
	got, _ := Apply(drawn("AAB / ABB / BBC"), Options{Algorithm: Scale2x, Strength: 1}, nil)
	if text(got) != "AAAABB / AAABBB / AAABBB / ABBBBB / BBBBBC / BBBBCC" {
		t.Error(text(got))
	}
}

// TestPublishedFilters has the promises of the default dialect: stairs get
// colours in between, flat areas and straight edges do not change.
func TestPublishedFilters(t *testing.T) {
	stairs := "KWWWWW / KKWWWW / KKKWWW / KKKKWW / KKKKKW / KKKKKK"
	straight := []string{"KKKK / KKKK / WWWW / WWWW", "KKWW / KKWW / KKWW / KKWW", "AAAA / AAAA / AAAA / AAAA", "...A / ...A / ...A / ...A"}
	for _, a := range []Algorithm{HQ2x, HQ4x, XBR2x, XBR4x} {
		o := Options{Algorithm: Algorithm(a), Strength: 1, Published: true}
		t.Run(string(a), func(t *testing.T) {
			got, _ := Apply(drawn(stairs), o, nil)
			if !strings.Contains(text(got), "+") {
				t.Errorf("no intermediate colour: %s", text(got))
			}
			for _, s := range straight {
				got, _ := Apply(drawn(s), o, nil)
				if want := text(Scale(drawn(s), a.Factor())); text(got) != want {
					t.Errorf("%s became %s", s, text(got))
				}
			}
			o.Strength = 0
			got, _ = Apply(drawn(stairs), o, nil)
			if want := text(Scale(drawn(stairs), a.Factor())); text(got) != want {
				t.Errorf("strength 0 is not plain: %s", text(got))
			}
		})
	}
}

func TestAnchorsAndContainment(t *testing.T) {
	stairs := drawn("KWWW / KKWW / KKKW / KKKK")
	anchored := &Context{W: 4, H: 4, Roles: make([]Role, 16)}
	edged := &Context{W: 4, H: 4, Edges: make([]bool, 16)}
	for i := range 16 {
		anchored.Roles[i], edged.Edges[i] = Anchor, true
	}
	for _, a := range Algorithms()[1:] {
		for name, ctx := range map[string]*Context{"anchor": anchored, "containment": edged} {
			for _, published := range []bool{false, true} {
				got, _ := Apply(stairs, Options{Algorithm: Algorithm(a), Strength: 1, Containment: true, Published: published}, ctx)
				if want := text(Scale(stairs, Algorithm(a).Factor())); text(got) != want {
					t.Errorf("%s %s: pixels changed: %s", a, name, text(got))
				}
			}
		}
		got, _ := Apply(stairs, Options{Algorithm: Algorithm(a), Strength: 1, Anchors: Normal, Published: true}, anchored)
		if text(got) == text(Scale(stairs, Algorithm(a).Factor())) {
			t.Errorf("%s: normal anchors are kept", a)
		}
	}
}

func TestGradients(t *testing.T) {
	ctx := &Context{W: 4, H: 1, Gradients: []Gradient{{From: letters['K'], To: letters['W'], Boundary: []image.Point{{1, 0}}}}}
	got, _ := Apply(drawn("KKWW"), Options{Algorithm: AABlur, Strength: 1, GradientShadows: true}, ctx)
	plain, _ := Apply(drawn("KKWW"), Options{Algorithm: AABlur, Strength: 1}, ctx)
	if got.NRGBAAt(1, 0) == plain.NRGBAAt(1, 0) {
		t.Error("the shadow's edge was not softened")
	}
	if got.NRGBAAt(0, 0).R <= plain.NRGBAAt(0, 0).R {
		t.Error("the neighbour of the edge was not softened")
	}
}

func TestUnknownAlgorithm(t *testing.T) {
	if _, err := Apply(drawn("A"), Options{Algorithm: "hq9x"}, nil); err == nil || !strings.Contains(err.Error(), "scale2x") {
		t.Errorf("got %v", err)
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(1), uint8(1), float32(0.5), true)
	f.Fuzz(func(t *testing.T, pix []byte, w, alg uint8, strength float32, published bool) {
		n := len(pix) / 4
		if w == 0 || n == 0 || n > 1024 {
			return
		}
		width := min(int(w), n)
		h := n / width
		img := &image.NRGBA{Pix: pix, Stride: 4 * width, Rect: image.Rect(0, 0, width, h)}
		a := Algorithm(Algorithms()[int(alg)%7])
		out, err := Apply(img, Options{Algorithm: a, Strength: strength, Published: published}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b := out.Bounds(); b.Dx() != width*a.Factor() || b.Dy() != h*a.Factor() {
			t.Errorf("%v of %d×%d", b, width, h)
		}
	})
}

func BenchmarkApply(b *testing.B) {
	img := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for y := range 256 {
		for x := range 256 {
			c := letters['K']
			if (x/3+y/5)%4 < 2 {
				c = letters['W']
			}
			img.SetNRGBA(x, y, c)
		}
	}
	for _, published := range []bool{false, true} {
		for _, a := range Algorithms()[1:] {
			name := a
			if published {
				name += "-published"
			}
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Apply(img, Options{Algorithm: Algorithm(a), Strength: 0.5, Published: published}, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestPublishedSlopes smooths slopes of one in two and two in one: each row below
// is at least as dark, so no spikes stand on the edge.
func TestPublishedSlopes(t *testing.T) {
	for name, s := range map[string]string{
		"shallow": "WWWWWWWW / KKWWWWWW / KKKKWWWW / KKKKKKWW / KKKKKKKK",
		"steep":   "KWWWW / KWWWW / KKWWW / KKWWW / KKKWW / KKKWW / KKKKW / KKKKW",
	} {
		for _, a := range []Algorithm{HQ2x, HQ4x, XBR2x, XBR4x} {
			got, _ := Apply(drawn(s), Options{Algorithm: Algorithm(a), Strength: 1, Published: true}, nil)
			b := got.Bounds()
			before := -1
			for y := range b.Dy() {
				dark := 0
				for x := range b.Dx() {
					dark += 255 - int(got.NRGBAAt(x, y).R)
					if x > 0 && got.NRGBAAt(x, y).R < got.NRGBAAt(x-1, y).R {
						t.Errorf("%s %s: row %d gets darker to the right at %d", a, name, y, x)
					}
				}
				if dark < before {
					t.Errorf("%s %s: row %d is lighter than the one above", a, name, y)
				}
				before = dark
			}
		}
	}
}
