package transport

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

func ambiguous() map[string]string {
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + params + `}`
	}
	return map[string]string{
		"name in another case":              call(`{"name":"a","Name":"b"}`),
		"name twice":                        call(`{"name":"a","name":"b"}`),
		"name in another case alone":        call(`{"NAME":"b"}`),
		"arguments in another case":         call(`{"name":"a","arguments":{},"Arguments":{"x":1}}`),
		"arguments with the long s":         call(`{"name":"a","arguments":{},"argument` + "\u017f" + `":{"x":1}}`),
		"arguments with an escaped long s":  call(`{"name":"a","argument\u017f":{"x":1}}`),
		"progressToken with a Kelvin sign":  call(`{"name":"a","_meta":{"progressTo` + "\u212a" + `en":1}}`),
		"an argument twice":                 call(`{"name":"a","arguments":{"x":1,"x":2}}`),
		"an argument in another case":       call(`{"name":"a","arguments":{"x":1,"X":2}}`),
		"an argument's member twice":        call(`{"name":"a","arguments":{"x":[{"y":1,"y":2}]}}`),
		"meta twice":                        call(`{"name":"a","_meta":{},"_meta":{}}`),
		"protocol version in another case":  call(`{"name":"a","_meta":{"io.modelcontextprotocol/ProtocolVersion":"x"}}`),
		"params in another case":            `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"},"Params":{"name":"b"}}`,
		"method in another case":            `{"jsonrpc":"2.0","id":7,"method":"ping","METHOD":"tools/call"}`,
		"id in another case":                `{"jsonrpc":"2.0","id":7,"ID":8,"method":"ping"}`,
		"uri in another case":               `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"a","URI":"b"}}`,
		"cursor in another case":            `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"Cursor":"b"}}`,
		"a nested name in another case":     `{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a","Name":"b"},"argument":{"name":"x","value":""}}}`,
		"a client's answer in another case": `{"jsonrpc":"2.0","id":7,"result":{"action":"decline","Action":"accept"}}`,
		"answers to what was asked":         call(`{"name":"a","inputResponses":{"q":{"action":"decline","Action":"accept"}}}`),
	}
}

func TestMessagesThatReadersTakeDifferentlyAreRefused(t *testing.T) {
	for name, line := range ambiguous() {
		t.Run(name, func(t *testing.T) {
			if e, bad := Decode([]byte(line)); bad == nil {
				t.Errorf("taken as %+v", e)
			}
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(line))
			w := httptest.NewRecorder()
			if _, ok := checked(w, r, []byte(line)); ok || w.Code != http.StatusBadRequest {
				t.Errorf("HTTP took it: %d", w.Code)
			}
		})
	}
	for name, line := range map[string]string{
		"a call": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"Name":"x","map":{"x":1,"X":2}},"_meta":{"progressToken":1,"some/name":{"Name":1}}}}`,
		"initialize": `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"x","capabilities":{"experimental":{"Name":{"name":1}},"roots":{"listChanged":true},"elicitation":{}},` +
			`"clientInfo":{"name":"x","version":"1","title":"X"}}}`,
		"a form's answer": `{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"Name":"x"}}}`,
		"a prompt":        `{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"x","arguments":{"Name":"x"}}}`,
	} {
		t.Run(name+" is taken", func(t *testing.T) {
			if _, bad := Decode([]byte(line)); bad != nil {
				t.Error(bad)
			}
		})
	}
}

func TestInvalidUTF8IsNeverEchoed(t *testing.T) {
	for name, line := range map[string]string{
		"in an id":       "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
		"in a name":      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"\xff\":1}",
		"in a method":    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}",
		"in an argument": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":{\"x\":\"\xed\xa0\x80\"}}}",
	} {
		t.Run(name, func(t *testing.T) {
			e, bad := Decode([]byte(line))
			if bad == nil {
				t.Fatal("it was taken")
			}
			answer := rpc.Failure(e.ID, *bad)
			if !bytes.Equal(answer, bytes.ToValidUTF8(answer, nil)) || bad.Code != rpc.CodeParse {
				t.Errorf("answered %q", answer)
			}
		})
	}
}

// The library's own types say which names it decodes: none may be missing among
// those that are held to their spelling.
func TestEveryNameThatTheLibraryReadsIsKnown(t *testing.T) {
	body := ruled().message.Inner["params"]
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			visit(typ.Elem())
		case reflect.Struct:
			if seen[typ] {
				return
			}
			seen[typ] = true
			for i := range typ.NumField() {
				f := typ.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name != "" && name != "-" && body.Known[rawjson.Fold(name)] != name {
					t.Errorf("%v: %q is not known", typ, name)
				}
				if f.IsExported() && name != "structuredContent" && name != "content" {
					visit(f.Type)
				}
			}
		default:
		}
	}
	for _, v := range []any{
		mcp.InitializeParams{},
		mcp.CallToolParams{},
		mcp.MultiRoundTripParams{},
		mcp.TaskParams{},
		mcp.GetPromptParams{},
		mcp.ReadResourceParams{},
		mcp.SubscribeParams{},
		mcp.UnsubscribeParams{},
		mcp.CompleteParams{},
		mcp.SetLevelParams{},
		mcp.PaginatedParams{},
		mcp.CancelledNotificationParams{},
		mcp.ProgressNotificationParams{},
		mcp.SubscriptionFilter{},
		mcp.ElicitationResponse{},
		mcp.ListRootsResult{},
	} {
		visit(reflect.TypeOf(v))
	}
}

// What is let through is read the same by the library, which folds names, and by
// the log, the relay and the refusals, which do not.
func FuzzMessagesMeanTheSame(f *testing.F) {
	for _, line := range ambiguous() {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"x":"1"}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			return
		}
		e, bad := Decode(line)
		if bad != nil || e.Method != string(mcp.MethodToolsCall) {
			return
		}
		var req mcp.CallToolRequest
		if json.Unmarshal(line, &req) != nil {
			return
		}
		if req.Method != e.Method || req.Params.Name != e.Key {
			t.Fatalf("%q: the library calls %q, the log shows %q", line, req.Params.Name, e.Key)
		}
	})
}
