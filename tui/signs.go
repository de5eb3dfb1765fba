package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// explainFor is how long the footer explains signs that the user sees for the first time.
const explainFor = 15 * time.Second

// signs are what rows begin with, and which of them the footer has explained.
type signs struct {
	known []string // what they mean, of all runs
	page  string   // that is shown
	fresh []Sign   // on it, not explained yet
	shown []Sign   // those of them that the footer had room for
	since time.Time
}

// see finds the signs of a page that are on screen for the first time. What the footer
// shows of them is known after a while, or once the page is left.
func (s *signs) see(f *Frame, p Page, rows []string) {
	l, ok := p.(Legender)
	if left := s.page != p.ID(); left || len(s.shown) > 0 && f.Now.Sub(s.since) >= explainFor {
		for _, sign := range s.shown {
			s.known = append(s.known, sign.Means)
		}
		s.fresh = slices.DeleteFunc(s.fresh, func(o Sign) bool { return left || slices.Contains(s.shown, o) })
		s.page, s.shown, s.since = p.ID(), nil, f.Now
	}
	if !ok {
		return
	}
	begins := map[string]bool{} // what rows begin with, and not again
	for _, row := range rows {
		word, _, _ := strings.Cut(strings.TrimLeft(ansi.Strip(row), " "+f.Theme.Glyph.Cursor), " ")
		begins[word] = true
	}
	for _, sign := range l.Legend(f.Theme) {
		mark := ansi.Strip(sign.Mark)
		is := begins[mark]
		delete(begins, mark)
		again := slices.ContainsFunc(s.fresh, func(o Sign) bool { return o.Means == sign.Means })
		if is && !again && !slices.Contains(s.known, sign.Means) {
			s.fresh = append(s.fresh, sign)
		}
	}
}

// explain says in at most w cells what the fresh signs mean; "" where there is no room for
// any.
func (s *signs) explain(f *Frame, w int) string {
	out, before := "", len(s.shown)
	s.shown = s.shown[:0]
	for _, sign := range s.fresh {
		one := sign.Mark + f.Theme.Muted.Render(" "+sign.Means)
		if out != "" {
			one = "   " + one
		}
		if widget.Width(out+one) <= w {
			out += one
			s.shown = append(s.shown, sign)
		}
	}
	if before == 0 {
		s.since = f.Now
	}
	if out != "" {
		f.RedrawAfter(explainFor - f.Now.Sub(s.since))
	}
	return out
}
