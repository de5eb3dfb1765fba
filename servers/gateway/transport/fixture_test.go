package transport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// fixture is a module with tools that show a transport's faults.
type fixture struct {
	scope   router.Scope
	blocked atomic.Int32 // calls of block that have begun
	release chan struct{}
	extra   atomic.Bool
	stopped atomic.Int32
	asks    bool // offers ask, which waits unless there is a user
	person  bool
	waiting atomic.Int32 // calls of ask that wait for nobody
}

func newFixture() *fixture { return &fixture{release: make(chan struct{})} }

func (f *fixture) Identity() router.Identity {
	return router.Identity{Name: "fixture", Title: "Fixture", ServerName: "fixture-mcp"}
}

func (f *fixture) Start(_ context.Context, s router.Scope) error { f.scope = s; return nil }

func (f *fixture) Stop(context.Context) error { return nil }

func (f *fixture) Offer() router.Offer {
	tool := func(name string, h server.ToolHandlerFunc) router.Tool {
		t := router.Tool{Tool: mcp.NewToolWithRawSchema(name, name, json.RawMessage(`{"type":"object"}`)), Handler: h}
		switch name {
		case "block":
			t.Work = admission.Waits
		case "ask":
			t.Work, t.Resumable, t.InTurn = admission.Waits, true, true
		}
		return t
	}
	o := router.Offer{Instructions: "Be kind.", Tools: []router.Tool{
		tool("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(r.GetString("text", "")), nil
		}),
		tool("steps", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 5 {
				_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
					map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1})
			}
			return mcp.NewToolResultText("done"), nil
		}),
		tool("block", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f.blocked.Add(1)
			select {
			case <-f.release:
				return mcp.NewToolResultText("released"), nil
			case <-ctx.Done():
				f.stopped.Add(1)
				return nil, ctx.Err()
			}
		}),
		tool("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") }),
		tool("who", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c := backend.CallFrom(ctx).Caller
			return mcp.NewToolResultText(c.Client + " in " + c.Root), nil
		}),
	}}
	if f.extra.Load() {
		o.Tools = append(o.Tools, tool("extra_tool", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("extra"), nil
		}))
	}
	if f.asks {
		o.Tools = append(o.Tools, tool("ask", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if !f.person {
				f.waiting.Add(1)
				defer f.waiting.Add(-1)
				<-ctx.Done()
				time.Sleep(50 * time.Millisecond) // it has something to put away
				return nil, ctx.Err()
			}
			return mcp.NewToolResultText("answered here"), nil
		}))
	}
	o.Refuse = func(name string) string {
		if strings.HasPrefix(name, "extra_") {
			return "extra mode is off"
		}
		return ""
	}
	return o
}

// client speaks lines with a served connection.
type client struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	done chan error
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
}

func connect(t *testing.T, h *router.Host) *client {
	t.Helper()
	view, err := h.View(router.ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	agent := h.Connect(snapshot.Caller{Transport: "unix"}, nil)
	c := &client{t: t, conn: ours, in: bufio.NewReader(ours), done: make(chan error, 1)}
	go func() {
		err := transport.Serve(context.Background(), theirs, theirs, view, agent)
		agent.Close()
		theirs.Close()
		c.done <- err
	}()
	t.Cleanup(func() { ours.Close(); <-c.done })
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) next() message {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatalf("no message: %v", err)
	}
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return m
}

func (c *client) initialize() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
	if m := c.next(); m.Error != nil {
		c.t.Fatalf("initialize: %+v", m.Error)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func call(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}
