package inbox

import (
	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/form"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// partForm is what the parts of a form begin with.
const partForm = "form"

// formView is the form that is open.
type formView struct {
	form *form.Form // nil: none is
	room box        // where it is
}

// openForm makes the widget of the open question when that is a form.
func (p *answer) openForm() {
	p.form = nil
	q, a, ok := p.at()
	if !ok || q.Kind != questions.Form {
		return
	}
	m, err := q.Form()
	if err != nil { // it was read when the question was asked
		p.message = err.Error()
		return
	}
	s := form.State{Cursor: a.Cursor}
	if a.Form != nil {
		s.Value, s.JSON, s.AsJSON = a.Form.Value.Clone(), a.Form.JSON, a.Form.AsJSON
	}
	if s.AsJSON && s.Value == nil { // answered from outside
		s.Value, _ = m.Read([]byte(s.JSON))
	}
	p.form = form.New(m, s, form.Options{Send: "Send", Watch: p.closed(), Changed: p.keepForm, Done: p.sendForm, Files: &p.files})
}

// onForm reports whether a form has the focus.
func (p *answer) onForm() bool {
	if p.form == nil || !p.opened || p.place != partRequest || p.draft.Field != questions.NoField {
		return false
	}
	it, open := p.current()
	return open && it.State != questions.Sending && !it.Request.InTerminal()
}

// keepForm keeps what was entered in the form.
func (p *answer) keepForm() {
	if _, a, ok := p.at(); ok && p.form != nil && !p.closed() {
		s := p.form.State()
		a.Form, a.Cursor = &questions.FormDraft{Value: s.Value, JSON: s.JSON, AsJSON: s.AsJSON}, s.Cursor
		a.Skipped = false // as when it was taken back
		p.keep()
	}
}

// sendForm sends what was entered in the form.
func (p *answer) sendForm() tea.Cmd {
	p.keepForm()
	return p.send()
}

// skipForm closes the form without an answer: its server is told that it was cancelled.
func (p *answer) skipForm() tea.Cmd {
	_, a, ok := p.at()
	if !ok {
		return nil
	}
	a.Skipped = true
	return p.send()
}

func (v *formView) wheel(d int) {
	if v.form != nil {
		v.form.Wheel(d)
	}
}

// render draws the form: what it is about, and its fields.
func (v *formView) render(f *tui.Frame, q questions.Question, b box) []string {
	ask := part{rows: widget.Spanned(f.Theme, f.Theme.Strong, sanitize.BareText(q.Question), b.w), h: max(b.h/3, 1)}
	ask.h = min(ask.h, len(ask.rows))
	rows := ask.draw(f.Theme, b.w)
	if b.h > 12 {
		rows = append(rows, "")
	}
	v.room = box{x: b.x, y: b.y + len(rows), w: b.w, h: b.h - len(rows)}
	sub := f.Sub(b.w, v.room.h)
	rows = append(rows, v.form.Render(sub)...)
	f.Join(sub, v.room.x, v.room.y)
	return rows
}

// click is a click on the form; false when it was elsewhere.
func (v *formView) click(x, y int) (tea.Cmd, bool) {
	b := v.room
	if x < b.x || x >= b.x+b.w || y < b.y || y >= b.y+b.h {
		return nil, false
	}
	return v.form.Click(x-b.x, y-b.y), true
}
