package recovery

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func capture(t *testing.T) *bytes.Buffer {
	t.Helper()
	var buf bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&buf, nil)))
	t.Cleanup(func() { slog.SetDefault(old) })
	return &buf
}

func TestGoRecordsAPanicAndLivesOn(t *testing.T) {
	log := capture(t)
	done := make(chan struct{})
	Go("painter", func() {
		defer close(done)
		defer Recover("painter")
		panic("out of paint")
	})
	<-done
	for _, want := range []string{"painter", "out of paint", "safe_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %q: %s", want, log)
		}
	}
}

func TestCall(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name string
		fn   func() error
		want string
	}{
		{"no error", func() error { return nil }, ""},
		{"error passes", func() error { return boom }, "boom"},
		{"panic becomes an error without its value", func() error { panic("secret") }, "job: internal error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			capture(t)
			got := ""
			if err := Call("job", tt.fn); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
