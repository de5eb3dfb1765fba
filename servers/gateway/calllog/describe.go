package calllog

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// redactArgs returns the arguments as one line and as they are kept.
func (l *Log) redactArgs(e *entry) (string, json.RawMessage) {
	args := l.redact(e.redact, false, e.args)
	args, _ = cutBody(args)
	return oneLine(args), args
}

// describe returns the result of a finished call as one line and as it is kept.
func (l *Log) describe(e *entry) (text string, body json.RawMessage, cut bool) {
	if e.result == nil {
		if e.call.Result == "" {
			return "", nil, false
		}
		b, _ := json.Marshal(map[string]string{"error": e.call.Result})
		b = l.redact(e.redact, true, b)
		return sanitize.ShownLine(beginning(member(b, "error"))), b, false
	}
	b, err := e.result.Encode()
	if err != nil {
		return sanitize.ShownLine(err.Error()), nil, false
	}
	b = l.redact(e.redact, true, b)
	text = resultLine(b)
	b, cut = cutBody(b)
	return text, b, cut
}

func (l *Log) redact(kind redact.Kind, result bool, body json.RawMessage) json.RawMessage {
	if l.opts.Redact == nil || len(body) == 0 {
		return body
	}
	return l.opts.Redact(kind, result, body)
}

// cutBody keeps a body's size bounded. What is cut becomes a JSON string.
func cutBody(b json.RawMessage) (json.RawMessage, bool) {
	if len(b) <= bodyLimit {
		return b, false
	}
	s, _ := json.Marshal(strings.ToValidUTF8(string(b[:bodyLimit]), "\ufffd"))
	return s, true
}

// oneLine shows arguments as key=value pairs. It decodes no more than is shown.
func oneLine(args json.RawMessage) string {
	parts, open, err := rawjson.Split(args)
	switch {
	case open == 'n': // null
		return ""
	case err != nil || open != '{':
		return sanitize.Cut(sanitize.ShownLine(string(args[:min(len(args), 4*preview)])), preview)
	}
	var b strings.Builder
	for _, p := range parts {
		if b.Len() > 8*preview {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(sanitize.Cut(p.Key, preview) + "=")
		if v := args[p.From:p.To]; v[0] == '"' {
			b.WriteString(sanitize.Cut(beginning(v), preview))
		} else {
			b.Write(v[:min(len(v), 4*preview)])
		}
	}
	return sanitize.Cut(sanitize.ShownLine(b.String()), preview)
}

// beginning decodes the first runes of a JSON string, more than a preview
// shows.
func beginning(v []byte) string {
	const most = 12 * (preview + 2) // a rune is at most two escapes of six bytes
	if len(v) > most {
		end := 1
		for end < most {
			step := 1
			if v[end] == '\\' {
				step = 2
				if v[end+1] == 'u' {
					step = 6
				}
			}
			end += step
		}
		v = append(slices.Clone(v[:end]), '"')
	}
	text, _ := rawjson.Text(v) // it was valid
	return text
}

// resultLine shows a result by its first text, or by what else it holds.
func resultLine(result json.RawMessage) string {
	other := ""
	for _, c := range elements(member(result, "content")) {
		kind := beginning(member(c, "type"))
		if kind == "text" {
			return sanitize.Cut(sanitize.ShownLine(beginning(member(c, "text"))), preview)
		}
		if other == "" {
			other = sanitize.ShownLine(kind + " " + beginning(member(c, "mimeType")))
		}
	}
	return other
}

// member returns the bytes of a valid object's member, nil without one.
func member(object []byte, key string) []byte {
	parts, open, err := rawjson.Split(object)
	if err != nil || open != '{' {
		return nil
	}
	for _, p := range parts {
		if p.Key == key {
			return object[p.From:p.To]
		}
	}
	return nil
}

// elements lists a valid array's; none for another value.
func elements(array []byte) []json.RawMessage {
	list, _ := rawjson.SplitArray(array)
	return list
}
