package calllog

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	tests := []struct{ name, args, want string }{
		{"none", ``, ""},
		{"null", `null`, ""},
		{"empty", `{}`, ""},
		{"in the order sent", `{"b":1,"a":"two words","c":[1, 2]}`, "b=1 a=two words c=[1, 2]"},
		{"escapes", `{"a":"\u00e9\n\"\ud83d\ude00"}`, "a=é \"😀"},
		{"no object", `"text"`, `"text"`},
		{"a long text is cut", `{"a":"` + long + `","b":1}`, "a=" + strings.Repeat("x", preview-3) + "…"},
		{"cut among escapes", `{"a":"` + strings.Repeat(`\ud83d\ude00`, 1000) + `"}`, "a=" + strings.Repeat("😀", preview-3) + "…"},
		{"cut behind a backslash", `{"a":"x` + strings.Repeat(`\\`, 5000) + `"}`, "a=x" + strings.Repeat(`\`, preview-4) + "…"},
		{"a long list is cut", `{"a":[` + strings.Repeat("1,", 1000) + `1]}`, "a=[" + strings.Repeat("1,", preview/2-2) + "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := oneLine(json.RawMessage(tt.args)); got != tt.want {
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
		{"nothing", `{"content":[]}`, ""},
		{"no content", `{"resultType":"input_required"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := resultLine(json.RawMessage(tt.result)); got != tt.want {
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
		for _, line := range []string{oneLine(raw), resultLine(raw)} {
			if utf8.RuneCountInString(line) > 2*preview || strings.ContainsAny(line, "\n\x1b") {
				t.Errorf("%q", line)
			}
		}
	})
}
