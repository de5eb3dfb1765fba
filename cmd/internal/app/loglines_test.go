package app

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
)

func TestLogLines(t *testing.T) {
	var b bytes.Buffer
	l := slog.New(newLineHandler(&b, slog.LevelDebug)).With("deck", "a b")
	at := time.Date(2025, 12, 4, 11, 30, 15, 999, time.FixedZone("CET", 3600))
	for _, r := range []struct {
		level slog.Level
		msg   string
		key   string
		value any
	}{
		{slog.LevelDebug, "tool called", "tool", "x"},
		{slog.LevelInfo, "done\n[2025-12-04T10:30:15Z] [ERROR] forged", "file", "a\nb\x1b"},
		{slog.LevelWarn, `say "w"`, "n", 3},
		{slog.LevelError, "e", "none", ""},
	} {
		rec := slog.NewRecord(at, r.level, r.msg, 0)
		rec.Add(r.key, r.value)
		if err := l.WithGroup("g").Handler().Handle(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	want := `[2025-12-04T10:30:15Z] [DEBUG] tool called deck="a b" g.tool=x
[2025-12-04T10:30:15Z] [INFO] done\n[2025-12-04T10:30:15Z] [ERROR] forged deck="a b" g.file="a\nb\x1b"
[2025-12-04T10:30:15Z] [WARN] say "w" deck="a b" g.n=3
[2025-12-04T10:30:15Z] [ERROR] e deck="a b" g.none=""
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
