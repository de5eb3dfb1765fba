package theme

import (
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const reset = "\x1b[m"

// Style is a way to draw text. The zero Style draws it as it is.
//
// A Style is its opening escape sequence, made once, because a frame draws
// hundreds of styled pieces.
type Style struct{ open string }

// Attr is what a Style can be besides coloured. The values may be added.
type Attr uint8

// The attributes a Style knows.
const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Reverse
	Strike
	Dim
)

// NewStyle makes a Style. A nil colour leaves the terminal's own.
func NewStyle(fg, bg color.Color, attrs Attr) Style {
	var s ansi.Style
	add := func(a Attr, f func(ansi.Style) ansi.Style) {
		if attrs&a != 0 {
			s = f(s)
		}
	}
	add(Bold, ansi.Style.Bold)
	add(Dim, ansi.Style.Faint)
	add(Italic, func(s ansi.Style) ansi.Style { return s.Italic(true) })
	add(Underline, func(s ansi.Style) ansi.Style { return s.Underline(true) })
	add(Reverse, func(s ansi.Style) ansi.Style { return s.Reverse(true) })
	add(Strike, func(s ansi.Style) ansi.Style { return s.Strikethrough(true) })
	if fg != nil {
		s = s.ForegroundColor(fg)
	}
	if bg != nil {
		s = s.BackgroundColor(bg)
	}
	if len(s) == 0 {
		return Style{}
	}
	return Style{open: s.String()}
}

// Render draws s, which must be plain text or text in which other styles end
// before this one is needed again; see Over for the rest.
func (s Style) Render(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	return s.open + text + reset
}

// Over draws text that holds styled pieces: the style goes on behind each of
// them. It is what lays a row's background under its coloured parts.
func (s Style) Over(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	return s.open + strings.ReplaceAll(text, reset, reset+s.open) + reset
}
