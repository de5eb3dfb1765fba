package theme

import (
	"fmt"
	"image/color"

	"charm.land/lipgloss/v2"
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
		Muted: "#b2b9c6", Faint: "#98a1b3", Border: "#6c7791",
		Accent: "#8ab4ff", Good: "#8fd694", Warn: "#f0c674", Bad: "#ff8f8f",
		Info: "#7fd5e6", Special: "#d6a8ff", Selection: "#2a3853", Panel: "#1d2330",
	}
}

// Light is the built-in palette for light terminals.
func Light() Palette {
	return Palette{
		Muted: "#434c5a", Faint: "#5b6573", Border: "#808a99",
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
		if *f.value != "" && !isHex(*f.value) {
			return fmt.Errorf("read colour %s: %q is not of the form #rrggbb", f.name, *f.value)
		}
	}
	return nil
}

// over returns base with the readable colours of p laid over it.
func (p Palette) over(base Palette) Palette {
	mine, out := p.fields(), base.fields()
	for i, f := range mine {
		if isHex(*f.value) {
			*out[i].value = *f.value
		}
	}
	return base
}

// isHex tells whether s is "#rrggbb". lipgloss.Color also reads short forms and
// numbers, and says nothing of what it cannot read.
func isHex(s string) bool {
	return len(s) == 7 && s[0] == '#' && lipgloss.Color(s) != lipgloss.NoColor{}
}

// basic is what the palette becomes with sixteen colours: the terminal's own,
// so that they fit the user's scheme. On light grounds many schemes have greens,
// yellows and cyans that cannot be read; what has no colour here is written in
// the terminal's own ink. On dark ones some use the bright black, green and
// yellow for other greys.
func basic(pick lipgloss.LightDarkFunc) map[string]color.Color {
	return map[string]color.Color{
		"muted":   pick(lipgloss.BrightBlack, lipgloss.White),
		"faint":   pick(lipgloss.BrightBlack, lipgloss.White),
		"border":  lipgloss.BrightBlack,
		"accent":  pick(lipgloss.Blue, lipgloss.BrightBlue),
		"good":    pick(nil, lipgloss.Green),
		"warn":    pick(lipgloss.Magenta, lipgloss.Yellow),
		"bad":     pick(lipgloss.Red, lipgloss.BrightRed),
		"info":    pick(lipgloss.Blue, lipgloss.Cyan),
		"special": pick(lipgloss.Magenta, lipgloss.BrightMagenta),
	}
}
