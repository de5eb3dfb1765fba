package clippy

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// timing is how patient the deck is with players.
type timing struct {
	confirm time.Duration // a player still running then is taken to play
	search  time.Duration // spent on finding one that does
	limit   time.Duration // then it is killed
}

func usualTiming() timing {
	return timing{confirm: 400 * time.Millisecond, search: 2 * time.Second, limit: 5 * time.Second}
}

// Played says what became of a sound.
type Played struct {
	Type   string `json:"type"`
	Method string `json:"method"` // program, "bell" or "none"
	State  string `json:"state"`  // "playing", "finished", "bell", "skipped" or "muted"
}

func (p Played) String() string {
	switch p.State {
	case "playing":
		return fmt.Sprintf("Playing the %s sound (%s)", p.Type, p.Method)
	case "finished":
		return fmt.Sprintf("Played the %s sound (%s)", p.Type, p.Method)
	case "bell":
		return "Rang the terminal bell for " + p.Type
	case "muted":
		return "Sounds are muted in mcpdeck; the " + p.Type + " sound was not played"
	}
	return "Another sound is playing; the " + p.Type + " sound was not played"
}

// sounds plays one sound at a time.
type sounds struct {
	timing  timing
	machine *machine
	bell    func() error // nil: there is no terminal
	log     func() *slog.Logger

	mu      sync.Mutex
	muted   bool
	busy    bool // a player is being looked for or runs
	closed  bool
	running sync.WaitGroup
	ctx     context.Context // of the players that run; nil before the first
	stop    context.CancelFunc
}

// play starts the sound and returns once something can be said of it, within
// timing.search. It needs no context: a sound that plays is not taken back.
func (s *sounds) play(sound string) (Played, error) {
	if _, ok := soundRows()[sound]; !ok {
		return Played{}, say("type must be one of error, warning, success")
	}
	s.mu.Lock()
	muted, busy := s.muted, s.busy || s.closed
	s.busy = s.busy || !muted
	s.mu.Unlock()
	switch {
	case muted:
		return Played{sound, "none", "muted"}, nil
	case busy:
		return Played{sound, "none", "skipped"}, nil
	}
	end := time.Now().Add(s.timing.search)
	for _, c := range s.machine.commands(sound) {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		if state := s.try(c, min(s.timing.confirm, left)); state != "" {
			return Played{sound, c.name, state}, nil
		}
	}
	s.release()
	if s.bell == nil {
		return Played{}, say("no sound could be played (no player, no terminal)")
	}
	if err := s.bell(); err != nil {
		return Played{}, blame(err, "no sound could be played (no player, no terminal)")
	}
	return Played{sound, "bell", "bell"}, nil
}

func (s *sounds) release() {
	s.mu.Lock()
	s.busy = false
	s.mu.Unlock()
}

// try starts one player and watches it for a moment. It returns "" when the
// player failed; otherwise the turn is given back when the player ends.
func (s *sounds) try(c command, wait time.Duration) string {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ""
	}
	if s.stop == nil {
		s.ctx, s.stop = context.WithCancel(context.Background())
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.timing.limit)
	s.running.Add(1)
	s.mu.Unlock()
	player := process.Command{Program: c.path, Args: c.args, Kind: process.Desktop, Own: s.machine.environ, Extra: c.env}
	ended := make(chan error, 1)
	recovery.Go("sound player", func() {
		defer s.running.Done()
		defer cancel()
		ended <- process.Run(ctx, player, process.Streams{})
	})
	select {
	case err := <-ended:
		if err != nil {
			s.log().Debug("player failed", "program", c.path, "error", err)
			return ""
		}
		s.release()
		return "finished"
	case <-time.After(wait):
	}
	recovery.Go("sound end", func() {
		err := <-ended
		s.release()
		s.log().Debug("player ended", "program", c.path, "error", err)
	})
	return "playing"
}

func (s *sounds) mute(on bool) {
	s.mu.Lock()
	s.muted = on
	s.mu.Unlock()
}

// open allows players again after a close.
func (s *sounds) open() {
	s.mu.Lock()
	s.closed = false
	s.mu.Unlock()
}

// close kills the players that run, waits until they are gone, and starts no
// more.
func (s *sounds) close() {
	s.mu.Lock()
	s.closed = true
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	s.mu.Unlock()
	s.running.Wait()
}

// TerminalBell rings the bell of the controlling terminal. It is the bell for a
// process without a screen of its own; with one, the screen has to send it. The
// error says that there is no terminal.
func TerminalBell() error {
	f, err := os.OpenFile(terminalPath, os.O_WRONLY|noWait, 0)
	if err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteString("\a"); err != nil {
		return fmt.Errorf("ring bell: %w", err)
	}
	return nil
}
