package servers

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// redactArgs returns the arguments as one line and as they are kept.
func (l *callLog) redactArgs(e *entry) (string, json.RawMessage) {
	args := l.redact(e.call.Tool, false, e.args)
	args, _ = cutBody(args)
	return oneLine(args), args
}

// describe returns the result of a finished call as one line and as it is kept.
func (l *callLog) describe(e *entry) (text string, body json.RawMessage, cut bool) {
	if e.result == nil {
		if e.call.Result == "" {
			return "", nil, false
		}
		b, _ := json.Marshal(map[string]string{"error": e.call.Result})
		return "", b, false
	}
	b, err := json.Marshal(e.result)
	if err != nil {
		return plain.Line(err.Error()), nil, false
	}
	b = l.redact(e.call.Tool, true, b)
	text = resultLine(b)
	b, cut = cutBody(b)
	return text, b, cut
}

func (l *callLog) redact(tool string, result bool, body json.RawMessage) json.RawMessage {
	if l.host.opts.Redact == nil || len(body) == 0 {
		return body
	}
	return l.host.opts.Redact(tool, result, body)
}

// cutBody keeps a body's size bounded. What is cut becomes a JSON string.
func cutBody(b json.RawMessage) (json.RawMessage, bool) {
	if len(b) <= bodyLimit {
		return b, false
	}
	s, _ := json.Marshal(strings.ToValidUTF8(string(b[:bodyLimit]), "\ufffd"))
	return s, true
}

// oneLine shows arguments as key=value pairs.
func oneLine(args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return plain.Cut(plain.Line(string(args[:min(len(args), 4*preview)])), preview)
	}
	var b strings.Builder
	for _, key := range keysInOrder(args) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(key + "=")
		v := fields[key]
		var s string
		if json.Unmarshal(v[:min(len(v), len(v))], &s) == nil {
			b.WriteString(plain.Cut(s, preview))
		} else {
			b.Write(v[:min(len(v), 4*preview)])
		}
		if b.Len() > 8*preview {
			break
		}
	}
	return plain.Cut(plain.Line(b.String()), preview)
}

// keysInOrder lists the keys of a JSON object as they were sent.
func keysInOrder(object json.RawMessage) []string {
	d := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var keys []string
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return keys
		}
		if !seen[key] {
			keys, seen[key] = append(keys, key), true
		}
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return keys
		}
	}
	return keys
}

// resultLine shows a result by its first text, or by what else it holds.
func resultLine(result json.RawMessage) string {
	var r struct {
		Content []struct {
			Type, Text, MIMEType string
		} `json:"content"`
	}
	if json.Unmarshal(result, &r) != nil {
		return ""
	}
	for _, c := range r.Content {
		if c.Type == "text" {
			return plain.Cut(plain.Line(c.Text[:min(len(c.Text), 8*preview)]), preview)
		}
	}
	if len(r.Content) > 0 {
		return plain.Line(fmt.Sprintf("%s %s", r.Content[0].Type, r.Content[0].MIMEType))
	}
	return ""
}

func images(r *mcp.CallToolResult) int {
	if r == nil {
		return 0
	}
	n := 0
	for _, c := range r.Content {
		if _, ok := c.(mcp.ImageContent); ok {
			n++
		}
	}
	return n
}
