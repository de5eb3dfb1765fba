package tui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// signed is a page whose rows begin with signs.
type signed struct{ page }

func (*signed) Legend(*theme.Theme) []tui.Sign {
	return []tui.Sign{{Mark: "◆", Means: "waits for you"}, {Mark: "✗", Means: "failed"}, {Mark: "●", Means: "nowhere"}}
}

// A sign is explained when it is on screen for the first time, where there is room beside
// the keys, and once for all runs.
func TestASignIsExplainedOnce(t *testing.T) {
	store := words{}
	show := func(w int, rows []string, test func(s *frame.Screen)) {
		p := &signed{page{id: "one", title: "One", render: func(*tui.Frame) []string { return rows }}}
		run(t, frame.Size{W: w, H: 20}, tui.Options{Pages: []tui.Page{p}, Store: store}, func(s *frame.Screen) {
			test(s)
			s.Keys("q")
		})
	}
	waits, fails := []string{"  ◆ claude"}, []string{"▌ ◆ claude", "  ✗ codex", "of ● text"}
	show(40, waits, func(s *frame.Screen) {
		s.Lacks("waits for you") // no room
		s.Wait(time.Minute)
	})
	show(80, waits, func(s *frame.Screen) {
		s.Has("? help", "◆ waits for you")
		s.Wait(16 * time.Second)
		s.Lacks("waits for you")
		s.Has("? help")
	})
	if got := store["signs"]; got != "waits for you" {
		t.Fatalf("known are %q", got)
	}
	show(80, fails, func(s *frame.Screen) {
		s.Lacks("waits for you", "nowhere")
		s.Has("✗ failed")
		s.Wait(16 * time.Second)
		s.Lacks("✗ failed")
	})
	if got := strings.Count(store["signs"], "failed"); got != 1 {
		t.Errorf("known are %q", store["signs"])
	}
}
