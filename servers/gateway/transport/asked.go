package transport

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// httpAsker asks the client of a session over the stream of a request of its own.
type httpAsker struct {
	*httpAgent
	outlet *outlet // of that request
}

var _ router.Asker = httpAsker{}

// Ask implements [router.Asker]. Without the stream there is nothing to wait for.
func (a httpAsker) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	r, err := a.asked.Open(nil)
	if err != nil {
		return nil, err
	}
	defer r.Forget()
	if err := a.outlet.put(ctx, rpc.Message{ID: r.RawID(), Method: method, Params: params}.Encode()); err != nil {
		return nil, err
	}
	select {
	case answer := <-r.Reply:
		if answer.Err != nil {
			return nil, fmt.Errorf("%s: the client responded: %w", method, answer.Err)
		}
		return answer.Result, nil
	case <-ctx.Done():
		_ = router.NotifyRaw(ctx, "notifications/cancelled", json.RawMessage(`{"requestId":`+string(r.RawID())+`}`)) // it may be gone
		return nil, ctx.Err()
	case <-a.outlet.ctx.Done():
		return nil, a.outlet.ctx.Err()
	}
}

// asked asks with params and for a result of the library's types.
func asked[R any](ctx context.Context, a httpAsker, method mcp.MCPMethod, params any) (*R, error) {
	var raw json.RawMessage
	if params != nil {
		var err error
		if raw, err = rpc.Raw(params); err != nil {
			return nil, fmt.Errorf("encode %s: %w", method, err)
		}
	}
	answer, err := a.Ask(ctx, string(method), raw)
	if err != nil {
		return nil, err
	}
	result := new(R)
	if err := json.Unmarshal(answer, result); err != nil {
		return nil, fmt.Errorf("decode the answer to %s: %w", method, err)
	}
	return result, nil
}

// GetClientCapabilities implements [router.Asker].
func (a httpAsker) GetClientCapabilities() mcp.ClientCapabilities { return a.can }

// answered takes the answer to a request of the deck's; it reports whether the message is
// one.
func (a *httpAgent) answered(e *backend.Request) bool {
	id, err := rawjson.Text(e.ID)
	if err != nil || e.Method != "" || !a.asked.Waits(id) {
		return false
	}
	a.asked.Resolve(e.Message)
	return true
}

// capabilitiesOf are those that a client declares in a handshake.
func capabilitiesOf(e *backend.Request) mcp.ClientCapabilities {
	var p struct {
		Capabilities mcp.ClientCapabilities `json:"capabilities"`
	}
	if e.Method == string(mcp.MethodInitialize) {
		_ = json.Unmarshal(e.Message.Params, &p) // the library says what is wrong
	}
	return p.Capabilities
}
