package theme

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Glyphs are the marks on the screen, each one cell wide unless said
// otherwise. None is an emoji or from a private range, since terminals do not
// agree on the width of those.
type Glyphs struct {
	ASCII bool

	// Frames and rules: thin, and heavy for what has the focus.
	Frame, Focus lipgloss.Border

	Cursor   string // before the row under the cursor
	On, Off  string // working, on; idle, off
	Check    string // multiple choice: chosen, three cells "[x]"
	Uncheck  string
	OK, Fail string
	Run      string // the step that runs
	Wait     string // needs the user
	Right    string // arrow
	Up, Down string
	Dot      string // between facts
	Bar      string // full cell of a progress bar
	BarRest  string
	Thumb    string // of a scroll bar
}

func boxGlyphs() Glyphs {
	return Glyphs{
		Frame: lipgloss.RoundedBorder(), Focus: lipgloss.ThickBorder(),
		Cursor: "▌", On: "●", Off: "○", Check: "[x]", Uncheck: "[ ]",
		OK: "✓", Fail: "✗", Run: "▸", Wait: "◆", Right: "→", Up: "↑", Down: "↓",
		Dot: "·", Bar: "█", BarRest: "░", Thumb: "┃",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		ASCII: true,
		Frame: lipgloss.ASCIIBorder(),
		Focus: lipgloss.Border{
			Top: "=", Bottom: "=", Left: "#", Right: "#", TopLeft: "#", TopRight: "#", BottomLeft: "#", BottomRight: "#",
			MiddleLeft: "#", MiddleRight: "#", Middle: "#", MiddleTop: "#", MiddleBottom: "#",
		},
		Cursor: ">", On: "@", Off: "o", Check: "[x]", Uncheck: "[ ]",
		OK: "v", Fail: "x", Run: ">", Wait: "*", Right: ">", Up: "^", Down: "v",
		Dot: "-", Bar: "#", BarRest: ".", Thumb: "#",
	}
}

// ToASCII writes the few signs that texts of the screen use beside the glyphs in
// ASCII, each in one cell. What comes from outside stays as it is.
func ToASCII(s string) string {
	return strings.NewReplacer("…", "~", "≈", "~", "×", "x", "·", "-", "‹", "<", "›", ">", "–", "-", "≥", ">", "−", "-").Replace(s)
}
