package inbox_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// typing opens the page with a text in its field; key types a letter and draws.
func typing(t *testing.T, text string) (key, done func()) {
	t.Helper()
	q := questions.New(questions.Options{})
	qs, err := questions.ParseQuestions([]byte(`[{"question":"Which?","options":["a","b"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Open(questions.Request{Questions: qs, From: questions.From{Client: "claude-code"}, Peer: questions.Peer{PID: 7, Key: "k"}}); err != nil {
		t.Fatal(err)
	}
	p := page.New(q, page.Options{})
	th := theme.New(theme.Options{Dark: true})
	draw := func() {
		p.Render(&tui.Frame{W: 110, H: 30, Theme: th, Now: time.Now(), Focus: true})
	}
	p.Update(tui.SizeMsg{W: 110, H: 30})
	p.Show()
	draw()
	for _, a := range p.Actions() {
		if a.ID == "inbox.other" {
			a.Run()
		}
	}
	if !p.TextEntry() {
		t.Fatal("no field is open")
	}
	testwait.Pass(2 * time.Second)
	p.Update(tea.PasteMsg{Content: text})
	draw()
	k := frame.Key("x")
	return func() {
		p.Update(k)
		draw()
	}, func() { _ = q.Close() }
}

// A key in a draft of 300 KB makes about as many allocations as one in a draft of
// 3 KB.
func TestAKeyInAnEnormousDraftCostsLittle(t *testing.T) {
	const unit = "some words in a row "
	for name, sep := range map[string]string{"one line": "", "lines": "\n"} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) (allocs float64) {
				synctest.Test(t, func(t *testing.T) {
					key, done := typing(t, strings.Repeat(unit+sep, n/len(unit)))
					allocs = testing.AllocsPerRun(20, key)
					done()
				})
				return allocs
			}
			if small, large := cost(3_000), cost(300_000); large > small*1.3+20 {
				t.Errorf("%.0f allocations at 300 KB, %.0f at 3 KB", large, small)
			}
		})
	}
}

// A draft that is longer than the screen says how much of it is above.
func TestALongDraftSaysWhatIsAbove(t *testing.T) {
	setup{ask: []string{`[{"question":"A?","options":["x","y"]}]`}}.run(t, func(d *driver) {
		d.Wait(2 * time.Second)
		d.Keys("o")
		d.Send(tea.PasteMsg{Content: strings.Repeat("line\n", 200) + "the last"})
		d.Has("the last", "↑18")
		d.Keys("ctrl+home")
		d.Has("Your own answer", "↓18")
		d.Lacks("the last")
	})
}
