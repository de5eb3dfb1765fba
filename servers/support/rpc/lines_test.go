package rpc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
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
			r := NewLines(strings.NewReader(tt.in), 1000)
			var got []string
			for {
				line, err := r.Next()
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
		r := NewLines(bytes.NewReader(in), 64)
		for range len(in) + 2 {
			line, err := r.Next()
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
