package inbox

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
func (p *answer) openField(f questions.Field) {
	p.message, p.opened = "", true
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
func (p *answer) restore() {
	get, _ := p.text(p.questions())
	p.editor.SetValue(get())
	p.editor.SetCaret(p.draft.Caret)
	p.scroll.follow = true
}

func (p *answer) textChanged() tea.Cmd {
	_, set := p.text(p.questions())
	set(p.editor.Value())
	p.draft.Caret = p.editor.Caret()
	p.keep()
	return p.files.Typed(&p.editor, p.textChanged)
}

// textTake closes the field and makes its text count.
func (p *answer) textTake() {
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

// editedMsg is the end of the user's own editor.
type editedMsg struct {
	id   int
	path string
	err  error
}

// edit opens the text of the row under the cursor in the user's editor.
func (p *pane) edit() tea.Cmd {
	if p.opt.Editor.Program == "" {
		p.message = "no editor is set; set EDITOR"
		return nil
	}
	if p.draft.Field == questions.NoField {
		p.note()
	}
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

func (p *pane) edited(msg editedMsg) tea.Cmd {
	defer os.Remove(msg.path)
	if msg.err != nil {
		return tui.Toast(tui.Bad, "the editor ended with "+msg.err.Error())
	}
	b, err := file.Read(msg.path, maxEdited)
	if err != nil {
		return tui.Toast(tui.Bad, "the text could not be read: "+err.Error())
	}
	if p.id == msg.id && p.draft.Field != questions.NoField {
		return p.typeText(func() { p.editor.Replace(strings.TrimRight(string(b), "\n")) })
	}
	return nil
}

// typeText changes the field with f and keeps what came of it.
func (p *answer) typeText(f func()) tea.Cmd {
	f()
	p.typed, p.message = time.Now(), ""
	return p.textChanged()
}

// key is a key that no action took: text.
func (p *answer) key(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case p.onForm():
		return p.form.Key(k)
	case p.place != partRequest || p.draft.Field == questions.NoField:
		return nil
	}
	return p.typeText(func() { p.field.key(k, p.earlier) })
}

func (p *answer) paste(s string) tea.Cmd {
	switch {
	case p.onForm():
		return p.form.Paste(s)
	case p.place != partRequest || p.draft.Field == questions.NoField:
		return nil
	}
	return p.typeText(func() { p.editor.Insert(s) })
}

// textClose leaves the field; what was typed stays.
func (p *answer) textClose() {
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
