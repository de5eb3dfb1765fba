package tui_test

import (
	"encoding/base64"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// panes is a page of two panes side by side.
func panes() *page {
	p := &page{id: "one", title: "One"}
	p.render = func(f *tui.Frame) []string {
		th := f.Theme
		left := widget.Pane(th, "Left", "", true, []string{" " + th.Accent.Render("alpha"), "   beta 世界", " gamma", " " + th.Border.Render("│") + " quoted", " " + th.Border.Render("│") + " twice", " delta"}, 19, f.H)
		right := widget.Pane(th, "Right", "", false, []string{" one", " two", " three \U0010eeee\u0305\u0305x", " four"}, f.W-20, f.H)
		return widget.Panes(th, left, right)
	}
	return p
}

// copied is what was put on the clipboard last.
func copied(s *frame.Screen) string {
	_, after, _ := lastCut(s.Raw(), "\x1b]52;c;")
	data, _, _ := strings.Cut(after, "\a")
	b, _ := base64.StdEncoding.DecodeString(data)
	return string(b)
}

func lastCut(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// The panes begin in row 1 with their upper rule.
func TestDraggingMarksAndCopiesText(t *testing.T) {
	tests := []struct {
		name           string
		x, y, toX, toY int
		want           string
	}{
		{"a part of a row", 2, 2, 4, 2, "alp"},
		{"to the left", 4, 2, 2, 2, "alp"},
		{"rows of one pane", 2, 2, 50, 4, "alpha\n  beta 世界\ngamma"},
		{"from below", 4, 4, 3, 2, "lpha\n  beta 世界\ngam"},
		{"half of a wide character", 10, 3, 6, 4, "世界\ngamma"},
		{"the other pane", 22, 2, 22, 3, "one\nt"},
		{"beyond the pane", 22, 4, 0, 11, "three  x\nfour"},
		{"a quote without its line", 4, 5, 30, 6, "quoted\ntwice"},
		{"from a quote on", 4, 5, 30, 7, "quoted\n│ twice\ndelta"},
		{"the header", 0, 0, 3, 0, "One"},
		{"cells of a picture", 26, 4, 60, 4, "e  x"},
	}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{panes()}}, func(s *frame.Screen) {
		for _, tt := range tests {
			s.Drag(tt.x, tt.y, tt.toX, tt.toY)
			if got := copied(s); got != tt.want {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
			s.Keys("esc")
		}
	})
}

func TestAMarkStaysUntilAKey(t *testing.T) {
	p, two := panes(), &page{id: "two", title: "Two", render: func(*tui.Frame) []string { return []string{"text"} }}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p, two}}, func(s *frame.Screen) {
		s.Keys("T")
		mark := len(s.Raw())
		s.Drag(0, 1, 3, 1)
		if !strings.Contains(since(s, &mark), "\x1b[7mtext") {
			t.Error("nothing is marked")
		}
		s.Has("copied 4 characters")
		s.Keys("esc")
		s.Has("text") // esc cleared the mark and did not leave the page
		s.Keys("esc")
		s.Has("alpha")
	})
}

func TestAClickComesWhenTheButtonIsLetGo(t *testing.T) {
	p := &page{id: "one", title: "One"}
	clicks := func() int { return p.count(func(m tea.Msg) bool { _, ok := m.(tui.ClickMsg); return ok }) }
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Send(tea.MouseClickMsg{X: 1, Y: 2, Button: tea.MouseLeft})
		if n := clicks(); n != 0 {
			t.Errorf("%d clicks while the button is down", n)
		}
		s.Send(tea.MouseReleaseMsg{X: 1, Y: 2, Button: tea.MouseLeft})
		if n := clicks(); n != 1 {
			t.Errorf("%d clicks, want 1", n)
		}
		s.Drag(1, 2, 5, 2)
		if n := clicks(); n != 1 {
			t.Errorf("dragging clicked")
		}
	})
}

// dragger is a page on which the mouse moves something.
type dragger struct{ page }

func (*dragger) Drags(x, _ int) bool { return x < 10 }

func TestAPageMayBeDraggedOver(t *testing.T) {
	p := &dragger{page{id: "one", title: "One"}}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Drag(1, 2, 5, 2)
		drags := p.count(func(m tea.Msg) bool { _, ok := m.(tui.DragMsg); return ok })
		if drags != 1 || strings.Contains(s.Raw(), "\x1b]52") {
			t.Errorf("%d drags, want 1, and nothing copied", drags)
		}
	})
}

// A terminal that has just been made smaller may tell of cells that it no longer has.
func TestDraggingOutsideTheScreenMarksWhatIsOnIt(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y, toX, toY int
		want           string
	}{
		"to below":    {4, 5, 59, 40, "quoted\n│ twice\ndelta"},
		"from below":  {53, 40, 58, 30, "? help"},
		"from above":  {3, -1, 1, -3, "One"},
		"to the left": {4, 2, -5, 2, "alp"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{panes()}}, func(s *frame.Screen) {
				s.Drag(tt.x, tt.y, tt.toX, tt.toY)
				if got := copied(s); got != tt.want {
					t.Errorf("%q is copied, want %q", got, tt.want)
				}
				s.Keys("esc")
				s.Has("alpha")
			})
		})
	}
}
