package ask

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// pasteGap: an Enter this close behind other input came from a paste that the
// terminal did not mark.
const pasteGap = 10 * time.Millisecond

// field is the text field that is open.
type field struct {
	editor widget.Editor
	recall recall
	files  tui.Files // what completes @
	typed  time.Time // last input
}

// openField opens a text field with the text it had.
func (p *Page) openField(f questions.Field) {
	p.message = ""
	p.draft.Field = f
	if _, a, ok := p.at(); ok && f == questions.NoteField {
		p.draft.Option = a.Cursor
	}
	p.scroll.follow = true
	p.recall = recall{}
	p.files.Reset()
	get, _ := p.text(p.questions())
	p.editor.SetValue(get())
	p.draft.Caret = len([]rune(p.editor.Value()))
	p.keep()
}

// restore opens the field that was open when the deck ended, with its caret.
func (p *Page) restore() {
	get, _ := p.text(p.questions())
	p.editor.SetValue(get())
	p.editor.SetCaret(p.draft.Caret)
	p.scroll.follow = true
}

// typeText changes the field with f and keeps what came of it.
func (p *Page) typeText(f func()) tea.Cmd {
	f()
	p.typed, p.message = time.Now(), ""
	if p.place == partHistory {
		p.past.search(p.editor.Value())
		return nil
	}
	return p.textChanged()
}

func (p *Page) textChanged() tea.Cmd {
	_, set := p.text(p.questions())
	set(p.editor.Value())
	p.draft.Caret = p.editor.Caret()
	p.keep()
	return p.files.Typed(&p.editor, p.textChanged)
}

// key is a key that no action took: text.
func (p *Page) key(k tea.KeyPressMsg) tea.Cmd {
	if p.place == partSettled || p.blank() && k.Text == "" || !p.TextEntry() {
		return nil
	}
	if p.onForm() {
		return p.form.Key(k)
	}
	p.reopen()
	var earlier func() []string
	if p.place == partRequest {
		earlier = p.earlier
	}
	return p.typeText(func() { p.field.key(k, earlier) })
}

// reopen opens the field of a question for a text when something is typed.
func (p *Page) reopen() {
	if p.blank() {
		_, a, _ := p.at()
		a.Skipped, a.Asks = false, false
		p.openField(questions.OtherField)
	}
}

func (p *Page) paste(s string) tea.Cmd {
	if p.place == partSettled || !p.TextEntry() {
		return nil
	}
	if p.onForm() {
		return p.form.Paste(s)
	}
	p.reopen()
	return p.typeText(func() { p.editor.Insert(s) })
}

// textEnter takes the text, or breaks the line of a paste.
func (p *Page) textEnter() tea.Cmd {
	if time.Since(p.typed) < pasteGap {
		return p.typeText(func() { p.editor.Insert("\n") })
	}
	if p.place == partHistory {
		p.past.searching = false
		return nil
	}
	f := p.draft.Field
	p.textTake()
	q, a, ok := p.at()
	switch {
	case f == questions.ReasonField:
		return p.declined()
	case !ok:
		return nil
	case f == questions.NoteField && p.deciding() != nil:
		return p.noted()
	case f == questions.ClarifyField && a.Asks:
		return p.nextQuestion()
	case f == questions.OtherField && strings.TrimSpace(a.Other) == "":
		p.draft.Field = questions.OtherField // blank is no answer
		p.message = "type an answer, or esc"
		p.keep()
	case f == questions.OtherField && (!q.Multi || len(q.Options) == 0):
		return p.nextQuestion()
	}
	return nil
}

// textEnds is what Enter does in the open field, where it does more than to close
// it.
func (p *Page) textEnds() string {
	if p.place != partRequest {
		return ""
	}
	switch q, _, _ := p.at(); {
	case p.draft.Field == questions.ReasonField:
		return "decline"
	case p.draft.Field == questions.NoteField && p.deciding() != nil:
		return "deny"
	case p.draft.Field == questions.ClarifyField:
		return "ask back"
	case p.draft.Field == questions.OtherField && (!q.Multi || len(q.Options) == 0):
		return "answer"
	}
	return ""
}

// textTake closes the field and makes its text count.
func (p *Page) textTake() {
	q, a, ok := p.at()
	f := p.draft.Field
	p.draft.Field = questions.NoField
	if !ok {
		p.keep()
		return
	}
	blank := strings.TrimSpace(p.editor.Value()) == ""
	switch f {
	case questions.OtherField:
		a.OtherOn = !blank
		if !blank {
			a.Skipped, a.Asks, a.Cursor = false, false, len(q.Options)
			if !q.Multi {
				a.Chosen = nil
			}
		}
	case questions.NoteField:
		if blank {
			delete(a.Notes, p.draft.Option)
		} else if q.Multi && !slices.Contains(a.Chosen, p.draft.Option) {
			a.Chosen = append(a.Chosen, p.draft.Option)
		}
	case questions.ClarifyField:
		a.Asks, a.Skipped = !blank, a.Skipped && blank
	default:
	}
	p.keep()
}

// textClose leaves the field; what was typed stays.
func (p *Page) textClose() {
	if p.place == partHistory {
		p.past.searching = false
		return
	}
	f := p.draft.Field
	if q, a, ok := p.at(); ok {
		switch {
		case f == questions.OtherField && (len(q.Options) == 0 || q.Multi):
			a.OtherOn = strings.TrimSpace(a.Other) != ""
		case f == questions.ClarifyField && strings.TrimSpace(a.Clarify) == "":
			a.Asks = false
		case f == questions.NoteField && q.Multi:
			p.textTake()
			return
		}
	}
	p.draft.Field = questions.NoField
	p.keep()
}

// editedMsg is the end of the user's own editor.
type editedMsg struct {
	id   int
	path string
	err  error
}

// edit opens the text of the row under the cursor in the user's editor.
func (p *Page) edit() tea.Cmd {
	if p.opt.Editor.Program == "" {
		p.message = "no editor is set; set EDITOR"
		return nil
	}
	p.note()
	get, _ := p.text(p.questions())
	f, err := os.CreateTemp("", "mcpdeck-*.md")
	if err != nil {
		return tui.Toast(tui.Bad, "no file to edit: "+err.Error())
	}
	_, err = f.WriteString(get())
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return tui.Toast(tui.Bad, "no file to edit: "+err.Error())
	}
	id, path := p.id, f.Name()
	return tea.Exec(&process.Foreground{Command: p.opt.Editor.With(f.Name())}, func(err error) tea.Msg {
		return editedMsg{id: id, path: path, err: err}
	})
}

// maxEdited is more than an answer may have.
const maxEdited = 1 << 20

func (p *Page) edited(msg editedMsg) tea.Cmd {
	defer os.Remove(msg.path)
	if msg.err != nil {
		return tui.Toast(tui.Bad, "the editor ended with "+msg.err.Error())
	}
	b, err := file.Read(msg.path, maxEdited)
	if err != nil {
		return tui.Toast(tui.Bad, "the text could not be read: "+err.Error())
	}
	if p.id == msg.id && p.TextEntry() {
		return p.typeText(func() { p.editor.Replace(strings.TrimRight(string(b), "\n")) })
	}
	return nil
}
