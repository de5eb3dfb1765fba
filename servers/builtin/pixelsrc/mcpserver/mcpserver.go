// Package mcpserver offers the pixel art server over MCP: its tools, resources and
// prompts. A tool is one function here and one name in the list of tools; what it
// does is package pixelsrc.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Limits of a call. An agent pays for each byte of an answer.
const (
	maxTime   = 10 * time.Second
	maxAnswer = 4 << 20 // bytes of text
)

// handlers are those of a server.
type handlers struct {
	server *pixelsrc.Server
	limit  time.Duration // of one call
}

// instructions tell an agent's model how to use the server.
const instructions = "Pixel art as text: write .pxl source, look at the picture, improve it. " +
	"Call pixelsrc_prime with brief=true once to learn the format, write a source, then pixelsrc_render with scale 8 and look at the image. " +
	"pixelsrc_validate lists problems by line, pixelsrc_suggest says how to fix them, pixelsrc_import turns a PNG into source. " +
	"Examples and palettes are resources: pixelsrc://example/coin, pixelsrc://palettes."

// New makes the MCP server of a server of pixel art.
func New(s *pixelsrc.Server, version string, opts ...server.ServerOption) *server.MCPServer {
	return (&handlers{s, maxTime}).build(version, opts)
}

// InDeck is the server in the deck.
func InDeck(s *pixelsrc.Server, version string) *inproc.Server {
	return (&handlers{s, maxTime}).inDeck(version)
}

func (h *handlers) inDeck(version string) *inproc.Server {
	load := map[string]admission.Class{}
	for _, t := range tools() {
		load[t.name] = t.work
	}
	return inproc.New(inproc.Options{
		Info: backend.Info{Name: "pixelsrc", Title: "Pixelsrc", ServerName: "pixelsrc-mcp"},
		Policy: func(tool string) backend.Policy {
			return backend.Policy{Load: load[tool], Redact: redact.Kind{Colours: true}}
		},
		Start: func(_ context.Context, e backend.Events) error {
			h.server.Notify(func() { e.SetState(snapshot.State{Status: snapshot.Ready}) }) // there is something new to show
			return nil
		},
		Stop: func(context.Context) error { h.server.Notify(nil); return nil },
	}, func(opts ...server.ServerOption) *server.MCPServer { return h.build(version, opts) })
}

func (h *handlers) build(version string, opts []server.ServerOption) *server.MCPServer {
	srv := server.NewMCPServer("pixelsrc-mcp", version, append(opts,
		server.WithToolCapabilities(false), server.WithPromptCapabilities(false), server.WithResourceCapabilities(true, false), server.WithCompletions(),
		server.WithInstructions(instructions), server.WithPromptCompletionProvider(h), server.WithResourceCompletionProvider(h))...)
	for _, t := range tools() {
		srv.AddTool(t.definition(), h.handler(t))
	}
	for _, r := range resources() {
		res := mcp.NewResource(r.uri, r.name, mcp.WithResourceDescription(r.text), mcp.WithMIMEType(r.mime))
		res.Title = r.title
		srv.AddResource(res, read)
	}
	for _, r := range templates() {
		res := mcp.NewResourceTemplate(r.uri, r.name, mcp.WithTemplateDescription(r.text), mcp.WithTemplateMIMEType(r.mime))
		res.Title = r.title
		srv.AddResourceTemplate(res, read)
	}
	for _, p := range prompts() {
		srv.AddPrompt(p.definition(), h.prompt(p))
	}
	return srv
}

// caller is who is behind a request.
func caller(ctx context.Context) pixelsrc.Caller {
	c := backend.CallFrom(ctx).Caller
	return pixelsrc.Caller{Agent: c.Agent, Name: c.Name(), Root: c.Root, Refused: c.Refused}
}

// call is one call of a tool.
type call struct {
	arguments.Values
	ctx    context.Context //nolint:containedctx // that of the call
	server *pixelsrc.Server
	who    pixelsrc.Caller
	needs  func(bytes int64) error // waits until the call may take so much; its error is that of ctx
}

// handler answers the calls of a tool.
func (h *handlers) handler(t tool) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return h.call(ctx, caller(ctx), t, req.Params.Arguments), nil
	}
}

// call runs a tool. What goes wrong is a result that says so. It gives up when ctx ends
// or the time limit passes: the engine looks for that in its inner loops, so nothing of
// the work is left when it returns.
func (h *handlers) call(ctx context.Context, who pixelsrc.Caller, t tool, raw any) *mcp.CallToolResult {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(h.limit, func() { cancel(context.DeadlineExceeded) })
	defer limit.Stop()
	c := &call{ctx: ctx, server: h.server, who: who}
	c.needs = func(bytes int64) error {
		limit.Stop()
		defer limit.Reset(h.limit) // what was waited for is not the work of the call
		return backend.CallFrom(ctx).Need(ctx, bytes)
	}
	res := t.result(c, raw)
	switch {
	case ctx.Err() == nil:
		return res
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return failed("%s timed out after %v: make the canvas smaller, or split the source.", t.name, h.limit)
	}
	return failed("%s was cancelled.", t.name)
}

// result runs the tool with its arguments checked; a panic becomes a failure.
func (t tool) result(c *call, raw any) (res *mcp.CallToolResult) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("panic recovered", "in", t.name, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			res = failed("%s failed with an internal error; the server is still running. Try a slightly different source, and report the problem.", t.name)
		}
	}()
	var answer []mcp.Content
	given, err := t.takes.Read(raw, wrong)
	if err == nil {
		c.Values = given
		answer, err = t.run(c)
	}
	switch n := length(answer); {
	case err != nil:
		res = failed("%v", err)
	case n > maxAnswer:
		return failed("The answer would be %s of text; the limit is %s. Ask for less: name one object, or split the source.", humanize.Bytes(n), humanize.Bytes(maxAnswer))
	default:
		res = &mcp.CallToolResult{Content: answer}
	}
	if ignored := t.ignored(given.Unknown); ignored != "" {
		res.Content = append(res.Content, say(ignored)...)
	}
	return res
}

// wrong words what is wrong with the arguments of a call.
func wrong(f arguments.Fault) error {
	switch {
	case f.Name == "":
		return pixelsrc.Failf("The arguments must be a JSON object.")
	case f.Got == nil:
		return nil // the tool says what is missing
	case f.Value == nil:
		return pixelsrc.Failf("The argument %s must be %s.", f.Name, f.Kind.Want())
	}
	return pixelsrc.Failf("Unknown %s '%s': use one of %s.", f.Name, f.Value, strings.Join(f.Enum, ", "))
}

// ignored says which arguments the tool does not know, and what was perhaps meant.
func (t tool) ignored(unknown []string) string {
	var known, lines []string
	for _, a := range t.takes {
		known = append(known, a.Name)
	}
	slices.Sort(known)
	for _, name := range unknown {
		line := "Ignored argument '" + name + "'."
		if near := pixelsrc.NearNames(name, known, 2); len(near) > 0 {
			line += " " + pixelsrc.DidYouMean(near[:1])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// failed is a result that says what went wrong and what to do.
func failed(format string, args ...any) *mcp.CallToolResult {
	return mcp.NewToolResultErrorf(format, args...)
}

// length is how many bytes of text an answer has.
func length(answer []mcp.Content) (n int) {
	for _, c := range answer {
		if t, ok := c.(mcp.TextContent); ok {
			n += len(t.Text)
		}
	}
	return n
}

// say answers with texts.
func say(texts ...string) (answer []mcp.Content) {
	for _, t := range texts {
		answer = append(answer, mcp.NewTextContent(t))
	}
	return answer
}

// document answers with JSON, alone in its block.
func document(v any) []mcp.Content { return say(pixelsrc.JSON(v)) }
