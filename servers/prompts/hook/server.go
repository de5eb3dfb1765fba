// Package hook is the prompt socket, over which agents' programs bring to the deck what
// they ask, and the client of it that their hooks start.
//
// A connection can ask, report and withdraw what is its own. No message answers, lists or
// reads anything, and each reply goes to the connection that asked.
package hook

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/safe"
	"github.com/mcpdeck/mcpdeck/servers/socket"
)

// maxConns is how many connections are served at a time.
const maxConns = 512

// Handler serves the connections of one agent's program.
type Handler interface {
	// Serve handles a connection until it is done with it or ctx ends. The connection is
	// closed then.
	Serve(ctx context.Context, c *Conn)
}

// Options configures a [Server].
type Options struct {
	Path     string             // of the socket
	Handlers map[string]Handler // by the ID of the agent's program
	Log      *slog.Logger
}

// Server accepts connections on the prompt socket.
type Server struct {
	opt  Options
	l    *socket.Listener
	room socket.Room
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// Listen opens the prompt socket.
func Listen(o Options) (*Server, error) {
	l, err := socket.Listen(o.Path)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opt: o, l: l, room: socket.Room{Most: maxConns}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.run("prompt socket", s.accept)
	return s, nil
}

// Restore opens the socket again if its file was deleted, and reports whether it was.
func (s *Server) Restore() (bool, error) { return s.l.Restore() }

// Close ends all connections. Their programs go on as if there were no deck.
func (s *Server) Close() {
	s.stop()
	_ = s.l.Close() // it only ends
	s.wg.Wait()
}

func (s *Server) run(name string, fn func()) {
	s.wg.Add(1)
	safe.Go(name, func() {
		defer s.wg.Done()
		fn()
	})
}

func (s *Server) accept() {
	for {
		c, err := s.l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			s.opt.Log.Warn("accept a connection to the prompt socket", "error", err)
			return
		}
		_, serve := s.room.Enter()
		peer, err := socket.PeerOf(c)
		if !serve || err != nil || !peer.Trusted() {
			s.room.Leave()
			_ = c.Close() // the program goes on without the deck
			continue
		}
		s.run("prompt connection", func() {
			defer s.room.Leave()
			s.serve(c, peer.PID)
		})
	}
}

// serve hands a connection to its agent's handler. One of another machine or container is
// refused: its process cannot be told from others.
func (s *Server) serve(c net.Conn, pid int) {
	end := context.AfterFunc(s.ctx, func() { _ = c.Close() }) // also of one that says nothing
	defer end()
	if pid != 0 && socket.Machine(pid) != "" {
		_ = c.Close()
		return
	}
	o, err := Greet(c, pid)
	if err != nil {
		s.opt.Log.Info("a connection to the prompt socket was refused", "pid", pid, "error", err)
		return
	}
	defer o.Close()
	if h := s.opt.Handlers[o.Hello.Agent]; h != nil {
		h.Serve(s.ctx, o)
	}
}
