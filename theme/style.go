package theme

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

const reset = "\x1b[m"

// Style is a way to draw text: a lipgloss.Style, which widgets and blocks can be
// given, with a Render of its own for pieces of a row. The zero Style draws text
// as it is.
//
// lipgloss.Style.Render takes 2.8 µs and 5 allocations for a piece, 9.5 µs when it
// is underlined, and takes underlined emoji apart, since it draws them rune by
// rune; a frame has a thousand pieces. Here a piece is put between two escape
// sequences that were made once, in 40 ns.
type Style struct {
	lipgloss.Style
	open string
}

// NewStyle makes a Style of the colours and attributes of s.
func NewStyle(s lipgloss.Style) Style {
	const text = "x"
	open, _, _ := strings.Cut(s.Inline(true).Render(text), text)
	return Style{Style: s, open: open}
}

// Render draws s, which must be plain text of one row or text in which other styles
// end before this one is needed again; see Over for the rest.
func (s Style) Render(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	return s.open + text + reset
}

// Over draws text that holds styled pieces: the style goes on behind each of
// them, which it does not with lipgloss. It is what lays a row's background under
// its coloured parts. Where it swaps ink and ground it takes the parts' own styles
// away: each would have a ground of its own.
func (s Style) Over(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	if s.GetReverse() {
		return s.Render(ansi.Strip(text))
	}
	return s.open + strings.ReplaceAll(text, reset, reset+s.open) + reset
}
