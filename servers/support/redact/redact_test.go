package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

func TestBodiesAreRedacted(t *testing.T) {
	picture := base64.StdEncoding.EncodeToString(make([]byte, 60))
	const pictureSum = "[60 bytes, sha256 5dcc1b5872dd9ff1c234501f1fefda01f664164e1583c3e1bb3dbea47588ab31]"
	long, memory := strings.Repeat("b", 250), Kind{Keep: []string{"action", "key"}}
	tests := []struct {
		name   string
		rules  Rules
		kind   Kind
		result bool
		in     string
		want   string
	}{
		{name: "nothing to hide", in: `{"b":1.50,"a":[true,null,"x"]}`, want: `{"b":1.50,"a":[true,null,"x"]}`},
		{name: "order, numbers and signs stay", in: `{"z":12345678901234567890,"a":"<&>"}`, want: `{"z":12345678901234567890,"a":"<&>"}`},
		{name: "password", in: `{"user":"ada","Password":"x","pass_word":7}`, want: `{"user":"ada","Password":"[redacted]","pass_word":"[redacted]"}`},
		{name: "api key", in: `{"api_key":"x","apiKey":"y","X-API-Key":"z"}`, want: `{"api_key":"[redacted]","apiKey":"[redacted]","X-API-Key":"[redacted]"}`},
		{name: "tokens", in: `{"token":"x","accessToken":"y","max_tokens":5,"progressToken":"p"}`, want: `{"token":"[redacted]","accessToken":"[redacted]","max_tokens":5,"progressToken":"p"}`},
		{name: "everything below a secret key", in: `{"credentials":{"user":"ada","n":[1,"x",true]}}`, want: `{"credentials":{"user":"[redacted]","n":["[redacted]","[redacted]",true]}}`},
		{name: "colour tokens stay", in: `{"token":"{skin}"}`, want: `{"token":"{skin}"}`},
		{name: "author is no auth", in: `{"author":"ada","auth":"x"}`, want: `{"author":"ada","auth":"[redacted]"}`},
		{name: "JSON inside a text", in: `{"content":[{"type":"text","text":"{\"secret\": \"x\", \"a\": 1}"}]}`, want: `{"content":[{"type":"text","text":"{\"secret\":\"[redacted]\",\"a\":1}"}]}`},
		{name: "harmless JSON inside a text", in: `{"t":"{ \"a\" : 1 }"}`, want: `{"t":"{ \"a\" : 1 }"}`},
		{name: "memory, arguments", kind: memory, in: `{"action":"write","key":"k","value":"abc"}`, want: `{"action":"write","key":"k","value":"[redacted, 3 characters]"}`},
		{name: "memory, result", kind: memory, result: true, in: `{"content":[{"type":"text","text":"abc"}],"structuredContent":{"key":"k","value":"abc"}}`, want: `{"content":[{"type":"text","text":"[redacted, 3 characters]"}],"structuredContent":{"key":"k","value":"[redacted, 3 characters]"}}`},
		{name: "memory, nothing found", kind: memory, result: true, in: `{"content":[{"type":"text","text":"No memory found for key: k"}],"structuredContent":{"found":false,"value":null}}`, want: `{"content":[{"type":"text","text":"No memory found for key: k"}],"structuredContent":{"found":false,"value":null}}`},
		{name: "memory, error", kind: memory, result: true, in: `{"content":[{"type":"text","text":"Error: key is required"}],"isError":true}`, want: `{"content":[{"type":"text","text":"Error: key is required"}],"isError":true}`},
		{name: "memory, a value that looks like an error", kind: memory, result: true, in: `{"content":[{"type":"text","text":"Error: x"}]}`, want: `{"content":[{"type":"text","text":"[redacted, 8 characters]"}]}`},
		{name: "note", kind: Kind{Abridge: "content"}, in: `{"filename":"a","content":"` + long + `"}`, want: `{"filename":"a","content":"` + long[:199] + `… [250 characters in total]"}`},
		{name: "short note", kind: Kind{Abridge: "content"}, in: `{"content":"boo"}`, want: `{"content":"boo"}`},
		{name: "content of another tool", in: `{"content":"` + long + `"}`, want: `{"content":"` + long + `"}`},
		{name: "picture", result: true, in: `{"content":[{"type":"image","data":"` + picture + `","mimeType":"image/png"}]}`, want: `{"content":[{"type":"image","data":"` + pictureSum + `","mimeType":"image/png"}]}`},
		{name: "resource", result: true, in: `{"blob":"` + picture + `"}`, want: `{"blob":"` + pictureSum + `"}`},
		{name: "data address", in: `{"src":"data:image/png;base64,` + picture + `"}`, want: `{"src":"` + pictureSum + `"}`},
		{name: "word as data", in: `{"data":"word"}`, want: `{"data":"word"}`},
		{name: "shape", rules: Rules{ShapeOnly: true}, in: `{"a":"xyz","b":[1,false,null]}`, want: `{"a":"[text, 3 characters]","b":["[number]","[boolean]",null]}`},
		{name: "shape of a result", rules: Rules{ShapeOnly: true}, result: true, in: `{"content":[{"type":"text","text":"xyz"}]}`, want: `{"content":[{"type":"text","text":"[text, 3 characters]"}]}`},
		{name: "no JSON", in: `{"a"`, want: `"[not JSON, 4 bytes]"`},
		{name: "two values", in: `{} {}`, want: `"[not JSON, 5 bytes]"`},
		{name: "nothing", in: ``, want: `"[not JSON, 0 bytes]"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.rules.Body(tt.kind, tt.result, json.RawMessage(tt.in))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := Whole([]byte(tt.want)); got != (tt.in == tt.want) {
				t.Errorf("whole: %v", got)
			}
		})
	}
}

func TestLongBase64IsTakenForAPicture(t *testing.T) {
	b := base64.StdEncoding.EncodeToString(make([]byte, 3000))
	got := string(Rules{}.Body(Kind{}, true, json.RawMessage(`{"png":"`+b+`"}`)))
	if !strings.HasPrefix(got, `{"png":"[3000 bytes, sha256 `) {
		t.Errorf("got %.100s", got)
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"password":"hunter22hunter22"}`), true)
	f.Add([]byte(`[[[{"a":"{\"token\":1}"}]]]`), false)
	f.Add([]byte(`{"a":"\ud800"}`), false)
	f.Add([]byte(strings.Repeat("[", 300)+strings.Repeat("]", 300)), false)
	f.Fuzz(func(t *testing.T, body []byte, shape bool) {
		out := Rules{ShapeOnly: shape}.Body(Kind{Keep: []string{"action", "key"}}, true, body)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", body, out)
		}
		wrapped, err := json.Marshal(map[string]any{"password": string(body)})
		if err != nil {
			t.Fatal(err)
		}
		got := Rules{}.Body(Kind{}, false, wrapped)
		if s := string(body); len(s) > 20 && !isReference(s) && strings.Contains(string(got), s) {
			t.Fatalf("%q is still in %q", s, got)
		}
	})
}
