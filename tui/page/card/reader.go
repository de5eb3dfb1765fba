package card

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// openRow shows what is under the cursor: a tool's definition, what changed in it, or
// why it was left out.
func (p *Page) openRow() tea.Cmd {
	r := *p.row()
	switch {
	case r.held != nil:
		return p.openHeld(*r.held)
	case r.tool == nil:
		return tui.Open(&tui.Reader{Name: "note", Title: "Not offered", Rows: func(_ *tui.Frame, w int) []string {
			return widget.Wrap(r.note, w)
		}})
	}
	t := *r.tool
	return tui.Open(&tui.Reader{Name: "tool", Title: sanitize.Line(t.Original), Text: func(f *tui.Frame, w int) widget.Text { return definition(f, &t, w) }})
}

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
	fact("context", tui.Cost(t.Context))
	if t.Bytes > t.Context {
		fact("wire", tui.Bytes(t.Bytes))
	}
	if n := len(t.Output); n > 1000 {
		fact("result", tui.Bytes(n)+`, left out with trim = ["outputSchema"] in the server's file`)
	}
	if t.Trimmed > 0 {
		fact("trimmed", tui.Bytes(t.Trimmed))
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

// openHeld shows a held definition, which may be accepted there: what is shown, not what
// the server may list since.
func (p *Page) openHeld(h snapshot.Held) tea.Cmd {
	name := p.of
	accept := tui.Action{
		ID: "cards.acceptone", Title: "Accept this one", Hint: "accept", Keys: []string{"a"}, Acts: true,
		Run: func() tea.Cmd { return tea.Sequence(tui.Close("held"), p.accept(name, []snapshot.Held{h})) },
	}
	title := "Changed: "
	if h.New {
		title = "New: "
	}
	return tui.Open(&tui.Reader{Name: "held", Title: title + sanitize.Line(heldName(&h)), Extra: []tui.Action{accept}, Rows: func(f *tui.Frame, w int) []string {
		return heldRows(f.Theme, &h, w)
	}})
}

func heldRows(th *theme.Theme, h *snapshot.Held, w int) []string {
	text := "Agents follow a tool's description. This one changed since you last accepted it, and is not offered until you accept it."
	switch {
	case h.Tool == "":
		text = "Agents follow these instructions. They changed since you last accepted them; agents get the old ones until you accept these."
	case h.Kind != "" && h.New:
		text = "Agents follow what a " + h.Kind + " says. This one is new since you last accepted what this server offers, and is not offered until you accept it."
	case h.Kind != "":
		text = "Agents follow what a " + h.Kind + " says. This one changed since you last accepted it, and is not offered until you accept it."
	case h.New:
		text = "Agents follow a tool's description. This tool is new since you last accepted this server's tools, and is not offered until you accept it."
	}
	rows := append(widget.Wrap(text, w), "")
	for _, l := range h.Diff {
		style := th.Muted
		switch l.Mark {
		case '+':
			style = th.Added
		case '-':
			style = th.Removed
		}
		for i, part := range widget.Wrap(l.Text, w-2) {
			mark := string(l.Mark)
			if i > 0 {
				mark = " "
			}
			rows = append(rows, style.Render(mark+" "+part))
		}
	}
	return rows
}

func (p *Page) openItem() tea.Cmd {
	it := p.item()
	if it == nil {
		return nil
	}
	shown := *it
	return tui.Open(&tui.Reader{Name: "item", Title: sanitize.Line(shown.Key), Rows: func(f *tui.Frame, w int) []string {
		return itemRows(f.Theme, &shown, w)
	}})
}

// item is the resource or the prompt under the cursor.
func (p *Page) item() *snapshot.Item {
	if l := p.lists[p.part]; l != nil {
		return widget.Selected(l, p.items(p.part))
	}
	return nil
}

func (p *Page) items(pane string) []snapshot.Item {
	switch pane {
	case partResources:
		return p.details.Resources
	case partPrompts:
		return p.details.Prompts
	}
	return nil
}

func itemRows(th *theme.Theme, it *snapshot.Item, w int) []string {
	rows := widget.Wrap(sanitize.Line(it.Name), w)
	if it.Description != "" {
		rows = append(append(rows, ""), widget.Wrap(sanitize.Text(it.Description), w)...)
	}
	if len(it.Args) > 0 {
		rows = append(rows, "", th.Muted.Render("arguments: ")+sanitize.Line(strings.Join(it.Args, ", ")))
	}
	return append(rows, "", th.Faint.Render(tui.Bytes(it.Bytes)))
}

func (p *Page) openInstructions() tea.Cmd {
	return tui.Open(&tui.Reader{Name: "instructions", Title: "Instructions for agents", Rows: func(_ *tui.Frame, w int) []string {
		return widget.Wrap(sanitize.Text(p.details.Instructions), w)
	}})
}

// parameters are the names of a tool's arguments; those that are required end in *.
func parameters(t *snapshot.Tool) string {
	o, err := rawjson.SplitObject(t.Input)
	if err != nil {
		return ""
	}
	required := map[string]bool{}
	list, _ := rawjson.SplitArray(o.Get("required"))
	for _, raw := range list {
		if name, err := rawjson.Text(raw); err == nil {
			required[name] = true
		}
	}
	properties, _ := rawjson.SplitObject(o.Get("properties"))
	var names []string
	for _, m := range properties {
		name := sanitize.Line(m.Key)
		if required[m.Key] {
			name += "*"
		}
		names = append(names, name)
	}
	return strings.Join(names, "  ")
}
