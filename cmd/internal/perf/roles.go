//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	penciloffer "github.com/mcpdeck/mcpdeck/servers/builtin/pencil/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

func echo() server.ServerTool {
	return server.ServerTool{
		Tool: mcp.NewTool("echo", mcp.WithDescription("echo text"), mcp.WithString("text", mcp.Required())),
		Handler: func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(r.GetString("text", "")), nil
		},
	}
}

// playStock is a stdio server as mcp-go has it: what the relay is compared to.
func playStock(tools int) error {
	s := server.NewMCPServer("stock", "1", server.WithToolCapabilities(true))
	s.AddTools(echo())
	for i := range tools - 1 {
		t := echo()
		t.Tool.Name, t.Tool.Description = fmt.Sprintf("other%d", i+1), strings.Repeat("what it does and when to use it. ", 20)
		s.AddTools(t)
	}
	return server.ServeStdio(s)
}

// echoServer is the echo tool as a server of the deck.
func echoServer() backend.Server {
	return inproc.New(inproc.Options{Info: backend.Info{Name: "echo", Title: "Echo", ServerName: "echo"}}, func(opts ...server.ServerOption) *server.MCPServer {
		s := server.NewMCPServer("echo", "1", opts...)
		s.AddTools(echo())
		return s
	})
}

// hostOptions say what a host process is.
type hostOptions struct {
	dir     string
	journal bool   // keep one
	child   string // program whose tools are proxied as Pencil's are; "" for none
	card    string // program behind a card; "" for none
}

// playHost is a host with the echo tool on a socket and an HTTP endpoint, until
// its input ends. It prints the endpoint's address and token.
func playHost(o hostOptions, in io.Reader, out io.Writer) error {
	dir := o.dir
	opt := router.Options{Version: "perf", Servers: []backend.Server{echoServer()}, Root: dir}
	if o.child != "" {
		opt.Servers = append(opt.Servers, penciloffer.New(pencil.New(pencil.Options{
			Command: o.child, Args: []string{"-role", "stock"}, StartOn: true, Home: dir, Root: dir, MaxInFlight: 4,
		})))
	}
	if o.journal {
		j := journal.New(journal.Options{Path: filepath.Join(dir, "journal.db")})
		if err := j.Open(context.Background()); err != nil {
			return err
		}
		defer j.Close(context.Background()) //nolint:errcheck // its folder goes away
		opt.Recorder = j
	}
	var c *upstream.Card
	if o.card != "" {
		c = newCard("card", dir, o.card)
		opt.Servers = append(opt.Servers, upstream.NewAdapter(c, upstream.AdapterOptions{}))
	}
	h, err := router.New(opt)
	if err != nil {
		return err
	}
	h.Start()
	if c != nil {
		if _, err := c.Control(context.Background(), upstream.Request{Verb: "on"}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l, err := socket.Listen(filepath.Join(dir, "deck.sock"))
	if err != nil {
		return err
	}
	defer l.Close()
	srv := &transport.Server{Host: h, Version: "perf"}
	recovery.Go("socket", func() { srv.Serve(ctx, l) })
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	token := rand.Text()
	endpoint := &transport.HTTP{Host: h}
	recovery.Go("http", func() { _ = endpoint.Start(ctx, web, func() string { return token }) })
	fmt.Fprintf(out, "http://%s/mcp %s\n", web.Addr(), token)
	_, err = io.Copy(io.Discard, in)
	return err
}
