package clippy

import (
	"context"
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
	return &lineHandler{out: &lockedWriter{w: w}, level: level}
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

type lineHandler struct {
	out    *lockedWriter
	level  slog.Leveler
	attrs  string // written already
	prefix string // of groups
}

func (h *lineHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("[" + r.Time.UTC().Format(time.RFC3339) + "] [" + levelName(r.Level) + "] ")
	b.WriteString(escaped(r.Message))
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, h.prefix, a)
		return true
	})
	b.WriteByte('\n')
	_, err := io.WriteString(h.out, b.String())
	return err
}

func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	var b strings.Builder
	for _, a := range attrs {
		writeAttr(&b, h.prefix, a)
	}
	next.attrs += b.String()
	return &next
}

func (h *lineHandler) WithGroup(name string) slog.Handler {
	next := *h
	if name != "" {
		next.prefix += name + "."
	}
	return &next
}

func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "DEBUG"
	case l < slog.LevelWarn:
		return "INFO"
	case l < slog.LevelError:
		return "WARN"
	}
	return "ERROR"
}

func writeAttr(b *strings.Builder, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, sub := range v.Group() {
			writeAttr(b, prefix, sub)
		}
		return
	}
	if a.Key == "" {
		return
	}
	text := v.String()
	if text == "" || strings.ContainsAny(text, ` "=`) || strings.ContainsFunc(text, hidden) {
		text = strconv.Quote(text)
	}
	b.WriteString(" " + escaped(prefix+a.Key) + "=" + text)
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }

// escaped is s with what does not print as Go escapes.
func escaped(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}
