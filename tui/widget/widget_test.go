package widget

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func dark() *theme.Theme { return theme.New(theme.Options{Dark: true}) }

// text is rows without styles, for golden files.
func text(rows []string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.TrimRight(ansi.Strip(r), " ") + "\n")
	}
	return b.String()
}

func wide(t *testing.T, rows []string, w, h int) {
	t.Helper()
	if len(rows) != h {
		t.Errorf("%d rows, want %d", len(rows), h)
	}
	for i, r := range rows {
		if n := ansi.StringWidth(r); n != w {
			t.Errorf("row %d is %d cells wide, want %d: %q", i, n, w, r)
		}
	}
}

func TestWidthAgreesWithTheLibrary(t *testing.T) {
	for _, s := range []string{
		"", "plain", "\x1b[1;38;2;1;2;3mstyled\x1b[m", "─│╭┏●○◐✓✗▸◆→…·‹›", "日本語", "a\u0301", "👩\u200d💻", "✏️ Pencil", "▶️", "tab\t", "über", "◽", "\x1b]0;t\x07x",
	} {
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add("日本語\x1b[1mx", 3)
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = min(max(w, 0), 200)
		s = sanitize.Line(s) // as all callers do
		if n := ansi.StringWidth(Fit(s, w)); n != w {
			t.Fatalf("%q in %d cells is %d", s, w, n)
		}
	})
}

func TestTheRightEndGoesBeforeTheLeft(t *testing.T) {
	tests := []struct {
		name, left, right string
		w                 int
		want              string
	}{
		{"both fit", "left", "right", 12, "left   right"},
		{"left is cut", "leftleft", "right", 12, "leftl… right"},
		{"right goes", "leftleft", "rightright", 12, "leftleft    "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Ends(tt.left, tt.right, tt.w); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCutLeft(t *testing.T) {
	if got := CutLeft("/home/ana/src/menu", 9); got != "…src/menu" {
		t.Errorf("got %q", got)
	}
}

func TestAListScrollsWithItsCursor(t *testing.T) {
	var l List
	l.SetLen(20)
	row := func(i, _ int) string { return fmt.Sprintf("item %d", i) }
	l.Render(dark(), 20, 5, true, row)
	steps := []struct {
		name        string
		do          func()
		cursor, top int
	}{
		{"down", func() { l.Move(1) }, 1, 0},
		{"page down", func() { l.Page(1) }, 5, 1},
		{"end", func() { l.MoveTo(99) }, 19, 15},
		{"up stays on screen", func() { l.Move(-2) }, 17, 15},
		{"scrolling takes the cursor along", func() { l.Scroll(-10) }, 9, 5},
		{"click", func() { l.Click(2) }, 7, 5},
		{"click below the last", func() { l.Click(9) }, 7, 5},
		{"fewer items", func() { l.SetLen(3) }, 2, 0},
		{"none", func() { l.SetLen(0) }, -1, 0},
		{"some again", func() { l.SetLen(2) }, 0, 0},
	}
	for _, s := range steps {
		s.do()
		if l.Cursor != s.cursor || l.Top != s.top {
			t.Errorf("%s: cursor %d top %d, want %d and %d", s.name, l.Cursor, l.Top, s.cursor, s.top)
		}
	}
	l.SetLen(20)
	rows := l.Render(dark(), 20, 5, true, row)
	wide(t, rows, 20, 5)
	frame.Compare(t, "list", text(rows))
}

func TestABoxHasItsTitleInTheFrame(t *testing.T) {
	var b strings.Builder
	for _, focus := range []bool{false, true} {
		rows := box(dark(), "Servers", "5", focus, []string{"one", "much too long for this box, really"}, 24, 5)
		wide(t, rows, 24, 5)
		b.WriteString(text(rows))
	}
	rows := box(theme.New(theme.Options{ASCII: true}), "A title that is too long", "note", true, nil, 16, 3)
	wide(t, rows, 16, 3)
	frame.Compare(t, "box", b.String()+text(rows))
	for w := range 6 {
		wide(t, box(dark(), "t", "n", true, nil, w, 2), w, 2)
	}
}

func TestAFilterMatchesWordsAndLettersInOrder(t *testing.T) {
	tests := []struct {
		name, filter, text string
		want               bool
	}{
		{"word", "copy", "Copy the result", true},
		{"two words in any order", "result copy", "Copy the result", true},
		{"letters in order from the start of a word", "ctr", "Copy the result", true},
		{"letters from within a word", "opt", "Copy the result", false},
		{"capitals matter when given", "COPY", "Copy the result", false},
		{"nothing", "", "anything", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Match(tt.filter, tt.text) > 0; got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if Match("copy", "Copy it") <= Match("copy", "Xerocopy it") {
		t.Error("the beginning of a word is not better than its middle")
	}
}

func TestJSONIsDrawnIndented(t *testing.T) {
	tests := []struct{ name, in string }{
		{"object", `{"path":"README.md","deep":{"list":[1,2.50,true,null],"empty":{},"none":[]}}`},
		{"text with line breaks", `{"content":[{"type":"text","text":"first\nsecond line that is long enough to be wrapped somewhere"}]}`},
		{"escapes in strings", `{"evil":"\u001b[31mred\u001b[0m \u202e"}`},
		{"large numbers stay", `{"id":12345678901234567890}`},
		{"several values", "{\"line\":1}\n{\"line\":2}\n"},
		{"text behind a value", `[1] and more`},
		{"a bracket too many", `{"a":1}}`},
		{"not json", `{"cut": "of`},
		{"bare string", `"hello"`},
	}
	var b strings.Builder
	for _, tt := range tests {
		b.WriteString("# " + tt.name + "\n" + text(JSON(dark(), []byte(tt.in), 40).Rows))
	}
	frame.Compare(t, "json", b.String())
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x\ny",{}]}`), 20)
	f.Fuzz(func(t *testing.T, raw []byte, w int) {
		for _, r := range JSON(dark(), raw, min(max(w, 0), 120)).Rows {
			if strings.ContainsAny(ansi.Strip(r), "\x1b\n") {
				t.Fatalf("a row with control characters: %q", r)
			}
		}
	})
}
