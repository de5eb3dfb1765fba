package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

func TestRawDefinitionsTakeTheirPlaces(t *testing.T) {
	raw := map[string]json.RawMessage{"b": json.RawMessage(`{"name":"b","new":[1]}`)}
	tests := []struct{ name, method, in, want string }{
		{"among others", "tools/list", `{"id":1,"result":{"tools":[{"name":"a"},{"name":"b","x":{}},{"name":"c"}],"ttlMs":0}}`, `{"id":1,"result":{"tools":[{"name":"a"},{"name":"b","new":[1]},{"name":"c"}],"ttlMs":0}}`},
		{"an event", "tools/list", "id: 7\ndata: " + `{"result":{"tools":[{"name":"b"}]}}` + "\n\n", "id: 7\ndata: " + `{"result":{"tools":[{"name":"b","new":[1]}]}}` + "\n\n"},
		{"prompts", "prompts/list", `{"result":{"prompts":[{"name":"b"}]}}`, `{"result":{"prompts":[{"name":"b","new":[1]}]}}`},
		{"resources", "resources/list", `{"result":{"resources":[{"uri":"b","name":"x"}]}}`, `{"result":{"resources":[{"name":"b","new":[1]}]}}`},
		{"templates", "resources/templates/list", `{"result":{"resourceTemplates":[{"name":"y","uriTemplate":"b"}]}}`, `{"result":{"resourceTemplates":[{"name":"b","new":[1]}]}}`},
		{"none", "tools/list", `{"result":{"tools":[]}}`, `{"result":{"tools":[]}}`},
		{"another method", "tools/call", `{"result":{"tools":[{"name":"b"}]}}`, `{"result":{"tools":[{"name":"b"}]}}`},
		{"an error", "tools/list", `{"error":{"code":1}}`, `{"error":{"code":1}}`},
		{"half a message", "tools/list", `{"result":{"tools":[{"name":"b"}`, `{"result":{"tools":[{"name":"b"}`},
		{"no message", "tools/list", ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(rawList(&backend.Request{Message: rpc.Message{Method: tt.method}}, raw, []byte(tt.in))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func FuzzRawList(f *testing.F) {
	raw := map[string]json.RawMessage{"b": json.RawMessage(`{"name":"b"}`)}
	f.Add(`{"result":{"tools":[{"name":"b"}]}}`)
	f.Add("data: {\"result\":{\"tools\":[{\"name\":\"b\"},7,null]}}\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		out := string(rawList(&backend.Request{Message: rpc.Message{Method: "tools/list"}}, raw, []byte(in)))
		if json.Valid([]byte(in)) != json.Valid([]byte(out)) {
			t.Errorf("%q became %q", in, out)
		}
		if !strings.Contains(in, `"result"`) && !strings.Contains(in, `\`) && in != out {
			t.Errorf("%q became %q", in, out)
		}
	})
}
