package pencil

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// member is one member of a JSON object: the key decoded, the value as it
// was received.
type member struct {
	key   string
	value json.RawMessage
}

// object is the members of a JSON object in the order received. Unlike
// encoding/json it tells "Name" from "name", so that what the deck checks is
// what the other side reads.
type object []member

var errNotObject = errors.New("not a JSON object")

// parseObject splits a JSON object without copying its values. It refuses
// duplicate keys, whose meaning differs between readers.
func parseObject(raw []byte) (object, error) {
	if !json.Valid(raw) {
		return nil, errors.New("not valid JSON")
	}
	return splitObject(raw)
}

// splitObject is parseObject for bytes known to be valid JSON.
func splitObject(raw []byte) (object, error) {
	parts, open, err := split(raw)
	if err != nil {
		return nil, err
	}
	if open != '{' {
		return nil, errNotObject
	}
	o := make(object, 0, len(parts))
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		if seen[p.key] {
			return nil, fmt.Errorf("duplicate key %q", p.key)
		}
		seen[p.key] = true
		o = append(o, member{key: p.key, value: raw[p.from:p.to:p.to]})
	}
	return o, nil
}

// splitArray returns the elements of a valid JSON array, not copied; false
// when raw is something else.
func splitArray(raw []byte) ([]json.RawMessage, bool) {
	parts, open, err := split(raw)
	if err != nil || open != '[' {
		return nil, false
	}
	out := make([]json.RawMessage, len(parts))
	for i, p := range parts {
		out[i] = raw[p.from:p.to:p.to]
	}
	return out, true
}

// part is where a member's or an element's value lies.
type part struct {
	key      string
	from, to int
}

// split finds the parts of the valid JSON object or array raw, in order. open
// is its first byte; for any other value there are no parts.
func split(raw []byte) (parts []part, open byte, err error) {
	i := space(raw, 0)
	if i >= len(raw) {
		return nil, 0, errNotObject
	}
	open = raw[i]
	if open != '{' && open != '[' {
		return nil, open, nil
	}
	for i = space(raw, i+1); raw[i] != open+2; i = space(raw, i) {
		if raw[i] == ',' {
			i = space(raw, i+1)
		}
		var p part
		if open == '{' {
			end := skip(raw, i)
			if p.key, err = text(raw[i:end]); err != nil {
				return nil, open, err
			}
			i = space(raw, space(raw, end)+1) // behind the colon
		}
		p.from, p.to = i, skip(raw, i)
		parts = append(parts, p)
		i = p.to
	}
	return parts, open, nil
}

// get returns the value of key, nil when there is none.
func (o object) get(key string) json.RawMessage {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// str returns the value of key when it is a string, else "".
func (o object) str(key string) string {
	s, err := text(o.get(key))
	if err != nil {
		return ""
	}
	return s
}

// flag tells whether the value of key is true.
func (o object) flag(key string) bool { return string(o.get(key)) == "true" }

// text decodes a JSON string.
func text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errors.New("not a JSON string")
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// quote is s as a JSON string, without the escapes meant for HTML.
func quote(s string) json.RawMessage {
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

// skip returns the index behind the value that starts at i in valid JSON.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; ; {
			switch b[i] {
			case '"':
				i = skipString(b, i)
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
	}
	for i < len(b) && bytes.IndexByte([]byte(",]} \n\t\r"), b[i]) < 0 {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
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
