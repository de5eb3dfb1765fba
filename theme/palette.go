package theme

import (
	"fmt"
	"image/color"

	"charm.land/lipgloss/v2"
)

// Palette is a set of colours by meaning, each "#rrggbb". An empty one is
// taken from the built-in palette; Text is the terminal's own unless set.
type Palette struct {
	// Text; empty is the terminal's own.
	Text string `toml:"text"`
	// Second in rank: times, details.
	Muted string `toml:"muted"`
	// Third in rank: hints, placeholders.
	Faint string `toml:"faint"`
	// Frames and rules.
	Border string `toml:"border"`
	// What has the focus, names, keys.
	Accent string `toml:"accent"`
	// Ready, ok, added.
	Good string `toml:"good"`
	// Degraded, waiting, near a deadline.
	Warn string `toml:"warn"`
	// Failed, error, removed.
	Bad string `toml:"bad"`
	// At work, changed.
	Info string `toml:"info"`
	// Pencil, numbers.
	Special string `toml:"special"`
	// Behind the row under the cursor.
	Selection string `toml:"selection"`
	// Behind dialogs.
	Panel string `toml:"panel"`
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

// HighContrastDark is the built-in palette for dark terminals that is easier to read. It
// has no colour for the selection, which swaps ink and ground.
func HighContrastDark() Palette {
	return Palette{
		Text: "#ffffff", Muted: "#f0f0f0", Faint: "#dadada", Border: "#b8b8b8",
		Accent: "#a8d4ff", Good: "#7ee787", Warn: "#ffd75f", Bad: "#ffb8b3",
		Info: "#7fe5ee", Special: "#e6ccff", Panel: "#000000",
	}
}

// HighContrastLight is the built-in palette for light terminals that is easier to read, as
// HighContrastDark is.
func HighContrastLight() Palette {
	return Palette{
		Text: "#000000", Muted: "#1f2328", Faint: "#363c44", Border: "#4d5561",
		Accent: "#0a3aa0", Good: "#0b4a1e", Warn: "#5c3a00", Bad: "#8a0f1a",
		Info: "#00455c", Special: "#561a8b", Panel: "#ffffff",
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

// Fault is a colour that cannot be read, and why.
type Fault struct{ Colour, Why string }

// Check returns the colours of a user's palette that cannot be read.
func (p Palette) Check() (out []Fault) {
	for _, f := range p.fields() {
		if *f.value != "" && !isHex(*f.value) {
			out = append(out, Fault{f.name, fmt.Sprintf("%q is not a colour such as #8ab4ff", *f.value)})
		}
	}
	return out
}

// Over returns base with the readable colours of p laid over it.
func (p Palette) Over(base Palette) Palette {
	mine, out := p.fields(), base.fields()
	for i, f := range mine {
		if isHex(*f.value) {
			*out[i].value = *f.value
		}
	}
	return base
}

// isHex reports whether s is "#rrggbb". lipgloss.Color also reads short forms and
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
