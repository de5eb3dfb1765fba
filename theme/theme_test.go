package theme

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	for _, c := range []string{a, b} {
		if !isHex(c) {
			t.Fatalf("%q is not a colour", c)
		}
	}
	return Contrast(lipgloss.Color(a), lipgloss.Color(b))
}

func TestContrastIsThatOfWCAG(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#ffffff", "#ffffff", 1}, {"#777777", "#ffffff", 4.48}, {"#0000ff", "#000000", 2.44}} {
		if got := contrast(t, tt.a, tt.b); math.Abs(got-tt.want) > 0.005 {
			t.Errorf("%s on %s: %.3f, want %.2f", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestASchemeSaysWhatIsHardToRead(t *testing.T) {
	for _, s := range Schemes(Dark(), Light()) {
		if weak := s.Weak(); len(weak) > 0 {
			t.Errorf("%s: %q", s.Name, weak)
		}
	}
	dim := Palette{Muted: "#666666", Faint: "#666666", Border: "#333333"}
	dark, light := dim.Over(Dark()), Palette{Panel: "#888888"}.Over(Light())
	got := strings.Join(Scheme{Dark: &dark, Light: &light}.Weak(), "\n")
	for _, want := range []string{
		"muted #666666 is hard to read on the selection #2a3853: contrast 2.0, better 4.5", "faint #666666 is hard to read on the selection #2a3853: contrast 2.0, better 3.0",
		"border #333333 is hard to read on the panel #1d2330: contrast 1.2, better 3.0", "accent #1f4fb8 is hard to read on the panel #888888",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "good #8fd694") {
		t.Errorf("a readable colour is named:\n%s", got)
	}
}

func TestContrast(t *testing.T) {
	// Terminal backgrounds people use.
	dark, light := []string{"#000000", "#1e1e1e", "#282c34", "#002b36"}, []string{"#ffffff", "#fdf6e3", "#f5f5f5"}
	tests := []struct {
		name  string
		pal   Palette
		least float64 // of what is text
		backs []string
	}{
		{"dark", Dark(), 4.5, dark},
		{"light", Light(), 4.5, light},
		{"high contrast, dark", HighContrastDark(), 7, dark},
		{"high contrast, light", HighContrastLight(), 7, light},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			backs := append(slices.Clone(tt.backs), tt.pal.Panel)
			for _, f := range tt.pal.fields() {
				least := tt.least
				switch {
				case f.name == "selection", f.name == "panel", *f.value == "": // the terminal's own
					continue
				case f.name == "border": // the page behind a dialog is drawn in it, too
					least *= 2.0 / 3
				}
				for _, back := range backs {
					if got := contrast(t, *f.value, back); got < least {
						t.Errorf("%s %s on %s: contrast %.2f, want %.1f", f.name, *f.value, back, got, least)
					}
				}
				if f.name == "border" || tt.pal.Selection == "" {
					continue
				}
				if got := contrast(t, *f.value, tt.pal.Selection); got < 4.5 {
					t.Errorf("%s on the selection: contrast %.2f, want 4.5", f.name, got)
				}
			}
		})
	}
}

// With sixteen colours the terminal's scheme decides what each looks like; the
// ones chosen can be read in the schemes that come with common terminals.
func TestContrastWithSixteenColours(t *testing.T) {
	const solarized = "073642 dc322f 859900 b58900 268bd2 d33682 2aa198 eee8d5 002b36 cb4b16 586e75 657b83 839496 6c71c4 93a1a1 fdf6e3"
	const xterm = "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
	tests := []struct {
		name, back, scheme string
		dark               bool
	}{
		{"xterm, light", "ffffff", xterm, false},
		{"Visual Studio Code, light", "ffffff", "000000 cd3131 107c10 949800 0451a5 bc05bc 0598bc 555555 666666 cd3131 14ce14 b5ba00 0451a5 bc05bc 0598bc a5a5a5", false},
		{"Tango, light", "ffffff", "2e3436 cc0000 4e9a06 c4a000 3465a4 75507b 06989a d3d7cf 555753 ef2929 8ae234 fce94f 729fcf ad7fa8 34e2e2 eeeeec", false},
		{"Solarized, light", "fdf6e3", solarized, false},
		{"xterm, dark", "000000", xterm, true},
		{"Campbell", "0c0c0c", "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc 767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2", true},
		{"Solarized, dark", "002b36", solarized, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scheme := strings.Fields(tt.scheme)
			for name, c := range basic(lipgloss.LightDark(tt.dark)) {
				if c == nil || name == "border" { // the terminal's own ink; a frame says nothing by itself
					continue
				}
				n, ok := c.(ansi.BasicColor)
				if !ok {
					t.Fatalf("%s is %v", name, c)
				}
				if got := contrast(t, "#"+scheme[n], "#"+tt.back); got < 3 {
					t.Errorf("%s is #%s on #%s: contrast %.2f, want 3", name, scheme[n], tt.back, got)
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
	if wrong := mine.Check(); len(wrong) != 1 || wrong[0].Colour != "good" || !strings.Contains(wrong[0].Why, `"red" is not a colour`) {
		t.Errorf("Check: %v", wrong)
	}
	th := New(Options{Dark: true, Scheme: Scheme{Dark: &mine}})
	if !strings.Contains(th.Accent.open, "38;2;255;0;0") {
		t.Errorf("accent is %q", th.Accent.open)
	}
	if want := New(Options{Dark: true}).Good; th.Good.open != want.open {
		t.Errorf("a colour that cannot be read replaced the built-in one: %q", th.Good.open)
	}
}

func TestAStyleGoesOnBehindAnother(t *testing.T) {
	bg, fg := NewStyle(lipgloss.NewStyle().Background(lipgloss.Color("#203040"))), NewStyle(lipgloss.NewStyle().Bold(true))
	got := bg.Over("a" + fg.Render("b") + "c")
	want := bg.open + "a" + fg.open + "b" + reset + bg.open + "c" + reset
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Reversed, each coloured piece of a row would have another ground.
func TestASelectedRowHasOneGround(t *testing.T) {
	for _, depth := range []Depth{Basic, NoColor} {
		th := New(Options{Depth: depth})
		got := th.Selected.Over(th.Warn.Render("asks you") + "  " + th.Faint.Render("2 s"))
		if want := th.Selected.Render("asks you  2 s"); got != want {
			t.Errorf("depth %v: got %q, want %q", depth, got, want)
		}
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
		default:
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

func TestASchemeDecidesOverTheTerminal(t *testing.T) {
	mine := Palette{Accent: "#ff0000"}
	all := Schemes(mine, mine)
	for _, tt := range []struct {
		name           string
		terminal, want bool // dark
		accent         string
	}{
		{"auto", true, true, "#ff0000"},
		{"auto", false, false, "#ff0000"},
		{"dark", false, true, "#ff0000"},
		{"light", true, false, "#ff0000"},
		{"high-contrast", true, true, HighContrastDark().Accent},
		{"high-contrast", false, false, HighContrastLight().Accent},
		{"high-contrast-dark", false, true, HighContrastDark().Accent},
		{"high-contrast-light", true, false, HighContrastLight().Accent},
	} {
		i := slices.IndexFunc(all, func(s Scheme) bool { return s.Name == tt.name })
		th := New(Options{Dark: tt.terminal, Scheme: all[i]})
		if got := hex(th.Accent.GetForeground()); th.Dark != tt.want || got != tt.accent {
			t.Errorf("%s in a terminal that is dark: %v: dark %v, accent %s", tt.name, tt.terminal, th.Dark, got)
		}
	}
}

// In high contrast the row under the cursor has the greatest that there is.
func TestHighContrastSwapsInkAndGround(t *testing.T) {
	for _, depth := range []Depth{Full, Basic, NoColor} {
		th := New(Options{Dark: true, Depth: depth, Scheme: Schemes(Dark(), Light())[3]})
		if !th.Selected.GetReverse() || th.Focus.open == "" {
			t.Errorf("depth %v: selected %q, focus %q", depth, th.Selected.open, th.Focus.open)
		}
	}
}
