package theme

import (
	"fmt"
	"image/color"
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// Palette is a set of colours by meaning, each "#rrggbb". An empty one is
// taken from the built-in palette; Text is the terminal's own unless set.
type Palette struct {
	Text      string `toml:"text"`
	Muted     string `toml:"muted"`     // second in rank: times, details
	Faint     string `toml:"faint"`     // third: hints, placeholders
	Border    string `toml:"border"`    // frames and rules
	Accent    string `toml:"accent"`    // what has the focus, names, keys
	Good      string `toml:"good"`      // ready, ok, added
	Warn      string `toml:"warn"`      // degraded, waiting, near a deadline
	Bad       string `toml:"bad"`       // failed, error, removed
	Info      string `toml:"info"`      // at work, changed
	Special   string `toml:"special"`   // Pencil, numbers
	Selection string `toml:"selection"` // behind the row under the cursor
	Panel     string `toml:"panel"`     // behind dialogs
}

// Dark is the built-in palette for dark terminals.
func Dark() Palette {
	return Palette{
		Muted: "#a4acba", Faint: "#8b94a6", Border: "#4c566a",
		Accent: "#8ab4ff", Good: "#8fd694", Warn: "#f0c674", Bad: "#ff8f8f",
		Info: "#7fd5e6", Special: "#d6a8ff", Selection: "#2a3853", Panel: "#1d2330",
	}
}

// Light is the built-in palette for light terminals.
func Light() Palette {
	return Palette{
		Muted: "#4f5866", Faint: "#646e7d", Border: "#a9b2bf",
		Accent: "#1f4fb8", Good: "#1b6b33", Warn: "#7d5200", Bad: "#b3202c",
		Info: "#09617d", Special: "#7b2fae", Selection: "#d6e3fb", Panel: "#eef1f6",
	}
}

// fields lists the colours with their names, for all that goes over them.
func (p *Palette) fields() []field {
	return []field{
		{"text", &p.Text},
		{"muted", &p.Muted},
		{"faint", &p.Faint},
		{"border", &p.Border},
		{"accent", &p.Accent},
		{"good", &p.Good},
		{"warn", &p.Warn},
		{"bad", &p.Bad},
		{"info", &p.Info},
		{"special", &p.Special},
		{"selection", &p.Selection},
		{"panel", &p.Panel},
	}
}

type field struct {
	name  string
	value *string
}

// Check says which colour of a user's palette cannot be read.
func (p Palette) Check() error {
	for _, f := range p.fields() {
		if _, ok := parse(*f.value); *f.value != "" && !ok {
			return fmt.Errorf("read colour %s: %q is not of the form #rrggbb", f.name, *f.value)
		}
	}
	return nil
}

// over returns base with the readable colours of p laid over it.
func (p Palette) over(base Palette) Palette {
	mine, out := p.fields(), base.fields()
	for i, f := range mine {
		if _, ok := parse(*f.value); ok {
			*out[i].value = *f.value
		}
	}
	return base
}

// parse reads "#rrggbb".
func parse(s string) (color.RGBA, bool) {
	if len(s) != 7 || s[0] != '#' {
		return color.RGBA{}, false
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return color.RGBA{}, false
	}
	return color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 0xff}, true
}

// basic is what the palette becomes with sixteen colours: the terminal's own,
// so that they fit the user's scheme.
func basic(dark bool) map[string]color.Color {
	if dark {
		return map[string]color.Color{
			"muted": ansi.White, "faint": ansi.BrightBlack, "border": ansi.BrightBlack,
			"accent": ansi.BrightBlue, "good": ansi.BrightGreen, "warn": ansi.BrightYellow,
			"bad": ansi.BrightRed, "info": ansi.BrightCyan, "special": ansi.BrightMagenta,
		}
	}
	return map[string]color.Color{
		"muted": ansi.BrightBlack, "faint": ansi.BrightBlack, "border": ansi.BrightBlack,
		"accent": ansi.Blue, "good": ansi.Green, "warn": ansi.Yellow,
		"bad": ansi.Red, "info": ansi.Cyan, "special": ansi.Magenta,
	}
}
