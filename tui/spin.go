package tui

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/spinner"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Spin is the mark of what runs. It turns by the clock, so that all turn together, for as long as
// one is on the screen. It stands where the user wants no motion, and where there are no signs
// but ASCII.
//
// It is a noncharacter, which no text from outside has once it is made safe to show, and is taken
// for what it stands for when the frame is done: a turn draws no page.
const Spin = "\ufdd0"

// spinFor is how long one step of the spinner is on the screen.
const spinFor = 250 * time.Millisecond

// spins is a frame as it is drawn, with Spin for the marks that turn.
type spins struct {
	drawn string
	due   time.Time // when another frame is to be drawn; zero: when something happens
	turns bool      // other signs may stand for the marks now
}

// turn is the frame with the signs of the moment, and after how long other ones, or another frame,
// are due; 0 says when something happens.
func (s *spins) turn(now time.Time, th *theme.Theme, still bool) (content string, wake time.Duration) {
	s.turns = false
	f := Frame{}
	if !s.due.IsZero() {
		f.RedrawAfter(max(s.due.Sub(now), 1))
	}
	if !strings.Contains(s.drawn, Spin) {
		return s.drawn, f.wake
	}
	sign := th.Glyph.On
	if !still && !th.Glyph.ASCII {
		at := now.Sub(now.Truncate(time.Second))
		f.RedrawAfter(spinFor - at%spinFor)
		steps := spinner.MiniDot.Frames
		sign = steps[int(now.Unix()*int64(time.Second/spinFor)+int64(at/spinFor))%len(steps)]
	}
	return strings.ReplaceAll(s.drawn, Spin, sign), f.wake
}
