// Package redact removes from texts, and from a tool call's arguments and result,
// what a log must not keep: secrets, remembered values, long contents and pictures.
//
// A secret is found by its name, by its form, or because it is [Known].
package redact

import (
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

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
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
	keptNote   = 200     // runes of a note's content
	blobLength = 1024    // from here on a text of base64 alone is taken for a picture
	leastBlob  = 40      // from here on where its name says that it is data
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

// Named returns the texts in a JSON value that are secrets by what they, or objects around
// them, are called. A line of the value does not say that by itself.
func Named(value []byte) []string {
	var w walker
	w.walk(value)
	return w.named
}

func (r Rules) words(s string, plainTokens bool) string {
	if r.Known != nil {
		if known := r.Known.find.Load(); known != nil {
			s = known.Replace(s)
		}
	}
	// No name of a secret is shorter than otp, as in otp=x. Most texts have no such name
	// and nothing of its form.
	if len(s) < 5 || !mayBeSecret(s) && len(theSearch().find(s)) == 0 {
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
	// Bare leaves out what a result says of the answer itself: _meta, and that it is complete.
	Bare bool
}

// Kept is what may be kept of a body.
type Kept struct {
	Body   json.RawMessage
	Line   string  // of arguments, names and values; of a result, its first text, else its kind, or an error
	Images []Image // in the content of a result, as they came: for the screen alone
}

// Image is a picture in a result.
type Image struct{ MIME, Data string } // base64

// lineLength is how many runes a line has at most.
const lineLength = 200

// Body returns what [Rules.Keep] keeps of a body.
func (r Rules) Body(kind Kind, result bool, body json.RawMessage) json.RawMessage {
	return r.Keep(kind, result, body).Body
}

// Keep returns what may be kept of a call's arguments, or of its result when
// result is set, and describes it. The order of keys and the spelling of numbers
// stay. A body that is no JSON becomes a JSON string that says so.
func (r Rules) Keep(kind Kind, result bool, body json.RawMessage) Kept {
	w := walker{rules: r, kind: kind, result: result, plainTokens: kind.Colours, out: make([]byte, 0, len(body))}
	if kind.Keep != nil && result {
		w.holds = holdsValue(body)
	}
	if !w.walk(body) {
		w.instead("[not JSON, " + humanize.Count(len(body), "byte") + "]")
	}
	if c := w.out[0]; c != '{' && c != 'n' && !result {
		w.line = string(w.out[:min(len(w.out), 4*lineLength)])
	}
	return Kept{w.out, sanitize.Cut(sanitize.ShownLine(w.line), lineLength), w.images}
}

// text returns what is kept of a text.
func (w *walker) text(s string, secret bool) string {
	// Also a key to remember something by is the caller's.
	secret = secret || (w.kind.Keep != nil && !strings.Contains(s, " ") || w.plainTokens && isPlain(w.name())) && isRandom(s)
	switch {
	case w.rules.ShapeOnly && !w.structural():
		return "[text, " + humanize.Count(utf8.RuneCountInString(s), "character") + "]"
	case secret && !isReference(s) && !isType(s) && !w.isFolder(s) && !(w.ofColours() && isEnglish(s)) && !isLexeme(w.name(), s) && !isLabel(w.name(), s):
		w.named = append(w.named, s)
		return hidden
	case w.isMemory():
		return "[redacted, " + humanize.Count(utf8.RuneCountInString(s), "character") + "]"
	case w.kind.Abridge != "" && !w.result && w.at(w.kind.Abridge):
		if n := utf8.RuneCountInString(s); n > keptNote {
			return sanitize.Cut(s, keptNote) + " [" + humanize.Count(n, "character") + " in total]"
		}
	}
	if len(s) >= leastBlob || strings.HasPrefix(s, "data:") {
		if b, ok := w.blob(s); ok {
			sum := sha256.Sum256(b)
			return fmt.Sprintf("[%s, sha256 %s]", humanize.Count(len(b), "byte"), hex.EncodeToString(sum[:]))
		}
	}
	// A structured result is often repeated as text.
	if s != "" && strings.IndexByte(" \t\r\n{[\"", s[0]) >= 0 {
		if in, ok := w.nested(s); ok {
			return in
		}
	}
	return w.rules.words(s, w.plainTokens)
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
		return string(in.out), true
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
	return strings.EqualFold(w.name(), "pwd") && strings.HasPrefix(s, "/")
}

// name is the key that the walker is at, "" in an array and "-" at the top.
func (w *walker) name() string {
	if len(w.path) == 0 {
		return "-"
	}
	return w.path[len(w.path)-1]
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
	named := w.name() == "data" || w.name() == "blob"
	if len(s) < blobLength && (!named || len(s) < leastBlob) || len(s)%4 != 0 {
		return nil, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	return b, err == nil && !strings.ContainsAny(s, "\r\n")
}
