package form

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
)

// Actions are what can be done in a form. id is what their IDs and parts begin with;
// form is the one on screen, nil while there is none.
func Actions(id string, form func() *Form) []tui.Action {
	run := func(f func(*Form) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd {
			if w := form(); w != nil {
				return f(w)
			}
			return nil
		}
	}
	do := func(f func(*Form)) func() tea.Cmd {
		return run(func(w *Form) tea.Cmd { f(w); return nil })
	}
	move := func(d int) func() tea.Cmd { return do(func(w *Form) { w.move(d) }) }
	next := func(d int) func() tea.Cmd { return do(func(w *Form) { w.next(d) }) }
	pick := func(d int) func() tea.Cmd { return do(func(w *Form) { w.list.Move(d); w.follow = true }) }
	var out []tui.Action
	add := func(part string, all ...tui.Action) {
		for _, a := range all {
			a.ID, a.Part = id+"."+a.ID, id+"."+part
			a.InText = part == PartText || part == PartFilter || part == PartJSON
			a.Hidden = a.Hint == "" && !a.Acts
			out = append(out, a)
		}
	}
	add(PartFields,
		tui.Action{ID: "open", Title: "Fill in the field, or send", Hint: "open", Verb: verb.Open, Also: []verb.Verb{verb.Mark}, Acts: true, Sight: true, Run: run((*Form).do), HintNow: func() string { return hint(form()) }},
		tui.Action{ID: "next", Title: "Next field", Moves: true, Hint: "next", Verb: verb.NextPane, Run: next(1)},
		tui.Action{ID: "previous", Title: "Previous field", Moves: true, Verb: verb.PreviousPane, Run: next(-1)},
		tui.Action{ID: "up", Title: "Up", Moves: true, Verb: verb.Up, Run: move(-1)},
		tui.Action{ID: "down", Title: "Down", Moves: true, Verb: verb.Down, Run: move(1)},
		tui.Action{ID: "top", Title: "First field", Moves: true, Verb: verb.First, Run: move(-100_000)},
		tui.Action{ID: "bottom", Title: "To the last row, which sends the form", Moves: true, Verb: verb.Last, Run: move(100_000)},
		tui.Action{ID: "add", Title: "Add an entry to the list", Acts: true, Run: do((*Form).add)},
		tui.Action{ID: "remove", Title: "Clear the field, or remove the entry", Verb: verb.Clear, Acts: true, Run: do((*Form).remove)},
		tui.Action{ID: "entryup", Title: "Move the entry up in its list", Verb: verb.EntryUp, Acts: true, Run: do(func(w *Form) { w.shift(-1) })},
		tui.Action{ID: "entrydown", Title: "Move the entry down in its list", Verb: verb.EntryDown, Acts: true, Run: do(func(w *Form) { w.shift(1) })},
		tui.Action{ID: "null", Title: "Set the field to null", Acts: true, Run: do((*Form).null)},
	)
	for _, part := range []string{PartFields, PartOptions} {
		add(part,
			tui.Action{ID: "yes", Title: "Yes in a yes-or-no field", Verb: verb.Yes, Acts: true, Sight: true, Run: run(func(w *Form) tea.Cmd { return w.word("Yes") })},
			tui.Action{ID: "no", Title: "No in a yes-or-no field", Verb: verb.No, Acts: true, Sight: true, Run: run(func(w *Form) tea.Cmd { return w.word("No") })},
		)
		for n := range fewOptions {
			key := strconv.Itoa(n + 1)
			out = append(out, tui.Action{
				ID: id + ".option" + key, Title: "Option " + key + " of the field", Verb: verb.Choose, Keys: []string{key}, Part: id + "." + part, Acts: true, Sight: true, Hidden: true,
				Run: run(func(w *Form) tea.Cmd { return w.choose(n) }),
			})
		}
	}
	accept := tui.Action{ID: "accept", Title: "Accept and go to the next field", Hint: "next", Verb: verb.Open, Acts: true, Sight: true, Run: run((*Form).accept), HintNow: func() string { return hint(form()) }}
	shut := tui.Action{ID: "close", Title: "Close the field; keep what is in it", Hint: "back", Verb: verb.Back, Run: do(func(w *Form) { w.close(); w.told() })}
	forward := tui.Action{ID: "tab", Title: "Next field", Moves: true, Verb: verb.NextPane, Run: next(1)}
	back := tui.Action{ID: "backtab", Title: "Previous field", Moves: true, Verb: verb.PreviousPane, Run: next(-1)}
	add(PartText, accept, shut, forward, back,
		tui.Action{ID: "break", Title: "Line break (also shift+enter and alt+enter)", Verb: verb.Break, Run: run(func(w *Form) tea.Cmd { return w.Paste("\n") })})
	for _, part := range []string{PartOptions, PartFilter} {
		add(part, accept, shut, forward, back)
		add(part,
			tui.Action{ID: "optionup", Title: "Option above", Moves: true, Verb: verb.Up, Run: pick(-1)},
			tui.Action{ID: "optiondown", Title: "Option below", Moves: true, Verb: verb.Down, Run: pick(1)},
			tui.Action{ID: "optionpageup", Title: "Options above", Moves: true, Verb: verb.PageUp, Keys: []string{"pgup"}, Run: pick(-listRows)},
			tui.Action{ID: "optionpagedown", Title: "Options below", Moves: true, Verb: verb.PageDown, Keys: []string{"pgdown"}, Run: pick(listRows)},
		)
	}
	add(PartOptions, tui.Action{ID: "toggle", Title: "Choose the option and stay", Hint: "choose", Verb: verb.Mark, Acts: true, Sight: true, Run: do((*Form).toggle)})
	add(PartJSON, tui.Action{ID: "fields", Title: "Back to the fields", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.NextPane}, Run: do((*Form).swap)})
	add(PartFields, tui.Action{ID: "json", Title: "Fill in as JSON", Hint: "view", Verb: verb.View, Moves: true, Run: do((*Form).swap)})
	for _, part := range []string{PartFields, PartText, PartOptions, PartFilter, PartJSON} {
		add(part, tui.Action{ID: "send", Title: "Send the form", Verb: verb.Send, Acts: true, Sight: true, Run: run((*Form).Send)})
	}
	return out
}

// hint is what Enter does now.
func hint(f *Form) string {
	if f == nil {
		return ""
	}
	field, ok := f.at()
	switch {
	case !ok, f.open && len(f.fields) == 1:
		return "choose"
	case f.open:
		return "next"
	case field.Role == "add":
		return "choose"
	}
	return "open"
}
