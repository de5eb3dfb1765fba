package console

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"charm.land/lipgloss/v2"
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
