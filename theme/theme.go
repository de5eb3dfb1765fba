package theme

import "image/color"

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

	// The user's colours, laid over the built-in ones.
	DarkColors, LightColors Palette
}

// Theme is every style and glyph the screen uses. It is not changed after New.
type Theme struct {
	Dark  bool
	Depth Depth
	Glyph Glyphs

	Text   Style // the terminal's own unless the user set one
	Strong Style // bold
	Muted  Style // second in rank
	Faint  Style // third in rank
	Border Style // frames and rules without the focus
	Focus  Style // frames and rules with the focus
	Title  Style // of a pane without the focus
	Accent Style // names, links, what is active
	Key    Style // keys in hints
	Good   Style
	Warn   Style
	Bad    Style
	Info   Style
	// Special marks Pencil, and numbers in JSON.
	Special Style

	Selected Style // row under the cursor, in the part with the focus; use Over
	Panel    Style // behind a dialog; use Over
	Badge    Style // a number that wants to be seen
	Match    Style // letters that a filter found
	Added    Style // lines of a diff; use Over
	Removed  Style

	colors map[string]color.Color
}

// New makes a theme. Colours of the user that cannot be read are left out;
// Palette.Check tells of them.
func New(o Options) *Theme {
	t := &Theme{Dark: o.Dark, Depth: o.Depth, Glyph: boxGlyphs(), colors: map[string]color.Color{}}
	if o.ASCII {
		t.Glyph = asciiGlyphs()
	}
	pal := o.LightColors.over(Light())
	if o.Dark {
		pal = o.DarkColors.over(Dark())
	}
	switch o.Depth {
	case Full:
		for _, f := range pal.fields() {
			if c, ok := parse(*f.value); ok {
				t.colors[f.name] = c
			}
		}
	case Basic:
		t.colors = basic(o.Dark)
	}
	t.styles()
	return t
}

func (t *Theme) styles() {
	fg := func(name string, a Attr) Style { return NewStyle(t.colors[name], nil, a) }
	t.Text, t.Strong = fg("text", 0), fg("text", Bold)
	t.Muted, t.Faint = fg("muted", 0), fg("faint", 0)
	t.Border, t.Focus = fg("border", 0), fg("accent", 0)
	t.Title, t.Accent = fg("muted", Bold), fg("accent", Bold)
	t.Key = fg("accent", 0)
	t.Good, t.Warn, t.Bad = fg("good", 0), fg("warn", 0), fg("bad", Bold)
	t.Info, t.Special = fg("info", 0), fg("special", 0)
	t.Badge = NewStyle(t.colors["warn"], nil, Bold|Reverse)
	t.Match = fg("warn", Bold|Underline)
	t.Added, t.Removed = fg("good", 0), fg("bad", 0)
	t.Panel = NewStyle(t.ink("panel"), t.colors["panel"], 0)

	sel, ok := t.colors["selection"]
	if ok {
		t.Selected = NewStyle(t.ink("selection"), sel, Bold)
		return
	}
	t.Selected = NewStyle(nil, nil, Reverse)
	if t.Depth == NoColor {
		t.Key, t.Focus = NewStyle(nil, nil, Bold), NewStyle(nil, nil, Bold)
		t.Muted, t.Faint = Style{}, Style{}
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
	case t.Dark:
		return color.RGBA{0xe8, 0xe8, 0xee, 0xff}
	}
	return color.RGBA{0x1c, 0x1c, 0x24, 0xff}
}

// Hue picks one of a few readable styles for a name, always the same one, so
// that agents can be told apart at a glance.
func (t *Theme) Hue(name string) Style {
	hues := [...]Style{t.Accent, t.Info, t.Special, t.Good, t.Warn}
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return hues[h%uint32(len(hues))]
}
