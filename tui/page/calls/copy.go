package calls

import (
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Command is a kind of command line that repeats a call.
type Command struct {
	What string // in a few words: "a command that repeats the call"
	// Line is the command, for a POSIX shell; args is a JSON object. It is "" if too little
	// is stored of them.
	Line func(tool string, args json.RawMessage) string
}

// chooseCopy asks what of the call under the cursor is copied.
func (p *Page) chooseCopy() tea.Cmd {
	c := *p.selected() // which may be another before the answer
	var choices []tui.Choice
	add := func(what string, part func(snapshot.CallBody) string) {
		choices = append(choices, tui.Choice{Text: strings.ToUpper(what[:1]) + what[1:], Run: func() tea.Cmd { return p.copyOf(&c, what, part) }})
	}
	if p.whyNoResult() == "" {
		add("the result as JSON", func(b snapshot.CallBody) string { return widget.Indent(b.Result) })
	}
	add("the arguments as JSON", func(b snapshot.CallBody) string { return widget.Indent(b.Args) })
	if p.opts.Commands != nil && c.Afar == nil {
		for _, line := range p.opts.Commands() {
			add(line.What, func(b snapshot.CallBody) string {
				if len(b.Args) == 0 {
					b.Args = json.RawMessage("{}")
				}
				if b.Cut {
					return ""
				}
				return line.Line(c.Tool, b.Args)
			})
		}
	}
	return tui.Open(&tui.Confirm{Name: "copy", Title: "Copy", Text: sanitize.Line(c.Tool), Choices: choices})
}

// copyOf copies a part of the body of a call.
func (p *Page) copyOf(c *call, what string, part func(snapshot.CallBody) string) tea.Cmd {
	if p.opts.Bodies == nil {
		return nil
	}
	body := p.body(c)
	return func() tea.Msg {
		b, _, err := body()
		if err != nil {
			return tui.Toast(tui.Warn, "its arguments and result are no longer stored")()
		}
		text := part(b)
		if text == "" {
			return tui.Toast(tui.Warn, "not copied: the stored arguments are incomplete")()
		}
		return tui.Copy(text, what)()
	}
}
