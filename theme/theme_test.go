package theme

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// luminance and contrast are those of WCAG 2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if !isHex(hex) {
		t.Fatalf("%q is not a colour", hex)
	}
	r, g, b, _ := lipgloss.Color(hex).RGBA()
	lin := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	tests := []struct {
		name  string
		pal   Palette
		backs []string // terminal backgrounds people use
	}{
		{"dark", Dark(), []string{"#000000", "#1e1e1e", "#282c34", "#002b36"}},
		{"light", Light(), []string{"#ffffff", "#fdf6e3", "#f5f5f5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			backs := append(tt.backs, tt.pal.Panel)
			for _, f := range tt.pal.fields() {
				least := 4.5
				switch f.name {
				case "text", "selection", "panel":
					continue
				case "border":
					least = 1.7
				}
				for _, back := range backs {
					if got := contrast(t, *f.value, back); got < least {
						t.Errorf("%s %s on %s: contrast %.2f, want %.1f", f.name, *f.value, back, got, least)
					}
				}
				if f.name == "border" {
					continue
				}
				if got := contrast(t, *f.value, tt.pal.Selection); got < 3.6 {
					t.Errorf("%s on the selection: contrast %.2f, want 3.6", f.name, got)
				}
			}
		})
	}
}

func TestNoColorWritesNoColor(t *testing.T) {
	v := reflect.ValueOf(*New(Options{Dark: true, Depth: NoColor}))
	for i := range v.NumField() {
		if v.Field(i).Type() != reflect.TypeFor[Style]() {
			continue
		}
		open := v.Field(i).FieldByName("open").String()
		for _, code := range strings.Split(strings.Trim(open, "\x1b[m"), ";") {
			if n, _ := strconv.Atoi(code); n >= 30 {
				t.Errorf("%s has a colour: %q", v.Type().Field(i).Name, open)
			}
		}
	}
	th := New(Options{Depth: NoColor})
	if th.Selected.open == "" || th.Focus.open == "" {
		t.Error("selection and focus cannot be seen without colour")
	}
}

func TestUserColors(t *testing.T) {
	mine := Palette{Accent: "#ff0000", Good: "red"}
	if err := mine.Check(); err == nil || !strings.Contains(err.Error(), `colour good: "red"`) {
		t.Errorf("Check: %v", err)
	}
	th := New(Options{Dark: true, DarkColors: mine})
	if !strings.Contains(th.Accent.open, "38;2;255;0;0") {
		t.Errorf("accent is %q", th.Accent.open)
	}
	if want := New(Options{Dark: true}).Good; th.Good.open != want.open {
		t.Errorf("a colour that cannot be read replaced the built-in one: %q", th.Good.open)
	}
}

func TestOver(t *testing.T) {
	bg, fg := NewStyle(lipgloss.NewStyle().Reverse(true)), NewStyle(lipgloss.NewStyle().Bold(true))
	got := bg.Over("a" + fg.Render("b") + "c")
	want := bg.open + "a" + fg.open + "b" + reset + bg.open + "c" + reset
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestASCIIGlyphs(t *testing.T) {
	checkASCII(t, reflect.ValueOf(asciiGlyphs()), reflect.ValueOf(boxGlyphs()))
}

func checkASCII(t *testing.T, v, box reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch v.Field(i).Kind() {
		case reflect.Struct: // a frame
			checkASCII(t, v.Field(i), box.Field(i))
			continue
		case reflect.Bool:
			continue
		}
		s := v.Field(i).String()
		if s == "" || box.Field(i).String() == "" {
			t.Errorf("%s is empty", name)
		}
		for _, r := range s {
			if r > 0x7e {
				t.Errorf("%s is %q", name, s)
			}
		}
	}
}
