package form

import (
	"encoding/json"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	model "github.com/mcpdeck/mcpdeck/servers/support/form"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// swap goes from the fields to JSON and back. What was typed stays.
func (f *Form) swap() {
	f.message, f.follow = "", true
	if !f.asJSON {
		f.close()
		f.before = widget.Indent(f.model.JSON(f.value))
		f.asJSON = true
		f.edit = widget.Editor{Multi: true}
		f.edit.SetValue(f.before)
		f.told()
		return
	}
	if now := f.edit.Value(); now != f.before {
		v, err := f.model.Read(json.RawMessage(now))
		if err != nil {
			f.message = err.Error()
			return
		}
		f.value = v
	}
	f.asJSON = false
	f.cursor = min(f.cursor, len(f.fields))
	f.changed()
}

// Send sends the form, or says what keeps it from being sent and goes there. What only
// may be wrong is sent when the user wants it again.
func (f *Form) Send() tea.Cmd {
	if f.opt.Watch {
		return nil
	}
	f.close()
	f.tried = true
	now, problems, unchecked := f.check()
	hard := slices.IndexFunc(problems, func(p model.Problem) bool { return !p.Soft })
	again := f.sure == string(now) && f.sure != ""
	switch {
	case hard >= 0 && (!f.opt.Anyway || !json.Valid(now)):
		f.show(problems[hard], "")
		return nil
	case len(problems) > 0 && !again:
		f.show(problems[max(hard, 0)], "; send again to send it anyway")
		f.sure = string(now)
		return nil
	case unchecked != nil && !again:
		f.message = "not checked: " + unchecked.Error() + "; send again to send it"
		f.sure = string(now)
		return nil
	}
	return f.opt.Done()
}

func (f *Form) check() (now json.RawMessage, problems []model.Problem, unchecked error) {
	if f.asJSON {
		now = json.RawMessage(f.edit.Value())
		problems, unchecked = f.model.CheckJSON(now)
		return now, problems, unchecked
	}
	now = f.model.JSON(f.value)
	problems, unchecked = f.model.Check(f.value)
	return now, problems, unchecked
}

// show goes to a problem. then is what to do about it.
func (f *Form) show(p model.Problem, then string) {
	f.follow = true
	name := strings.TrimPrefix(p.Path, "/")
	for i, field := range f.fields {
		if field.Path == p.Path && !f.asJSON {
			f.cursor, name = i, field.Name
			break
		}
	}
	f.message = strings.TrimPrefix(name+": ", ": ") + p.Text + then
	if then == "" && !f.asJSON {
		f.enter()
		f.message = strings.TrimPrefix(name+": ", ": ") + p.Text
	}
	f.told()
}
