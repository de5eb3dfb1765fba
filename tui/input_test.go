package tui

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// through is what is read of an input that is written in pieces of a size.
func through(t *testing.T, input string, size int) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		defer w.Close()
		for len(input) > 0 {
			n := min(size, len(input))
			if _, err := io.WriteString(w, input[:n]); err != nil {
				return
			}
			input = input[n:]
		}
	}()
	in := &terminalInput{File: r}
	var out bytes.Buffer
	b := make([]byte, 512)
	for {
		n, err := in.Read(b)
		out.Write(b[:n])
		if err != nil {
			return out.String()
		}
	}
}

// TestAHugePasteIsCutBeforeItIsGathered pastes more than is taken, in pieces
// that cut the sequences around it, and types before and after.
func TestAHugePasteIsCutBeforeItIsGathered(t *testing.T) {
	small := "j" + pasteStart + "text \x1b[20 with \x1b\x1b in it" + pasteEnd + "k\x1b[A"
	for _, size := range []int{1, 3, 5, 4096} {
		if got := through(t, small, size); got != small {
			t.Errorf("in pieces of %d: got %q, want %q", size, got, small)
		}
	}
	for _, text := range []string{"a", "\x1b", "\x1b[201", pasteStart} {
		huge := "j" + pasteStart + strings.Repeat(text, 4*maxPaste/len(text)) + "z" + pasteEnd + "k"
		got := through(t, huge, 4096)
		if len(got) > maxPaste+100 || len(got) <= maxPaste {
			t.Errorf("%q: %d bytes were passed on, want a little more than %d", text, len(got), maxPaste)
		}
		if !strings.HasPrefix(got, "j"+pasteStart) || !strings.HasSuffix(got, pasteEnd+"k") || strings.Count(got, pasteEnd) != 1 {
			t.Errorf("%q: the paste ends in %q", text, got[len(got)-40:])
		}
	}
}
