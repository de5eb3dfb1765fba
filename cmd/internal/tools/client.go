package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// connect shakes hands with the running deck, or with one in this process
// when none runs. The returned function ends it.
func connect(ctx context.Context, cfg *config.Config, names []string) (*transport.Client, func(), error) {
	c, err := connectDeck(ctx, cfg, names)
	if err == nil {
		return c, func() { c.Close() }, nil
	}
	if !errors.Is(err, transport.ErrNoDeck) {
		return nil, nil, err
	}
	logs := console.Err()
	if !cfg.File.Debug { // the answer says what went wrong
		logs = io.Discard
	}
	h, err := app.Headless(cfg, nil, logs)
	if err != nil {
		return nil, nil, err
	}
	s, _, err := h.Stream(router.ViewSpec{Servers: names}, snapshot.Caller{Transport: snapshot.ByCommand, Root: cfg.ProjectRoot()})
	if err != nil {
		h.Stop()
		if errors.Is(err, router.ErrUnknownServer) {
			return nil, nil, exit.Wrong(err)
		}
		return nil, nil, err
	}
	if c, err = transport.NewClient(ctx, s, nil, "mcpdeck", cli.Version()); err != nil {
		h.Stop()
		return nil, nil, err
	}
	return c, func() { c.Close(); h.Stop() }, nil
}

// connectDeck shakes hands with the running deck.
func connectDeck(ctx context.Context, cfg *config.Config, names []string) (*transport.Client, error) {
	conn, err := app.Dialer(cfg)(ctx)
	if errors.Is(err, socket.ErrUnsafe) {
		return nil, err
	}
	if err != nil {
		return nil, transport.ErrNoDeck
	}
	conn = socket.Awake(conn)
	w, lines, err := transport.Greet(conn, transport.Hello{
		Servers: names, Cwd: cfg.Dir, PID: os.Getpid(), Transport: snapshot.ByCommand, Hints: config.Hints(),
	})
	if stopped := new(socket.StoppedError); errors.As(err, &stopped) {
		err = stopped
	}
	switch {
	case err != nil:
		conn.Close()
		return nil, err
	case w.Usage:
		return nil, exit.Wrong(errors.New(w.Error))
	case w.Error != "":
		return nil, errors.New(w.Error)
	}
	c, err := transport.NewClient(ctx, conn, lines, "mcpdeck", cli.Version())
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("talk to the deck: %w", err)
	}
	return c, nil
}
