package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLineReader(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"LF and CRLF", "a\nb\r\n", []string{"a", "b"}},
		{"blank lines", "\n\r\n  \na\n", []string{"a"}},
		{"last line without an end", "a\nb", []string{"a", "b"}},
		{"byte order mark", "\xef\xbb\xbfa\n\xef\xbb\xbfb", []string{"a", "\xef\xbb\xbfb"}},
		{"too long", "a\n" + strings.Repeat("x", 2000) + "\nb\n", []string{"a", "!", "b"}},
		{"too long at the end", strings.Repeat("x", 2000), []string{"!"}},
		{"just at the limit", strings.Repeat("x", 1000) + "\r\n", []string{strings.Repeat("x", 1000)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newLineReader(strings.NewReader(tt.in), 1000)
			var got []string
			for {
				line, err := r.next()
				if errors.Is(err, ErrLineTooLong) {
					line, err = []byte("!"), nil
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\nb"))
	f.Add(bytes.Repeat([]byte("x"), 300))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newLineReader(bytes.NewReader(in), 64)
		for range len(in) + 2 {
			line, err := r.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil && !errors.Is(err, ErrLineTooLong) {
				t.Fatal(err)
			}
			if err == nil && (len(line) == 0 || len(line) > 66 || bytes.IndexByte(line, '\n') >= 0) {
				t.Fatalf("line %q", line)
			}
		}
		t.Fatal("the reader does not end")
	})
}

func FuzzEnvelope(f *testing.F) {
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
		e, bad := decodeEnvelope(line)
		if bad != nil {
			return
		}
		var std map[string]json.RawMessage
		if err := json.Unmarshal(line, &std); err != nil {
			t.Fatalf("%q was taken: %v", line, err)
		}
		if e.params != nil && !bytes.Equal(e.params, std["params"]) || e.id != nil && !bytes.Equal(e.id, std["id"]) {
			t.Fatalf("%q: read as %+v, others read %s", line, e, std)
		}
		if e.method != "" && !json.Valid(e.encode()) {
			t.Fatalf("%q: encoded as %q", line, e.encode())
		}
	})
}

func FuzzHello(f *testing.F) {
	f.Add([]byte(`{"mcpdeck":1,"servers":["ask"],"cwd":"/x","pid":3}` + "\n"))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := readHello(newLineReader(bytes.NewReader(in), helloLimit))
		if err == nil && h.Mcpdeck != helloVersion {
			t.Fatalf("%q was taken as %+v", in, h)
		}
	})
}

func FuzzAnswerID(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":`))
	f.Fuzz(func(_ *testing.T, line []byte) {
		_ = answerID(line) // must not panic on what is no JSON
	})
}
