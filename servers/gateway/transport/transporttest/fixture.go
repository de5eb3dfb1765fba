package transporttest

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

// Fixture is a server with tools that show a transport's faults.
type Fixture struct {
	*inproc.Server
	mcp     *server.MCPServer
	Events  backend.Events
	Blocked atomic.Int32 // calls of block that have begun
	Release chan struct{}
	Extra   atomic.Bool // extra_tool is offered; else calls of it are refused
	Stopped atomic.Int32
	person  bool         // there is a user to answer ask
	Waiting atomic.Int32 // calls of ask that wait for nobody
}

// NewFixture makes one.
func NewFixture() *Fixture {
	f := &Fixture{Release: make(chan struct{})}
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
		Start: func(_ context.Context, e backend.Events) error { f.Events = e; return nil },
	}, func(opts ...server.ServerOption) *server.MCPServer {
		f.mcp = server.NewMCPServer("fixture-mcp", "1", append(opts, server.WithToolCapabilities(false), server.WithElicitation(), server.WithInstructions("Be kind."))...)
		return f.mcp
	})
	f.Add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	f.Add("steps", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5 {
			_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress",
				map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1})
		}
		return mcp.NewToolResultText("done"), nil
	})
	f.Add("block", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.Blocked.Add(1)
		select {
		case <-f.Release:
			return mcp.NewToolResultText("released"), nil
		case <-ctx.Done():
			f.Stopped.Add(1)
			return nil, ctx.Err()
		}
	})
	f.Add("extra_tool", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("extra"), nil
	})
	f.Add("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") })
	f.Add("who", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := backend.CallFrom(ctx).Caller
		return mcp.NewToolResultText(c.Client + " in " + c.Root), nil
	})
	return f
}

// Add adds a tool.
func (f *Fixture) Add(name string, h server.ToolHandlerFunc) {
	f.AddWith(name, `{"type":"object"}`, h)
}

// AddWith is Add for a tool with a schema of its own.
func (f *Fixture) AddWith(name, schema string, h server.ToolHandlerFunc) {
	f.mcp.AddTool(mcp.NewToolWithRawSchema(name, name, json.RawMessage(schema)), h)
}

// Asks adds ask, which waits unless there is a user.
func (f *Fixture) Asks(person bool) *Fixture {
	f.person = person
	f.Add("ask", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !f.person {
			f.Waiting.Add(1)
			defer f.Waiting.Add(-1)
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond) // it has something to put away
			return nil, ctx.Err()
		}
		return mcp.NewToolResultText("answered here"), nil
	})
	return f
}

// Catalogue implements [backend.Server].
func (f *Fixture) Catalogue() *backend.Catalogue {
	c := f.Server.Catalogue()
	c.Tools = slices.DeleteFunc(c.Tools, func(t backend.ToolDefinition) bool { return t.Key == "extra_tool" && !f.Extra.Load() })
	c.Refuse = func(name string) string {
		if strings.HasPrefix(name, "extra_") {
			return "extra mode is off"
		}
		return ""
	}
	return c
}

// Client speaks lines with a served connection.
type Client struct {
	T    *testing.T
	Conn net.Conn
	In   *bufio.Reader
	Done chan error // gets one when the connection is served
}

// Message is one from the deck.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
}

// Connect makes a client of a host.
func Connect(t *testing.T, h *router.Host) *Client {
	t.Helper()
	view, err := h.View(router.ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	agent := h.Connect(snapshot.Caller{Transport: "unix"}, nil)
	c := &Client{T: t, Conn: ours, In: bufio.NewReader(ours), Done: make(chan error, 1)}
	go func() {
		err := transport.Serve(context.Background(), theirs, theirs, view, agent)
		agent.Close()
		theirs.Close()
		c.Done <- err
	}()
	t.Cleanup(func() { _, _ = ours.Close(), <-c.Done })
	return c
}

// Send sends lines.
func (c *Client) Send(lines ...string) {
	c.T.Helper()
	if _, err := c.Conn.Write([]byte(strings.Join(lines, "\n") + "\n")); err != nil {
		c.T.Fatal(err)
	}
}

// Next is the next message.
func (c *Client) Next() Message {
	c.T.Helper()
	_ = c.Conn.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := c.In.ReadString('\n')
	if err != nil {
		c.T.Fatalf("no message: %v", err)
	}
	var m Message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		c.T.Fatalf("%s: %v", line, err)
	}
	return m
}

// Initialize makes the handshake.
func (c *Client) Initialize() {
	c.T.Helper()
	c.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`)
	if m := c.Next(); m.Error != nil {
		c.T.Fatalf("initialize: %+v", m.Error)
	}
	c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// Call is a line that calls a tool.
func Call(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

// ModernMeta is what each request of a client without a handshake has.
const ModernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}`
