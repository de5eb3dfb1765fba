package drift

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
)

var _ Source = (*logicstamp.Service)(nil)

// BenchmarkMany draws a comparison with 5,000 changes: the first frame, and the
// frame after a key.
func BenchmarkMany(b *testing.B) {
	now := time.Now()
	results := []*compare.Result{fake.DriftMany(now, 5000)}
	state := logicstamp.State{Projects: []logicstamp.ProjectState{{Path: "/p", Results: results}}}
	f := func() *tui.Frame {
		return &tui.Frame{W: 120, H: 40, Theme: theme.New(theme.Options{Dark: true}), Now: now, Focus: true}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			p := New(Options{Project: "/p"})
			p.Update(stateMsg{state})
			p.Render(f())
		}
	})
	b.Run("key", func(b *testing.B) {
		p := New(Options{Project: "/p"})
		p.Update(stateMsg{state})
		frame := f()
		for b.Loop() {
			p.Move(func() { p.List.Move(1) })
			p.Render(frame)
		}
	})
	b.Run("filter", func(b *testing.B) {
		p := New(Options{Project: "/p"})
		p.Update(stateMsg{state})
		frame := f()
		for b.Loop() {
			p.Filter.SetText("widget42")
			p.narrow()
			p.Render(frame)
			p.unfilter()
		}
	})
}
