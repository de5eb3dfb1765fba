// Package redact takes out of a tool call's arguments and result what a log
// must not keep: secrets, remembered values, long contents, pictures.
package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// Rules say how much is kept. The zero value keeps everything but what the
// package comment names.
type Rules struct {
	// ShapeOnly keeps keys and types and the length of texts, no values.
	ShapeOnly bool
}

const (
	maxDepth   = 200
	keptNote   = 200     // runes of a note's content
	blobLength = 1024    // from here on a text of base64 alone is taken for a picture
	nestedJSON = 1 << 20 // bytes of JSON inside a text that are looked into
)

// Body returns what may be kept of a call's arguments, or of its result when
// result is set. The order of keys and the spelling of numbers stay. A body
// that is no JSON becomes a JSON string that says so.
func (r Rules) Body(tool string, result bool, body json.RawMessage) json.RawMessage {
	w := walker{rules: r, tool: tool, result: result}
	if tool == "manage_memory" && result {
		w.holds = holdsValue(body)
	}
	if err := w.walk(body); err != nil {
		return quote(fmt.Sprintf("[not JSON, %d bytes]", len(body)))
	}
	return w.out.Bytes()
}

// walker copies one JSON value from in to out.
type walker struct {
	rules  Rules
	tool   string
	result bool
	holds  bool // a result of manage_memory with a remembered value in it
	inner  bool // the value was found inside a text
	in     *json.Decoder
	out    bytes.Buffer
	path   []string // keys on the way here; "" for an array
	taken  int      // values that were not kept as they were
}

func (w *walker) walk(body []byte) error {
	w.in = json.NewDecoder(bytes.NewReader(body))
	w.in.UseNumber()
	if err := w.value(false); err != nil {
		return err
	}
	if _, err := w.in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// instead writes a text in place of a value.
func (w *walker) instead(text string) {
	w.taken++
	w.out.Write(quote(text))
}

// value copies the next value; secret means that a key on the way names one.
func (w *walker) value(secret bool) error {
	if len(w.path) > maxDepth {
		var skip json.RawMessage
		if err := w.in.Decode(&skip); err != nil {
			return err
		}
		w.instead("[too deep]")
		return nil
	}
	t, err := w.in.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return w.object(secret)
		}
		return w.array(secret)
	case string:
		if kept := w.text(t, secret); kept != t {
			w.instead(kept)
		} else {
			w.out.Write(quote(t))
		}
	case json.Number:
		switch {
		case w.rules.ShapeOnly:
			w.instead("[number]")
		case secret:
			w.instead("[redacted]")
		default:
			w.out.WriteString(t.String())
		}
	case bool:
		if w.rules.ShapeOnly {
			w.instead("[boolean]")
		} else {
			fmt.Fprint(&w.out, t)
		}
	default:
		w.out.WriteString("null")
	}
	return nil
}

func (w *walker) object(secret bool) error {
	w.out.WriteByte('{')
	for n := 0; w.in.More(); n++ {
		t, err := w.in.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder allows nothing else
		if n > 0 {
			w.out.WriteByte(',')
		}
		w.out.Write(quote(key))
		w.out.WriteByte(':')
		w.path = append(w.path, key)
		if err := w.value(secret || isSecret(key)); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.out.WriteByte('}')
	_, err := w.in.Token()
	return err
}

func (w *walker) array(secret bool) error {
	w.out.WriteByte('[')
	w.path = append(w.path, "")
	for n := 0; w.in.More(); n++ {
		if n > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(secret); err != nil {
			return err
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.out.WriteByte(']')
	_, err := w.in.Token()
	return err
}

// text returns what is kept of a text.
func (w *walker) text(s string, secret bool) string {
	n := utf8.RuneCountInString(s)
	switch {
	case w.rules.ShapeOnly && !w.structural():
		return fmt.Sprintf("[text, %d characters]", n)
	case secret && !isPlaceholder(s):
		return "[redacted]"
	case w.isMemory():
		return fmt.Sprintf("[redacted, %d characters]", n)
	case w.tool == "haunt_desktop" && !w.result && w.at("content") && n > keptNote:
		return plain.Cut(s, keptNote) + fmt.Sprintf(" [%d characters in all]", n)
	}
	if b, ok := w.blob(s); ok {
		sum := sha256.Sum256(b)
		return fmt.Sprintf("[%d bytes, sha256 %s]", len(b), hex.EncodeToString(sum[:]))
	}
	// A structured result is often repeated as text.
	if start := strings.TrimLeft(s, " \t\r\n"); !w.inner && len(s) <= nestedJSON && start != "" && (start[0] == '{' || start[0] == '[') {
		in := walker{rules: w.rules, result: w.result, inner: true}
		if in.walk([]byte(s)) == nil && in.taken > 0 {
			return in.out.String()
		}
	}
	return s
}

// at tells whether the walker stands at the path.
func (w *walker) at(path ...string) bool { return slices.Equal(w.path, path) }

// structural texts of a result say what kind of thing a block is.
func (w *walker) structural() bool {
	return w.result && (w.at("content", "", "type") || w.at("content", "", "mimeType"))
}

// holdsValue tells whether a result of manage_memory is neither an error nor
// the news that there is no value.
func holdsValue(result []byte) bool {
	var r struct {
		IsError           bool
		StructuredContent struct{ Found *bool }
	}
	if json.Unmarshal(result, &r) != nil {
		return true
	}
	return !r.IsError && (r.StructuredContent.Found == nil || *r.StructuredContent.Found)
}

// isMemory tells whether the walker is at a value of manage_memory or at a text
// that repeats it.
func (w *walker) isMemory() bool {
	if w.tool != "manage_memory" {
		return false
	}
	if !w.result {
		return w.at("value")
	}
	if w.at("content", "", "text") {
		return w.holds
	}
	return w.at("structuredContent", "value")
}

// blob returns the bytes of a picture or other binary that s carries.
func (w *walker) blob(s string) ([]byte, bool) {
	if head, rest, ok := strings.Cut(s, ";base64,"); ok && len(head) < 100 && strings.HasPrefix(head, "data:") {
		b, err := base64.StdEncoding.DecodeString(rest)
		return b, err == nil
	}
	named := len(w.path) > 0 && (w.path[len(w.path)-1] == "data" || w.path[len(w.path)-1] == "blob")
	if len(s) < blobLength && (!named || len(s) < 40) || len(s)%4 != 0 {
		return nil, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	return b, err == nil && !strings.ContainsAny(s, "\r\n")
}

// isSecret tells whether a key names something that must not be kept.
func isSecret(key string) bool {
	k := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
	switch k {
	case "auth", "pass", "pwd", "otp":
		return true
	}
	if strings.HasSuffix(k, "token") {
		return k != "progresstoken"
	}
	for _, part := range [...]string{
		"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "credential", "authorization", "cookie", "bearer",
	} {
		if strings.Contains(k, part) {
			return true
		}
	}
	return false
}

// isPlaceholder tells whether s is a name in braces, as pixel art has for its
// colour tokens.
func isPlaceholder(s string) bool {
	return len(s) <= 64 && strings.HasPrefix(s, "{") && strings.IndexByte(s, '}') == len(s)-1
}

// quote is s as JSON, with signs like < as they are.
func quote(s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
