package servers

import (
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// definition is a tool as the server describes it, and what it costs.
func definition(f *tui.Frame, t *snapshot.Tool, w int) widget.Text {
	th := f.Theme
	var text widget.Text
	fact := func(name, value string) {
		for i, line := range widget.Wrap(sanitize.Line(value), w-10) {
			if i > 0 {
				name = ""
			}
			text.Add(th.Muted.Render(widget.Fit(name, 10)) + line)
		}
	}
	verdict := string(t.Verdict)
	if t.Why != "" {
		verdict += ": " + t.Why
	}
	fact("agents", verdict)
	if t.Name != "" && t.Name != t.Original {
		fact("as", t.Name)
	}
	fact("context", snapshot.ContextCost(t.Context))
	if t.Bytes > t.Context {
		fact("wire", humanize.Bytes(t.Bytes))
	}
	if n := len(t.Output); n > 1000 {
		fact("result", humanize.Bytes(n)+`, left out with trim = ["outputSchema"] in the server's file`)
	}
	if t.Trimmed > 0 {
		fact("trimmed", humanize.Bytes(t.Trimmed))
	}
	if t.Description != "" {
		text.Add("")
		text.Add(widget.Wrap(sanitize.Text(t.Description), w)...)
	}
	section := func(title string, raw []byte) {
		if raw != nil {
			text.Add("", widget.Section(th, title, "", w))
			text.Append(widget.JSON(th, raw, w))
		}
	}
	section("Arguments", t.Input)
	section("Result", t.Output)
	section("Hints", t.Annotations)
	return text
}
