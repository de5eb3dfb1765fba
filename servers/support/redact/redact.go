// Package redact removes from texts, and from a tool call's arguments and result,
// what a log must not keep: secrets, remembered values, long contents and pictures.
//
// A secret is found by its name, by its form, or because it is [Known].
package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Rules say how much is kept. The zero value keeps everything but what the
// package comment names.
type Rules struct {
	// ShapeOnly keeps keys and types and the length of texts, no values.
	ShapeOnly bool
	// Known are values to take out wherever they are; nil for none.
	Known *Known
}

const (
	maxDepth   = 200
	keptNote   = 200     // runes of a note's content
	blobLength = 1024    // from here on a text of base64 alone is taken for a picture
	nestedJSON = 1 << 20 // bytes of JSON inside a text that are looked into
	mostNested = 4       // texts of JSON inside each other

	hidden = "[redacted]"
)

// standIn is what stands for what was left out of a body.
var standIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[(redacted|number|boolean)\]|\[(redacted|text), \d+ characters\]|\[not JSON, \d+ bytes\]|\[\d+ characters in total\]|\[\d+ bytes, sha256 [0-9a-f]{64}\]`)
})

// Whole reports whether nothing was left out of a redacted body.
func Whole(body []byte) bool { return !standIn().Match(body) }

// Text returns s without the secrets in it, for logs, errors and the clipboard.
func (r Rules) Text(s string) string {
	w := walker{rules: Rules{Known: r.Known}}
	if in, ok := w.nested(s); ok {
		return in
	}
	return r.words(s, false)
}

func (r Rules) words(s string, plainTokens bool) string {
	s = r.Known.hide(s)
	if len(s) < 5 { // x=y, and no name of a secret is shorter than otp
		return s
	}
	s = found(s, plainTokens)
	if like := fold(s); like != s {
		if kept := found(like, plainTokens); kept != like {
			return kept
		}
	}
	return s
}

func found(s string, plainTokens bool) string {
	// One after the other, so that what one leaves whole the next can find.
	s = hide(s, keys(s))
	s = hide(s, assigned(s, plainTokens))
	return hide(s, theSearch().find(s))
}

// Kind is what the calls of a tool carry that those of others do not. The zero value
// is any tool's.
type Kind struct {
	// Keep, unless it is nil, are the only arguments that are kept: the others, and
	// the value of the result, are the user's to remember.
	Keep []string
	// Abridge is the argument of which the beginning is kept; "": none.
	Abridge string
	// Colours says that what is called a token is a colour.
	Colours bool
}

// Body returns what may be kept of a call's arguments, or of its result when
// result is set. The order of keys and the spelling of numbers stay. A body
// that is no JSON becomes a JSON string that says so.
func (r Rules) Body(kind Kind, result bool, body json.RawMessage) json.RawMessage {
	w := walker{rules: r, kind: kind, result: result, plainTokens: kind.Colours}
	if kind.Keep != nil && result {
		w.holds = holdsValue(body)
	}
	if !w.walk(body) {
		return quote(fmt.Sprintf("[not JSON, %d bytes]", len(body)))
	}
	return w.out.Bytes()
}

// walker copies one JSON value from in to out.
type walker struct {
	rules  Rules
	kind   Kind
	result bool
	holds  bool // its result has a remembered value in it
	inner  int  // texts that the value was found inside of
	in     []byte
	next   int // where in is read
	out    bytes.Buffer
	path   []string // keys on the way here; "" for an array
	taken  int      // values that were not kept as they were

	plainTokens bool // a token is a colour here
}

// walk copies body, false if it is no JSON.
func (w *walker) walk(body []byte) bool {
	if !json.Valid(body) {
		return false
	}
	w.in, w.next = body, 0
	w.value(false)
	return true
}

// peek returns the sign with which the next value, key or end begins.
func (w *walker) peek() byte {
	for strings.IndexByte(" \t\r\n,:", w.in[w.next]) >= 0 {
		w.next++
	}
	return w.in[w.next]
}

// raw takes the next value as it stands.
func (w *walker) raw() []byte {
	w.peek()
	from := w.next
	w.next = rawjson.End(w.in, from)
	return w.in[from:w.next]
}

// instead writes a text in place of a value.
func (w *walker) instead(text string) {
	w.taken++
	w.out.Write(quote(text))
}

// value copies the next value; secret means that a key on the way names one.
func (w *walker) value(secret bool) {
	if len(w.path) > maxDepth {
		w.raw()
		w.instead("[too deep]")
		return
	}
	switch w.peek() {
	case '{':
		w.object(secret)
	case '[':
		w.array(secret)
	case '"':
		text, _ := rawjson.Text(w.raw()) // it is valid
		if kept := w.text(text, secret); kept != text {
			w.instead(kept)
		} else {
			w.out.Write(quote(text))
		}
	case 't', 'f':
		if b := w.raw(); w.rules.ShapeOnly {
			w.instead("[boolean]")
		} else {
			w.out.Write(b)
		}
	case 'n':
		w.out.Write(w.raw())
	default:
		switch b := w.raw(); {
		case w.rules.ShapeOnly:
			w.instead("[number]")
		case (secret && !w.ofColours() || w.isMemory()) && !w.under("pass") && !w.counts(): // so many tests did
			w.instead(hidden)
		default:
			w.out.Write(b)
		}
	}
}

func (w *walker) object(secret bool) {
	w.next++
	w.out.WriteByte('{')
	schema := w.under("properties")
	var p pair
	for n := 0; w.peek() != '}'; n++ {
		key, _ := rawjson.Text(w.raw()) // it is valid
		if n > 0 {
			w.out.WriteByte(',')
		}
		shown := w.rules.words(key, w.plainTokens)
		if shown != key {
			w.taken++
		}
		w.out.Write(quote(shown))
		w.out.WriteByte(':')
		w.path = append(w.path, key)
		from := w.out.Len()
		// What a schema says of a password is no password.
		object := schema && w.peek() == '{'
		w.value(secret || !object && secretName(key, w.plainTokens))
		p.take(key, span{from, w.out.Len()}, w)
		w.path = w.path[:len(w.path)-1]
	}
	w.next++
	w.hidePair(p)
	w.out.WriteByte('}')
}

func (w *walker) array(secret bool) {
	w.next++
	w.out.WriteByte('[')
	inList, headers := w.under(""), w.underHeaders()
	w.path = append(w.path, "")
	var p pair
	option, n := false, 0
	command := "" // what the list says as a line
	for ; w.peek() != ']'; n++ {
		if n > 0 {
			w.out.WriteByte(',')
		}
		from := w.out.Len()
		w.value(secret || option)
		said := w.said(span{from, w.out.Len()})
		if command = w.argument(command, said, from); command != "" {
			said = w.said(span{from, w.out.Len()})
		}
		last := span{from, w.out.Len()}
		option = (strings.HasPrefix(said, "-") && !strings.Contains(said, "=") || headers && n%2 == 0 && likeHeader(said)) && secretName(said, w.plainTokens)
		if n == 0 {
			p.named = inList && secretName(said, w.plainTokens)
		} else {
			p.values = []span{last}
		}
	}
	w.next++
	if n == 2 { // a name and its value
		w.hidePair(p)
	}
	w.path = w.path[:len(w.path)-1]
	w.out.WriteByte(']')
}

// longestCommand is how much of a list is taken for a command, in bytes.
const longestCommand = 4 << 10

// argument takes what a list says, written at a place, for the next argument of
// a command, and hides what is a secret there. It returns the command with it, ""
// when the list is none.
func (w *walker) argument(command, said string, from int) string {
	if said == "" || len(command) > longestCommand || command == "" && from > 0 && w.out.Bytes()[from-1] != '[' {
		return ""
	}
	if command == "" || w.rules.ShapeOnly {
		return said
	}
	line := command + " " + said
	var found []span
	for _, s := range theSearch().find(line) {
		if s.from > len(command) {
			found = append(found, span{s.from - len(command) - 1, s.to - len(command) - 1})
		}
	}
	if len(found) > 0 {
		w.out.Truncate(from)
		w.instead(hide(said, found))
	}
	return line
}

// pair is what is known of an object that may name a secret in one member and
// hold it in another.
type pair struct {
	named  bool   // the name is a secret's
	values []span // of the output
}

func (p *pair) take(key string, at span, w *walker) {
	switch strings.ToLower(key) {
	case "name", "key", "id", "field", "header", "variable", "var", "param", "parameter", "label", "property", "k":
		p.named = p.named || secretName(w.said(at), w.plainTokens)
	case "type": // of a field in a form
		p.named = p.named || strings.EqualFold(w.said(at), "password")
	case "value", "val", "v", "values", "content", "text", "data", "custominput", "input", "default", "answer", "string":
		p.values = append(p.values, at)
	}
}

// said returns the short text that was written at a place, "" for anything else.
func (w *walker) said(at span) string {
	var s string
	b := w.out.Bytes()[at.from:at.to]
	if len(b) > 130 || len(b) < 2 || b[0] != '"' || json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}

// hidePair takes the values of a pair out of what was written.
func (w *walker) hidePair(p pair) {
	if !p.named {
		return
	}
	for _, at := range slices.Backward(p.values) {
		switch said := w.said(at); string(w.out.Bytes()[at.from:at.to]) {
		case "null", "true", "false", `""`:
			continue
		default:
			if said != "" && (isReference(said) || isType(said)) {
				continue
			}
		}
		rest := slices.Clone(w.out.Bytes()[at.to:])
		w.out.Truncate(at.from)
		w.instead(hidden)
		w.out.Write(rest)
	}
}

// text returns what is kept of a text.
func (w *walker) text(s string, secret bool) string {
	n := utf8.RuneCountInString(s)
	if isRandom(s) { // also a key to remember something by is the caller's
		secret = secret || w.kind.Keep != nil && !strings.Contains(s, " ") || w.plainTokens && len(w.path) > 0 && isPlain(w.path[len(w.path)-1])
	}
	switch {
	case w.rules.ShapeOnly && !w.structural():
		return fmt.Sprintf("[text, %d characters]", n)
	case secret && !isReference(s) && !isType(s) && !w.isFolder(s) && !(w.ofColours() && isEnglish(s)) && !w.isWord(s):
		return hidden
	case w.isMemory():
		return fmt.Sprintf("[redacted, %d characters]", n)
	case w.kind.Abridge != "" && !w.result && w.at(w.kind.Abridge) && n > keptNote:
		return sanitize.Cut(s, keptNote) + fmt.Sprintf(" [%d characters in total]", n)
	}
	if b, ok := w.blob(s); ok {
		sum := sha256.Sum256(b)
		return fmt.Sprintf("[%d bytes, sha256 %s]", len(b), hex.EncodeToString(sum[:]))
	}
	// A structured result is often repeated as text.
	if in, ok := w.nested(s); ok {
		return in
	}
	return w.rules.words(s, w.plainTokens)
}

// isWord tells of a text that its own name explains.
func (w *walker) isWord(s string) bool {
	if len(w.path) == 0 {
		return false
	}
	name := w.path[len(w.path)-1]
	return isLexeme(name, s) || isLabel(name, s)
}

// nested returns what is kept of a text that is JSON; false if it is none.
func (w *walker) nested(s string) (string, bool) {
	start := strings.TrimLeft(s, " \t\r\n")
	if w.inner == mostNested || len(s) > nestedJSON || start == "" || strings.IndexByte(`{["`, start[0]) < 0 {
		return "", false
	}
	in := walker{rules: w.rules, result: w.result, inner: w.inner + 1, plainTokens: w.plainTokens}
	switch {
	case !in.walk([]byte(s)):
		return "", false
	case in.taken > 0:
		return in.out.String(), true
	}
	return s, true
}

// ofColours reports whether a picture says this of its tokens, which may be called like secrets.
func (w *walker) ofColours() bool {
	return w.plainTokens && slices.ContainsFunc(w.path, func(key string) bool {
		switch key {
		case "regions", "colors", "palette", "palettes", "roles", "tokens", "relationships":
			return true
		}
		return false
	})
}

// isFolder reports whether it is the working folder under the name that a shell gives it,
// which is a short word for password, too.
func (w *walker) isFolder(s string) bool {
	return w.under("pwd") && strings.HasPrefix(s, "/")
}

// underHeaders reports whether the walker is at a list that may have headers and
// their values in turn.
func (w *walker) underHeaders() bool {
	return len(w.path) > 0 && strings.HasSuffix(strings.ToLower(w.path[len(w.path)-1]), "headers")
}

// counts reports whether the walker is at a number of tokens.
func (w *walker) counts() bool {
	return len(w.path) > 0 && strings.HasSuffix(strings.ToLower(w.path[len(w.path)-1]), "tokens")
}

// under reports whether the walker is at a member of that name, in any case.
func (w *walker) under(key string) bool {
	return len(w.path) > 0 && strings.EqualFold(w.path[len(w.path)-1], key)
}

// at reports whether the walker stands at the path.
func (w *walker) at(path ...string) bool { return slices.Equal(w.path, path) }

// structural texts of a result say what kind of thing a block is.
func (w *walker) structural() bool {
	return w.result && (w.at("content", "", "type") || w.at("content", "", "mimeType"))
}

// holdsValue reports whether a result that is a value is neither an error nor
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

// isMemory reports whether the walker is at a value to remember or at a text that
// repeats it. An argument that the tool does not know may be the value
// under a wrong name.
func (w *walker) isMemory() bool {
	if w.kind.Keep == nil {
		return false
	}
	if !w.result {
		return len(w.path) != 1 || !slices.Contains(w.kind.Keep, w.path[0])
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

// quote is s as JSON, with signs like < as they are.
func quote(s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	}
	return rawjson.Quote(s)
}
