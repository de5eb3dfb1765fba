package widget

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// A key in a long text costs what it costs in a short one, but for the copies of
// the text that its owner asks for: nothing is split, measured or drawn anew that
// the key has not to do with.
func TestAKeyInALongTextCostsLittle(t *testing.T) {
	texts := []struct {
		name         string
		small, large string
		multi        bool
	}{
		{"one line of a text", strings.Repeat("word ", 400), strings.Repeat("word ", 60_000), true},
		{"many lines", strings.Repeat("a line of words\n", 40), strings.Repeat("a line of words\n", 20_000), true},
		{"accents", strings.Repeat("e\u0301 ", 1000), strings.Repeat("e\u0301 ", 75_000), true},
		{"a field of one line", strings.Repeat("word ", 400), strings.Repeat("word ", 60_000), false},
	}
	for _, tt := range texts {
		for _, key := range []string{"x", "backspace", "left", "up", "delete"} {
			t.Run(tt.name+"/"+key, func(t *testing.T) {
				small, large := keyCost(tt.small, tt.multi, key), keyCost(tt.large, tt.multi, key)
				if large > small*1.2+10 {
					t.Errorf("%.0f allocations in 300 KB, %.0f in 2 KB", large, small)
				}
			})
		}
	}
}

func keyCost(text string, multi bool, key string) float64 {
	e := &Editor{Multi: multi}
	e.SetValue(text)
	e.Render(dark(), 80, 20, true)
	press(e, "left", "left", "left", "x")
	e.Render(dark(), 80, 20, true)
	k := frame.Key(key)
	return testing.AllocsPerRun(20, func() {
		e.Key(k)
		e.Rows(80)
		e.Render(dark(), 80, 20, true)
	})
}

// A change splits only what stands around it anew; what comes of it is what
// splitting and laying out the whole text gives.
func TestChangesKeepClustersAndRows(t *testing.T) {
	parts := []string{"a", " ", "\t", "\n", "\u0301", "\u200d", "👩", "💻", "🏽", "🇩", "🇪", "🇫", "\u0600", "ᄀ", "ᅡ", "\u0903", "日", "\ufe0f", "\u20e3", "1"}
	keys := []string{"left", "right", "up", "home", "end", "backspace", "delete", "alt+d", "ctrl+k", "ctrl+u", "ctrl+j"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		e, w := &Editor{Multi: true}, 1+r.IntN(12)
		var log []string
		for range 30 {
			if r.IntN(3) > 0 {
				s := ""
				for range 1 + r.IntN(4) {
					s += parts[r.IntN(len(parts))]
				}
				log = append(log, s)
				e.Insert(s)
			} else {
				k := keys[r.IntN(len(keys))]
				log = append(log, k)
				press(e, k)
			}
			for i, line := range strings.Split(e.Value(), "\n") {
				if want := clusters(line); !slices.Equal(e.lines[i], want) {
					t.Fatalf("after %q: line %d is %q, want %q", log, i, e.lines[i], want)
				}
			}
			if e.col > len(e.lines[e.row]) {
				t.Fatalf("after %q the cursor is outside", log)
			}
			rows := slices.Clone(e.wrap(w))
			e.rowsW = 0
			if want := e.wrap(w); !slices.Equal(rows, want) {
				t.Fatalf("after %q: the rows of %q are %v, want %v", log, e.Value(), rows, want)
			}
		}
	}
}
