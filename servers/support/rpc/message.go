// Package rpc is JSON-RPC as the Model Context Protocol uses it: messages whose
// params and results keep their bytes, one message per line, and the requests of one
// side that are waiting for responses. It knows no methods but those that cancel a
// request and report its progress.
package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Message is a JSON-RPC message with everything but its outermost keys left as it
// came.
type Message struct {
	ID     json.RawMessage // nil: absent
	Method string          // "": an answer
	Params json.RawMessage
	Result json.RawMessage
	Err    json.RawMessage
}

// Error codes of JSON-RPC, and our own, outside the range that the protocol reserves.
const (
	CodeParse    = -32700
	CodeInvalid  = -32600
	CodeMethod   = -32601
	CodeParams   = -32602
	CodeInternal = -32603
	CodeBusy     = -31001 // too much in flight
	CodeGone     = -31002 // the deck went away; the call may be retried
)

// Error is an error with a code for the other side.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"` // nil: none; a json.RawMessage of one that was received

	// Raw is one that was received, as it came.
	Raw json.RawMessage `json:"-"`
}

func (e *Error) Error() string { return e.Message }

// ReadError is the error of an answer, which is the JSON given.
func ReadError(raw json.RawMessage) *Error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return &Error{Message: "unreadable error", Raw: raw}
	}
	code, err := strconv.Atoi(string(o.Get("code")))
	if err != nil {
		code = 0
	}
	e := &Error{Code: code, Message: o.Str("message"), Raw: raw}
	if data := o.Get("data"); data != nil {
		e.Data = data
	}
	return e
}

// Rules are how messages are read.
type Rules struct {
	// Lenient takes what programs write that are none of ours as it was meant:
	// invalid UTF-8 is replaced, an id of null is none, and an answer may hold
	// neither a result nor an error. Else all of that is refused.
	Lenient bool
	// Bare takes messages that do not say which version of JSON-RPC they are.
	Bare bool
	// Check refuses a message for what else it holds; may be nil.
	Check func(line []byte) error
}

var errNotObject = errors.New("message is not an object")

// Decode takes a message apart; line has no white space around it. Names are
// matched exactly and may not be repeated, so that no two readers disagree about a
// message. Of one that is refused, Message has the id if it can be answered.
func (r Rules) Decode(line []byte) (Message, *Error) {
	var m Message
	valid := utf8.Valid(line)
	if !valid && r.Lenient {
		line, valid = bytes.ToValidUTF8(line, []byte("\uFFFD")), true
	}
	switch {
	case !valid: // an id or a name of it must not be echoed
		return m, &Error{Code: CodeParse, Message: "message is not valid UTF-8"}
	case !json.Valid(line):
		return m, &Error{Code: CodeParse, Message: "message is not valid JSON"}
	case line[0] == '[':
		return m, &Error{Code: CodeInvalid, Message: "batches are not supported; send one message per line"}
	}
	version, method, err := m.take(line)
	if err == nil && r.Check != nil {
		err = r.Check(line)
	}
	if r.Lenient && string(m.ID) == "null" {
		m.ID = nil
	}
	switch {
	case err != nil:
		if !validID(m.ID) {
			m.ID = nil
		}
		return m, &Error{Code: CodeInvalid, Message: err.Error()}
	case !r.Bare && !bytes.Equal(version, []byte(`"2.0"`)):
		return m, &Error{Code: CodeInvalid, Message: `message is not JSON-RPC: "jsonrpc" must be "2.0"`}
	case m.ID != nil && !validID(m.ID):
		m.ID = nil
		return m, &Error{Code: CodeInvalid, Message: "id must be a string or a number"}
	}
	m.Method, err = rawjson.Text(method)
	if err != nil && (method != nil || m.Result == nil && m.Err == nil && !r.Lenient) {
		return m, &Error{Code: CodeInvalid, Message: "method must be a string"}
	}
	return m, nil
}

// validID tells whether an id is one that the protocol has.
func validID(id json.RawMessage) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// take puts values where they belong.
func (m *Message) take(line []byte) (version, method json.RawMessage, err error) {
	twice := ""
	open, err := rawjson.Each(line, func(p rawjson.Part) {
		var to *json.RawMessage
		switch p.Key {
		case "jsonrpc":
			to = &version
		case "id":
			to = &m.ID
		case "method":
			to = &method
		case "params":
			to = &m.Params
		case "result":
			to = &m.Result
		case "error":
			to = &m.Err
		default:
			return
		}
		if *to != nil {
			twice = p.Key
		}
		*to = line[p.From:p.To:p.To]
	})
	switch {
	case err != nil:
		return nil, nil, err
	case open != '{':
		return nil, nil, errNotObject
	case twice != "":
		return nil, nil, fmt.Errorf("message has a duplicate key %q", twice)
	}
	return version, method, nil
}

// versioned is how a message begins that says which version of JSON-RPC it is.
const versioned = `{"jsonrpc":"2.0"`

// Encode builds the message from its parts, which are not looked at.
func (m Message) Encode() []byte {
	b := make([]byte, 0, len(m.Params)+len(m.Result)+len(m.ID)+len(m.Method)+64)
	b = append(b, versioned...)
	if m.ID != nil {
		b = append(append(b, `,"id":`...), m.ID...)
	}
	if m.Method != "" {
		b = rawjson.AppendQuote(append(b, `,"method":`...), m.Method)
	}
	for _, part := range []rawjson.Member{{Key: "params", Value: m.Params}, {Key: "result", Value: m.Result}, {Key: "error", Value: m.Err}} {
		if part.Value != nil {
			b = append(append(append(append(b, `,"`...), part.Key...), `":`...), part.Value...)
		}
	}
	return append(b, '}')
}

// Bare is Encode without the version of JSON-RPC.
func (m Message) Bare() []byte {
	b := m.Encode()[len(versioned):]
	if b[0] == ',' {
		b[0] = '{'
		return b
	}
	return append([]byte("{"), b...)
}

// Line is Encode with a line end.
func (m Message) Line() []byte { return append(m.Encode(), '\n') }

// typed is a message of Go values.
type typed struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Notification is the line of a message that no answer is wanted to.
func Notification(method string, params any) ([]byte, error) {
	return Line(typed{JSONRPC: "2.0", Method: method, Params: params})
}

// Result is the line of an answer.
func Result(id json.RawMessage, result any) ([]byte, error) {
	return Line(typed{JSONRPC: "2.0", ID: id, Result: result})
}

// Failure is the line of an answer that is an error; without an id it answers what
// could not be read.
func Failure(id json.RawMessage, e Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b, err := Line(typed{JSONRPC: "2.0", ID: id, Error: &e})
	if err != nil { // only Data can fail to encode
		e.Data = nil
		return Failure(id, e)
	}
	return b
}

// Line is JSON without HTML escapes, with a line end.
func Line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return b.Bytes(), nil
}

// Raw is Line without the line end.
func Raw(v any) (json.RawMessage, error) {
	line, err := Line(v)
	return bytes.TrimSuffix(line, []byte("\n")), err
}
