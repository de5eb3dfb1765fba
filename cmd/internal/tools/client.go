package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// deck is a connection to the running deck, or to one in this process.
type deck struct {
	*transport.Client
	end       func()
	resumable []string // tools whose calls may be sent again when the deck ends
}

// connect shakes hands with the running deck, or with one in this process when none runs, in
// which what is asked waits for the next if one was lost.
func connect(ctx context.Context, cfg *config.Config, names []string, lost bool) (*deck, error) {
	d, err := connectDeck(ctx, cfg, names)
	if err == nil || !errors.Is(err, transport.ErrNoDeck) {
		return d, err
	}
	logs := console.Err()
	if !cfg.File.Debug { // the answer says what went wrong
		logs = io.Discard
	}
	h, err := app.Headless(cfg, func() bool { return lost }, logs)
	if err != nil {
		return nil, err
	}
	s, resumable, err := h.Stream(router.ViewSpec{Servers: names}, snapshot.Caller{Transport: snapshot.ByCommand, Root: cfg.ProjectRoot()})
	if err != nil {
		h.Stop()
		if errors.Is(err, router.ErrUnknownServer) {
			return nil, exit.Wrong(err)
		}
		return nil, err
	}
	c, err := transport.NewClient(ctx, s, nil, "mcpdeck", cli.Version())
	if err != nil {
		h.Stop()
		return nil, err
	}
	return &deck{c, func() { c.Close(); h.Stop() }, resumable}, nil
}

// connectDeck shakes hands with the running deck.
func connectDeck(ctx context.Context, cfg *config.Config, names []string) (*deck, error) {
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
	return &deck{c, func() { c.Close() }, w.Resumable}, nil
}

// ended reports whether a call has no answer since the deck has ended. One that is about to end
// has then done so.
func (d *deck) ended(ctx context.Context, result json.RawMessage, err error) bool {
	if err != nil {
		return errors.Is(err, transport.ErrGone)
	}
	var r struct {
		Meta map[string]any `json:"_meta"`
	}
	if json.Unmarshal(result, &r) != nil || r.Meta[backend.RetryMeta] != true {
		return false
	}
	for d.Call(ctx, "ping", struct{}{}, nil) == nil && process.Pause(ctx, 20*time.Millisecond) == nil {
	}
	return ctx.Err() == nil
}
