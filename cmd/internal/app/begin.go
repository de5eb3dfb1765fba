package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/hub"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// Begin starts a deck without a screen that outlives this process, and connects to it. It ends
// once it has not been needed for a while, or when the user opens a deck here.
func Begin(ctx context.Context, cfg *config.Config) (net.Conn, error) {
	if err := detach(cfg); err != nil {
		return nil, err
	}
	const patience = 15 * time.Second
	conn, err := reconnect.Dial(ctx, reconnect.Pauses{First: 20 * time.Millisecond, Most: 200 * time.Millisecond}, patience, Dialer(cfg))
	if err != nil {
		return nil, fmt.Errorf("wait for the deck that was started here: %w; see %s", err, cfg.Paths.Log)
	}
	return conn, nil
}

// detach starts a deck as [Begin] does, and does not wait until it runs.
func detach(cfg *config.Config) error {
	own, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	c := process.Command{Program: own, Args: append([]string{"serve", "--linked", "--port", "0"}, cfg.Again()...), Dir: cfg.Home, Extra: cfg.Environ}
	if err := process.Detach(c); err != nil {
		return fmt.Errorf("start a deck here: %w", err)
	}
	return nil
}

// LeaveHost starts a deck without a screen in place of the user's own, which has ended, where this machine is a host of
// a hub: what agents ask here would be seen by no deck of the hub, and no answer of theirs be taken.
func LeaveHost(cfg *config.Config) {
	joined, err := hub.Book{Dir: cfg.Paths.Machines}.All()
	if err != nil || !slices.ContainsFunc(joined, func(m hub.Membership) bool { return m.Role == hub.Host }) {
		return
	}
	said := "mcpdeck keeps running without a screen: this machine is a host of a hub"
	if err := detach(cfg); err != nil {
		said = "no deck of the hub reaches this machine now: " + err.Error()
	}
	fmt.Fprintln(console.Err(), said)
}

// beginnerFor returns what starts a deck where decks of other machines may answer: what is asked
// here while none runs and no link is up would else be seen by nobody.
func beginnerFor(cfg *config.Config) func(context.Context) (begun bool, err error) {
	return func(ctx context.Context) (bool, error) {
		decks, err := book.Book{Dir: cfg.Paths.Machines}.Decks()
		if err != nil || len(decks) == 0 {
			return false, err
		}
		c, err := Begin(ctx, cfg)
		if err != nil {
			return false, err
		}
		c.Close()
		return true, nil
	}
}

// yields is the stream over which a deck that [Begin] started is told to make room.
const yields = "yield"

// takePlace ends a deck that [Begin] started, since the user opens one here. What waits there is
// on the disk. It reports false if there is any other deck, which stays.
func takePlace(cfg *config.Config) bool {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	c, err := socket.Dial(ctx, cfg.Paths.Socket)
	if err != nil {
		return true
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	w, in, err := transport.Greet(c, transport.Hello{Control: yields})
	if w.Error != "" {
		return false
	}
	if err == nil {
		_, _ = io.Copy(io.Discard, in) // until it leaves
	}
	for there := true; there && process.Pause(ctx, 10*time.Millisecond) == nil; {
		c, err := socket.Dial(ctx, cfg.Paths.Socket)
		if there = err == nil; there {
			c.Close()
		}
	}
	return ctx.Err() == nil
}
