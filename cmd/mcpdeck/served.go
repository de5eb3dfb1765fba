package main

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

// hosting is what a relay hosts while there is no deck. The zero instance is none.
type hosting struct {
	load func() (*config.Config, error)
	cfg  *config.Config

	mu     sync.Mutex // guards what follows
	h      *instance
	absent bool // the servers that the user has added are a deck's
}

// open hosts the servers here, those that were added as they are configured now.
func (l *hosting) open(lost func() bool) (*instance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.h == nil {
		var err error
		l.h, err = headless(l.cfg, lost, console.Err())
		return l.h, err
	}
	if l.absent {
		if cfg, err := l.load(); err == nil {
			l.cfg = cfg
		}
		l.h.takeCards(l.cfg)
		l.absent = false
	}
	return l.h, nil
}

// moving is told that a deck takes over. What was started here for servers that were
// added ends, for the deck starts its own.
func (l *hosting) moving() (left func()) {
	var moved []func()
	for _, s := range l.h.own {
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
				l.h.takeCards(&config.Config{})
			}
		})
	}
}

func (l *hosting) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.h != nil {
		l.h.stop()
	}
}

// headless is a started instance without a user, which logs to a writer.
func headless(cfg *config.Config, lost func() bool, logs io.Writer) (*instance, error) {
	h, err := build(cfg, false, lost)
	if err != nil {
		return nil, err
	}
	logTo(logs, logLevel(cfg), h.redact)
	h.host.LogWarnings()
	if h.journal != nil {
		if err := h.journal.OpenSpool(); err != nil {
			return nil, err
		}
	}
	h.host.Start()
	h.takeCards(cfg)
	return h, nil
}

func dialer(cfg *config.Config) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		return socket.Dial(ctx, cfg.Paths.Socket)
	}
}
