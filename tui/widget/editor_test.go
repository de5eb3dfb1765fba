package widget

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// press presses keys on an editor; one of several letters that is no key is
// typed.
func press(e *Editor, keys ...string) {
	for _, k := range keys {
		e.Key(frame.Key(k))
	}
}

func TestEditor(t *testing.T) {
	tests := []struct {
		name  string
		multi bool
		start string
		do    func(e *Editor)
		want  string // with | where the cursor is
	}{
		{"typing", false, "", func(e *Editor) { press(e, "h", "i", "space", "x") }, "hi x|"},
		{"left and typing", false, "hllo", func(e *Editor) { press(e, "home", "right", "e") }, "he|llo"},
		{"backspace and delete", false, "abcd", func(e *Editor) { press(e, "left", "backspace", "delete") }, "ab|"},
		{"word left and right", false, "one two three", func(e *Editor) { press(e, "alt+left", "ctrl+left", "alt+right") }, "one two| three"},
		{"erase a word", false, "one two", func(e *Editor) { press(e, "ctrl+w") }, "one |"},
		{"erase to the start and to the end", false, "one two", func(e *Editor) { press(e, "alt+b", "ctrl+u", "right", "ctrl+k") }, "t|"},
		{"accents are one character", false, "e\u0301x", func(e *Editor) { press(e, "left", "backspace") }, "|x"},
		{"families are one character", false, "a👩‍👩‍👧b", func(e *Editor) { press(e, "left", "left", "right", "backspace") }, "a|b"},
		{"paste into a line", false, "", func(e *Editor) { e.Insert("a\r\nb\tc\x1b[31m") }, "a b c[31m|"},
		{"paste into a text", true, "", func(e *Editor) { e.Insert("a\r\nb\rc\x00\td") }, "a\nb\nc\td|"},
		{"line break", true, "ab", func(e *Editor) { press(e, "left", "ctrl+j") }, "a\n|b"},
		{"no line break in a line", false, "ab", func(e *Editor) { press(e, "alt+enter") }, "ab|"},
		{"joining lines", true, "ab\ncd", func(e *Editor) { press(e, "home", "backspace") }, "ab|cd"},
		{"delete joins too", true, "ab\ncd", func(e *Editor) { press(e, "ctrl+home", "end", "delete") }, "ab|cd"},
		{"up keeps the column", true, "long line\nx\nanother", func(e *Editor) { press(e, "up", "up") }, "long li|ne\nx\nanother"},
		{"control keys type nothing", false, "a", func(e *Editor) { press(e, "ctrl+s", "esc", "enter") }, "a|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &Editor{Multi: tt.multi}
			e.SetValue(tt.start)
			e.Render(dark(), 40, 5, true)
			tt.do(e)
			if got := marked(e); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// marked is the text with | at the cursor.
func marked(e *Editor) string {
	var b strings.Builder
	for i, l := range e.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == e.row {
			l = append(append(append([]string{}, l[:e.col]...), "|"), l[e.col:]...)
		}
		b.WriteString(strings.Join(l, ""))
	}
	return b.String()
}

func TestEditorScreens(t *testing.T) {
	var b strings.Builder
	add := func(name string, rows []string, x, y int) {
		t.Helper()
		wide(t, rows, 21, len(rows))
		if x >= 21 || y >= len(rows) || x < 0 || y < 0 {
			t.Errorf("%s: the cursor is at %d, %d", name, x, y)
		}
		marks := strings.Split(strings.TrimSuffix(text(rows), "\n"), "\n")
		line := []rune(marks[y] + strings.Repeat(" ", 30))
		line[x] = '|'
		marks[y] = strings.TrimRight(string(line), " ")
		b.WriteString("# " + name + "\n" + strings.Join(marks, "\n") + "\n")
	}
	e := &Editor{Multi: true, Placeholder: "your words"}
	rows, x, y := e.Render(dark(), 21, 2, true)
	add("empty", rows, x, y)
	e.SetValue("the quick brown fox jumps over the lazy dog\n\tand a tab")
	rows, x, y = e.Render(dark(), 21, 5, true)
	add("wrapped at words", rows, x, y)
	press(e, "ctrl+home")
	rows, x, y = e.Render(dark(), 21, 2, true)
	add("scrolled to the top", rows, x, y)
	press(e, "down", "down", "down")
	rows, x, y = e.Render(dark(), 21, 2, true)
	add("and down again", rows, x, y)
	e.SetValue(strings.Repeat("x", 45))
	rows, x, y = e.Render(dark(), 21, 3, true)
	add("a long word", rows, x, y)
	line := &Editor{}
	line.SetValue("a line that is longer than its field")
	rows, x, y = line.Render(dark(), 21, 1, true)
	add("end of a long line", rows, x, y)
	press(line, "home")
	rows, x, y = line.Render(dark(), 21, 1, true)
	add("its start", rows, x, y)
	frame.Compare(t, "editor", b.String())
}

func FuzzEditor(f *testing.F) {
	f.Add("a b\u0301\n日本", []byte{1, 2, 3, 200, 5, 9}, 10, true)
	names := []string{"left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+w", "alt+left", "alt+right", "ctrl+u", "ctrl+k", "ctrl+j", "x", "日", "\u0301", "space", "ctrl+home", "ctrl+end", "alt+d"}
	f.Fuzz(func(t *testing.T, s string, keys []byte, w int, multi bool) {
		e := &Editor{Multi: multi}
		e.Insert(s)
		w = min(max(w, 1), 80)
		for _, k := range keys {
			e.Key(frame.Key(names[int(k)%len(names)]))
			rows, x, y := e.Render(dark(), w, 4, true)
			if len(rows) != 4 || x < 0 || y < 0 || y >= 4 {
				t.Fatalf("%d rows, cursor at %d, %d", len(rows), x, y)
			}
			if e.row >= len(e.lines) || e.col > len(e.lines[e.row]) {
				t.Fatalf("the cursor is outside the text: %d, %d", e.row, e.col)
			}
			if !multi && strings.Contains(e.Value(), "\n") {
				t.Fatalf("a line break in a line: %q", e.Value())
			}
		}
	})
}
