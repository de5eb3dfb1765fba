package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// pickTheme takes the scheme that the user picked earlier, where the options have none.
func (o *Options) pickTheme() {
	if o.Theme.Scheme.Name != "" || len(o.Themes) == 0 {
		return
	}
	i := -1
	if s := o.Store; s != nil {
		i = o.themeAt(s.Get("theme"))
	}
	o.Theme.Scheme = o.Themes[max(i, 0)] // it may have gone since
}

func (o *Options) themeAt(name string) int {
	return slices.IndexFunc(o.Themes, func(s theme.Scheme) bool { return s.Name == name })
}

const pickerID = "theme"

// picker is the list of themes. The screen has the one under the cursor.
type picker struct {
	all        []theme.Scheme
	was        theme.Scheme
	applyTheme func(theme.Scheme) tea.Cmd
	save       func(name string) (file string, err error) // nil: it lasts until the end
	list       widget.List
	y          int // of the list within the overlay
}

func newPicker(o *Options, applyTheme func(theme.Scheme) tea.Cmd) *picker {
	p := &picker{all: o.Themes, was: o.Theme.Scheme, applyTheme: applyTheme, save: o.KeepTheme}
	p.list.SetLen(len(p.all))
	p.list.MoveTo(max(o.themeAt(p.was.Name), 0))
	return p
}

func (p *picker) ID() string      { return pickerID }
func (p *picker) TextEntry() bool { return false }

// Actions are moving, which shows, keeping and going back.
func (p *picker) Actions() []Action {
	out := []Action{
		{ID: "theme.keep", Title: "Keep this theme", Hint: "choose", Verb: verb.Open, Run: p.keep},
		{ID: "theme.back", Title: "Back to the previous theme", Hint: "back", Verb: verb.Back, Run: func() tea.Cmd {
			return tea.Batch(Close(pickerID), p.applyTheme(p.was))
		}},
	}
	for _, a := range ListActions("theme", "", &p.list) {
		move := a.Run
		a.Run = func() tea.Cmd { return tea.Batch(move(), p.preview()) }
		out = append(out, a)
	}
	return out
}

// applyTheme gives the screen the colours of a scheme.
func (m *Model) applyTheme(s theme.Scheme) tea.Cmd {
	m.opts.Theme.Scheme = s
	return m.retheme()
}

func (p *picker) at() theme.Scheme { return p.all[p.list.Cursor] }

func (p *picker) preview() tea.Cmd { return p.applyTheme(p.at()) }

func (p *picker) keep() tea.Cmd {
	name, keep := p.at().Name, p.save
	if keep == nil {
		return tea.Batch(Close(pickerID), Toast(Info, "theme "+name+", until you quit"))
	}
	return tea.Batch(Close(pickerID), Outcome(func() (string, error) {
		file, err := keep(name)
		return "theme " + name + ": written to " + sanitize.Line(file), err
	}))
}

// Update takes the mouse.
func (p *picker) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case WheelMsg:
		p.list.Move(msg.Delta)
		return p.preview()
	case ClickMsg:
		if p.list.Click(msg.Y - p.y) {
			return p.keep()
		}
		return p.preview()
	}
	return nil
}

// Render draws the list, and below it what each colour is for.
func (p *picker) Render(f *Frame) []string {
	th := f.Theme
	w := min(f.W, 66) - 6
	p.y = 1
	names := 0
	for _, s := range p.all {
		names = max(names, min(widget.Width(sanitize.Line(s.Name)), w/2))
	}
	rows := p.list.Render(th, w, min(p.list.Len(), max(f.H-8, 1)), f.Focus, func(i, w int) string {
		s := p.all[i]
		mark := " "
		if s.Name == p.was.Name {
			mark = th.Good.Render(th.Glyph.On)
		}
		return widget.Fit(mark+" "+th.Text.Render(widget.Fit(sanitize.Line(s.Name), names))+"  "+th.Faint.Render(sanitize.Line(s.About)), w)
	})
	sample := th.Good.Render(th.Glyph.OK+" ready") + " " + th.Warn.Render(th.Glyph.Wait+" waits") + " " + th.Bad.Render(th.Glyph.Fail+" failed") + " " +
		th.Info.Render(th.Glyph.Run+" runs") + " " + th.Special.Render("42") + " " + th.Accent.Render("name") + " " + th.Muted.Render("detail") + " " + th.Faint.Render("hint")
	rows = append(rows, th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, w)), widget.Fit(sample, w))
	if weak := p.at().Weak(); len(weak) > 0 {
		text := weak[0]
		if n := len(weak) - 1; n > 0 {
			text += "; and " + itoa(n) + " more, see mcpdeck config check"
		}
		rows = append(rows, widget.Paragraph(th.Warn, "", "! "+sanitize.Line(text), w)...)
	}
	return widget.Dialog(th, "Theme", "", rows, f.W, f.H)
}
