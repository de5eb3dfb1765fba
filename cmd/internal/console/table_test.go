package console

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"
)

func TestTablesAlignColumns(t *testing.T) {
	rows := [][]string{
		{"ok", "state", "/a/folder"},
		{"note", "日本語", "two\nlines"},
		{"bad", "e\u0301", "\x1b[31mred\x1b[m \u202etxt"},
	}
	bold := func(int, int) lipgloss.Style { return lipgloss.NewStyle().Bold(true) }
	const want = "ok    state   /a/folder\nnote  日本語  two\n              lines\nbad   e\u0301       red <U+202E>txt\n"
	var b bytes.Buffer
	if err := Table(&b, rows, bold); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	if err := Table(&b, nil, bold); err != nil || b.Len() > 0 {
		t.Errorf("no rows: %v, %q", err, b.String())
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Table(text{f}, rows, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(f.Name()); string(got) != want {
		t.Errorf("a file got %q, want %q", got, want)
	}
}

func TestALongLastCellGoesOnBetweenWordsInItsColumn(t *testing.T) {
	rows := [][]string{{"note", "prompts", "claude: not set up; run mcpdeck-hook or setup --prompts"}, {"ok", "deck", "running"}}
	for width, want := range map[int]string{
		0:  "note  prompts  claude: not set up; run mcpdeck-hook or setup --prompts\nok    deck     running",
		36: "note  prompts  claude: not set up;\n               run mcpdeck-hook or\n               setup --prompts\nok    deck     running",
	} {
		tab := table.New().BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).StyleFunc(func(_, col int) lipgloss.Style {
			return lipgloss.NewStyle().PaddingRight(min(2-col, 1) * 2)
		}).Rows(rows...)
		var got []string
		for line := range strings.SplitSeq(broken(tab, rows, width), "\n") {
			got = append(got, strings.TrimRight(ansi.Strip(line), " "))
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%d columns: got\n%s\nwant\n%s", width, text, want)
		}
	}
}
