package process

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPauseLastsUntilItIsOverOrItsContextIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		if err := Pause(ctx, time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v, want nil after a minute", err, time.Since(start))
		}
		time.AfterFunc(time.Second, cancel)
		start = time.Now()
		if err := Pause(ctx, time.Minute); !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("got %v after %v, want the context's end after a second", err, time.Since(start))
		}
	})
}
