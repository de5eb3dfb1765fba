package tui_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestALongPasteIsCutAndSaysSo(t *testing.T) {
	p := &page{id: "one", title: "One", text: true}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		pasted := func(text string) (got string) {
			s.Send(tea.PasteMsg{Content: text})
			s.Do(func() {
				for _, m := range p.got {
					if one, ok := m.(tea.PasteMsg); ok {
						got = one.Content
					}
				}
			})
			return got
		}
		whole := strings.Repeat("é", 1<<19)
		if got := pasted(whole); got != whole {
			t.Errorf("a megabyte came as %d bytes", len(got))
		}
		s.Lacks("were taken")
		if got := pasted("x" + strings.Repeat("é", 20<<20)); len(got) > 1<<20 || len(got) < 1<<20-4 || !utf8.ValidString(got) {
			t.Errorf("%d bytes came", len(got))
		}
		s.Has("your paste was cut to 1.0 MB")
	})
}
