package calls

import (
	"encoding/json"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// toolResult is what of a tool's result is shown apart.
type toolResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
}

// resultText draws a result for reading: texts as texts, JSON in them as JSON,
// other blocks and what is no tool's result as they were sent.
func resultText(d *detail) widget.Text {
	var r toolResult
	if d.raw || json.Unmarshal(d.body.Result, &r) != nil || len(r.Content) == 0 {
		return widget.JSON(d.theme, d.body.Result, d.w)
	}
	var out widget.Text
	same := false
	for i, raw := range r.Content {
		if i > 0 {
			out.Add("")
		}
		var block struct{ Type, Text string }
		if json.Unmarshal(raw, &block) != nil || block.Type != "text" {
			out.Append(widget.JSON(d.theme, raw, d.w))
			continue
		}
		text := strings.TrimSpace(block.Text)
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			same = same || equal([]byte(text), r.Structured)
			out.Append(widget.JSON(d.theme, []byte(text), d.w))
			continue
		}
		out.Add(textRows(d, sanitize.Shown(block.Text))...)
	}
	if len(r.Structured) > 0 && !same {
		out.Add("", widget.Section(d.theme, "Structured", "", d.w))
		out.Append(widget.JSON(d.theme, r.Structured, d.w))
	}
	return out
}

// equal reports whether two JSON texts differ in nothing but space.
func equal(a, b []byte) bool { return widget.Indent(a) == widget.Indent(b) }

// textRows draws clean text: what looks like Markdown as that.
func textRows(d *detail, text string) []string {
	if widget.LooksMarkdown(text) {
		return widget.Markdown(d.theme, text, d.w)
	}
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, widget.Closed(widget.Wrap(widget.Linked(d.theme, d.theme.Text, line), d.w))...)
	}
	return rows
}
