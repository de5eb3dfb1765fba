package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Depth is how many colours the terminal shows.
type Depth int

// The depths that look different here. With Full, colours are written as 24
// bits and what is shown of them is left to the output, down to 256.
const (
	Full    Depth = iota
	Basic         // sixteen
	NoColor       // none: attributes only
)

// Options say which theme to make. The zero Options are the built-in light
// theme with all colours.
type Options struct {
	Dark  bool
	Depth Depth
	ASCII bool // no glyph outside ASCII

	// Scheme has the colours. One that is for dark or for light terminals alone decides
	// over Dark.
	Scheme Scheme
}

// Theme is every style and glyph the screen uses. It is not changed after New.
type Theme struct {
	Dark  bool
	Depth Depth
	Glyph Glyphs

	Text     Style // the terminal's own unless the user set one
	Strong   Style // bold
	Emphasis Style // italic
	Link     Style // underlined: what a click leads somewhere
	Muted    Style // second in rank
	Faint    Style // third in rank
	Border   Style // frames and rules without the focus
	Focus    Style // frames and rules with the focus
	Title    Style // of a pane without the focus
	Accent   Style // names, links, what is active
	Key      Style // keys in hints
	Good     Style
	Warn     Style
	Bad      Style
	Info     Style
	// Special marks Pencil, and numbers in JSON.
	Special Style

	Selected Style // row under the cursor, in the part with the focus; use Over
	Panel    Style // behind a dialog; use Over
	Here     Style // the tab of the page that is shown, where no rule marks it
	Badge    Style // a number that wants to be seen
	Match    Style // letters that a filter found
	Added    Style // lines of a diff; use Over
	Removed  Style

	colors map[string]color.Color
}

// New makes a theme. Colours of the user that cannot be read are left out;
// Palette.Check tells of them.
func New(o Options) *Theme {
	pal, dark := o.Scheme.palette(o.Dark)
	t := &Theme{Dark: dark, Depth: o.Depth, Glyph: boxGlyphs(), colors: map[string]color.Color{}}
	if o.ASCII {
		t.Glyph = asciiGlyphs()
	}
	switch o.Depth {
	case Full:
		for _, f := range pal.fields() {
			if *f.value != "" {
				t.colors[f.name] = lipgloss.Color(*f.value)
			}
		}
	case Basic:
		if !o.Scheme.Strong { // else all is in the terminal's own ink
			t.colors = basic(lipgloss.LightDark(dark))
		}
	default:
	}
	t.styles()
	return t
}

func (t *Theme) styles() {
	plain := lipgloss.NewStyle()
	bold := plain.Bold(true)
	ink := func(name string, s lipgloss.Style) Style { return NewStyle(s.Foreground(t.colors[name])) }
	t.Text, t.Strong = ink("text", plain), ink("text", bold)
	t.Emphasis, t.Link = ink("text", plain.Italic(true)), ink("info", plain.Underline(true))
	t.Muted, t.Faint = ink("muted", plain), ink("faint", plain)
	t.Border, t.Focus = ink("border", plain), ink("accent", plain)
	t.Title, t.Accent = ink("muted", bold), ink("accent", bold)
	t.Key = ink("accent", plain)
	t.Good, t.Warn, t.Bad = ink("good", plain), ink("warn", plain), ink("bad", bold)
	t.Info, t.Special = ink("info", plain), ink("special", plain)
	t.Here = NewStyle(bold.Reverse(true))
	t.Badge = ink("warn", bold.Reverse(true))
	t.Match = ink("warn", bold.Underline(true))
	t.Added, t.Removed = ink("good", plain), ink("bad", plain)
	surface := func(name string, s lipgloss.Style) Style {
		return NewStyle(s.Foreground(t.ink(name)).Background(t.colors[name]))
	}
	t.Panel = surface("panel", plain)
	if t.colors["selection"] != nil {
		t.Selected = surface("selection", bold)
		return
	}
	t.Selected = NewStyle(plain.Reverse(true))
	if len(t.colors) == 0 {
		t.Key, t.Focus = NewStyle(bold), NewStyle(bold)
	}
}

// ink is the colour of text on a surface of ours. The terminal's own would not
// do: it is made for the terminal's background, which may not be what we were
// told it is. nil where there is no such surface.
func (t *Theme) ink(surface string) color.Color {
	switch text := t.colors["text"]; {
	case text != nil:
		return text
	case t.colors[surface] == nil || t.Depth != Full:
		return nil
	}
	return lipgloss.LightDark(t.Dark)(lipgloss.Color("#1c1c24"), lipgloss.Color("#e8e8ee"))
}
