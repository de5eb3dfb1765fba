// Package console writes what commands print to standard output and standard error.
//
// What a command prints often comes from elsewhere: a tool's result, a file's
// name, an error that quotes them. A terminal would obey control characters in
// it, and show bidirectional text as something else, so these are removed from
// text, whether it goes to a terminal or to a pipe that may lead to one. JSON
// keeps them, as escapes.
package console

import (
	"errors"
	"io"
	"os"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// text cleans what is written to a file.
type text struct{ *os.File }

// Write takes text. What it is given at once is cleaned as a whole.
func (t text) Write(b []byte) (int, error) {
	if _, err := io.WriteString(t.File, sanitize.Output(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// WriteString is Write.
func (t text) WriteString(s string) (int, error) { return t.Write([]byte(s)) }

// ReadFrom is Write of all that r has: nothing may get past it.
func (t text) ReadFrom(r io.Reader) (int64, error) {
	b, err := io.ReadAll(r)
	n, werr := t.Write(b)
	return int64(n), errors.Join(err, werr)
}

// Out is standard output, for text.
func Out() io.Writer { return text{os.Stdout} }

// Err is standard error, for text.
func Err() io.Writer { return text{os.Stderr} }

// Bytes returns what is behind a writer of this package, for what is no text:
// pictures, a protocol, the sequences of a screen. Another writer is returned as
// it is.
func Bytes(w io.Writer) io.Writer {
	if t, ok := w.(text); ok {
		return t.File
	}
	return w
}

// IsTerminal reports whether standard output is a terminal.
func IsTerminal() bool { return term.IsTerminal(os.Stdout.Fd()) }

// Colors is how many colours standard output shows. lipgloss finds that out when
// it is imported; looking again could run tmux again.
func Colors() colorprofile.Profile { return lipgloss.Writer.Profile }

// ColorsOf is how many colours a writer shows: none but for standard output.
func ColorsOf(w io.Writer) colorprofile.Profile {
	if to, ok := w.(text); ok && to.File == os.Stdout {
		return Colors()
	}
	return colorprofile.NoTTY
}

// JSON returns a writer for JSON, each Write a piece that ends between two
// characters. What a terminal would obey or hide is escaped.
func JSON(w io.Writer) io.Writer { return escaper{Bytes(w)} }

type escaper struct{ to io.Writer }

// Write takes a piece of JSON.
func (e escaper) Write(b []byte) (int, error) {
	if _, err := e.to.Write(sanitize.JSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
