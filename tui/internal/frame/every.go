package frame

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Sizes are those of the terminals that frames are kept of.
func Sizes() []Size {
	return []Size{{W: 40, H: 12}, {W: 60, H: 40}, {W: 80, H: 24}, {W: 110, H: 34}, {W: 200, H: 60}}
}

// Look is a terminal to show something in.
type Look struct {
	Size
	Colors     colorprofile.Profile
	Background string
	Theme      theme.Options
}

// Every compares what run shows at all sizes with the golden files of a name. Light and without
// colours there is the same text in every cell, in ASCII the same but for signs; and a terminal that
// was resized through all sizes and back shows the same as before.
func Every(t *testing.T, name string, run func(t *testing.T, l Look, test func(s *Screen))) {
	t.Helper()
	for _, size := range Sizes() {
		dark := light(t, name, size, run)
		run(t, Look{size, colorprofile.Ascii, "dark", theme.Options{}}, func(s *Screen) { same(t, name+" without colours", dark, s.Text()) })
		run(t, Look{size, colorprofile.TrueColor, "dark", theme.Options{ASCII: true}}, func(s *Screen) {
			text := s.Text()
			if same(t, name+" in ASCII", plain(dark), plain(text)); utf8.RuneCountInString(text) != len(text) {
				t.Errorf("%s is not ASCII:\n%s", name, text)
			}
			if size.W == 80 {
				s.Golden(name + "-ascii")
			}
		})
	}
}

// EveryPicture is Every for what has a picture, which without colours is one of letters.
func EveryPicture(t *testing.T, name string, run func(t *testing.T, l Look, test func(s *Screen))) {
	t.Helper()
	for _, size := range Sizes() {
		light(t, name, size, run)
	}
	small := Size{W: 80, H: 24}
	run(t, Look{small, colorprofile.Ascii, "dark", theme.Options{}}, func(s *Screen) { s.Golden(name + "-letters") })
	run(t, Look{small, colorprofile.Ascii, "dark", theme.Options{ASCII: true}}, func(s *Screen) { s.Golden(name + "-ascii") })
}

// light compares the frames of one size, dark and light, and returns the text.
func light(t *testing.T, name string, size Size, run func(t *testing.T, l Look, test func(s *Screen))) (dark string) {
	t.Helper()
	run(t, Look{size, colorprofile.TrueColor, "dark", theme.Options{}}, func(s *Screen) {
		dark = s.Text()
		s.Golden(fmt.Sprintf("%s-%dx%d", name, size.W, size.H))
		at := slices.Index(Sizes(), size)
		for j := range Sizes() {
			next := Sizes()[(at+j+1)%len(Sizes())]
			s.Resize(next.W, next.H)
		}
		if again := s.Text(); ageless(again) != ageless(dark) {
			t.Errorf("%s: resized through all sizes and back, %v shows\n%s\nand before\n%s", name, size, again, dark)
		}
	})
	run(t, Look{size, colorprofile.TrueColor, "light", theme.Options{}}, func(s *Screen) { same(t, name+" in light", dark, s.Text()) })
	return dark
}

func same(t *testing.T, what, want, got string) {
	t.Helper()
	if got != want {
		t.Errorf("%s it shows\n%s\nand in dark\n%s", what, got, want)
	}
}

// ageless leaves out digits and blanks, since ages go on.
func ageless(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || r == ' ' {
			return -1
		}
		return r
	}, text)
}

// plain has one sign for all that are not the same in ASCII.
func plain(text string) string {
	var rows []string
	for row := range strings.SplitSeq(text, "\n") {
		rows = append(rows, strings.TrimRight(strings.Map(func(r rune) rune {
			if r > utf8.RuneSelf || strings.ContainsRune("-=|#<>*@vox?!~^_.+[]", r) {
				return '-'
			}
			return r
		}, row), " "))
	}
	return strings.Join(rows, "\n")
}

// Filled has a test fail where a pane of a frame is more than a third blank: what is between a
// heading and the next one below it, in its column.
func Filled(t *testing.T, text string) {
	t.Helper()
	rows := strings.Split(strings.TrimRight(text, "\n"), "\n")
	panes := map[int][]string{} // by the cell in which they begin
	check := func(pane []string) {
		blank := 0
		for _, row := range pane {
			if strings.TrimSpace(row) == "" {
				blank++
			}
		}
		if 3*blank > len(pane) {
			t.Errorf("%d of %d rows are blank:\n%s\nin\n%s", blank, len(pane), strings.Join(pane, "\n"), text)
		}
	}
	for _, row := range rows[1 : len(rows)-2] { // without the rows around the page
		x := 0
		if rest, marked := strings.CutPrefix(row, "│"); marked { // the row that is open
			row = " " + rest
		}
		for cell := range strings.SplitSeq(row, "│") {
			if strings.HasPrefix(cell, "─") || strings.HasPrefix(cell, "━") {
				check(panes[x])
				panes[x] = nil
			}
			panes[x] = append(panes[x], cell)
			x += utf8.RuneCountInString(cell) + 1
		}
	}
	for _, pane := range panes {
		check(pane)
	}
}
