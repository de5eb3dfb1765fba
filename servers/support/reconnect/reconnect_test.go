package reconnect

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

var errAway = errors.New("away")

// tries dials until the n-th try, if n is not 0, and says when each was made.
func tries(ctx context.Context, p Pauses, patience time.Duration, n int) (at []time.Duration, err error) {
	began := time.Now()
	_, err = Dial(ctx, p, patience, func(context.Context) (int, error) {
		at = append(at, time.Since(began))
		if len(at) == n {
			return 0, nil
		}
		return 0, errAway
	})
	return at, err
}

func TestDialTriesLessOftenAndOnceMoreAtTheEnd(t *testing.T) {
	const ms = time.Millisecond
	p := Pauses{First: 10 * ms, Most: 40 * ms}
	seldom := Pauses{First: 10 * ms, Most: 20 * ms, SeldomAfter: 50 * ms, Seldom: 100 * ms}
	for _, tt := range []struct {
		name     string
		p        Pauses
		patience time.Duration
		connects int // with which try; 0: with none
		want     []time.Duration
	}{
		{"at once", p, time.Second, 1, []time.Duration{0}},
		{"after pauses that grow", p, time.Second, 5, []time.Duration{0, 10 * ms, 30 * ms, 70 * ms, 110 * ms}},
		{"not in its patience", p, 35 * ms, 0, []time.Duration{0, 10 * ms, 30 * ms, 35 * ms}},
		{"without patience", p, 0, 0, []time.Duration{0}},
		{"seldom in the end", seldom, 300 * ms, 0, []time.Duration{0, 10 * ms, 30 * ms, 50 * ms, 70 * ms, 170 * ms, 270 * ms, 300 * ms}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, err := tries(t.Context(), tt.p, tt.patience, tt.connects)
				if !slices.Equal(at, tt.want) {
					t.Errorf("tries at %v, want %v", at, tt.want)
				}
				if (err == nil) != (tt.connects > 0) || err != nil && !errors.Is(err, errAway) {
					t.Errorf("got error %v", err)
				}
			})
		})
	}
}

func TestDialEndsWithItsContextHoweverPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := errors.New("withdrawn")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { cancel(withdrawn) })
		began := time.Now()
		at, err := tries(ctx, Pauses{First: time.Second, Most: time.Minute}, Forever, 0)
		if !errors.Is(err, withdrawn) || time.Since(began) != time.Hour || len(at) < 60 {
			t.Errorf("got %v after %v and %d tries, want the cause of the end after an hour", err, time.Since(began), len(at))
		}
	})
}

func TestKeepGoesOnOverTheNextConnection(t *testing.T) {
	for _, tt := range []struct {
		name string
		done int // the connection that use is done with
		want []int
		err  error
	}{
		{"done with the first", 1, []int{1}, nil},
		{"lost twice", 3, []int{1, 2, 3}, nil},
		{"no other comes", 9, []int{1, 2, 3, 4}, errAway},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var used []int
			next := 1
			err := Keep(next, func(conn int) bool {
				used = append(used, conn)
				return conn != tt.done
			}, func() (int, error) {
				if next++; next > 4 {
					return 0, errAway
				}
				return next, nil
			})
			if !slices.Equal(used, tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("used %v, %v; want %v, %v", used, err, tt.want, tt.err)
			}
		})
	}
}
