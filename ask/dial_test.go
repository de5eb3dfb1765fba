package ask

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestADeckIsWaitedForAsLongAsIsSaid(t *testing.T) {
	dir := shortDir(t)
	for _, wait := range []time.Duration{10 * time.Millisecond, time.Second, 5 * time.Second, 90 * time.Second} {
		t.Run(wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewClient(ClientOptions{Path: filepath.Join(dir, "none.sock"), Wait: wait})
				began := time.Now()
				call := remote(t, c, Request{Questions: mustParse(t, twoWays)})
				if call.Unreached().IsZero() {
					t.Error("it has no deck and does not say so")
				}
				<-call.Done()
				if got := time.Since(began); got != wait {
					t.Errorf("waited %v, want %v", got, wait)
				}
				if _, err := call.Reply(); !errors.Is(err, ErrUnavailable) {
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
}

func TestALostDeckIsWaitedForAsLongAsTheQuestionLives(t *testing.T) {
	dir := shortDir(t)
	for limit, want := range map[time.Duration]time.Duration{0: 24 * time.Hour, 10 * time.Minute: 10 * time.Minute} {
		t.Run(want.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				theirs.Close()
				r := newRemoteCall(NewClient(ClientOptions{Path: filepath.Join(dir, "none.sock")}), Request{Timeout: limit})
				began := time.Now()
				r.run(ours)
				if got := time.Since(began); got != want {
					t.Errorf("given up after %v, want %v", got, want)
				}
			})
		})
	}
}

func TestARequestThatADeckHadWaitsForTheNextDeck(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	for again, want := range map[bool]time.Duration{false: time.Minute, true: 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := NewClient(ClientOptions{Path: filepath.Join(dir, "none.sock"), Lost: func() bool { return true }})
			began := time.Now()
			<-remote(t, c, Request{Questions: mustParse(t, twoWays), Again: again}).Done()
			if got := time.Since(began); got != want {
				t.Errorf("again %v: waited %v, want %v", again, got, want)
			}
		})
	}
}

func TestQuestionsOfOneClientComeInTheirOrder(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	c := NewClient(ClientOptions{Path: d.l.Path()})
	const n = 15
	for i := range n {
		remote(t, c, Request{Questions: mustParse(t, fmt.Sprintf(`[{"question":"%02d?"}]`, i))})
	}
	for i, it := range d.pending(n).Items {
		if want := fmt.Sprintf("%02d?", i); it.Request.Questions[0].Question != want {
			t.Fatalf("at %d: %s", i, it.Request.Questions[0].Question)
		}
	}
}
