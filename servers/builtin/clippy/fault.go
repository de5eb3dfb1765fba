package clippy

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// fault is a failure as an agent may read it: one sentence without absolute
// paths, user names or system texts. The cause is for the log alone.
type fault struct {
	text  string
	cause error
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.cause }

// say makes a fault of a sentence.
func say(format string, args ...any) error {
	return &fault{text: fmt.Sprintf(format, args...)}
}

// blame makes a fault of a sentence and keeps what led to it for the log.
func blame(cause error, format string, args ...any) error {
	return &fault{text: fmt.Sprintf(format, args...), cause: cause}
}

// system makes a fault of an error of the operating system in fixed words.
func system(err error) error {
	if f := (*fault)(nil); errors.As(err, &f) {
		return f
	}
	return &fault{text: wording(err), cause: err}
}

func wording(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied"
	}
	var no syscall.Errno
	if !errors.As(err, &no) {
		return "the operation failed"
	}
	if text := known(no); text != "" {
		return text
	}
	if name := errnoName(no); name != "" {
		return "the operation failed (" + name + ")"
	}
	return "the operation failed"
}

// What the error numbers of all systems that an agent can do something about mean.
const (
	full       = "the disk is full"
	readOnly   = "the file system is read-only"
	nameLength = "the name is too long"
	loop       = "too many symbolic links"
)

// sentence is the text of err for an agent.
func sentence(err error) string {
	if f := (*fault)(nil); errors.As(err, &f) {
		return f.text
	}
	return wording(err)
}

// raw is the text of err for the log: the system's own words where there are
// any.
func raw(err error) string {
	if f := (*fault)(nil); errors.As(err, &f) && f.cause != nil {
		return f.cause.Error()
	}
	return err.Error()
}

// Given repeats what a caller sent: at most 200 characters, those that do not
// print as Go escapes.
func Given(s string) string {
	var b strings.Builder
	for _, r := range sanitize.Cut(s, 200) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
