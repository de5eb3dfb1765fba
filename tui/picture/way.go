package picture

import (
	"fmt"
	"image"
	"slices"
	"strings"
)

// Mode names a way to show pictures, in settings and on the command line.
type Mode string

// Auto selects the mode from the terminal's replies.
const Auto Mode = ""

// way is a way to show pictures. Each has a file of its own and an entry in ways.
type way interface {
	mode() Mode
	// unit returns how many picture units a cell has in each direction.
	unit(cellW, cellH int) (w, h int)
	// draw renders a picture into d: lines of text, or the data to send and the lines that
	// stand where it shows.
	draw(d *drawing, img *image.NRGBA, s Spec, c Caps)
	// print returns a picture for output that scrolls.
	print(img *image.NRGBA, r Room, t Target) string
}

// protocol is a way that sends pixels. [silent] implements the optional methods.
type protocol interface {
	way
	// query returns the sequence that asks whether the terminal supports the protocol, or ""
	// for none. through is set if tmux must pass it through.
	query() (ask string, through bool)
	// answer handles a sequence that the input reader did not recognize.
	answer(p *Probe, sequence string)
	// facts returns what was asked and answered.
	facts(p *Probe) []Fact
	// detect decides, once the replies are in, whether to use the protocol.
	detect(p *Probe, t terminal, c Caps) verdict
	// refused returns why the renderer rules the protocol out, whatever the settings, or "".
	refused(d Depth) string
	// alpha reports whether partly transparent pixels are shown as such.
	alpha() bool

	// most limits the size of a picture in cells.
	most(c Caps, cols, rows int) (int, int)
	// lines returns the cells to draw for a place.
	lines(g *Gallery, s *slot) []string
	// place sends what a place needs once all rows of the frame are known.
	place(g *Gallery, s *slot, rows []string)
	// free returns the sequence that makes the terminal forget a picture.
	free(c Caps, id uint32) string
}

// verdict is whether to use a protocol, and why. If stop is set, no later one is tried.
type verdict struct {
	use, stop bool
	why       string
}

// ways returns all ways: text from the plainest to the finest, then the protocols in the
// order in which they are tried.
func ways() []way {
	return []way{
		lettered{},
		glyphSet{Half},
		glyphSet{Block},
		glyphSet{Sextant},
		glyphSet{Octant},
		glyphSet{Best},
		kittyCells{},
		placement{},
		inlineFiles{},
		sixels{},
	}
}

func protocols() []protocol {
	var out []protocol
	for _, w := range ways() {
		if p, ok := w.(protocol); ok {
			out = append(out, p)
		}
	}
	return out
}

// wayOf returns the way of a mode, or half blocks for an unknown mode.
func wayOf(m Mode) way {
	for _, w := range ways() {
		if w.mode() == m {
			return w
		}
	}
	return glyphSet{Half}
}

// silent implements the methods of a protocol that queries nothing, adds nothing to the
// frame and leaves nothing in the terminal.
type silent struct{}

func (silent) unit(cellW, cellH int) (w, h int)       { return max(cellW, 1), max(cellH, 1) }
func (silent) query() (ask string, through bool)      { return "", false }
func (silent) answer(*Probe, string)                  {}
func (silent) facts(*Probe) []Fact                    { return nil }
func (silent) refused(Depth) string                   { return "" }
func (silent) alpha() bool                            { return true }
func (silent) most(_ Caps, cols, rows int) (int, int) { return cols, rows }
func (silent) lines(_ *Gallery, s *slot) []string     { return s.shown.lines }
func (silent) place(*Gallery, *slot, []string)        {}
func (silent) free(Caps, uint32) string               { return "" }

// String returns the mode's name.
func (m Mode) String() string {
	if m == Auto {
		return "auto"
	}
	return string(m)
}

// modes returns all modes, Auto first.
func modes() []Mode {
	out := []Mode{Auto}
	for _, w := range ways() {
		out = append(out, w.mode())
	}
	return out
}

// Next returns the mode that follows m; after the last one comes Auto.
func (m Mode) Next() Mode {
	all := modes()
	return all[(slices.Index(all, m)+1)%len(all)]
}

// ModeNames returns the names that [ParseMode] accepts, for help texts.
func ModeNames() []string {
	var out []string
	for _, m := range modes() {
		out = append(out, m.String())
	}
	return out
}

// ParseMode parses the name of a mode. "ascii" is an alias for letters, and "" for auto.
func ParseMode(name string) (Mode, error) {
	switch name {
	case "":
		return Auto, nil
	case "ascii":
		return ModeLetters, nil
	}
	for _, m := range modes() {
		if m.String() == name {
			return m, nil
		}
	}
	return Auto, fmt.Errorf("unknown way to show pictures %q: use one of %s", name, strings.Join(ModeNames(), ", "))
}

// Pixels reports whether a mode sends pixels to the terminal.
func (m Mode) Pixels() bool {
	_, ok := wayOf(m).(protocol)
	return ok
}

// Alpha reports whether the terminal can blend partly transparent pixels. Text modes cannot.
func (m Mode) Alpha() bool {
	p, ok := wayOf(m).(protocol)
	return !ok || p.alpha()
}
