package app

import (
	"context"
	"io"
	"net"
	"sync"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// Hosting is what a relay hosts while there is no deck. The zero Hosting is none.
type Hosting struct {
	Load   func() (*config.Config, error)
	Config *config.Config

	mu     sync.Mutex // guards what follows
	h      *App
	absent bool // the servers that the user has added are a deck's
}

// Open hosts the servers here, those that were added as they are configured now.
func (l *Hosting) Open(lost func() bool) (*App, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.h == nil {
		var err error
		l.h, err = Headless(l.Config, lost, console.Err())
		return l.h, err
	}
	if l.absent {
		if cfg, err := l.Load(); err == nil {
			l.Config = cfg
		}
		l.h.TakeCards(l.Config)
		l.absent = false
	}
	return l.h, nil
}

// Moving is told that a deck takes over. What was started here for servers that were
// added ends, for the deck starts its own.
func (l *Hosting) Moving() (left func()) {
	var moved []func()
	for _, s := range l.h.Own {
		if s.Move != nil {
			moved = append(moved, s.Move())
		}
	}
	return func() {
		for _, done := range moved {
			done()
		}
		l.mu.Lock()
		l.absent = true
		l.mu.Unlock()
		recovery.Go("servers of a deck", func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.absent { // the deck may be gone again
				l.h.TakeCards(&config.Config{})
			}
		})
	}
}

// Stop ends what is hosted.
func (l *Hosting) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.h != nil {
		l.h.Stop()
	}
}

// Headless is a started deck without a user, which logs to a writer.
func Headless(cfg *config.Config, lost func() bool, logs io.Writer) (*App, error) {
	h, err := New(cfg, false, lost)
	if err != nil {
		return nil, err
	}
	logTo(logs, logLevel(cfg), h.redact)
	h.Host.LogWarnings()
	if h.journal != nil {
		if err := h.journal.OpenSpool(); err != nil {
			return nil, err
		}
	}
	h.Host.Start()
	h.TakeCards(cfg)
	return h, nil
}

// Dialer returns what connects to the running deck.
func Dialer(cfg *config.Config) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		return socket.Dial(ctx, cfg.Paths.Socket)
	}
}
