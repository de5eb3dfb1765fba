package picture

import (
	"fmt"
	"strings"
)

// Mode is a way to show a picture.
type Mode uint8

// The modes: text first, from the plainest to the finest, then those that send pixels.
const (
	// Auto leaves the choice to what the terminal says of itself.
	Auto Mode = iota
	// ModeLetters is one letter per colour, or shades of plain characters.
	ModeLetters
	// ModeHalf to ModeBest are the glyph sets.
	ModeHalf
	ModeBlock
	ModeSextant
	ModeOctant
	ModeBest
	// ModeKitty is kitty's protocol with placeholder cells.
	ModeKitty
	// ModePlacement is kitty's protocol with pictures placed under the text.
	ModePlacement
	// ModeITerm2 is inline files.
	ModeITerm2
	// ModeSixel is sixel strips.
	ModeSixel
)

var modeNames = [...]string{"auto", "letters", "half", "block", "sextant", "octant", "best", "kitty", "placement", "iterm", "sixel"}

// String returns the name used in settings and on the command line.
func (m Mode) String() string { return modeNames[min(int(m), len(modeNames)-1)] }

// ModeNames lists what [ParseMode] takes, for help texts.
func ModeNames() []string { return append([]string(nil), modeNames[:]...) }

// ParseMode reads a mode's name; "ascii" is another name for letters and "" for auto.
func ParseMode(name string) (Mode, error) {
	switch name {
	case "":
		return Auto, nil
	case "ascii":
		return ModeLetters, nil
	}
	for i, one := range modeNames {
		if one == name {
			return Mode(i), nil
		}
	}
	return Auto, fmt.Errorf("unknown way to show pictures %q: use one of %s", name, strings.Join(modeNames[:], ", "))
}

// Set returns the glyph set of a mode made of cells.
func (m Mode) Set() (Set, bool) {
	if m >= ModeHalf && m <= ModeBest {
		return Set(m - ModeHalf), true
	}
	return Half, false
}

// Pixels says whether a mode sends pixels to the terminal.
func (m Mode) Pixels() bool { return m >= ModeKitty }

func modeOf(s Set) Mode { return ModeHalf + Mode(s) }
