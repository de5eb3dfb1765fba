package form

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
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
		tui.Action{ID: "open", Title: "Fill in the field, or send", Hint: "fill in", Keys: []string{"enter", "space"}, Acts: true, Sight: true, Run: run((*Form).do), HintNow: func() string { return hint(form()) }},
		tui.Action{ID: "next", Title: "Next field", Moves: true, Hint: "next", Keys: []string{"tab"}, Run: next(1)},
		tui.Action{ID: "previous", Title: "Previous field", Moves: true, Keys: []string{"shift+tab"}, Run: next(-1)},
		tui.Action{ID: "up", Title: "Up", Moves: true, Keys: []string{"up", "k"}, Run: move(-1)},
		tui.Action{ID: "down", Title: "Down", Moves: true, Keys: []string{"down", "j"}, Run: move(1)},
		tui.Action{ID: "top", Title: "First field", Moves: true, Keys: []string{"home", "g"}, Run: move(-100_000)},
		tui.Action{ID: "bottom", Title: "To the end, where the form is sent", Moves: true, Keys: []string{"end", "G"}, Run: move(100_000)},
		tui.Action{ID: "add", Title: "Add an entry to the list", Keys: []string{"+"}, Acts: true, Run: do((*Form).add)},
		tui.Action{ID: "remove", Title: "Clear the field, or remove the entry", Keys: []string{"-", "delete"}, Acts: true, Run: do((*Form).remove)},
		tui.Action{ID: "entryup", Title: "Move the entry up in its list", Keys: []string{"K", "alt+up"}, Acts: true, Run: do(func(w *Form) { w.shift(-1) })},
		tui.Action{ID: "entrydown", Title: "Move the entry down in its list", Keys: []string{"J", "alt+down"}, Acts: true, Run: do(func(w *Form) { w.shift(1) })},
		tui.Action{ID: "null", Title: "Set the field to null", Keys: []string{"N"}, Acts: true, Run: do((*Form).null)},
	)
	for _, part := range []string{PartFields, PartOptions} {
		add(part,
			tui.Action{ID: "yes", Title: "Yes in a yes-or-no field", Keys: []string{"y"}, Acts: true, Sight: true, Run: run(func(w *Form) tea.Cmd { return w.word("Yes") })},
			tui.Action{ID: "no", Title: "No in a yes-or-no field", Keys: []string{"n"}, Acts: true, Sight: true, Run: run(func(w *Form) tea.Cmd { return w.word("No") })},
		)
		for n := range fewOptions {
			key := strconv.Itoa(n + 1)
			out = append(out, tui.Action{
				ID: id + ".option" + key, Title: "Option " + key + " of the field", Keys: []string{key}, Part: id + "." + part, Acts: true, Sight: true, Hidden: true,
				Run: run(func(w *Form) tea.Cmd { return w.choose(n) }),
			})
		}
	}
	accept := tui.Action{ID: "accept", Title: "Accept and go to the next field", Hint: "next field", Keys: []string{"enter"}, Acts: true, Sight: true, Run: run((*Form).accept), HintNow: func() string { return hint(form()) }}
	shut := tui.Action{ID: "close", Title: "Close the field; keep what is in it", Hint: "close", Keys: []string{"esc"}, Run: do(func(w *Form) { w.close(); w.told() })}
	forward := tui.Action{ID: "tab", Title: "Next field", Moves: true, Keys: []string{"tab"}, Run: next(1)}
	back := tui.Action{ID: "backtab", Title: "Previous field", Moves: true, Keys: []string{"shift+tab"}, Run: next(-1)}
	add(PartText, accept, shut, forward, back,
		tui.Action{ID: "break", Title: "Line break (also shift+enter and alt+enter)", Hint: "line break", Keys: []string{"ctrl+j"}, Run: run(func(w *Form) tea.Cmd { return w.Paste("\n") })})
	for _, part := range []string{PartOptions, PartFilter} {
		add(part, accept, shut, forward, back)
		keys := [][]string{{"up", "k"}, {"down", "j"}}
		if part == PartFilter {
			keys = [][]string{{"up"}, {"down"}}
		}
		add(part,
			tui.Action{ID: "optionup", Title: "Option above", Moves: true, Keys: keys[0], Run: pick(-1)},
			tui.Action{ID: "optiondown", Title: "Option below", Moves: true, Keys: keys[1], Run: pick(1)},
			tui.Action{ID: "optionpageup", Title: "Options above", Moves: true, Keys: []string{"pgup"}, Run: pick(-listRows)},
			tui.Action{ID: "optionpagedown", Title: "Options below", Moves: true, Keys: []string{"pgdown"}, Run: pick(listRows)},
		)
	}
	add(PartOptions, tui.Action{ID: "toggle", Title: "Choose the option and stay", Hint: "choose", Keys: []string{"space"}, Acts: true, Sight: true, Run: do((*Form).toggle)})
	add(PartJSON, tui.Action{ID: "fields", Title: "Back to the fields", Keys: []string{"esc", "tab"}, Run: do((*Form).swap)})
	for _, part := range []string{PartFields, PartText, PartOptions, PartFilter, PartJSON} {
		add(part,
			tui.Action{ID: "json", Title: "Between fields and JSON", Hint: "JSON", Keys: []string{"ctrl+r"}, Run: do((*Form).swap), HintNow: func() string { return other(form()) }},
			tui.Action{ID: "send", Title: "Send the form", Hint: "send", Keys: []string{"ctrl+s"}, Acts: true, Sight: true, Run: run((*Form).Send)},
		)
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
		return "send"
	case f.open:
		return "next field"
	case field.Role == "add":
		return "add"
	case field.Closed():
		return "open"
	}
	return "fill in"
}

// other is what the key that swaps goes to.
func other(f *Form) string {
	if f != nil && f.asJSON {
		return "fields"
	}
	return "JSON"
}
