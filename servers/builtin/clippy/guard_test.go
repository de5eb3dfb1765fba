package clippy

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStuckFileSystemIsNotWaitedFor(t *testing.T) {
	t.Run("a stuck file system", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := &guard{}
			free := make(chan struct{})
			stuck := func(context.Context) (int, error) { <-free; return 1, nil }
			for i := range maxStranded {
				start := time.Now()
				_, err := within(t.Context(), g, i%2 == 1, stuck)
				want := "the file system did not respond within 5 s"
				if i%2 == 1 {
					want += "; the file may still appear"
				}
				if words(t, err) != want || time.Since(start) > 6*time.Second {
					t.Fatalf("call %d: %v after %v", i, err, time.Since(start))
				}
			}
			if _, err := within(t.Context(), g, false, stuck); words(t, err) != "the file system is not responding; try again later" {
				t.Fatalf("ninth call: %v", err)
			}
			close(free)
			synctest.Wait()
			if n, err := within(t.Context(), g, false, func(context.Context) (int, error) { return 7, nil }); n != 7 || err != nil {
				t.Fatalf("after it answers again: %d, %v", n, err)
			}
		})
	})
	t.Run("a panic", func(t *testing.T) {
		old := slog.Default()
		defer slog.SetDefault(old)
		var log bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		_, err := within(t.Context(), &guard{}, false, func(context.Context) (int, error) { panic("secret") })
		if words(t, err) != "internal error" || !strings.Contains(log.String(), "guard_test.go") {
			t.Errorf("got %v, log %s", err, &log)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			g := &guard{}
			time.AfterFunc(time.Second, cancel)
			_, err := within(ctx, g, false, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
			if !errors.Is(err, context.Canceled) || g.stranded != 0 {
				t.Errorf("got %v, %d stranded", err, g.stranded)
			}
		})
	})
}

func TestRateOfCalls(t *testing.T) {
	r := &rate{max: 3}
	now := time.Unix(1000, 0)
	for i := range 3 {
		if w := r.take(now.Add(time.Duration(i) * time.Second)); w != 0 {
			t.Fatalf("call %d has to wait %v", i, w)
		}
	}
	if w := r.take(now.Add(10 * time.Second)); w != 50*time.Second {
		t.Errorf("fourth: %v", w)
	}
	if w := r.take(now.Add(time.Minute)); w != 0 {
		t.Errorf("a minute later: %v", w)
	}
}
