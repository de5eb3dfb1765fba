package tui_test

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// full is a deck with 10,000 calls on a terminal of 200×60.
func full(b testing.TB, page string) (*tui.Model, *fake.Deck) {
	b.Helper()
	d := fake.NewDeck(time.Now())
	for i := range 10_000 {
		d.Add(snapshot.Call{
			Agent: "a1", AgentName: "claude", Server: "clippy", Tool: "read_project_context", Status: snapshot.OK,
			Started: time.Now(), Duration: time.Duration(i) * time.Microsecond,
			Args: fmt.Sprintf(`{"path":"src/components/button-%d/README.md","recursive":true,"depth":3}`, i), Result: "ok",
		})
	}
	m := tui.New(tui.Options{Deck: d, Start: page, Background: "dark", Pages: []tui.Page{
		inbox.New(queue(), inbox.Options{CallsPage: "calls"}), calls.New(calls.Options{Bodies: d}),
	}})
	b.Cleanup(m.Close)
	drain(m, m.Init())
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	calls, _ := d.Calls(0)
	m.Update(tui.DeckMsg{Snapshot: d.Snapshot(), Calls: calls})
	return m, d
}

// drain runs the commands that end at once.
func drain(m *tui.Model, cmd tea.Cmd) {
	if batch, ok := cmd().(tea.BatchMsg); ok {
		for _, c := range batch[2:] { // after the pump's own two, which wait
			if c != nil {
				m.Update(c())
			}
		}
	}
}

// BenchmarkFrame is a key that moves the cursor and the whole frame after it.
func BenchmarkFrame(b *testing.B) {
	for _, page := range []string{"inbox", "calls"} {
		b.Run(page, func(b *testing.B) {
			m, _ := full(b, page)
			keys := []tea.KeyPressMsg{frame.Key("k"), frame.Key("j")}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.Update(keys[i%2])
				if v := m.View(); len(v.Content) < 200*60 {
					b.Fatal("the frame is not full")
				}
			}
		})
	}
}

// A frame has a thousand styled pieces, and lipgloss takes five allocations for
// each: with it, the frames here take three times as many as they may.
func TestAFrameCostsNoMoreThanItDid(t *testing.T) {
	tests := []struct {
		page string
		most float64 // a fifth more than measured
	}{
		{"inbox", 1614},
		{"calls", 1938},
	}
	for _, tt := range tests {
		t.Run(tt.page, func(t *testing.T) {
			m, _ := full(t, tt.page)
			keys := []tea.KeyPressMsg{frame.Key("k"), frame.Key("j")}
			i := 0
			got := testing.AllocsPerRun(100, func() {
				m.Update(keys[i%2])
				m.View()
				i++
			})
			if got > tt.most {
				t.Errorf("%.0f allocations, want at most %.0f", got, tt.most)
			}
		})
	}
}

// BenchmarkOverlay is a key and the whole frame after it with the command palette
// over the page.
func BenchmarkOverlay(b *testing.B) {
	m, _ := full(b, "inbox")
	m.Update(frame.Key("ctrl+p"))
	keys := []tea.KeyPressMsg{frame.Key("down"), frame.Key("up")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Update(keys[i%2])
		m.View()
	}
}

// BenchmarkBatch is thirty-three milliseconds of 10,000 calls a second, and the
// frame after them.
func BenchmarkBatch(b *testing.B) {
	for _, page := range []string{"inbox", "calls"} {
		b.Run(page, func(b *testing.B) {
			m, d := full(b, page)
			all, _ := d.Calls(0)
			batch := all[len(all)-333:]
			b.ReportAllocs()
			for b.Loop() {
				m.Update(tui.DeckMsg{Snapshot: d.Snapshot(), Calls: batch})
				m.Update(tea.KeyPressMsg{}) // so that View draws at once
				m.View()
			}
		})
	}
}

// BenchmarkStill is View when nothing has changed: what each message costs.
func BenchmarkStill(b *testing.B) {
	m, _ := full(b, "inbox")
	m.Update(frame.Key("k"))
	m.View()
	for b.Loop() {
		m.View()
	}
}
