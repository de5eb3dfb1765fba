package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// envelope is a JSON-RPC message with everything but its outermost keys left as
// it came.
type envelope struct {
	id     json.RawMessage // nil: absent
	method string
	params json.RawMessage
	result json.RawMessage
	err    json.RawMessage
	meta   rawjson.Object // of the params
}

// modern tells whether a request carries its protocol version.
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

// JSON-RPC error codes. Those of our own lie outside the range that the
// protocol reserves.
const (
	codeParse    = -32700
	codeInvalid  = -32600
	codeParams   = -32602
	codeInternal = -32603
	codeBusy     = host.CodeBusy // too much in flight
	codeGone     = -31002        // the deck went away; the call may be retried
)

// goneMessage is what is said of a call that the deck did not live to answer.
const goneMessage = "the deck went away during the call; nothing is known about its effect. Try again"

// rpcError is an error with a code for the other side.
type rpcError struct {
	code    int
	message string
}

func (e *rpcError) Error() string { return e.message }

var errNotObject = errors.New("message is not an object")

// decodeEnvelope takes a message apart. It is the one door of every transport:
// names are matched exactly, may not be repeated, and may not be such that another
// reader takes them for one that it knows, so that no two can disagree about a
// message.
func decodeEnvelope(line []byte) (envelope, *rpcError) {
	var e envelope
	switch {
	case !utf8.Valid(line): // an id or a name of it must not be echoed
		return e, &rpcError{codeParse, "message is not valid UTF-8"}
	case !json.Valid(line):
		return e, &rpcError{codeParse, "message is not valid JSON"}
	case line[0] == '[':
		return e, &rpcError{codeInvalid, "batches are not supported; send one message a line"}
	}
	var version, method json.RawMessage
	err := take(line, func(key string) *json.RawMessage {
		switch key {
		case "jsonrpc":
			return &version
		case "id":
			return &e.id
		case "method":
			return &method
		case "params":
			return &e.params
		case "result":
			return &e.result
		case "error":
			return &e.err
		}
		return nil
	})
	if err == nil {
		err = checkNames(line)
	}
	switch {
	case err != nil:
		if !validID(e.id) {
			e.id = nil
		}
		return e, &rpcError{codeInvalid, err.Error()}
	case !bytes.Equal(version, []byte(`"2.0"`)):
		return e, &rpcError{codeInvalid, `message is not JSON-RPC: "jsonrpc" must be "2.0"`}
	case e.id != nil && !validID(e.id):
		e.id = nil
		return e, &rpcError{codeInvalid, "id must be a string or a number"}
	}
	if method != nil && json.Unmarshal(method, &e.method) != nil || method == nil && e.result == nil && e.err == nil {
		return e, &rpcError{codeInvalid, "method must be a string"}
	}
	if params, err := rawjson.SplitObject(e.params); err == nil {
		e.meta, _ = rawjson.SplitObject(params.Get("_meta")) // something else says nothing
	}
	return e, nil
}

// validID tells whether an id is one that the protocol has.
func validID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// take puts values where they belong; nil is nowhere.
func take(line []byte, where func(key string) *json.RawMessage) error {
	parts, open, err := rawjson.Split(line)
	if err != nil {
		return err
	}
	if open != '{' {
		return errNotObject
	}
	for _, p := range parts {
		to := where(p.Key)
		if to == nil {
			continue
		}
		if *to != nil {
			return fmt.Errorf("message has the key %q twice", p.Key)
		}
		*to = line[p.From:p.To:p.To]
	}
	return nil
}

// encode builds the message again from its parts, so that what mcp-go reads is
// what was checked here.
func (e envelope) encode() []byte {
	b := make([]byte, 0, len(e.params)+len(e.id)+len(e.method)+64)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if e.id != nil {
		b = append(append(b, `,"id":`...), e.id...)
	}
	method, _ := json.Marshal(e.method) // a string always encodes
	b = append(append(b, `,"method":`...), method...)
	if e.params != nil {
		b = append(append(b, `,"params":`...), e.params...)
	}
	return append(b, '}')
}

// notificationLine builds a message without an id.
func notificationLine(method string, params any) ([]byte, error) {
	return encodeLine(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

func requestLine(id json.RawMessage, method string, params any) ([]byte, error) {
	return encodeLine(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  any             `json:"params,omitempty"`
	}{"2.0", id, method, params})
}

func resultLine(id json.RawMessage, result any) ([]byte, error) {
	return encodeLine(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result})
}

type errorBody struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func errorLine(id json.RawMessage, body errorBody) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b, err := encodeLine(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   errorBody       `json:"error"`
	}{"2.0", id, body})
	if err != nil { // only Data can fail to encode
		body.Data = nil
		return errorLine(id, body)
	}
	return b
}

// encodeLine is JSON without HTML escapes, with a line end.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return b.Bytes(), nil
}
