package host

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/calls"
	"github.com/mcpdeck/mcpdeck/servers/redact"
)

// begin takes a call of the agent into the log.
func (a *Agent) begin(server string, req *mcp.CallToolRequest, kind redact.Kind) *calls.Record {
	return a.host.calls.Begin(&a.figures, a.Caller(), calls.Request{Server: server, Tool: req.Params.Name, Args: req.Params.RawArguments, Redact: kind})
}

// resultOf is a result as the log takes it.
func resultOf(r *mcp.CallToolResult) *calls.Result {
	if r == nil {
		return nil
	}
	// The response gets its metadata while the log reads the result.
	copied := *r
	copied.Meta = nil
	out := &calls.Result{Encode: func() ([]byte, error) { return json.Marshal(&copied) }}
	for _, c := range r.Content {
		if i, ok := c.(mcp.ImageContent); ok {
			out.Images = append(out.Images, calls.Image{MIME: i.MIMEType, Data: i.Data})
		}
	}
	return out
}
