//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/terminal"
)

const (
	cols, rows = 110, 34
	// marker is on the screen while help is open.
	marker = "Keys on this page"
	// eventsWanted is twice the calls a second: each begins and ends.
	eventsWanted = 10_000
)

// screen is the program on a terminal.
type screen struct{ *terminal.Terminal }

func (b bench) open(home string, args ...string) (*screen, error) {
	cmd := exec.Command(b.program, append([]string{"--port", "0", "--background", "dark"}, args...)...)
	cmd.Dir = home
	t, err := terminal.Start(cmd, cols, rows, "HOME="+home, "PATH=/usr/bin:/bin")
	return &screen{t}, err
}

// until waits for the screen to satisfy ok and returns when it did.
func (s *screen) until(ok func(text string) bool) (time.Time, error) {
	return s.Until(10*time.Second, ok)
}

func (s *screen) close() { _ = s.End(3 * time.Second) }

func painted(text string) bool {
	return strings.Contains(text, "Servers") && strings.Contains(text, "Agents")
}

// deck measures the program on a terminal.
func (b bench) deck(context.Context) error {
	home := filepath.Join(b.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	var first []time.Duration
	for range b.starts {
		s, err := b.open(home)
		if err != nil {
			return err
		}
		when, err := s.until(painted)
		if err != nil {
			return err
		}
		first = append(first, when.Sub(s.Started))
		time.Sleep(200 * time.Millisecond)
		s.close()
	}
	s, err := b.open(home)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.until(painted); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	quiet, err := sample(s.PID(), b.idle)
	if err != nil {
		return err
	}
	calm, err := s.keys(b.keys)
	if err != nil {
		return err
	}
	flood := startFlood(filepath.Join(home, ".local", "state", "mcpdeck", "run", "deck.sock"))
	time.Sleep(time.Second)
	flood.count.Store(0)
	begun := time.Now()
	busy, err := s.keys(b.keys)
	events := 2 * float64(flood.count.Load()) / time.Since(begun).Seconds()
	if ferr := flood.stop(); err == nil {
		err = ferr
	}
	if err != nil {
		return err
	}
	after, err := usageOf(s.PID())
	if err != nil {
		return err
	}
	return b.printDeck(first, calm, busy, events, quiet, after)
}

func (b bench) printDeck(first, calm, busy []time.Duration, events float64, quiet, after usage) error {
	info, err := os.Stat(b.program)
	if err != nil {
		return err
	}
	inits, err := b.inits()
	if err != nil {
		return err
	}
	fmt.Printf("| deck, %d×%d | measured | budget |\n|---|---|---|\n", cols, rows)
	row := func(what, value, budget string) { fmt.Printf("| %s | %s | %s |\n", what, value, budget) }
	row("start to first frame, p50 / p99", pair(first, time.Millisecond), "25 ms")
	row("key to frame, p50 / p99", pair(calm, time.Millisecond), "9 / 20 ms")
	row(fmt.Sprintf("the same under %.0f events/s", events), pair(busy, time.Millisecond), "9 / 20 ms")
	row("CPU while idle", fmt.Sprintf("%.2f %%", quiet.cpuPercent), "0.1 %")
	row("wake-ups while idle", fmt.Sprintf("%.0f /s", quiet.wakeups), "–")
	row("memory, idle / after the events", fmt.Sprintf("%d / %d MB", quiet.rssKB/1024, after.rssKB/1024), "–")
	row("program, stripped", fmt.Sprintf("%.1f MB", float64(info.Size())/1e6), "–")
	row("package initialisation, p50", fmt.Sprintf("%.1f ms", inits), "5 ms")
	return nil
}

// keys opens and closes help and returns how long each took to show.
func (s *screen) keys(n int) ([]time.Duration, error) {
	var took []time.Duration
	for i := range n {
		time.Sleep(time.Duration(60+rand.IntN(60)) * time.Millisecond)
		key, open := "?", i%2 == 0
		if !open {
			key = "\x1b"
		}
		t := time.Now()
		if err := s.Type(key); err != nil {
			return nil, err
		}
		when, err := s.until(func(text string) bool { return strings.Contains(text, marker) == open })
		if err != nil {
			return nil, err
		}
		if open { // a lone escape waits for what might follow it
			took = append(took, when.Sub(t))
		}
	}
	return took, nil
}

// flood calls a tool of the deck from several connections at an even rate. It
// is behind by at most a quarter of a second's calls.
type flood struct {
	count atomic.Int64
	quit  chan struct{}
	wg    sync.WaitGroup
	mu    sync.Mutex
	err   error
}

func startFlood(path string) *flood {
	const callers = 32 // enough that a slow answer now and then does not lower the rate
	f := &flood{quit: make(chan struct{})}
	for range callers {
		f.wg.Go(func() {
			if err := f.run(path, eventsWanted/2/callers); err != nil {
				f.mu.Lock()
				f.err = err
				f.mu.Unlock()
			}
		})
	}
	return f
}

func (f *flood) run(path string, perSecond int) error {
	c, err := dial(path)
	if err != nil {
		return err
	}
	defer c.close()
	if err := shake(c); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	due := 0.0
	last := time.Now()
	for {
		select {
		case <-f.quit:
			return nil
		case now := <-tick.C:
			due = min(due+now.Sub(last).Seconds()*float64(perSecond), float64(perSecond)/4)
			last = now
		}
		for ; due >= 1; due-- {
			b, err := c.request("tools/call", `{"name":"manage_memory","arguments":{"action":"read","key":"perf"}}`)
			if err == nil && !bytes.Contains(b, []byte("No memory found")) {
				err = fmt.Errorf("call a tool: %.300s", b)
			}
			if err != nil {
				return err
			}
			f.count.Add(1)
		}
	}
}

func (f *flood) stop() error {
	close(f.quit)
	f.wg.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// inits is the median time in milliseconds that all packages together take to
// initialise.
func (b bench) inits() (float64, error) {
	clock := regexp.MustCompile(`(?m)^init \S+ @[\d.]+ ms, ([\d.]+) ms clock`)
	var sums []time.Duration
	for range b.starts {
		cmd := exec.Command(b.program, "version")
		cmd.Env = append(cmd.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("trace initialisation: %w", err)
		}
		sum := 0.0
		for _, m := range clock.FindAllSubmatch(out, -1) {
			ms, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				return 0, err
			}
			sum += ms
		}
		sums = append(sums, time.Duration(sum*1e6))
	}
	return float64(at(sums, .5)) / 1e6, nil
}
