package app

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
)

// repeating are the commands that repeat a call: by this program, and over HTTP if it is on.
// What was redacted in the arguments cannot be repeated.
func (h *App) repeating() []calls.Command {
	all := []calls.Command{{What: "a command that repeats the call", Line: func(tool string, args json.RawMessage) string {
		return "mcpdeck call " + settings.Quote(tool) + " --json " + settings.Quote(string(args))
	}}}
	if address := h.Host.Snapshot().Endpoints.HTTP; address != "" {
		all = append(all, calls.Command{What: "the same with curl", Line: func(tool string, args json.RawMessage) string {
			return curl(address, h.Config.Paths.Token, tool, args)
		}})
	}
	for i := range all {
		line := all[i].Line
		all[i].Line = func(tool string, args json.RawMessage) string {
			if !redact.Whole(args) {
				return ""
			}
			return line(tool, args)
		}
	}
	return all
}

// repeat calls a tool as the user with the arguments of a call.
func (h *App) repeat(tool string, b snapshot.CallBody) error {
	if b.Cut || !redact.Whole(b.Args) {
		return errors.New("not repeated: the stored arguments are incomplete")
	}
	ctx, done := context.WithTimeout(context.Background(), time.Hour)
	defer done()
	s, _, err := h.Stream(router.ViewSpec{}, snapshot.Caller{Transport: snapshot.ByCommand, OnScreen: true, Root: h.Config.ProjectRoot()})
	if err != nil {
		return err
	}
	c, err := transport.NewClient(ctx, s, nil, "mcpdeck", cli.Version())
	if err != nil {
		return err
	}
	defer c.Close()
	if len(b.Args) == 0 {
		b.Args = json.RawMessage("{}")
	}
	return c.Call(ctx, "tools/call", map[string]any{"name": tool, "arguments": b.Args}, nil)
}

// curl is a command that calls a tool of the deck at a host and port. The token is read
// from its file where the command runs. Requests of 2026-07-28 need no session.
func curl(address, token, tool string, args json.RawMessage) string {
	const version = mcp.ProtocolVersion20260728
	body := rawjson.Object{
		{Key: "jsonrpc", Value: rawjson.Quote("2.0")},
		{Key: "id", Value: rawjson.Quote("curl")},
		{Key: "method", Value: rawjson.Quote(string(mcp.MethodToolsCall))},
		{Key: "params", Value: rawjson.Object{
			{Key: "name", Value: rawjson.Quote(tool)},
			{Key: "arguments", Value: args},
			{Key: "_meta", Value: json.RawMessage(`{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientInfo":{"name":"curl","version":""},"io.modelcontextprotocol/clientCapabilities":{}}`)},
		}.JSON()},
	}.JSON()
	words := []string{"curl", "-s", "http://" + address + "/mcp", "-H", `"Authorization: Bearer $(cat ` + settings.Quote(token) + `)"`}
	for _, header := range []string{
		"Content-Type: application/json", "Accept: application/json, text/event-stream", "MCP-Protocol-Version: " + version,
		"Mcp-Method: " + string(mcp.MethodToolsCall), "Mcp-Name: " + tool,
	} {
		words = append(words, "-H", settings.Quote(header))
	}
	return strings.Join(append(words, "--data", settings.Quote(string(body))), " ")
}
