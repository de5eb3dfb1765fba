package process

import (
	"context"
	"time"
)

// Pause waits for d. An error means that ctx ended first.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
