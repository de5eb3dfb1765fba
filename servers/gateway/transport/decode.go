package transport

import (
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// GoneMessage is the error of a call that the deck ended before answering.
const GoneMessage = "mcpdeck closed during this call. It may have taken effect: check, then retry"

// TooLong returns what takes the place of a message over the limit, of which only the
// outline is there: the deck's answer to a request, or an error in the place of an answer
// to a request of the deck's. Whoever waits for it must not wait for ever.
func TooLong(outline []byte) (reply []byte, answer rpc.Message) {
	failure := rpc.Error{Code: rpc.CodeInvalid, Message: fmt.Sprintf("message is longer than %d bytes", rpc.MaxLine)}
	m, bad := rpc.Rules{Check: checkNames}.Decode(outline)
	if bad != nil || m.Method != "" || m.ID == nil {
		return rpc.Failure(m.ID, failure), rpc.Message{}
	}
	raw, _ := rpc.Raw(failure) // always encodes
	return nil, rpc.Message{ID: m.ID, Err: raw}
}

// Decode parses a message from a client, for all transports. It refuses names that another
// parser could mistake for names it knows. Of a refused message, the request has the ID if it
// can be answered.
func Decode(line []byte) (*backend.Request, *rpc.Error) {
	m, bad := rpc.Rules{Check: checkNames}.Decode(line)
	if bad != nil {
		return &backend.Request{Message: m}, bad
	}
	return backend.Parse(line, m), nil
}
