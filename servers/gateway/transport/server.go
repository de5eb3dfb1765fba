// Package transport carries MCP between agents and the host: over byte streams (the
// Unix socket, stdio, a pipe in a test), over HTTP behind a guard, and through
// the relay that an agent's client starts.
//
// Both are our own. mcp-go's stdio server keeps one session for the whole process, answers
// cancelled requests, changes ids, and sends progress after the result; its HTTP server serves
// only an MCPServer.
package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// Server serves the deck's Unix socket.
type Server struct {
	Host    *router.Host
	Version string
	// Controls are the handlers of requests to the deck itself, by name.
	Controls map[string]Control
	// Streams serve a protocol of their own after the hello, by the name that this has as its
	// control. They end with ctx.
	Streams map[string]func(ctx context.Context, r io.Reader, w io.Writer) error

	Log *slog.Logger // nil: nothing is logged

	limit socket.ConnLimit
}

// Control handles a request to the deck itself. The result is encoded as JSON. An error
// is shown to the requester.
type Control func(ctx context.Context, from Requester, args json.RawMessage) (any, error)

// Requester is the sender of a control request.
type Requester struct {
	socket.Peer
	// Agent is the name of the connected agent that the process descends from,
	// "" when it descends from none.
	Agent string

	say    func(Welcome) error
	proofs <-chan string
}

// errOlder is the error for a command of an older version that does not support messages
// before the answer.
const errOlder = "this command is older than the deck"

// Say sends the requester a message before the answer.
func (r Requester) Say(note string) error { return r.say(Welcome{Note: note, Error: errOlder}) }

// Wait sends the requester a message before it waits for the user, who may be away.
func (r Requester) Wait(note string) error {
	return r.say(Welcome{Note: note, Waits: true, Error: errOlder})
}

// Prove asks the requester for a proof by the method and returns it, or "" if there is
// no user to ask.
func (r Requester) Prove(ctx context.Context, method string) (string, error) {
	if err := r.say(Welcome{Prove: method, Error: errOlder}); err != nil {
		return "", err
	}
	select {
	case secret := <-r.proofs:
		return secret, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Serve accepts connections until the listener is closed or ctx is done. Open connections
// end then, and Serve returns.
func (s *Server) Serve(ctx context.Context, l socket.Acceptor) {
	socket.Serve(ctx, l, socket.Serving{Name: "deck socket", Limit: &s.limit, Log: s.Log, Handle: s.connection})
}

// elsewhere refuses a client on whose machine the files are not those that the deck's
// servers would read.
const elsewhere = "this deck serves the files of its own machine, and the request came through %s from another one; " +
	"run mcpdeck there (its questions can still be answered here, through this deck's question socket)"

// connection serves one connection.
func (s *Server) connection(ctx context.Context, c *net.UnixConn, peer socket.Peer, limit int) {
	_ = c.SetReadDeadline(time.Now().Add(helloTime)) // fails only on a closed connection, which the read reports
	in := bufio.NewReaderSize(c, 64<<10)
	lines := rpc.NewLines(in, helloLimit)
	hello, err := readHello(lines)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			_ = s.reply(c, Welcome{Error: err.Error()})
		}
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if limit > 0 {
		full := fmt.Sprintf("mcpdeck is busy: too many connections are open (limit %d); retry when one has ended", limit)
		_ = s.reply(c, Welcome{Error: full, Final: true})
		return
	}
	if where, _, _ := strings.Cut(socket.Machine(peer.PID), " "); where != "" {
		_ = s.reply(c, Welcome{Error: fmt.Sprintf(elsewhere, where), Final: true})
		return
	}
	if serve := s.Streams[hello.Control]; serve != nil {
		if s.reply(c, Welcome{}) == nil {
			_ = serve(ctx, in, c) // it does not matter how a connection ended
		}
		return
	}
	if hello.Control != "" {
		s.control(ctx, c, lines, peer, hello)
		return
	}
	view, err := s.Host.View(router.ViewSpec{Servers: hello.Servers, Gateway: hello.Gateway, Passthrough: hello.Passthrough, Profile: hello.Profile})
	if err != nil {
		_ = s.reply(c, Welcome{Error: err.Error(), Usage: errors.Is(err, router.ErrUnknownServer)})
		return
	}
	agent := s.Host.Connect(callerOf(peer, hello), view.Spec.Servers)
	defer agent.Close()
	if s.reply(c, Welcome{Resumable: view.Resumable()}) != nil {
		return
	}
	_ = Serve(ctx, in, c, view, agent) // it does not matter how a connection ended
}

func (s *Server) reply(c net.Conn, w Welcome) error {
	w.Mcpdeck, w.Version, w.PID = helloVersion, s.Version, os.Getpid()
	line, err := rpc.Line(w)
	if err != nil {
		return err
	}
	_ = c.SetWriteDeadline(time.Now().Add(helloTime))
	_, err = c.Write(line)
	_ = c.SetWriteDeadline(time.Time{})
	return err
}

func (s *Server) control(ctx context.Context, c net.Conn, lines *rpc.Lines, peer socket.Peer, h Hello) {
	handler := s.Controls[h.Control]
	if handler == nil {
		_ = s.reply(c, Welcome{Error: fmt.Sprintf("unknown request %q; this deck may be older than the command", h.Control), Usage: true})
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	proofs := make(chan string, 1)
	recovery.Go("control hang-up", func() { // the requester may give up
		defer cancel()
		for {
			line, err := lines.Next()
			var p Proof
			if err != nil || json.Unmarshal(line, &p) != nil {
				return
			}
			select {
			case proofs <- p.Proof:
			default: // more lines than were asked for
			}
		}
	})
	from := Requester{Peer: peer, Agent: s.agentAbove(peer.PID), proofs: proofs, say: func(w Welcome) error { return s.reply(c, w) }}
	var w Welcome
	err := recovery.Call(h.Control, func() error {
		result, err := handler(ctx, from, h.Args)
		if err != nil {
			return err
		}
		w.Result, err = json.Marshal(result)
		return err
	})
	if err != nil {
		w = Welcome{Error: err.Error()}
	}
	_ = s.reply(c, w) // the requester may be gone
}

// agentAbove returns the name of the agent that process pid descends from.
func (s *Server) agentAbove(pid int) string {
	if pid == 0 {
		return ""
	}
	above := socket.Ancestors(pid)
	for _, a := range s.Host.Snapshot().Agents {
		if a.Transport != snapshot.ByCommand && a.PID != 0 && a.Gone.IsZero() && slices.Contains(above, a.PID) {
			return a.Name()
		}
	}
	return ""
}

func callerOf(peer socket.Peer, h Hello) snapshot.Caller {
	c := snapshot.Caller{Transport: "unix", Root: h.Cwd, Hints: h.Hints}
	if h.Transport == snapshot.ByCommand {
		c.Transport = h.Transport
	}
	c.PID, c.Program = socket.AgentOf(peer.PID)
	return c
}

// ControlClient handles what the deck sends before it answers a command. Without Prove, the
// command gives no proof.
type ControlClient struct {
	Note func(string)
	// Wait is called with the message before the deck waits for the user; an error ends the
	// command. nil is Note.
	Wait  func(string) error
	Prove func(method string) (string, error)
}

// Ask sends one control request to the deck at path and decodes its result. A
// nil result drops it.
func Ask(ctx context.Context, path, name string, args, result any) error {
	return ControlClient{}.Ask(ctx, path, name, args, result)
}

// Ask sends a control request; t handles messages from the deck before the answer.
func (t ControlClient) Ask(ctx context.Context, path, name string, args, result any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	c, err := socket.Dial(ctx, path)
	if errors.Is(err, socket.ErrUnsafe) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w; open one with: mcpdeck", ErrNoDeck)
	}
	c = socket.Awake(c)
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	w, r, err := Greet(c, Hello{Control: name, Args: raw})
	for err == nil && (w.Note != "" || w.Prove != "") {
		w, err = t.next(c, r, w)
	}
	if stopped := new(socket.StoppedError); errors.As(err, &stopped) {
		return stopped
	}
	switch {
	case err != nil:
		return err
	case w.Error != "":
		return errors.New(w.Error)
	case result == nil || len(bytes.TrimSpace(w.Result)) == 0:
		return nil
	}
	return json.Unmarshal(w.Result, result)
}

// next handles messages before the result and reads the result.
func (t ControlClient) next(c io.Writer, r *bufio.Reader, w Welcome) (Welcome, error) {
	switch {
	case w.Note == "":
	case w.Waits && t.Wait != nil:
		if err := t.Wait(w.Note); err != nil {
			return w, err
		}
	case t.Note != nil:
		t.Note(w.Note)
	}
	if w.Prove != "" {
		var p Proof
		if t.Prove != nil {
			var err error
			if p.Proof, err = t.Prove(w.Prove); err != nil {
				return w, err
			}
		}
		line, err := rpc.Line(p)
		if err != nil {
			return w, err
		}
		if _, err := c.Write(line); err != nil {
			return w, fmt.Errorf("answer the deck: %w", err)
		}
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return w, fmt.Errorf("read the deck's response: %w", err)
	}
	w = Welcome{}
	return w, json.Unmarshal(line, &w)
}

// ErrNoDeck means that no deck answers on the socket.
var ErrNoDeck = errors.New("no deck is running")
