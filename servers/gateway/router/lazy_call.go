package router

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/form"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// called makes the call that a call of call_tool stands for, as if the agent had called
// the tool itself.
func (v *View) called(ctx context.Context, q *request, l *listing) backend.Reply {
	r := q.raw
	asked, _ := rawjson.SplitObject(r.Args) // anything else names nothing
	args, problem := innerArguments(asked)
	r = inner(r, asked.Str("name"), args)
	to, known := l.routes[backend.Tool][r.Key]
	if !known {
		to, known = v.owner(l, r)
	}
	if known && problem == "" {
		problem = misfits(to.tool, args)
	}
	text, module := v.refusal(r.Key)
	switch {
	case r.Key == "" || r.Key == callName:
		text = callName + " needs the name of a tool that " + findName + " has found."
	case text != "" && !known:
	case !known:
		text = v.unknown(r.Key) + "; " + findName + " finds tools"
	case problem != "":
		text, module = problem+"\nIts input schema: "+string(schemaOf(to.tool)), to.module.id.Name
	default:
		return v.call(ctx, q, to, r)
	}
	return q.refuse(calllog.Request{Server: module, Tool: r.Key, Args: args, Redact: v.host.redactOf(r.Key)}, text)
}

// innerArguments are those of the tool itself: an object, or a string that holds one.
func innerArguments(asked rawjson.Object) (args json.RawMessage, problem string) {
	const wanted = "arguments must be an object."
	if args = asked.Some("arguments"); args == nil {
		return json.RawMessage("{}"), ""
	}
	if args[0] == '"' {
		s, err := rawjson.Text(args)
		if err != nil {
			return nil, wanted
		}
		args = json.RawMessage(s)
	}
	if _, err := rawjson.Parse(args); err != nil {
		return nil, wanted
	}
	return rawjson.OneLine(args), ""
}

// inner is the call of the tool itself; nil arguments are none.
func inner(r *backend.Request, name string, args json.RawMessage) *backend.Request {
	if args == nil {
		args = json.RawMessage("{}")
	}
	params := r.Params.With("name", rawjson.Quote(name)).With("arguments", args)
	call := backend.New(rpc.Message{ID: r.ID, Method: r.Method, Params: params.JSON()})
	call.Passthrough, call.Client, call.Capabilities, call.Version = r.Passthrough, r.Client, r.Capabilities, r.Version
	return call
}

// misfits says why arguments do not fit a tool's schema, "" when they do. An agent that
// calls a tool directly knows the schema; one that finds it may not have looked.
func misfits(t backend.ToolDefinition, args json.RawMessage) string {
	problems := form.Against(schemaOf(t), args)
	if len(problems) == 0 {
		return ""
	}
	return "The arguments do not fit " + t.Key + ": " + strings.Join(problems, "; ") + "."
}

// refuse answers a call that is not made with a sentence for the agent.
func (q *request) refuse(c calllog.Request, text string) backend.Reply {
	reply := refused(text)
	q.agent.host.calls.Begin(&q.agent.figures, q.agent.Caller(), c).End(snapshot.ToolError, reply.Result, "")
	return reply
}
