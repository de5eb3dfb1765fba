package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

const (
	maxDepth       = 200
	longestCommand = 4 << 10 // of a list that is taken for one, in bytes
	longestName    = 128     // of what may name a secret
)

// walker copies one JSON value from in to out, and describes it.
type walker struct {
	rules  Rules
	kind   Kind
	result bool
	holds  bool // its result has a remembered value in it
	inner  int  // texts that the value was found inside of
	in     []byte
	next   int // where in is read
	out    []byte
	path   []string // keys on the way here; "" for an array
	taken  int      // values that were not kept as they were
	named  []string // texts that were hidden because of what they are called
	last   string   // text that was read last

	plainTokens bool // a token is a colour here

	line   string
	final  bool // the line is a text of the result
	images []Image
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

// read takes the next text, and reports whether it is spelled just so.
func (w *walker) read() (text string, plain bool) {
	from := w.next + 1
	inside := w.in[from : from+bytes.IndexByte(w.in[from:], '"')]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		w.next = from + len(inside) + 1
		return string(inside), true
	}
	w.next = rawjson.End(w.in, from-1)
	text, _ = rawjson.Text(w.in[from-1 : w.next]) // it is valid
	return text, false
}

// instead writes a text in place of a value.
func (w *walker) instead(text string) {
	w.taken++
	w.out = rawjson.AppendQuote(w.out, text)
}

// put writes what is kept of a text, which is read from a place on.
func (w *walker) put(text, kept string, plain bool, from int) {
	switch {
	case kept != text:
		w.instead(kept)
	case plain:
		w.out = append(w.out, w.in[from:w.next]...)
	default:
		w.out = rawjson.AppendQuote(w.out, text)
	}
}

// value copies the next value and returns the text that it became, "" for anything else;
// secret means that a key on the way names one.
func (w *walker) value(secret bool) (said string) {
	c, from := w.peek(), w.next
	switch {
	case len(w.path) > maxDepth:
		w.next = rawjson.End(w.in, from)
		w.instead("[too deep]")
		return ""
	case c == '{':
		w.object(secret)
		return ""
	case c == '[':
		w.array(secret)
		return ""
	case c == '"':
		text, plain := w.read()
		w.last = text
		said = w.text(text, secret)
		w.put(text, said, plain, from)
		return said
	}
	if w.next = len(w.in); len(w.path) > 0 {
		w.next = from + bytes.IndexAny(w.in[from:], ",]} \t\r\n")
	}
	logical := c == 't' || c == 'f'
	switch {
	case c == 'n':
	case w.rules.ShapeOnly && logical:
		w.instead("[boolean]")
		return ""
	case w.rules.ShapeOnly:
		w.instead("[number]")
		return ""
	case logical:
	case (secret && !w.ofColours() || w.isMemory()) && !strings.EqualFold(w.name(), "pass") && !strings.HasSuffix(strings.ToLower(w.name()), "tokens"): // so many tests did
		w.instead(hidden)
		return ""
	}
	w.out = append(w.out, bytes.TrimRight(w.in[from:w.next], " \t\r\n")...)
	return ""
}

func (w *walker) object(secret bool) {
	w.next++
	w.out = append(w.out, '{')
	schema, top := strings.EqualFold(w.name(), "properties"), w.inner == 0 && len(w.path) == 0
	m := members{from: len(w.out)}
	for w.peek() != '}' {
		start := len(w.out)
		at := span{from: w.next}
		key, plain := w.read()
		if start > m.from {
			w.out = append(w.out, ',')
		}
		shown := w.rules.words(key, w.plainTokens)
		w.put(key, shown, plain, at.from)
		w.out = append(w.out, ':')
		w.path = append(w.path, key)
		at.from = len(w.out)
		// What a schema says of a password is no password.
		object := schema && w.peek() == '{'
		said := w.value(secret || !object && secretName(key, w.plainTokens))
		w.path = w.path[:len(w.path)-1]
		if top && w.kind.Bare && w.result && (key == "_meta" || key == "resultType" && said == "complete") {
			w.out = w.out[:start]
			continue
		}
		at.to = len(w.out)
		m.take(key, said, at, w)
		switch {
		case !top || w.result && (key != "error" || w.line != ""):
		case w.result:
			w.line = said
		case len(w.line) < 8*lineLength:
			if w.out[at.from] != '"' {
				said = string(w.out[at.from:min(at.to, at.from+4*lineLength)])
			}
			if start > m.from {
				w.line += " "
			}
			w.line += sanitize.Cut(shown, lineLength) + "=" + sanitize.Cut(said, lineLength)
		}
	}
	w.next++
	hid := m.named && w.hidePair(m.values)
	w.out = append(w.out, '}')
	switch {
	case hid && top && !w.result:
		again := walker{}
		again.walk(w.out)
		w.line = again.line
	case w.result && w.inner == 0 && w.at("content", ""):
		w.block(m, hid)
	}
}

// block describes a block of a result's content.
func (w *walker) block(m members, hid bool) {
	switch {
	case m.kind == "image":
		w.images = append(w.images, Image{m.mime, m.data})
	case m.kind != "text" || w.final:
	case hid:
		w.line, w.final = hidden, true
	default:
		w.line, w.final = m.text, true
	}
	if !w.final && w.line == "" {
		w.line = m.kind + " " + m.mime
	}
}

func (w *walker) array(secret bool) {
	w.next++
	w.out = append(w.out, '[')
	// A list may have headers and their values in turn.
	inList, headers := w.name() == "", strings.HasSuffix(strings.ToLower(w.name()), "headers")
	w.path = append(w.path, "")
	var m members
	option, n := false, 0
	command := "" // what the list says as a line
	for ; w.peek() != ']'; n++ {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		at := span{from: len(w.out)}
		said := w.value(secret || option)
		if len(said) > longestName {
			said = ""
		}
		switch {
		case said == "" || len(command) > longestCommand || command == "" && n > 0:
			command = ""
		case command == "" || w.rules.ShapeOnly:
			command = said
		default:
			command, said = w.argument(command, said, at.from)
		}
		at.to = len(w.out)
		option = (strings.HasPrefix(said, "-") && !strings.Contains(said, "=") || headers && n%2 == 0 && likeHeader(said)) && secretName(said, w.plainTokens)
		if n == 0 {
			m.named = inList && secretName(said, w.plainTokens)
		} else {
			m.values = []held{{at, said}}
		}
	}
	w.next++
	if n == 2 && m.named { // a name and its value
		w.hidePair(m.values)
	}
	w.path = w.path[:len(w.path)-1]
	w.out = append(w.out, ']')
}

// argument takes what a list says, written at a place, for the next argument of
// a command, and hides what is a secret there. It returns the command with it,
// and what the list says then.
func (w *walker) argument(command, said string, from int) (line, kept string) {
	line = command + " " + said
	var found []span
	for _, s := range theSearch().find(line) {
		if s.from > len(command) {
			found = append(found, span{s.from - len(command) - 1, s.to - len(command) - 1})
		}
	}
	if len(found) > 0 {
		said = hide(said, found)
		w.out = w.out[:from]
		w.instead(said)
	}
	return line, said
}

// members is what is known of an object, which may name a secret in one member and
// hold it in another, or be a block of content.
type members struct {
	from                   int  // where they are written
	named                  bool // the name is a secret's
	values                 []held
	kind, text, mime, data string // of a block; the data is as it came
}

// held is a value that may be a secret.
type held struct {
	span        // of the output
	said string // "" for anything but a short text
}

func (m *members) take(key, said string, at span, w *walker) {
	switch key {
	case "text":
		m.text = said
	case "mimeType":
		m.mime = said
	case "data":
		if said != "" {
			m.data = w.last
		}
	}
	if len(said) > longestName {
		said = ""
	}
	switch strings.ToLower(key) {
	case "name", "key", "id", "field", "header", "variable", "var", "param", "parameter", "label", "property", "k":
		m.named = m.named || secretName(said, w.plainTokens)
	case "type": // of a field in a form
		m.kind, m.named = said, m.named || strings.EqualFold(said, "password")
	case "value", "val", "v", "values", "content", "text", "data", "custominput", "input", "default", "answer", "string":
		m.values = append(m.values, held{at, said})
	}
}

// hidePair takes the values of a pair out of what was written, and reports whether there
// were any.
func (w *walker) hidePair(values []held) (hid bool) {
	for _, v := range slices.Backward(values) {
		switch string(w.out[v.from:v.to]) {
		case "null", "true", "false", `""`:
			continue
		}
		if v.said != "" && (isReference(v.said) || isType(v.said)) {
			continue
		}
		w.named = append(w.named, v.said)
		rest := slices.Clone(w.out[v.to:])
		w.out = w.out[:v.from]
		w.instead(hidden)
		w.out = append(w.out, rest...)
		hid = true
	}
	return hid
}
