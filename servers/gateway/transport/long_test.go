package transport

import (
	"testing"
)

// Whoever sent a message over the limit hears about that message.
func TestAMessageOverTheLimitIsAnsweredByItsID(t *testing.T) {
	for name, tt := range map[string]struct{ outline, reply, answer string }{
		"a request":        {`{"jsonrpc":"2.0","params":null,"method":"tools/call","id":5}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"message is longer than 33554432 bytes"}}` + "\n", ""},
		"an answer":        {`{"result":null,"jsonrpc":"2.0","id":"deck-1"}`, "", `{"jsonrpc":"2.0","id":"deck-1","error":{"code":-32600,"message":"message is longer than 33554432 bytes"}}` + "\n"},
		"no message":       {``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"message is longer than 33554432 bytes"}}` + "\n", ""},
		"an answer to all": {`{"result":null,"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"message is longer than 33554432 bytes"}}` + "\n", ""},
	} {
		reply, answer := TooLong([]byte(tt.outline))
		if string(reply) != tt.reply {
			t.Errorf("%s: replied %s, want %s", name, reply, tt.reply)
		}
		if tt.answer != "" && string(answer.Line()) != tt.answer {
			t.Errorf("%s: passed on %s, want %s", name, answer.Line(), tt.answer)
		}
	}
}
