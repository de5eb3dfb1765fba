package widget_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// A Pager shows what a Scroll shows, whatever is done with both.
func TestPager(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	text := func(n int) []string {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = th.Key.Render(fmt.Sprint(i)) + " " + th.Text.Render([]string{"日本語のテキスト", "  indented, and rather long for the window", "", "👩‍💻 e\u0301 - a-b", "tail  "}[i%5])
		}
		return rows
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		var pager widget.Pager
		var scroll widget.Scroll
		w, h, rows := 30, 10, text(50)
		for step := range 60 {
			switch r.IntN(8) {
			case 0:
				rows = text([]int{0, 1, 5, 10, 11, 50, 200}[r.IntN(7)])
			case 1:
				w, h = 2+r.IntN(60), 1+r.IntN(30)
			case 2:
				pager.Move(-1 << 30)
				scroll.Move(-1 << 30)
			case 3:
				pager.Move(1 << 30)
				scroll.Move(1 << 30)
			case 4, 5:
				d := r.IntN(3) - 1
				pager.Page(d)
				scroll.Page(d)
			default:
				d := r.IntN(21) - 10
				pager.Move(d)
				scroll.Move(d)
			}
			got, want := pager.Render(th, rows, w, h), scroll.Render(th, rows, w, h)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d, %d rows in %d×%d:\n%q\nwant\n%q", seed, step, len(rows), w, h, got, want)
			}
		}
	}
}

// Setting the content of a viewport costs by all its rows, so that must not be done
// for a key.
func TestAKeyInAPagerCostsByTheRowsThatAreSeen(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	bytes := func(n int) uint64 {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf("row %6d", i)
		}
		var p widget.Pager
		p.Render(th, rows, 80, 20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range 100 {
			p.Move(1 - 2*(i%2))
			p.Render(th, rows, 80, 20)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 100
	}
	few, many := bytes(40), bytes(4000)
	if many > few*3/2 {
		t.Errorf("a key takes %d bytes in 4,000 rows and %d in 40", many, few)
	}
}
