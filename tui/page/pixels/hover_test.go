package pixels_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
)

func TestTheMouseLooksAtThePixelUnderIt(t *testing.T) {
	src := newSource(still(1, 0, time.Minute))
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{src}}, func(s *frame.Screen) {
		s.Lacks(" of 3")
		s.Send(tea.MouseMotionMsg{X: 50, Y: 12, Button: tea.MouseNone})
		s.Has(" of 3")
		was := s.Text()
		s.Send(tea.MouseMotionMsg{X: 1, Y: 12, Button: tea.MouseNone}) // over the list: nothing
		if s.Text() != was {
			t.Errorf("the mouse over the list changed the screen:\n%s", s.Text())
		}
		s.Wait(time.Second)
		s.Send(tea.MouseMotionMsg{X: 44, Y: 8, Button: tea.MouseNone})
		if s.Text() == was {
			t.Errorf("another pixel shows the same:\n%s", s.Text())
		}
	})
}
