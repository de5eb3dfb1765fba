package wire

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// httpAsker asks the client of a session over the stream of a request of its own.
type httpAsker struct {
	*httpAgent
	request context.Context // as long as the stream is open
}

var _ host.Asker = httpAsker{}

// Ask implements [host.Asker]. Without the stream there is nothing to wait for.
func (a httpAsker) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	r, err := a.asked.Open(nil)
	if err != nil {
		return nil, err
	}
	defer r.Forget()
	if err := host.SendRaw(ctx, r.ID, method, params); err != nil {
		return nil, err
	}
	select {
	case answer := <-r.Reply:
		if answer.Err != nil {
			return nil, fmt.Errorf("%s: the client responded: %w", method, answer.Err)
		}
		return answer.Result, nil
	case <-ctx.Done():
		_ = host.NotifyRaw(ctx, "notifications/cancelled", json.RawMessage(`{"requestId":`+string(r.RawID())+`}`)) // it may be gone
		return nil, ctx.Err()
	case <-a.request.Done():
		return nil, a.request.Err()
	}
}

// GetClientCapabilities implements [host.Asker].
func (a httpAsker) GetClientCapabilities() mcp.ClientCapabilities { return a.can }

// answered takes the answer to a request of the deck's; it reports whether the message is
// one.
func (a *httpAgent) answered(e envelope) bool {
	id, err := rawjson.Text(e.ID)
	if err != nil || e.Method != "" || !a.asked.Waits(id) {
		return false
	}
	a.asked.Resolve(e.Message)
	return true
}

// capabilitiesOf are those that a client declares in a handshake.
func capabilitiesOf(e envelope) mcp.ClientCapabilities {
	var p struct {
		Capabilities mcp.ClientCapabilities `json:"capabilities"`
	}
	if e.Method == string(mcp.MethodInitialize) {
		_ = json.Unmarshal(e.Params, &p) // the library says what is wrong
	}
	return p.Capabilities
}
