package transport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// fixture is a server with tools that show a transport's faults.
type fixture struct {
	*inproc.Server
	mcp     *server.MCPServer
	events  backend.Events
	blocked atomic.Int32 // calls of block that have begun
	release chan struct{}
	extra   atomic.Bool // extra_tool is offered; else calls of it are refused
	stopped atomic.Int32
	person  bool         // there is a user to answer ask
	waiting atomic.Int32 // calls of ask that wait for nobody
}

func newFixture() *fixture {
	f := &fixture{release: make(chan struct{})}
	f.Server = inproc.New(inproc.Options{
		Info: backend.Info{Name: "fixture", Title: "Fixture", ServerName: "fixture-mcp"},
		Policy: func(tool string) (p backend.Policy) {
			switch tool {
			case "block":
				p.Load = admission.Waits
			case "ask":
				p.Load, p.Resumable, p.Ordered = admission.Waits, true, true
			}
			return p
		},
		Start: func(_ context.Context, e backend.Events) error { f.events = e; return nil },
	}, func(opts ...server.ServerOption) *server.MCPServer {
		f.mcp = server.NewMCPServer("fixture-mcp", "1", append(opts, server.WithToolCapabilities(false), server.WithElicitation(), server.WithInstructions("Be kind."))...)
		return f.mcp
	})
	f.add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	f.add("steps", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5 {
			_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1})
		}
		return mcp.NewToolResultText("done"), nil
	})
	f.add("block", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.blocked.Add(1)
		select {
		case <-f.release:
			return mcp.NewToolResultText("released"), nil
		case <-ctx.Done():
			f.stopped.Add(1)
			return nil, ctx.Err()
		}
	})
	f.add("extra_tool", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("extra"), nil
	})
	f.add("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") })
	f.add("who", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := backend.CallFrom(ctx).Caller
		return mcp.NewToolResultText(c.Client + " in " + c.Root), nil
	})
	return f
}

func (f *fixture) add(name string, h server.ToolHandlerFunc) {
	f.mcp.AddTool(mcp.NewToolWithRawSchema(name, name, json.RawMessage(`{"type":"object"}`)), h)
}

// asks adds ask, which waits unless there is a user.
func (f *fixture) asks(person bool) *fixture {
	f.person = person
	f.add("ask", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !f.person {
			f.waiting.Add(1)
			defer f.waiting.Add(-1)
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond) // it has something to put away
			return nil, ctx.Err()
		}
		return mcp.NewToolResultText("answered here"), nil
	})
	return f
}

// Catalogue implements [backend.Server].
func (f *fixture) Catalogue() *backend.Catalogue {
	c := f.Server.Catalogue()
	c.Tools = slices.DeleteFunc(c.Tools, func(t backend.ToolDefinition) bool { return t.Key == "extra_tool" && !f.extra.Load() })
	c.Refuse = func(name string) string {
		if strings.HasPrefix(name, "extra_") {
			return "extra mode is off"
		}
		return ""
	}
	return c
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
