package wire

import (
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// envelope is a message of a client.
type envelope struct {
	rpc.Message
	meta rawjson.Object // of the params
}

// modern reports whether a request states its protocol version.
func (e envelope) modern() bool { return e.meta.Str(mcp.MetaKeyProtocolVersion) != "" }

// token returns the progress token of a request as encoding/json writes it, ""
// without one.
func (e envelope) token() string {
	var token any
	if json.Unmarshal(e.meta.Get("progressToken"), &token) != nil {
		return "" // there is none
	}
	line, _ := json.Marshal(token) // what was read can be written
	return string(line)
}

// goneMessage is the error of a call that the deck ended before answering.
const goneMessage = "mcpdeck closed during this call. It may have taken effect: check, then retry"

// tooLong returns what takes the place of a message over the limit, of which only the
// outline is there: the deck's answer to a request, or an error in the place of an answer
// to a request of the deck's. Whoever waits for it must not wait for ever.
func tooLong(outline []byte) (reply []byte, answer rpc.Message) {
	failure := rpc.Error{Code: rpc.CodeInvalid, Message: fmt.Sprintf("message is longer than %d bytes", rpc.MaxLine)}
	m, bad := rpc.Rules{Check: checkNames}.Decode(outline)
	if bad != nil || m.Method != "" || m.ID == nil {
		return rpc.Failure(m.ID, failure), rpc.Message{}
	}
	raw, _ := rpc.Raw(failure) // always encodes
	return nil, rpc.Message{ID: m.ID, Err: raw}
}

// decodeEnvelope parses a message from a client, for all transports. It refuses names
// that another parser could mistake for names it knows.
func decodeEnvelope(line []byte) (envelope, *rpc.Error) {
	m, bad := rpc.Rules{Check: checkNames}.Decode(line)
	e := envelope{Message: m}
	if bad != nil {
		return e, bad
	}
	if params, err := rawjson.SplitObject(m.Params); err == nil {
		e.meta, _ = rawjson.SplitObject(params.Get("_meta")) // any other value is ignored
	}
	return e, nil
}
