package pencil

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// openTool shows what is under the cursor: a tool, what changed in one, or why
// one was left out.
func (p *Page) openTool() tea.Cmd {
	it := p.item()
	switch {
	case it == nil:
		return nil
	case it.held != nil:
		return p.openHeld(*it.held)
	case it.note != nil:
		n := *it.note
		return tui.Open(&tui.Reader{Name: "tool", Title: plain.Line(n.Tool), Rows: func(_ *tui.Frame, w int) []string {
			return widget.Wrap(plain.Line(n.Reason), w)
		}})
	}
	t := *it.tool
	return tui.Open(&tui.Reader{Name: "tool", Title: plain.Line(t.Name), Rows: func(f *tui.Frame, w int) []string {
		th := f.Theme
		rows := widget.Wrap(plain.Text(t.Description), w)
		section := func(title string, raw []byte) {
			if raw != nil {
				rows = append(rows, "", widget.Section(th, title, "", w))
				rows = append(rows, widget.JSON(th, raw, w)...)
			}
		}
		section("Arguments", t.Input)
		section("Result", t.Output)
		section("Hints", t.Annotations)
		return rows
	}})
}

// openHeld shows a held definition, which may be accepted there: what is shown,
// not what the server may list since.
func (p *Page) openHeld(h catalogue.Held) tea.Cmd {
	accept := tui.Action{
		ID: "pencil.acceptone", Title: "Accept this one", Hint: "accept", Keys: []string{"a"}, Acts: true,
		Run: func() tea.Cmd { return tea.Sequence(tui.Close("held"), p.accept([]catalogue.Held{h})) },
	}
	title, text := "Changed: ", "Agents follow a tool's description. This one changed since you last accepted it, and is not offered until you accept it."
	switch {
	case h.Tool == "":
		text = "Agents follow these instructions. They changed since you last accepted them; agents get the old ones until you accept these."
	case h.New:
		title, text = "New: ", "Agents follow a tool's description. This tool is new since you last accepted this server's tools, and is not offered until you accept it."
	}
	return tui.Open(&tui.Reader{Name: "held", Title: title + plain.Line(h.Name()), Extra: []tui.Action{accept}, Rows: func(f *tui.Frame, w int) []string {
		return append(append(widget.Wrap(text, w), ""), diffRows(f.Theme, h.Diff, w)...)
	}})
}

func diffRows(th *theme.Theme, diff []catalogue.DiffLine, w int) []string {
	var rows []string
	for _, l := range diff {
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

func (p *Page) openCall() tea.Cmd {
	c := p.call()
	if c == nil {
		return nil
	}
	fact := *c
	return tui.Open(&tui.Reader{Name: "call", Title: plain.Line(fact.Tool), Rows: func(f *tui.Frame, w int) []string {
		var rows []string
		add := func(name, value string) {
			if value != "" {
				rows = append(rows, f.Theme.Muted.Render(widget.Fit(name, 12))+widget.Cut(plain.Line(value), w-12))
			}
		}
		add("outcome", fact.Outcome)
		add("agent", fact.Agent)
		add("started", f.Since(fact.Started))
		add("waited", span.Took(fact.Wait))
		add("ran", span.Took(fact.Run))
		add("arguments", tui.Bytes(fact.In))
		add("result", tui.Bytes(fact.Out))
		for _, img := range fact.Images {
			add("picture", img.String())
		}
		return append(rows, "", f.Theme.Faint.Render("its arguments and result are on the Calls page"))
	}})
}

func (p *Page) openInstructions() tea.Cmd {
	return tui.Open(&tui.Reader{Name: "instructions", Title: "Instructions for agents", Rows: func(_ *tui.Frame, w int) []string {
		return widget.Wrap(plain.Text(p.status.Instructions), w)
	}})
}

func (p *Page) openSearch() tea.Cmd {
	return tui.Open(&tui.Reader{Name: "search", Title: "Where mcpdeck looked for Pencil", Rows: func(f *tui.Frame, w int) []string {
		th := f.Theme
		var rows []string
		for _, c := range p.status.Searched {
			mark, reason := th.Faint, c.Reason
			if reason == "" {
				mark, reason = th.Good, "taken"
			}
			for _, l := range widget.Wrap(plain.Line(c.Path), w) {
				rows = append(rows, th.Text.Render(l))
			}
			rows = append(rows, "  "+mark.Render(reason)+th.Faint.Render("  "+plain.Line(c.Source)))
		}
		return rows
	}})
}

// confirmAccept asks before all held definitions are offered.
func (p *Page) confirmAccept() tea.Cmd {
	shown := p.status.Held
	var names []string
	for _, h := range shown {
		names = append(names, plain.Line(h.Name())+" ("+h.What()+")")
	}
	text := "You have not accepted these definitions: " + strings.Join(names, ", ") + "."
	if p.status.Updated {
		text += " Pencil's program was updated, so the update may be the cause."
	}
	text += " In the list, enter on a tool shows its text."
	return tui.Open(&tui.Confirm{
		Name: "accept", Title: "Accept " + count(len(names), "definition") + "?", Text: text,
		Choices: []tui.Choice{
			{Key: "n", Text: "Leave held"},
			{Key: "y", Text: "Accept", Run: func() tea.Cmd { return p.accept(shown) }},
		},
	})
}

func (p *Page) accept(shown []catalogue.Held) tea.Cmd {
	return func() tea.Msg {
		n, err := p.opts.Mode.Accept(shown)
		if err != nil {
			return tui.Toast(tui.Bad, err.Error())()
		}
		return tui.Toast(tui.Good, count(n, "definition")+" accepted")()
	}
}

// openSave asks where to save the last picture.
func (p *Page) openSave() tea.Cmd {
	mode := p.opts.Mode
	o := &tui.Prompt{Name: "pencil-save", Title: "Save the picture as", Hint: "save", Wide: true, Acts: true, Take: func(path string) tea.Cmd {
		return func() tea.Msg {
			if err := mode.SavePicture(path); err != nil {
				return tui.Toast(tui.Bad, err.Error())()
			}
			return tui.Toast(tui.Good, "saved "+path)()
		}
	}}
	o.Text.SetValue(p.pictureName())
	return tui.Open(o)
}
