package host

import (
	"context"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/calls"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// Failure is how to answer the request of ctx that has failed: with a result that
// says refusal, or else with an error; nil is the library's own.
func Failure(ctx context.Context) (refusal string, failure *rpc.Error) {
	q := requestFrom(ctx)
	if q == nil {
		return "", nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusal, q.failure
}

// failed hears of every request that fails. It is the one place where a call ends that
// no handler was called for: of a tool that is unknown or turned off, or that the
// library refused.
func (v *View) failed(ctx context.Context, _ any, method mcp.MCPMethod, message any, err error) {
	q := requestFrom(ctx)
	if q == nil {
		return
	}
	why := strings.TrimPrefix(err.Error(), "request error: ")
	var refusal string
	var failure *rpc.Error
	if errors.As(err, &failure) {
		failure = &rpc.Error{Code: failure.Code, Message: why, Data: failure.Data}
	}
	req, ok := message.(*mcp.CallToolRequest)
	q.mu.Lock()
	ran := q.call != nil
	q.mu.Unlock()
	if method == mcp.MethodToolsCall && ok && !ran {
		var module string
		tool := req.Params.Name
		if errors.Is(err, server.ErrToolNotFound) {
			if refusal, module = v.refusal(tool); refusal == "" {
				why = v.unknown(tool)
				failure = &rpc.Error{Code: rpc.CodeParams, Message: why}
			}
		}
		r := v.host.calls.Begin(&q.agent.figures, q.agent.Caller(), calls.Request{Server: module, Tool: tool, Args: req.Params.RawArguments, Redact: v.host.redactOf(tool)})
		if refusal != "" {
			r.End(deck.ToolError, resultOf(mcp.NewToolResultError(refusal)), "")
		} else {
			r.End(deck.Refused, nil, why)
		}
	}
	q.mu.Lock()
	q.refusal, q.failure = refusal, failure
	q.mu.Unlock()
}

// refusal is the answer to a call of a tool that belongs to a module of this view but
// is not listed now, "" when there is none.
func (v *View) refusal(tool string) (text, module string) {
	for _, m := range v.all() {
		o := v.offerOf(m)
		for _, t := range o.Tools {
			if t.Tool.Name == tool && t.Off != "" {
				return t.Off, m.id.Name
			}
		}
		if o.Refuse != nil {
			if text := o.Refuse(tool); text != "" {
				return text, m.id.Name
			}
		}
	}
	return "", ""
}
