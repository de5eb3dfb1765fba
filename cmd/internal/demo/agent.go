package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// agent is the demo's end of a stand-in.
type agent struct {
	child *process.Child
	conn  *rpc.Conn
}

// startAgent starts a stand-in, which introduces itself to the deck as client.
func startAgent(ctx context.Context, f Folder, environ []string, name, client, clientVersion string) (*agent, error) {
	child, err := process.Start(process.Command{
		Program: f.Program(name), Args: []string{"demo", "agent", name}, Dir: f.project(name), Kind: process.Tool, Own: environ,
	})
	if err != nil {
		return nil, fmt.Errorf("start the stand-in for %s: %w", name, err)
	}
	a := &agent{child: child, conn: rpc.New(rpc.Options{Name: name})}
	recovery.Go("errors of "+name, func() { _, _ = io.Copy(io.Discard, child.Err) })
	a.conn.Begin(child.In, child.Out)
	_, err = a.request(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": client, "version": clientVersion},
	})
	if err == nil {
		a.conn.Say(rpc.Message{Method: "notifications/initialized"})
		_, err = a.conn.Call(ctx, "tools/list", nil)
	}
	if err != nil {
		child.End(true)
		return nil, fmt.Errorf("connect the stand-in for %s: %w", name, err)
	}
	return a, nil
}

func (a *agent) end() { a.child.End(true) }

// errTool says that a tool has failed, in its own words.
type errTool string

func (e errTool) Error() string { return string(e) }

// call calls a tool. args is JSON; what the tool says when it fails is an errTool.
func (a *agent) call(ctx context.Context, tool, args string) error {
	raw, err := a.request(ctx, "tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(args)})
	if err != nil {
		return err
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("read the result of %s: %w", tool, err)
	}
	if !r.IsError {
		return nil
	}
	var said errTool
	for _, c := range r.Content {
		said += errTool(c.Text)
	}
	return said
}

// fails calls a tool that is expected to fail.
func (a *agent) fails(ctx context.Context, tool, args string) error {
	err := a.call(ctx, tool, args)
	switch {
	case err == nil:
		return fmt.Errorf("%s did not fail", tool)
	case errors.As(err, new(errTool)), errors.As(err, new(*rpc.Error)):
		return nil
	}
	return err
}

// request makes a request: of MCP, or one that only stand-ins know.
func (a *agent) request(ctx context.Context, method string, v any) (json.RawMessage, error) {
	params, err := rpc.Raw(v)
	if err != nil {
		return nil, err
	}
	return a.conn.Call(ctx, method, params)
}
