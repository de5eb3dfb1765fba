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

var (
	errNotObject = errors.New("not a JSON object") // but another kind of JSON
	errInvalid   = errors.New("not valid JSON")
)

// Parse splits a JSON object without copying its values. It refuses duplicate
// keys, whose meaning differs between readers.
func Parse(raw []byte) (Object, error) {
	if !json.Valid(raw) {
		return nil, errInvalid
	}
	return SplitObject(raw)
}

// SplitObject is Parse for bytes known to be valid JSON. Of others it returns something.
func SplitObject(raw []byte) (Object, error) {
	if i := space(raw, 0); i >= len(raw) || raw[i] != '{' {
		return nil, errNotObject
	}
	const usual = 4
	o := make(Object, 0, usual)
	_, err := Each(raw, func(p Part) { o = append(o, Member{Key: p.Key, Value: raw[p.From:p.To:p.To]}) })
	if err != nil {
		return nil, err
	}
	if key, twice := duplicate(o); twice {
		return nil, fmt.Errorf("duplicate key %q", key)
	}
	return o, nil
}

// duplicate finds a key that stands twice.
func duplicate(o Object) (key string, twice bool) {
	const few = 16
	if len(o) <= few {
		for i, p := range o {
			for _, q := range o[:i] {
				if p.Key == q.Key {
					return p.Key, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]bool, len(o))
	for _, p := range o {
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

// Array is a JSON array of elements.
func Array(elements ...json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, ']')
}

// Part is where a member's or an element's value lies.
type Part struct {
	Key      string // of a member
	From, To int
}

// Split finds the parts of the valid JSON object or array raw, in order. open
// is its first byte; for any other value there are no parts.
func Split(raw []byte) (parts []Part, open byte, err error) {
	open, err = Each(raw, func(p Part) { parts = append(parts, p) })
	return parts, open, err
}

// Each calls fn with the parts that Split finds.
func Each(raw []byte, fn func(Part)) (open byte, err error) {
	i := space(raw, 0)
	if i >= len(raw) {
		return 0, errNotObject
	}
	if open = raw[i]; open != '{' && open != '[' {
		return open, nil
	}
	for i = space(raw, i+1); i >= len(raw) || raw[i] != open+2; i = space(raw, i) {
		if i < len(raw) && raw[i] == ',' {
			i = space(raw, i+1)
		}
		var p Part
		if open == '{' {
			end := End(raw, i)
			if p.Key, err = Text(raw[i:end]); err != nil {
				return open, err
			}
			i = space(raw, space(raw, end)+1) // behind the colon
		}
		if p.From, p.To = i, End(raw, i); p.To <= p.From {
			return open, errInvalid
		}
		fn(p)
		i = p.To
	}
	return open, nil
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
	const more = 8 // than a member's key and value
	size := more
	for _, m := range o {
		size += len(m.Key) + len(m.Value) + more
	}
	b := append(make([]byte, 0, size), '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(AppendQuote(b, m.Key), ':'), m.Value...)
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

// With is the object with a value for key: in the place of the one that it has, or at its end.
func (o Object) With(key string, value json.RawMessage) Object {
	o = slices.Clone(o)
	if i := slices.IndexFunc(o, func(m Member) bool { return m.Key == key }); i >= 0 {
		o[i].Value = value
		return o
	}
	return append(o, Member{key, value})
}

// Without is the object without the members of these names.
func (o Object) Without(keys ...string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return slices.Contains(keys, m.Key) })
}

// OneLine is JSON without line breaks, which would end a message. What is not valid stays as it is.
func OneLine(raw json.RawMessage) json.RawMessage {
	var line bytes.Buffer
	if bytes.ContainsAny(raw, "\r\n") && json.Compact(&line, raw) == nil {
		return line.Bytes()
	}
	return raw
}

// Flag tells whether the value of key is true.
func (o Object) Flag(key string) bool { return string(o.Get(key)) == "true" }

var errNotString = errors.New("not a JSON string")

// Text decodes a JSON string.
func Text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errNotString
	}
	if inner := raw[1 : len(raw)-1]; raw[len(raw)-1] == '"' && asIs(inner) {
		return shared(inner), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// shared is b as a string, of which there is one for all messages if most of them have it.
func shared(b []byte) string {
	switch string(b) {
	case "jsonrpc":
		return "jsonrpc"
	case "id":
		return "id"
	case "method":
		return "method"
	case "params":
		return "params"
	case "result":
		return "result"
	case "error":
		return "error"
	case "name":
		return "name"
	case "arguments":
		return "arguments"
	case "_meta":
		return "_meta"
	case "content":
		return "content"
	case "type":
		return "type"
	case "text":
		return "text"
	case "isError":
		return "isError"
	case "tools/call":
		return "tools/call"
	}
	return string(b)
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
func Quote(s string) json.RawMessage { return AppendQuote(make([]byte, 0, len(s)+2), s) }

// AppendQuote appends s as Quote returns it.
func AppendQuote(b []byte, s string) []byte {
	if plain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	quoted, _ := Encode(s, "") // every string has its JSON
	return append(b, quoted...)
}

// plain reports whether s is of such characters alone as no reader of JSON mistakes.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Encode is the JSON of a value without the escapes meant for HTML: on one line, or with each
// level indented.
func Encode(v any, indent string) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
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
