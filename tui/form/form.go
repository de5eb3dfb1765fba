// Package form is the widget in which the user fills in a form that was made of a JSON
// schema: its fields in rows, one of them open at a time, or all of it as JSON.
package form

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	model "github.com/mcpdeck/mcpdeck/servers/support/form"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Options are what the owner of a form wants.
type Options struct {
	Send string // what the last row says: "Send"
	// Anyway lets a second press send what does not fit the schema: the other side's
	// check may be what is tried.
	Anyway bool
	Watch  bool // nothing can be entered
	// Changed is told of whatever the user has entered, or where they are.
	Changed func()
	// Done sends the form.
	Done func() tea.Cmd
	// Files complete @ in texts; nil: none. The owner shows them.
	Files *tui.Files
}

// State is what the user has entered, and where they are.
type State struct {
	Value  *model.Value
	JSON   string // typed in the place of fields
	AsJSON bool   // JSON is what counts
	Cursor int    // row of the form
}

// The parts of a form, for Action.Part.
const (
	PartFields  = "fields"  // moving from field to field
	PartText    = "text"    // a text is being typed
	PartOptions = "options" // one of a few options is being chosen
	PartFilter  = "filter"  // one of many, found by typing
	PartJSON    = "json"    // the whole is typed as JSON
)

// fewOptions is how many options are chosen from without a filter: each has a digit.
const fewOptions = 9

// Form is the widget. Make one with [New].
type Form struct {
	model *model.Form
	opt   Options

	value    *model.Value
	fields   []model.Field
	problems []model.Problem // of the fields
	tried    bool            // the user wants to send: what is wrong is shown
	sure     string          // what a second press sends: its JSON
	message  string          // about the last key

	cursor int  // row; len(fields): the one that sends
	open   bool // the field at the cursor is being filled in
	asJSON bool
	before string // the JSON that the fields became when it was shown
	edit   widget.Editor
	list   widget.List // of options
	found  []int       // options that the filter leaves
	scroll widget.Scroll
	follow bool // the cursor's rows are brought into view
	areas  tui.Areas
}

// New returns a form in a state. The first field that wants an answer is open, but
// where the user has been before.
func New(m *model.Form, s State, o Options) *Form {
	f := &Form{model: m, opt: o, value: s.Value, follow: true}
	f.edit.Multi = true
	fresh := s.Value == nil
	if fresh {
		f.value = m.New()
	}
	f.lay()
	f.cursor = min(max(s.Cursor, 0), len(f.fields))
	switch {
	case s.AsJSON:
		f.asJSON = true
		f.edit.SetValue(s.JSON)
	case fresh && !o.Watch:
		f.cursor = -1
		if f.next(1); !f.open {
			f.cursor = 0
		}
	}
	return f
}

// lay lists the fields anew, after one was added or taken away.
func (f *Form) lay() {
	f.fields = f.model.Fields(f.value)
	f.cursor = min(f.cursor, len(f.fields))
	f.problems, _ = f.model.Check(f.value)
}

// State is what to keep.
func (f *Form) State() State {
	s := State{Value: f.value.Clone(), AsJSON: f.asJSON, Cursor: f.cursor}
	if f.asJSON {
		s.JSON = f.edit.Value()
	}
	return s
}

// Part is the part that has the focus.
func (f *Form) Part() string {
	field, ok := f.at()
	switch {
	case f.asJSON:
		return PartJSON
	case !f.open || !ok:
		return PartFields
	case !chooses(field):
		return PartText
	case len(field.Shape.Options) > fewOptions:
		return PartFilter
	}
	return PartOptions
}

// TextEntry reports whether letters are text.
func (f *Form) TextEntry() bool {
	p := f.Part()
	return !f.opt.Watch && (p == PartText || p == PartFilter || p == PartJSON)
}

// at is the field under the cursor.
func (f *Form) at() (model.Field, bool) {
	if f.cursor < 0 || f.cursor >= len(f.fields) {
		return model.Field{}, false
	}
	return f.fields[f.cursor], true
}

// chooses reports whether a field is filled in from a list.
func chooses(field model.Field) bool {
	k := field.Kind()
	return k == model.Choice || k == model.Several || k == model.Variant
}

// takes reports whether there is something to fill in at a field itself.
func takes(field model.Field) bool {
	return field.Role != model.Added && field.Role != model.Extra && !field.Heading() && !field.Closed()
}

// changed says that the user has entered something.
func (f *Form) changed() {
	f.sure = ""
	f.lay()
	f.told()
}

// told says that there is something to keep.
func (f *Form) told() {
	if f.opt.Changed != nil {
		f.opt.Changed()
	}
}

// move moves the cursor by d rows.
func (f *Form) move(d int) {
	f.close()
	f.message, f.follow = "", true
	f.cursor = min(max(f.cursor+d, 0), len(f.fields))
	f.told()
}

// next goes to the next field that takes something, in direction d, and opens it.
func (f *Form) next(d int) {
	f.close()
	f.message, f.follow = "", true
	for f.cursor += d; f.cursor >= 0 && f.cursor < len(f.fields); f.cursor += d {
		if takes(f.fields[f.cursor]) {
			break
		}
	}
	f.cursor = min(max(f.cursor, 0), len(f.fields))
	f.enter()
	f.told()
}

// enter opens the field under the cursor.
func (f *Form) enter() {
	field, ok := f.at()
	if !ok || f.opt.Watch || !takes(field) {
		return
	}
	f.open, f.follow, f.message = true, true, ""
	f.unoffered()
	f.edit = widget.Editor{Multi: true}
	if !chooses(field) {
		f.edit.SetValue(field.Value.Text)
		return
	}
	f.edit.Multi = false
	f.filter()
	if len(field.Value.Chosen) > 0 {
		f.list.MoveTo(max(slices.Index(f.found, slices.Min(field.Value.Chosen)), 0))
	}
}

// close ends filling the field in; what was entered stays.
func (f *Form) close() {
	f.open = false
	f.unoffered()
}

// unoffered ends the choice of a file.
func (f *Form) unoffered() {
	if f.opt.Files != nil {
		f.opt.Files.Reset()
	}
}

// filter finds the options that the text asks for, those that fit best first.
func (f *Form) filter() {
	field, _ := f.at()
	text := strings.TrimSpace(f.edit.Value())
	scores := make([]int, len(field.Shape.Options))
	f.found = nil
	for i, o := range field.Shape.Options {
		if scores[i] = widget.Match(text, o.Title); text == "" || scores[i] > 0 {
			f.found = append(f.found, i)
		}
	}
	if text != "" {
		slices.SortStableFunc(f.found, func(a, b int) int { return scores[b] - scores[a] })
	}
	f.list = widget.List{}
	f.list.SetLen(len(f.found))
}

// accept is Enter in the field under the cursor: what is there is the answer.
func (f *Form) accept() tea.Cmd {
	field, ok := f.at()
	if !ok {
		return f.Send()
	}
	if f.open && chooses(field) && field.Kind() != model.Several {
		if i := f.list.Cursor; i >= 0 && i < len(f.found) {
			field.Choose(f.found[i])
			f.changed()
		}
	}
	return f.goOn()
}

// goOn goes to the next field; the only one there is is sent, unless it is empty: an Enter too many says nothing.
func (f *Form) goOn() tea.Cmd {
	f.next(1)
	if lone := len(f.fields) == 1 && takes(f.fields[0]); lone && (f.fields[0].Words() != "" || f.fields[0].Required) {
		return f.Send()
	}
	return nil
}

// do is Enter on a field that is not open.
func (f *Form) do() tea.Cmd {
	field, ok := f.at()
	switch {
	case !ok:
		return f.Send()
	case f.opt.Watch:
	case field.Role == model.Added:
		f.add()
	case field.Closed():
		field.Open()
		f.changed()
	case takes(field):
		f.enter()
	default:
		f.move(1)
	}
	return nil
}

// choose takes option n of the field under the cursor.
func (f *Form) choose(n int) tea.Cmd {
	field, ok := f.at()
	if !ok || !chooses(field) || n >= len(field.Shape.Options) || len(field.Shape.Options) > fewOptions || f.opt.Watch {
		return nil
	}
	if field.Kind() == model.Several {
		field.Toggle(n)
		f.list.MoveTo(n)
		f.changed()
		return nil
	}
	field.Choose(n)
	f.changed()
	return f.goOn()
}

// word takes the option of a yes-or-no field.
func (f *Form) word(title string) tea.Cmd {
	if field, ok := f.at(); ok && field.Kind() == model.Choice {
		if i := slices.IndexFunc(field.Shape.Options, func(o model.Option) bool {
			return o.Title == title && (string(o.Value) == "true" || string(o.Value) == "false")
		}); i >= 0 {
			return f.choose(i)
		}
	}
	return nil
}

// toggle is Space on an option.
func (f *Form) toggle() {
	field, ok := f.at()
	if i := f.list.Cursor; ok && i >= 0 && i < len(f.found) {
		if field.Kind() == model.Several {
			field.Toggle(f.found[i])
		} else {
			field.Choose(f.found[i])
		}
		f.changed()
	}
}

// Key is a key that no action took.
func (f *Form) Key(k tea.KeyPressMsg) tea.Cmd {
	if field, ok := f.at(); ok && f.Part() == PartFilter && field.Kind() == model.Several && k.String() == "space" {
		f.toggle()
		return nil
	}
	was := f.Part()
	mine := false
	cmd := f.typed(func() bool { mine = f.edit.Key(k); return mine })
	if mine || was != PartText {
		return cmd
	}
	switch k.Keystroke() { // over the end of the text
	case "up":
		f.next(-1)
	case "down":
		f.next(1)
	}
	return nil
}

// Paste is text that was pasted.
func (f *Form) Paste(s string) tea.Cmd {
	return f.typed(func() bool { f.edit.Insert(s); return true })
}

// typed changes what is being typed.
func (f *Form) typed(change func() bool) tea.Cmd {
	if !f.TextEntry() || !change() {
		return nil
	}
	f.message, f.follow = "", true
	switch f.Part() {
	case PartFilter:
		f.filter()
	case PartText:
		return f.textChanged()
	default:
		f.sure = ""
		f.told()
	}
	return nil
}

func (f *Form) textChanged() tea.Cmd {
	field, _ := f.at()
	if text := f.edit.Value(); text != field.Value.Text {
		field.SetText(text)
		f.changed()
	}
	if f.opt.Files == nil {
		return nil
	}
	return f.opt.Files.Typed(&f.edit, f.textChanged)
}

// Click acts on a click at a cell of the form.
func (f *Form) Click(x, y int) tea.Cmd {
	if a := f.areas.At(x, y); a != nil {
		return a.Run()
	}
	return nil
}

// Wheel scrolls by d rows.
func (f *Form) Wheel(d int) {
	f.follow = false
	f.scroll.Move(d)
}

// Message is what is to be said about the last key; "" for nothing.
func (f *Form) Message() string { return f.message }
