package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// logTo sends everything that is logged to a writer, one line each, without
// secrets.
func logTo(w io.Writer, level slog.Leveler, rules redact.Rules) {
	slog.SetDefault(slog.New(newLineHandler(redactor{w, rules}, level)))
}

// redactor writes lines without the secrets in them.
type redactor struct {
	to    io.Writer
	rules redact.Rules
}

// Write takes one line, or several.
func (r redactor) Write(b []byte) (int, error) {
	if _, err := r.to.Write([]byte(r.rules.Text(string(b)))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// newLineHandler returns a handler for slog that writes lines like
//
//	[2025-12-04T10:30:15Z] [INFO] tool done tool=haunt_desktop
//
// in UTC. One record is one line: what does not print in a message or a value
// is written as a Go escape, so that a file name cannot forge a line.
func newLineHandler(w io.Writer, level slog.Leveler) slog.Handler {
	l := &logLines{w: w}
	return lineHandler{l, slog.NewTextHandler(&l.attrs, &slog.HandlerOptions{Level: level})}
}

// logLines is where the handlers of one log write.
type logLines struct {
	mu    sync.Mutex
	w     io.Writer
	attrs bytes.Buffer // of the record that is being written
}

type lineHandler struct {
	*logLines
	slog.Handler // writes the attributes
}

func (h lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return lineHandler{h.logLines, h.Handler.WithAttrs(attrs)}
}

func (h lineHandler) WithGroup(name string) slog.Handler {
	return lineHandler{h.logLines, h.Handler.WithGroup(name)}
}

func (h lineHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attrs.Reset()
	at, message := r.Time, r.Message
	r.Time, r.Message = time.Time{}, ""
	if err := h.Handler.Handle(ctx, r); err != nil {
		return err
	}
	if q := strconv.Quote(message); strings.ContainsFunc(message, func(c rune) bool { return !unicode.IsPrint(c) }) {
		message = q[1 : len(q)-1]
	}
	_, attrs, _ := strings.Cut(h.attrs.String(), `msg=""`) // it begins with level=INFO msg=""
	_, err := fmt.Fprintf(h.w, "[%s] [%s] %s%s", at.UTC().Format(time.RFC3339), r.Level, message, attrs)
	return err
}
