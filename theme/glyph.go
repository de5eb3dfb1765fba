package theme

import "strings"

// Glyphs are the marks on the screen, each one cell wide unless said
// otherwise. None is an emoji or from a private range, since terminals do not
// agree on the width of those.
type Glyphs struct {
	ASCII bool

	// Frames and rules: thin, and heavy for what has the focus.
	H, V, TL, TR, BL, BR       string
	FH, FV, FTL, FTR, FBL, FBR string

	Cursor   string // before the row under the cursor
	On, Off  string // single choice; also a status lamp
	Half     string // lamp: degraded, starting
	Check    string // multiple choice: chosen, three cells "[x]"
	Uncheck  string
	OK, Fail string
	Run      string // at work
	Wait     string // waits for the person
	Right    string // arrow
	Up, Down string
	Open     string // tree node that shows its children
	Closed   string
	Dot      string // between facts
	Bar      string // full cell of a progress bar
	BarRest  string
	Thumb    string // of a scroll bar
}

func boxGlyphs() Glyphs {
	return Glyphs{
		H: "─", V: "│", TL: "╭", TR: "╮", BL: "╰", BR: "╯",
		FH: "━", FV: "┃", FTL: "┏", FTR: "┓", FBL: "┗", FBR: "┛",
		Cursor: "▌", On: "●", Off: "○", Half: "◐", Check: "[x]", Uncheck: "[ ]",
		OK: "✓", Fail: "✗", Run: "▸", Wait: "◆", Right: "→", Up: "↑", Down: "↓",
		Open: "▾", Closed: "▸",
		Dot: "·", Bar: "█", BarRest: "░", Thumb: "┃",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		ASCII: true,
		H:     "-", V: "|", TL: "+", TR: "+", BL: "+", BR: "+",
		FH: "=", FV: "#", FTL: "#", FTR: "#", FBL: "#", FBR: "#",
		Cursor: ">", On: "*", Off: "o", Half: "~", Check: "[x]", Uncheck: "[ ]",
		OK: "+", Fail: "x", Run: ">", Wait: "!", Right: ">", Up: "^", Down: "v",
		Open: "v", Closed: ">",
		Dot: "-", Bar: "#", BarRest: ".", Thumb: "#",
	}
}

// ToASCII writes the few signs that texts of the screen use beside the glyphs in
// ASCII, each in one cell. What comes from outside stays as it is.
func ToASCII(s string) string {
	return strings.NewReplacer("…", "~", "×", "x", "·", "-", "‹", "<", "›", ">").Replace(s)
}
