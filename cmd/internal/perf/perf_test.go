//go:build linux

package main

import (
	"os"
	"testing"
	"time"
)

func TestQuantileOfDurations(t *testing.T) {
	d := []time.Duration{4, 1, 3, 2}
	for q, want := range map[float64]time.Duration{0: 1, .5: 3, .99: 4, 1: 4} {
		if got := at(d, q); got != want {
			t.Errorf("quantile %v: got %v, want %v", q, got, want)
		}
	}
	if at(nil, .5) != 0 {
		t.Error("quantile of nothing")
	}
}

func TestUsage(t *testing.T) {
	u, err := usageOf(os.Getpid())
	if err != nil || u.rssKB <= 0 || u.ran <= 0 {
		t.Errorf("got %+v, %v", u, err)
	}
	if _, err := usageOf(-1); err == nil {
		t.Error("there is a process -1")
	}
}

// TestPerfHostAnswersCalls calls the echo tool through the socket and over HTTP.
func TestPerfHostAnswersCalls(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // as for sockets it must be
		t.Fatal(err)
	}
	done := make(chan error, 1)
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		err := playHost(hostOptions{dir: dir, journal: true}, in, out)
		out.Close()
		done <- err
	}()
	h := &hostProcess{dir: dir}
	if err := h.greet(r); err != nil {
		t.Fatal(err, <-done)
	}
	stream, err := dial(dir + "/deck.sock")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]client{"stream": stream, "http": newWeb(h.url, h.token)} {
		if err := shake(c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		each, _, err := echoes(c, "echo", 20, 4, 100)
		if err != nil || len(each) != 20 {
			t.Errorf("%s: %d calls, %v", name, len(each), err)
		}
		c.close()
	}
	w.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
