package rpc

import (
	"bytes"
	"encoding/json"
	"testing"
)

// A client of the deck writes what the protocol says; a program behind it may write
// what is only nearly that.
func TestProgramsAreReadMoreLenientlyThanClients(t *testing.T) {
	for _, tt := range []struct{ name, line, refused, meant string }{
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", "message is not valid UTF-8", `{"jsonrpc":"2.0","id":1,"result":"�"}`},
		{"a null id", `{"jsonrpc":"2.0","id":null,"method":"x"}`, "id must be a string or a number", `{"jsonrpc":"2.0","method":"x"}`},
		{"an answer of nothing", `{"jsonrpc":"2.0","id":"1"}`, "method must be a string", `{"jsonrpc":"2.0","id":"1"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, bad := (Rules{}).Decode([]byte(tt.line)); bad == nil || bad.Message != tt.refused {
				t.Errorf("strictly read: error %v, want %q", bad, tt.refused)
			}
			m, bad := Rules{Lenient: true}.Decode([]byte(tt.line))
			if bad != nil || string(m.Encode()) != tt.meant {
				t.Errorf("leniently read: %s, error %v; want %s", m.Encode(), bad, tt.meant)
			}
		})
	}
}

// What is passed on is what came: no number is rounded, no space is lost.
func TestMessagesKeepTheirBytes(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"x","params":{"n":1.0, "m":1e400}}`,
		`{"jsonrpc":"2.0","id":"\u0031","result":[ 9007199254740993, "<\u00e9>" ]}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1.0,"message":"m","data":{ }}}`,
	} {
		m, bad := Rules{}.Decode([]byte(line))
		if bad != nil || string(m.Encode()) != line {
			t.Errorf("got %s, error %v; want %s", m.Encode(), bad, line)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[1,"}"]}}`, `[]`, `{"id":"\u0000","id":1}`,
		`{"jsonrpc":"2.0","\u0069d":7,"method":"x"}`, `{"jsonrpc":"2.0","id":1,"result":null}`, `1`, `"x"`, `{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return
		}
		m, bad := Rules{}.Decode(line)
		if bad != nil {
			return
		}
		var std map[string]json.RawMessage
		if err := json.Unmarshal(line, &std); err != nil {
			t.Fatalf("%q was taken: %v", line, err)
		}
		if m.Params != nil && !bytes.Equal(m.Params, std["params"]) || m.ID != nil && !bytes.Equal(m.ID, std["id"]) {
			t.Fatalf("%q: read as %+v, others read %s", line, m, std)
		}
		if !json.Valid(m.Encode()) {
			t.Fatalf("%q: encoded as %q", line, m.Encode())
		}
	})
}
