package colour

import (
	"fmt"
	"image/color"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"#F00", "255,0,0,255"},
		{"#F008", "255,0,0,136"},
		{"#ffff", "255,255,255,255"},
		{"#01020304", "1,2,3,4"},
		{"RED", "255,0,0,255"},
		{" Red ", "255,0,0,255"},
		{" #fff", "255,255,255,255"},
		{"/* c */ red", "255,0,0,255"},
		{`r\65 d`, "255,0,0,255"},
		{"transparent", "0,0,0,0"},
		{"rgb(12.5 12.4 0)", "13,12,0,255"},
		{"rgb(0.2% 0 0)", "1,0,0,255"},
		{"rgb(49.9% 50% 50.1%)", "127,128,128,255"},
		{"rgb(300 -20 0)", "255,0,0,255"},
		{"rgba(0,0,0,1.5)", "0,0,0,255"},
		{"rgba(10,20,30,.002)", "10,20,30,1"},
		{"hsl(30deg 100% 50% / 0.3)", "255,128,0,77"},
		{"hsl(0,100,50)", "255,0,0,255"},
		{"hsla(200, 50%, 40%, 25%)", "51,119,153,64"},
		{"hwb(120 60% 60%)", "128,128,128,255"},
		{"hwb(120 10% 20% / 0.5)", "26,204,26,128"},
		{"lab(52% 40 59)", "197,92,10,255"},
		{"lab(150% 0 0)", "255,255,255,255"},
		{"lch(50 100 300)", "123,93,255,255"},
		{"lch(50% 100% 40)", "241,0,54,255"},
		{"oklab(59.69% 0.1007 0.1191)", "198,93,7,255"},
		{"oklab(50% 100% -100%)", "149,0,192,255"},
		{"oklch(0.628 0.258 29.23)", "255,0,0,255"},
		{"oklch(70% 0.4 150)", "0,191,84,255"},
		{"oklch(0.9 0.3 120)", "204,242,0,255"},
		{"oklch(0.5 0.1 none)", "144,73,97,255"},
		{"color(display-p3 1 0 0)", "255,15,14,255"},
		{"color(display-p3 0 1 0)", "0,249,66,255"},
		{"color(srgb 2 -1 0)", "255,158,172,255"},
		{"color(xyz 0.3 0.3 0.3)", "162,145,143,255"},
		{"color-mix(in srgb, red, blue)", "128,0,128,255"},
		{"color-mix(in srgb,red 20%,blue 20%)", "128,0,128,102"},
		{"color-mix(in srgb, red 150%, blue)", "255,186,149,255"},
		{"color-mix(in oklch, red 70%, black)", "163,0,0,255"},
		{"color-mix(in oklch, #fff, #000)", "99,99,99,255"},
		{"color-mix(in oklch, #FFD5B4 70%, black)", "167,128,98,255"},
		{"color-mix(in lab, #FFD5B4 70%, black)", "179,141,111,255"},
		{"color-mix(in oklab, transparent 30%, red)", "255,0,0,179"},
		{"color-mix(in hsl, red, blue)", "255,0,255,255"},
		{"color-mix(in hsl longer hue, red, blue)", "0,255,0,255"},
		{"color-mix(in oklch longer hue, red, blue)", "0,136,33,255"},
		{"rgb(from red g r b / 0.5)", "0,255,0,128"},
		{"rgb(1,2,3", "1,2,3,255"},
		{"rgb(calc(10 + 2 * 3) calc(50% - 10%) 0)", "16,102,0,255"},
		{"hsl(0.5turn 100% 50%)", "0,255,255,255"},
		{"hsl(from red calc(h + 120deg) s l)", "0,255,0,255"},
		{"oklch(from olive l c h)", "128,128,0,255"},
		{"rgb(1-2 3)", "1,0,3,255"},
		{"color-mix(in srgb, color-mix(in srgb, red, blue), white 0%)", "128,0,128,255"},
		{"rgb(none 10 20)", "0,10,20,255"},
		{"color(prophoto-rgb 0.5 0.5 0.5)", "146,146,146,255"},
		{"color(rec2020 0.5 0.5 0.5)", "139,139,139,255"},
		{"color(a98-rgb 0.5 0.5 0.5)", "129,129,129,255"},
	} {
		t.Run(row.in, func(t *testing.T) {
			c, err := Parse(row.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d,%d,%d,%d", c.R, c.G, c.B, c.A); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, in := range []string{
		"", "#12345", "#ggg", "#fff ", "#é12", "red;", "ff0000", "currentColor", "canvas", "rgb(1,2 3)",
		"rgb(255,0,0,)", "rgb(50%,0,0)", "rgba(255 0 0 0.5)", "hwb(0, 0%, 0%)", "rgb (255,0,0)",
		"rgb(5. 0 0)", "color-mix(in display-p3, red, blue)", "color-mix(in srgb, red 0%, blue 0%)",
		"hsv(0 0 0)", "rgb(min(1,2) 0 0)", "red blue", "var(--x)", "rgb(1px 2 3)", "hsl(50% 1% 1%)",
		"rgb(calc(1 + 5%) 0 0)", strings.Repeat("rgb(from ", 100) + "red", "\"red\"", "light-dark(red, blue)",
		"rgb(none, 1, 2)", "#", "rgb(h 0 0)", "color(hsl 0 0 0)",
	} {
		t.Run(in, func(t *testing.T) {
			if c, err := Parse(in); err == nil {
				t.Errorf("parsed as %v", c)
			} else if err.Error() == "" {
				t.Error("no reason given")
			}
		})
	}
}

func TestErrorSaysWhatToDo(t *testing.T) {
	_, err := Parse("ff0000")
	if err == nil || !strings.Contains(err.Error(), "starts with #") {
		t.Errorf("got %v", err)
	}
}

func TestNamesAreSortedAndComplete(t *testing.T) {
	list := Names()
	if len(list) != 148 {
		t.Fatalf("%d names", len(list))
	}
	for i, n := range list {
		if i > 0 && list[i-1] >= n {
			t.Errorf("%s is out of order", n)
		}
		if _, ok := Named(strings.ToUpper(n)); !ok {
			t.Errorf("%s is not found", n)
		}
	}
}

func TestColoursSurviveConversion(t *testing.T) {
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				c := color.NRGBA{R: uint8(r), G: uint8(g), B: uint8(b), A: 200}
				h, s, l := ToHSL(c)
				if got := FromHSL(h, s, l, c.A); got != c {
					t.Fatalf("HSL: %v became %v", c, got)
				}
				x, y, z := ToOKLab(c)
				if got := FromOKLab(x, y, z, c.A); got != c {
					t.Fatalf("OKLab: %v became %v", c, got)
				}
				if got, err := Parse(Hex(c)); err != nil || got != c {
					t.Fatalf("hex: %v became %v, %v", c, got, err)
				}
			}
		}
	}
}

// TestRampSteps has the published ramp values, which FromHSL serves.
func TestRampSteps(t *testing.T) {
	base, _ := Parse("#E8B89D")
	h, s, l := ToHSL(base)
	for _, row := range []struct {
		k, dh, ds, dl float64
		want          string
	}{
		{2, 10, 5, -15, "#CB9721"},
		{1, 10, 5, -15, "#DEA05A"},
		{1, -5, -10, 12, "#F1DAD2"},
		{2, -5, -10, 12, "#FFFFFF"},
	} {
		if got := Hex(FromHSL(h+row.k*row.dh, s+row.k*row.ds, l+row.k*row.dl, 255)); got != row.want {
			t.Errorf("step %v: got %s, want %s", row, got, row.want)
		}
	}
}

func TestLerp(t *testing.T) {
	a, b := color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 0}
	if got := Lerp(a, b, 0.5); got != (color.NRGBA{128, 128, 0, 128}) {
		t.Errorf("got %v", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"#fff", "red", "rgb(1 2 3 / 50%)", "hsl(none 1% 2%)", "color-mix(in oklch longer hue, red 20%, blue)",
		"rgb(from red calc(g * 2) r b)", "color(xyz 1e30 1e30 1e30)", "oklch(infinity 1 1)", "lab(1e39 0 0)", `\`, "r\\", "/*", "calc(",
		"hsl(calc(infinity) 0 0)", "color-mix(in hsl, transparent, transparent)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(Hex(c)); err != nil || again != c {
			t.Errorf("%q gives %v, whose hex form gives %v, %v", s, c, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, s := range []string{"#FF8800", "cornflowerblue", "rgb(10 20 30 / 50%)", "hsl(200 50% 40%)", "color-mix(in oklch, #FFD5B4 70%, black)", "oklch(70% 0.4 150)"} {
		b.Run(s, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestCalculations(t *testing.T) {
	for text, want := range map[string]color.NRGBA{
		"rgb(calc(100 + 55) calc(2 * 10) calc(90 / 3))":          {155, 20, 30, 255},
		"rgb(calc(3 * (10 - 2)) calc(infinity) calc(-infinity))": {24, 255, 0, 255},
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
}
