// Package testwait has tests wait for what they test: for a condition, or for a time to
// pass on the clock of a synctest bubble. For a disk that is busy they need not wait.
package testwait

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// Patience is how long a condition may take. It is far more than any of them takes, as a
// machine may be busy with a lot else: some agents' programs take a minute then for what is
// done in a second else.
const Patience = 10 * time.Minute

// Until waits until is holds, and fails the test if that takes too long.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !Holds(is) {
		t.Fatalf("waited in vain: %s", what)
	}
}

// For waits until what get returns is as wanted, and returns it. If that takes too long it
// fails the test with what get returned last.
func For[T any](t testing.TB, what string, get func() T, is func(T) bool) (last T) {
	t.Helper()
	if !Holds(func() bool { last = get(); return is(last) }) {
		t.Fatalf("waited in vain: %s; last: %+v", what, last)
	}
	return last
}

// Holds waits until is holds, and reports whether it did in time. It may be called in any
// goroutine.
func Holds(is func() bool) bool {
	pause := time.Millisecond
	for end := time.Now().Add(Patience); !is(); pause = min(2*pause, 16*time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// Pass lets a time pass on the clock of the bubble in which it is called, and all that is
// due by then happen. Outside a bubble it panics, as such a time would have to be slept.
func Pass(d time.Duration) {
	synctest.Wait()
	time.Sleep(d)
	synctest.Wait()
}

// MkdirTemp is [os.MkdirTemp] in memory, where there is such a place: what is synced there
// costs no time, however busy the disk is, and the folder's path is short enough for sockets.
func MkdirTemp(pattern string) (string, error) {
	dir, err := os.MkdirTemp("/dev/shm", pattern)
	if err != nil {
		return os.MkdirTemp("", pattern)
	}
	return dir, nil
}

// TempDir is the TempDir of a test in memory, as of [MkdirTemp].
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := MkdirTemp("md")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
