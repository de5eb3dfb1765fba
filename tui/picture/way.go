package picture

import (
	"fmt"
	"image"
	"slices"
	"strings"
)

// Mode names a way to show a picture, in settings and on the command line.
type Mode string

// Auto leaves the choice to what the terminal says of itself.
const Auto Mode = ""

// way is a way to show a picture. It has a file with all that it needs, and a place in
// ways.
type way interface {
	mode() Mode
	// unit is how large a picture's unit is: so many make a cell.
	unit(cellW, cellH int) (w, h int)
	// draw brings a picture into the form that is kept of it: lines of text, or what is
	// sent and lines to stand where it shows.
	draw(d *drawing, img *image.NRGBA, s Spec, c Caps)
	// print writes a picture for output that scrolls.
	print(img *image.NRGBA, r Room, t Target) string
}

// protocol is a way that sends pixels. See [silent] for what it need not do.
type protocol interface {
	way
	// query asks the terminal whether it knows the protocol; through says that tmux must
	// be made to pass it on. "" asks nothing.
	query() (ask string, through bool)
	// answer takes a sequence that the reader of input did not know.
	answer(p *Probe, sequence string)
	// facts are what it asked and was answered.
	facts(p *Probe) []Fact
	// detect decides with the answers, once they are in, whether it is to be used.
	detect(p *Probe, t terminal, c Caps) verdict
	// refused is why the renderer keeps it from working, whatever is set; "" if it does not.
	refused(d Depth) string
	// alpha says whether half-transparent pixels are shown as such.
	alpha() bool

	// most bounds the cells that a picture may have.
	most(c Caps, cols, rows int) (int, int)
	// lines are the cells to draw for a place.
	lines(g *Gallery, s *slot) []string
	// place sends what belongs to a place once all rows of the frame are known.
	place(g *Gallery, s *slot, rows []string)
	// free is what makes the terminal forget a picture.
	free(c Caps, id uint32) string
}

// verdict says whether a protocol is to be used, and why. With stop, none after it is.
type verdict struct {
	use, stop bool
	why       string
}

// ways are all of them: text first, from the plainest to the finest, then the protocols,
// in the order in which they are tried.
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

// wayOf is the way of a mode, half blocks for one that there is not.
func wayOf(m Mode) way {
	for _, w := range ways() {
		if w.mode() == m {
			return w
		}
	}
	return glyphSet{Half}
}

// silent is what a protocol does that asks nothing, puts nothing beside the frame and
// leaves nothing in the terminal.
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

// modes are all of them, Auto first.
func modes() []Mode {
	out := []Mode{Auto}
	for _, w := range ways() {
		out = append(out, w.mode())
	}
	return out
}

// Next is the mode behind m, and Auto behind the last.
func (m Mode) Next() Mode {
	all := modes()
	return all[(slices.Index(all, m)+1)%len(all)]
}

// ModeNames lists what [ParseMode] takes, for help texts.
func ModeNames() []string {
	var out []string
	for _, m := range modes() {
		out = append(out, m.String())
	}
	return out
}

// ParseMode reads a mode's name; "ascii" is another name for letters and "" for auto.
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

// Pixels says whether a mode sends pixels to the terminal.
func (m Mode) Pixels() bool {
	_, ok := wayOf(m).(protocol)
	return ok
}

// Alpha says whether half-transparent pixels can be left to the terminal. Text has none.
func (m Mode) Alpha() bool {
	p, ok := wayOf(m).(protocol)
	return !ok || p.alpha()
}
