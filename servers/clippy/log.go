package clippy

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
)

// NewLineHandler returns a handler for slog that writes lines like
//
//	[2025-12-04T10:30:15Z] [INFO] tool done tool=haunt_desktop
//
// in UTC. One record is one line: what does not print in a message or a value
// is written as a Go escape, so that a file name cannot forge a line.
func NewLineHandler(w io.Writer, level slog.Leveler) slog.Handler {
	l := &lines{w: w}
	return lineHandler{l, slog.NewTextHandler(&l.attrs, &slog.HandlerOptions{Level: level, ReplaceAttr: dropHead})}
}

// dropHead leaves out what the line begins with, and nothing that only has its name.
func dropHead(groups []string, a slog.Attr) slog.Attr {
	_, level := a.Value.Any().(slog.Level)
	if len(groups) == 0 && (a.Key == slog.LevelKey && level || a.Key == slog.MessageKey && a.Value.String() == "") {
		return slog.Attr{}
	}
	return a
}

// lines is where the handlers of one log write.
type lines struct {
	mu    sync.Mutex
	w     io.Writer
	attrs bytes.Buffer // of the record that is being written
}

type lineHandler struct {
	*lines
	text slog.Handler // writes the attributes
}

func (h lineHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.text.Enabled(ctx, l) }

func (h lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return lineHandler{h.lines, h.text.WithAttrs(attrs)}
}

func (h lineHandler) WithGroup(name string) slog.Handler {
	return lineHandler{h.lines, h.text.WithGroup(name)}
}

func (h lineHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attrs.Reset()
	at, message := r.Time, r.Message
	r.Time, r.Message = time.Time{}, "" // the text has neither then
	if err := h.text.Handle(ctx, r); err != nil {
		return err
	}
	if q := strconv.Quote(message); strings.ContainsFunc(message, func(c rune) bool { return !unicode.IsPrint(c) }) {
		message = q[1 : len(q)-1]
	}
	attrs := h.attrs.String()
	if attrs != "\n" {
		attrs = " " + attrs
	}
	_, err := fmt.Fprintf(h.w, "[%s] [%s] %s%s", at.UTC().Format(time.RFC3339), r.Level, message, attrs)
	return err
}
