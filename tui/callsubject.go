package tui

import (
	"encoding/json"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// CallSubject is what a person would say a call was about: the question of an ask, the
// file, the command, or what else its arguments name first. A list draws many at once, so
// that arguments, which are cut there, are scanned and not decoded.
func CallSubject(c *snapshot.Call) string {
	if q := Question(c); q != "" {
		return q
	}
	s, object := strings.CutPrefix(c.Args, "{")
	if !object {
		return sanitize.Line(c.Args)
	}
	best, rank, rest := "", 1<<10, ""
	for {
		name, value, after, ok := member(s)
		if !ok {
			break
		}
		s = after
		switch i := subjectRank(name); {
		case value == "":
		case i < rank:
			best, rank = value, i
		case rest == "":
			rest = value
		default:
			rest += " " + value
		}
	}
	if best != "" {
		return sanitize.Line(best)
	}
	return sanitize.Line(rest)
}

// subjectRank orders the arguments that say what a call is about: the lower, the better.
func subjectRank(name string) int {
	switch name {
	case "command", "cmd":
		return 0
	case "query", "pattern":
		return 1
	case "file_path", "filePath", "path", "file", "filename":
		return 2
	case "uri", "url", "title", "name", "prompt":
		return 3
	}
	return 1 << 10
}

// member takes the next member off the inside of an object, which may be cut anywhere: its
// name, and what is said of its value. That is "" of an object, of a truth and of nothing.
func member(s string) (name, value, rest string, ok bool) {
	s = strings.TrimLeft(s, " ,")
	if !strings.HasPrefix(s, `"`) {
		return "", "", "", false
	}
	end := endOfValue(s)
	if end == len(s) {
		return "", "", "", false
	}
	name, s = s[1:end-1], strings.TrimLeft(s[end:], " :")
	if end = endOfValue(s); end == 0 {
		return "", "", "", false
	}
	value, rest = s[:end], s[end:]
	switch value[0] {
	case '"':
		return name, unquoted(value), rest, true
	case '[':
		return name, strings.ReplaceAll(strings.ReplaceAll(strings.Trim(value, "[]"), `"`, ""), ",", ", "), rest, true
	case '{', 't', 'f', 'n':
		return name, "", rest, true
	}
	return name, value, rest, true
}

// endOfValue is where the JSON value that s begins with ends; the length of s if it is cut.
func endOfValue(s string) int {
	depth, text := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			if text = !text; !text && depth == 0 {
				return i + 1
			}
		case text:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1 + depth // of a number, before the end of its object
			}
		case c == ',' && depth == 0:
			return i
		}
	}
	return len(s)
}

// unquoted is the text of a JSON string, which may be cut.
func unquoted(s string) string {
	whole := strings.HasSuffix(s, `"`) && len(s) > 1
	text := s[1:]
	if whole {
		text = s[1 : len(s)-1]
	}
	if !strings.Contains(text, `\`) {
		return text
	}
	cut := !whole && strings.HasSuffix(text, "…")
	var out string
	if json.Unmarshal([]byte(`"`+strings.TrimSuffix(text, "…")+`"`), &out) != nil {
		return text
	}
	if cut {
		out += "…"
	}
	return out
}
