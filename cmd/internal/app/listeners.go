package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/token"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// listeners are where agents get at a deck: its sockets and its HTTP endpoint.
type listeners struct {
	app       *App
	socket    *socket.Listener
	questions *ask.Listener
	prompts   *hook.Server    // nil: there is none
	sessions  <-chan struct{} // closed when they are no longer followed
	web       net.Listener
	Endpoints snapshot.Endpoints
	cancel    context.CancelFunc
	token     atomic.Pointer[string] // of HTTP
}

// openListeners binds everything, so that a second deck of the name is noticed
// before the screen changes. Only the socket is indispensable.
func openListeners(h *App, linked bool) (*listeners, error) {
	l, err := socket.Listen(h.Config.Paths.Socket)
	used := new(socket.InUseError)
	const most = 10 * time.Second // that one without a screen, which may have begun meanwhile, takes to begin and to end
	for began := time.Now(); errors.As(err, &used) && !linked && time.Since(began) < most && takePlace(h.Config); {
		time.Sleep(10 * time.Millisecond) // it has the lock for a moment before and after the socket
		l, err = socket.Listen(h.Config.Paths.Socket)
	}
	if errors.As(err, &used) && used.PID != 0 {
		return nil, fmt.Errorf("a deck is already running (process %d); use it, or start another with --name", used.PID)
	}
	if err != nil {
		return nil, err
	}
	r := &listeners{app: h, socket: l, Endpoints: snapshot.Endpoints{Socket: l.Path()}}
	if h.Queue != nil {
		if r.questions, err = ask.Listen(h.Queue, r.askOptions()); err != nil {
			h.Host.Warn("ask", err.Error())
		}
	}
	r.openWeb()
	h.Host.SetEndpoints(r.Endpoints)
	return r, nil
}

func (r *listeners) askOptions() ask.ListenOptions {
	h := r.app
	return ask.ListenOptions{
		Path: h.Config.Paths.AskSocket, Version: cli.Version(), Sessions: h.Config.Paths.Sessions,
		Gate: h.gate, Agents: h.agentProcesses, Log: slog.Default(),
	}
}

func (r *listeners) openWeb() {
	cfg := r.app.Config.File.HTTP
	if !cfg.Enabled {
		r.Endpoints.HTTPNote = "off in the configuration"
		return
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(cfg.Port)))
	if err != nil {
		r.Endpoints.HTTPNote = err.Error()
		const inUse = syscall.Errno(10048) // on Windows
		if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, inUse) {
			r.Endpoints.HTTPNote = fmt.Sprintf("port %d is taken by another program", cfg.Port)
		}
		r.app.Host.Warn("http", r.Endpoints.HTTPNote+"; agents that connect by address cannot reach this deck. Set http.port in config.toml to another port, or to 0 for any free one, and restart mcpdeck")
		return
	}
	r.web = l
	r.Endpoints.HTTP = l.Addr().String()
}

// Serve answers until close.
func (r *listeners) Serve() error {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.prompts = r.app.Agents.Serve(ctx)
	r.sessions = r.app.Agents.Follow(ctx)
	srv := &transport.Server{Host: r.app.Host, Version: cli.Version(), Controls: r.app.controls(), Log: slog.Default()}
	srv.Controls["token"] = func(context.Context, transport.Requester, json.RawMessage) (any, error) { return nil, r.takeToken() }
	srv.Streams = map[string]func(context.Context, io.Reader, io.Writer) error{wire.Control: r.app.others.host.Serve}
	if end := r.app.Yield; end != nil {
		srv.Streams[yields] = func(ctx context.Context, _ io.Reader, _ io.Writer) error {
			end()
			<-ctx.Done()
			return nil
		}
	}
	srv.Controls["machines"] = func(context.Context, transport.Requester, json.RawMessage) (any, error) {
		r.app.others.sayUntold()
		return r.app.others.follow(ctx)
	}
	srv.Controls["hubs"] = func(context.Context, transport.Requester, json.RawMessage) (any, error) {
		return r.app.others.hubs.states(), nil
	}
	srv.Controls["learn"] = r.app.others.learnControl(r.app.gate)
	err := r.app.others.trust.Begin()
	if err == nil {
		_, err = r.app.others.follow(ctx)
	}
	if err != nil {
		r.app.Host.Warn("machines", err.Error())
	}
	recovery.Go("state folder", func() { r.watch(ctx) })
	recovery.Go("deck socket", func() { srv.Serve(ctx, r.socket) })
	if r.web == nil {
		return nil
	}
	if err := r.takeToken(); err != nil {
		return err
	}
	web := &transport.HTTP{Host: r.app.Host}
	recovery.Go("http", func() { r.report("http", web.Start(ctx, r.web, func() string { return *r.token.Load() })) })
	return nil
}

// takeToken makes the token in the file the one that HTTP asks for.
func (r *listeners) takeToken() error {
	now, err := token.Read(r.app.Config.Paths)
	if err != nil {
		return err
	}
	r.app.redact.Known.Add(now)
	r.token.Store(&now)
	return nil
}

func (r *listeners) report(from string, err error) {
	if err != nil {
		r.app.Host.Warn(from, err.Error())
	}
}

// Close ends the deck and then what leads to it, so that calls in flight are
// still answered.
func (r *listeners) Close() {
	if r.web != nil {
		r.web.Close()
	}
	if r.prompts != nil {
		r.prompts.Close() // what is still open goes to its terminal
	}
	r.app.Stop()
	if r.cancel != nil {
		r.cancel()
		select {
		case <-r.sessions:
		case <-time.After(time.Second): // it reads a large file, and will read it again
		}
	}
	if r.questions != nil {
		r.questions.Close()
	}
	r.socket.Close()
}

// agentProcesses are the programs whose descendants must not answer for the
// person.
func (h *App) agentProcesses() []int {
	var ids []int
	for _, a := range h.Host.Snapshot().Agents {
		if a.PID != 0 && a.Transport != snapshot.ByCommand && a.Gone.IsZero() {
			ids = append(ids, a.PID)
		}
	}
	return ids
}
