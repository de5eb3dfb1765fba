package widget_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

func TestAFoldedValueSaysHowMuchIsInIt(t *testing.T) {
	long := "[" + strings.Repeat("1,", 5000) + "1]"
	for _, tt := range []struct{ name, in, want string }{
		{"object", `{"a":1,"b":{"c":[true]}}`, "0-7 {… 2 keys} | 2-6 b: {… 1 key} | 3-5 c: [… 1 item]"},
		{"nothing in it", `[{},[],"text"]`, "0-4 [… 3 items]"},
		{"cut", `{"list":` + long + `}`, "0-3999 {… 1 key and more} | 1-3999 list: [… 3999 items and more]"},
		{"not json", `{"list":[1`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range widget.JSON(theme.New(theme.Options{}), []byte(tt.in), 40).Folds {
				got = append(got, fmt.Sprintf("%d-%d %s", f.From, f.To, strings.TrimSpace(ansi.Strip(f.Row))))
			}
			if got := strings.Join(got, " | "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Whatever is done, the cursor is in the window and on a row of the text that is shown.
func TestTheCursorOfFoldsIsSeen(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	text := widget.JSON(th, []byte(`{"a":[1,2,3,{"b":[4,5,{"c":6}]}],"d":{"e":{"f":"g"}},"h":[[[7]]]}`), 30)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		for _, in := range []widget.Window{&widget.Scroll{}, &widget.Pager{}} {
			f := widget.Folds{Window: in}
			h := 5
			for step := range 80 {
				switch r.IntN(8) {
				case 0:
					h = 1 + r.IntN(40)
				case 1:
					f.Show(r.IntN(len(text.Rows)))
				case 2:
					f.Page(r.IntN(3) - 1)
				case 3:
					f.Scroll(r.IntN(9) - 4)
				case 4:
					f.Click(r.IntN(h))
				case 5, 6:
					f.Toggle()
				default:
					f.Move(r.IntN(9) - 4)
				}
				f.Set(text.Folds)
				out := f.Render(th, text.Rows, 40, h)
				y := f.Cursor()
				if y < 0 || y >= len(out) {
					t.Fatalf("seed %d, step %d: the cursor is in row %d of %d", seed, step, y, len(out))
				}
				row, want := strings.TrimRight(ansi.Strip(out[y]), " │┃"), strings.TrimRight(ansi.Strip(text.Rows[f.At(y)]), " ")
				if folded, _, _ := strings.Cut(row, "…"); row != want && folded != want {
					t.Fatalf("seed %d, step %d: the cursor is on %q, want %q", seed, step, row, want)
				}
			}
		}
	}
}

// In wider rows a text has fewer of them.
func TestWhatIsAtTheCursorOfAShorterTextFolds(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	raw := []byte(`{"a":"` + strings.Repeat("word ", 40) + `","b":[1]}`)
	f := widget.Folds{Window: &widget.Scroll{}}
	render := func(w int) []string {
		text := widget.JSON(th, raw, w)
		f.Set(text.Folds)
		return f.Render(th, text.Rows, w, 40)
	}
	render(20)
	f.Move(1 << 20)
	rows := render(300)
	if row := strings.TrimSpace(ansi.Strip(rows[f.Cursor()])); row != "}" {
		t.Fatalf("the cursor is on %q", row)
	}
	if _, ok := f.Value(); !ok {
		t.Error("there is nothing to fold")
	}
}
