package catalogue

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// entryDescription is the part of a description that all clients are known to read, in
// characters.
const entryDescription = 2000

// renamer replaces the names of tools and prompts in texts by exposed ones.
type renamer struct {
	exposed map[string]string // by the names to replace
	lengths []int             // of these names, longest first
}

func newRenamer(exposed map[string]string) *renamer {
	r := &renamer{exposed: map[string]string{}}
	for name, shown := range exposed {
		if name != shown {
			r.exposed[name] = shown
			r.lengths = append(r.lengths, len(name))
		}
	}
	slices.Sort(r.lengths)
	r.lengths = slices.Compact(r.lengths)
	slices.Reverse(r.lengths)
	return r
}

// text rewrites s in one pass. A name with an underscore or a hyphen is replaced wherever
// it is a whole word. A name that could be an ordinary word is replaced only where it
// is meant as a name: alone in backticks, before a parenthesis, or as an item
// of a list that begins with "Tools:" or "Also:".
func (r *renamer) text(s string) string {
	if len(r.lengths) == 0 {
		return s
	}
	var b strings.Builder
	last := 0
	for i := 0; i < len(s); {
		name := r.at(s, i)
		if name == "" {
			i++
			continue
		}
		b.WriteString(s[last:i])
		b.WriteString(r.exposed[name])
		i += len(name)
		last = i
	}
	if last == 0 {
		return s
	}
	b.WriteString(s[last:])
	return b.String()
}

// at returns the name to replace at i, or "".
func (r *renamer) at(s string, i int) string {
	if i > 0 && wordByte(s[i-1]) {
		return ""
	}
	for _, n := range r.lengths { // one look-up each, however many names there are
		if n > len(s)-i {
			continue
		}
		name, end := s[i:i+n], i+n
		if _, ok := r.exposed[name]; !ok || end < len(s) && wordByte(s[end]) {
			continue
		}
		hyphened := strings.Contains(name, "-")
		if hyphened && (i > 0 && s[i-1] == '-' || end < len(s) && s[end] == '-') {
			continue // part of another name
		}
		if hyphened || strings.Contains(name, "_") || meantAsName(s, i, end) {
			return name
		}
	}
	return ""
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func meantAsName(s string, i, end int) bool {
	if end < len(s) && s[end] == '(' {
		return true
	}
	if i > 0 && s[i-1] == '`' && end < len(s) && s[end] == '`' {
		return true
	}
	line := s[strings.LastIndexByte(s[:i], '\n')+1 : i]
	before := strings.TrimLeft(line, " \t-*")
	if !strings.HasPrefix(before, "Tools:") && !strings.HasPrefix(before, "Also:") {
		return false
	}
	item := strings.TrimSpace(before[strings.IndexByte(before, ':')+1:])
	if item != "" && !strings.HasSuffix(item, ",") {
		return false
	}
	rest := strings.TrimLeft(s[end:], " \t")
	return rest == "" || strings.ContainsRune(",.;\r\n", rune(rest[0]))
}

// schema rewrites the descriptions in a JSON schema and keeps all other bytes.
func (r *renamer) schema(raw json.RawMessage) json.RawMessage {
	if len(r.lengths) == 0 {
		return raw
	}
	var b bytes.Buffer
	r.walk(&b, raw, false, 0)
	return b.Bytes()
}

// deepest is the depth to which a schema is rewritten: each level is read once for every
// level above it.
const deepest = 100

// walk copies raw to b. It is a schema or a list of schemas or, if named, an object
// whose keys are names and whose values are schemas.
func (r *renamer) walk(b *bytes.Buffer, raw []byte, named bool, depth int) {
	if depth > deepest {
		b.Write(raw)
		return
	}
	parts, _, err := rawjson.Split(raw)
	if err != nil {
		b.Write(raw)
		return
	}
	at := 0
	for _, p := range parts {
		b.Write(raw[at:p.From])
		at = p.To
		key := p.Key
		if named {
			key = ""
		}
		r.value(b, key, raw[p.From:p.To], depth+1)
	}
	b.Write(raw[at:])
}

// value copies the value of a schema's key, and rewrites a description.
func (r *renamer) value(b *bytes.Buffer, key string, raw []byte, depth int) {
	switch holds := holdsOf(key); {
	case key == "description":
		b.Write(r.quoted(raw))
	case holds == values:
		b.Write(raw)
	default:
		r.walk(b, raw, holds == schemasByName, depth)
	}
}

// cutSentence cuts s to at most n characters, after a sentence if possible, and marks
// the cut.
func cutSentence(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	const mark = " […]"
	s = sanitize.First(s, n-utf8.RuneCountInString(mark))
	end := -1
	for _, stop := range []string{". ", ".\n", "! ", "? "} {
		end = max(end, strings.LastIndex(s, stop))
	}
	if end > 0 {
		s = s[:end+1]
	}
	return strings.TrimSpace(s) + mark
}
