// Package hook is the prompt socket, over which agents' programs bring to the deck what
// they ask, and the client of it that their hooks start.
//
// A connection can ask, report and withdraw what is its own. No message answers, lists or
// reads anything, and each reply goes to the connection that asked.
package hook

import (
	"context"
	"log/slog"
	"net"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

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
	opt   Options
	l     *socket.Listener
	limit socket.ConnLimit
	stop  context.CancelFunc
	done  chan struct{} // closed when no connection is served any more
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
	s := &Server{opt: o, l: l, done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	recovery.Go("prompt socket", func() {
		defer close(s.done)
		socket.Serve(ctx, l, socket.Serving{Name: "prompt socket", Limit: &s.limit, Log: o.Log, Handle: s.serve})
	})
	return s, nil
}

// Restore opens the socket again if its file was deleted, and reports whether it was.
func (s *Server) Restore() (bool, error) { return s.l.Restore() }

// Close ends all connections. Their programs go on as if there were no deck.
func (s *Server) Close() {
	s.stop()
	<-s.done
}

// serve hands a connection to its agent's handler. One of another machine or container is
// refused, since its process cannot be told from others, and so is one that there is no room
// for: its program goes on without the deck.
func (s *Server) serve(ctx context.Context, c *net.UnixConn, from socket.Peer, limit int) {
	if limit > 0 || from.PID != 0 && socket.Machine(from.PID) != "" {
		return
	}
	o, err := Greet(c, from.PID)
	if err != nil {
		s.opt.Log.Info("a connection to the prompt socket was refused", "pid", from.PID, "error", err)
		return
	}
	defer o.Close()
	if h := s.opt.Handlers[o.Hello.Agent]; h != nil {
		h.Serve(ctx, o)
	}
}
