package tui

import (
	"bytes"
	"os"
)

// The sequences around a bracketed paste.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// terminalInput reads the terminal and drops what a paste has beyond maxPaste:
// Bubble Tea gathers a whole paste, in some twenty times its size, before anybody
// can refuse it.
type terminalInput struct {
	*os.File
	pasting bool
	passed  int    // bytes of this paste that were passed on
	match   int    // bytes of the sequence that ends, or starts, a paste
	ready   []byte // to be read yet
}

// Unwrap is the terminal itself, for programs that take it over.
func (t *terminalInput) Unwrap() *os.File { return t.File }

// Read implements io.Reader. It may read nothing where all is dropped.
func (t *terminalInput) Read(b []byte) (int, error) {
	if len(t.ready) == 0 {
		n, err := t.File.Read(b)
		if err != nil {
			return n, err
		}
		t.ready = t.keep(b[:n])
	}
	n := copy(b, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}

// keep returns what of the input is passed on.
func (t *terminalInput) keep(in []byte) []byte {
	if !t.pasting && t.match == 0 && !bytes.ContainsRune(in, '\x1b') {
		return in
	}
	out := make([]byte, 0, len(in)+len(pasteEnd))
	for _, c := range in {
		sequence := pasteStart
		if t.pasting {
			sequence = pasteEnd
		}
		switch c {
		case sequence[t.match]:
			t.match++
		case sequence[0]:
			t.match = 1
		default:
			t.match = 0
		}
		ends := t.match == len(sequence)
		// One byte more than is taken tells that there was more.
		switch {
		case !t.pasting || t.passed <= maxPaste+len(pasteEnd):
			out = append(out, c)
			t.passed++
		case ends:
			out = append(out, pasteEnd...)
		}
		if ends {
			t.pasting, t.passed, t.match = !t.pasting, 0, 0
		}
	}
	return out
}
