package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20+1) // it is not of base64
	tests := []struct{ name, args, want string }{
		{"null", `null`, ""},
		{"empty", `{}`, ""},
		{"in the order sent", `{"b":1,"a":"two words","c":[1, 2]}`, "b=1 a=two words c=[1,2]"},
		{"escapes", `{"a":"\u00e9\n\"\ud83d\ude00"}`, "a=é \"😀"},
		{"no object", `"text"`, `"text"`},
		{"no JSON", `{`, `"[not JSON, 1 byte]"`},
		{"a secret", `{"a":"b","password":"hush"}`, "a=b password=[redacted]"},
		{"a secret and its name", `{"a":"b","value":"hush","name":"password"}`, "a=b value=[redacted] name=password"},
		{"a long text is cut", `{"a":"` + long + `","b":1}`, "a=" + strings.Repeat("x", lineLength-3) + "…"},
		{"cut among escapes", `{"a":"` + strings.Repeat(`\ud83d\ude00`, 1000) + `"}`, "a=" + strings.Repeat("😀", lineLength-3) + "…"},
		{"cut behind a backslash", `{"a":"x` + strings.Repeat(`\\`, 5000) + `"}`, "a=x" + strings.Repeat(`\`, lineLength-4) + "…"},
		{"a long list is cut", `{"a":[` + strings.Repeat("1,", 1000) + `1]}`, "a=[" + strings.Repeat("1,", lineLength/2-2) + "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Rules{}.Keep(Kind{}, false, json.RawMessage(tt.args)).Line); got != tt.want {
				t.Errorf("got  %.300q\nwant %.300q", got, tt.want)
			}
		})
	}
}

func TestResultLine(t *testing.T) {
	tests := []struct{ name, result, want string }{
		{"text", `{"content":[{"type":"text","text":"a\nb"}]}`, "a b"},
		{"text behind a picture", `{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"a"}]}`, "a"},
		{"a picture alone", `{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`, "image image/png"},
		{"a secret", `{"content":[{"type":"text","text":"password=q7Rk2vTz9Lw4"}]}`, "password=[redacted]"},
		{"a secret and its name", `{"content":[{"text":"hush","name":"password","type":"text"}]}`, "[redacted]"},
		{"an error", `{"error":"it failed"}`, "it failed"},
		{"nothing", `{"content":[]}`, ""},
		{"no content", `{"resultType":"input_required"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (Rules{}.Keep(Kind{}, true, json.RawMessage(tt.result)).Line); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzLines holds that any arguments and any result can be shown.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{`{"a":"b"}`, `{"content":[{"type":"text","text":"\ud83d"}]}`, `[]`, `"x"`, ` {"a":{"b":[1,null]}} `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		for _, result := range []bool{false, true} {
			if line := (Rules{}.Keep(Kind{}, result, raw).Line); utf8.RuneCountInString(line) > 2*lineLength || strings.ContainsAny(line, "\n\x1b") {
				t.Errorf("%q", line)
			}
		}
	})
}

func TestPicturesAreTakenOutOfAResult(t *testing.T) {
	got := Rules{}.Keep(Kind{}, true, json.RawMessage(`{"content":[{"type":"text","text":"a"},{"data":"AAAA","type":"image","mimeType":"image/png"},{"type":"image","data":7}],"structuredContent":{"content":[{"type":"image","data":"BBBB"}]}}`))
	if want := []Image{{"image/png", "AAAA"}, {}}; !slices.Equal(got.Images, want) {
		t.Errorf("got %v, want %v", got.Images, want)
	}
}

func TestWhatAResultSaysOfTheAnswerIsLeftOut(t *testing.T) {
	const in = `{"_meta":{"a":1},"content":[],"resultType":"complete","structuredContent":{"_meta":1}}`
	if got := string(Rules{}.Body(Kind{Bare: true}, true, json.RawMessage(in))); got != `{"content":[],"structuredContent":{"_meta":1}}` {
		t.Errorf("got %s", got)
	}
	if got := string(Rules{}.Body(Kind{}, true, json.RawMessage(in))); got != in {
		t.Errorf("of another server: %s", got)
	}
}
