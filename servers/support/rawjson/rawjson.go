// Package rawjson takes JSON apart without changing it: values keep their bytes,
// keys are compared exactly, and duplicates are detected. What is passed on from one
// program to another must mean the same to both.
package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Member is one member of a JSON object: the key decoded, the value as it was
// received.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Object is the members of a JSON object in the order received. Unlike
// encoding/json it tells "Name" from "name", so that what one program checks is
// what the next one reads.
type Object []Member

// ErrNotObject says that a value is another kind of JSON.
var ErrNotObject = errors.New("not a JSON object")

// Parse splits a JSON object without copying its values. It refuses duplicate
// keys, whose meaning differs between readers.
func Parse(raw []byte) (Object, error) {
	if !json.Valid(raw) {
		return nil, errors.New("not valid JSON")
	}
	return SplitObject(raw)
}

// SplitObject is Parse for bytes known to be valid JSON.
func SplitObject(raw []byte) (Object, error) {
	parts, open, err := Split(raw)
	if err != nil {
		return nil, err
	}
	if open != '{' {
		return nil, ErrNotObject
	}
	o := make(Object, 0, len(parts))
	for _, p := range parts {
		o = append(o, Member{Key: p.Key, Value: raw[p.From:p.To:p.To]})
	}
	if key, twice := duplicate(parts); twice {
		return nil, fmt.Errorf("duplicate key %q", key)
	}
	return o, nil
}

// duplicate finds a key that stands twice.
func duplicate(parts []Part) (key string, twice bool) {
	const few = 16
	if len(parts) <= few {
		for i, p := range parts {
			for _, q := range parts[:i] {
				if p.Key == q.Key {
					return p.Key, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		if seen[p.Key] {
			return p.Key, true
		}
		seen[p.Key] = true
	}
	return "", false
}

// SplitArray returns the elements of a valid JSON array, not copied; false
// when raw is something else.
func SplitArray(raw []byte) ([]json.RawMessage, bool) {
	parts, open, err := Split(raw)
	if err != nil || open != '[' {
		return nil, false
	}
	out := make([]json.RawMessage, len(parts))
	for i, p := range parts {
		out[i] = raw[p.From:p.To:p.To]
	}
	return out, true
}

// Part is where a member's or an element's value lies.
type Part struct {
	Key      string // of a member
	From, To int
}

// Split finds the parts of the valid JSON object or array raw, in order. open
// is its first byte; for any other value there are no parts.
func Split(raw []byte) (parts []Part, open byte, err error) {
	i := space(raw, 0)
	if i >= len(raw) {
		return nil, 0, ErrNotObject
	}
	open = raw[i]
	if open != '{' && open != '[' {
		return nil, open, nil
	}
	for i = space(raw, i+1); raw[i] != open+2; i = space(raw, i) {
		if raw[i] == ',' {
			i = space(raw, i+1)
		}
		var p Part
		if open == '{' {
			end := End(raw, i)
			if p.Key, err = Text(raw[i:end]); err != nil {
				return nil, open, err
			}
			i = space(raw, space(raw, end)+1) // behind the colon
		}
		p.From, p.To = i, End(raw, i)
		parts = append(parts, p)
		i = p.To
	}
	return parts, open, nil
}

// Get returns the value of key, nil when there is none.
func (o Object) Get(key string) json.RawMessage {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Some is Get, but nil for null.
func (o Object) Some(key string) json.RawMessage {
	if v := o.Get(key); string(v) != "null" {
		return v
	}
	return nil
}

// Str returns the value of key when it is a string, else "".
func (o Object) Str(key string) string {
	s, err := Text(o.Get(key))
	if err != nil {
		return ""
	}
	return s
}

// JSON is the object with its members in their order, without space between them.
func (o Object) JSON() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, Quote(m.Key)...), ':'), m.Value...)
	}
	return append(b, '}')
}

// Only is the object with no other members than these, in its order.
func (o Object) Only(keys ...string) (out Object) {
	for _, m := range o {
		if slices.Contains(keys, m.Key) {
			out = append(out, m)
		}
	}
	return out
}

// Flag tells whether the value of key is true.
func (o Object) Flag(key string) bool { return string(o.Get(key)) == "true" }

// Text decodes a JSON string.
func Text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errors.New("not a JSON string")
	}
	if inner := raw[1 : len(raw)-1]; raw[len(raw)-1] == '"' && asIs(inner) {
		return string(inner), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// asIs tells whether the inside of a JSON string means just its own bytes. Most
// strings do, and decoding them costs ten times as much as looking.
func asIs(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(b)
}

// Quote is s as a JSON string, without the escapes meant for HTML.
func Quote(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimSpace(b.Bytes())
}

// space returns the index of the first byte at or after i that is no white
// space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// End returns the index behind the value that starts at i; of what is no valid
// JSON, some index that is not behind the end.
func End(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i = stringEnd(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			i++
			if depth == 0 {
				return i
			}
		}
		return len(b)
	}
	for i < len(b) && bytes.IndexByte([]byte(",]} \n\t\r"), b[i]) < 0 {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that starts at i.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		slashes := 0
		for b[i-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// Measure returns how deeply JSON is nested and the length of its longest string, without
// being as deep itself.
func Measure(raw []byte) (levels, longest int) {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{', '[':
			depth++
			levels = max(levels, depth)
		case '}', ']':
			depth--
		case '"':
			end := End(raw, i)
			longest = max(longest, end-i-2)
			i = max(end-1, i)
		}
	}
	return levels, longest
}
