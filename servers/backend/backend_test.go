package backend

import (
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

func TestARequestSaysWhatItIsAbout(t *testing.T) {
	for _, tt := range []struct {
		method, params string
		kind           Kind
		key            string
	}{
		{"tools/call", `{"name":"echo","arguments":{"n":1.0}}`, Tool, "echo"},
		{"tools/call", `{"name":7}`, Tool, ""},
		{"tools/call", `[]`, Tool, ""},
		{"tools/call", ``, Tool, ""},
		{"prompts/get", `{"name":"greet"}`, Prompt, "greet"},
		{"resources/read", `{"uri":"a://b"}`, Resource, "a://b"},
		{"resources/unsubscribe", `{"uri":"a://b"}`, Resource, "a://b"},
		{"tasks/result", `{"taskId":"7"}`, Task, "7"},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"}}`, Prompt, "greet"},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"a://{b}"}}`, Template, "a://{b}"},
		{"tools/list", `{"name":"echo"}`, "", ""},
		{"later/method", `{"name":"echo"}`, Method, "later/method"},
	} {
		r := New(rpc.Message{ID: json.RawMessage("1"), Method: tt.method, Params: raw(tt.params)})
		if r.Kind != tt.kind || r.Key != tt.key {
			t.Errorf("%s %s: it is about the %s %q", tt.method, tt.params, r.Kind, r.Key)
		}
	}
}

func raw(params string) json.RawMessage {
	if params == "" {
		return nil
	}
	return json.RawMessage(params)
}

func TestARequestKeepsTheBytesOfItsParts(t *testing.T) {
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1.0},"_meta":{"x":1e2,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	m, bad := rpc.Rules{}.Decode(line)
	if bad != nil {
		t.Fatal(bad)
	}
	r := Parse(line, m)
	if string(r.Args) != `{"n":1.0}` || string(r.Meta.Get("x")) != "1e2" || !r.Stateless || r.Version != "2026-07-28" {
		t.Errorf("arguments %s, meta %s, version %q", r.Args, r.Meta.JSON(), r.Version)
	}
	copy(line[len(line)-len(`"2026-07-28"}}}`):], `"2099-07-28"}}}`)
	if got := r.Meta.Str("io.modelcontextprotocol/protocolVersion"); got != "2099-07-28" {
		t.Errorf("its parts are copies of the line: %s", got)
	}
}

func TestAnAnswerIsAboutNothing(t *testing.T) {
	r := Parse(nil, rpc.Message{ID: json.RawMessage("1"), Result: json.RawMessage(`{"name":"a"}`)})
	if r.Kind != "" || r.Key != "" || r.Params != nil || r.Stateless {
		t.Errorf("got %+v", r)
	}
}
