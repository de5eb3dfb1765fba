package ask

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
)

// Actions implements tui.Page.
func (p *Page) Actions() []tui.Action {
	out := p.requestActions()
	out = append(out, p.optionActions()...)
	out = append(out, p.promptActions()...)
	out = append(out, p.groupActions()...)
	out = append(out, p.formActions()...)
	out = append(out, p.files.Actions("ask.complete", "")...)
	out = append(out, p.textActions()...)
	out = append(out, p.listActions()...)
	out = append(out, p.historyActions()...)
	out = append(out, p.pairAction())
	for i := range out {
		if out[i].Enabled == nil {
			out[i].Enabled = p.reachable(out[i].Part)
		}
	}
	return out
}

// reachable says why nothing of a part of the page can be done: the palette
// offers it also while another part is shown.
func (p *Page) reachable(part string) func() string {
	say := func(there bool, why string) string {
		if there {
			return ""
		}
		return why
	}
	if strings.HasPrefix(part, partForm+".") {
		return func() string { return say(p.onForm(), "no form is open") }
	}
	switch part {
	case partPrompt, partTerminal:
		return func() string { return say(p.Part() == part, "no permission is open") }
	case partRequest, partReview, partBlank:
		return func() string {
			_, open := p.current()
			return say(open, "no question is open")
		}
	case partText:
		return func() string { return say(p.TextEntry(), "no text field is open") }
	case partReader, partHistory, partGroup:
		return func() string { return say(p.place == part, "not on screen") }
	}
	return nil
}

func (p *Page) requestActions() []tui.Action {
	rows := []row{
		{"accept", "Choose this answer and continue", "answer", []string{"enter"}, true, p.accept},
		{"toggle", "Choose without continuing", "choose", []string{"space"}, true, tui.Do(p.toggle)},
		{"note", "Add a note to the option", "note", []string{"tab"}, true, tui.Do(p.note)},
		{"other", "Type your own answer", "own answer", []string{"o", "0"}, true, p.other},
		{"skip", "Skip this question", "skip", []string{"s"}, true, p.skip},
		{"clarify", "Ask back instead of answering", "ask back", []string{"c"}, true, tui.Do(p.clarify)},
		{"recommended", "Choose the recommended option", "", []string{"r"}, true, tui.Do(p.recommended)},
		{"yes", "Yes (first option of a yes-or-no question)", "", []string{"y"}, true, func() tea.Cmd { return p.confirm(0) }},
		{"no", "No (second option of a yes-or-no question)", "", []string{"n"}, true, func() tea.Cmd { return p.confirm(1) }},
		{"edit", "Edit the text in your editor", "", []string{"e"}, true, p.edit},
		{"pageup", "Scroll the text up", "", []string{"pgup", "shift+up"}, false, tui.Do(func() { p.scroll.by(-1) })},
		{"pagedown", "Scroll the text down", "", []string{"pgdown", "shift+down"}, false, tui.Do(func() { p.scroll.by(1) })},
		{"read", "Read the question and description full screen", "", []string{"d"}, false, tui.Do(p.read)},
		{"preview", "Preview the option", "", []string{"v"}, false, tui.Do(func() { p.preview = !p.preview })},
	}
	out := p.actionsOf(partRequest, append(rows, p.bothRows()...))
	review := []row{{"accept", "Send, or go to the first unanswered question", "send", []string{"enter"}, true, p.accept}}
	out = append(out, p.actionsOf(partReview, append(review, p.bothRows()...))...)
	out = append(out, p.blankActions()...)
	return append(out, tui.Action{
		ID: "ask.undo", Title: "Undo the answer just sent", Hint: "undo", Keys: []string{"u"}, Acts: true,
		Enabled: func() string {
			if p.isSending() {
				return ""
			}
			return "nothing is being sent"
		},
		Run: tui.Do(p.undo),
	})
}

// blankActions are what can be done on a question for a text whose field is
// closed: letters are text there.
func (p *Page) blankActions() []tui.Action {
	rows := []row{
		{"accept", "Choose this answer and continue", "answer", []string{"enter"}, true, p.accept},
		{"note", "Add a note to the option", "", []string{"tab"}, true, tui.Do(p.note)},
		{"blank.skip", "Skip a text question", "skip", []string{"alt+s"}, true, tui.Do(p.skipText)},
		{"blank.clarify", "Ask back instead of answering a text question", "ask back", []string{"alt+c"}, true, tui.Do(p.clarify)},
		{"blank.snooze", "Snooze a text question", "snooze", []string{"alt+z"}, true, func() tea.Cmd { return p.snooze(p.id, 0) }},
		{"blank.decline", "Decline the request of a text question", "decline", []string{"alt+x"}, true, tui.Do(p.decline)},
		{"blank.edit", "Edit the text in your editor", "", []string{"alt+e"}, true, p.edit},
		{"pageup", "Scroll the text up", "", []string{"pgup", "shift+up"}, false, tui.Do(func() { p.scroll.by(-1) })},
		{"pagedown", "Scroll the text down", "", []string{"pgdown", "shift+down"}, false, tui.Do(func() { p.scroll.by(1) })},
	}
	out := p.actionsOf(partBlank, append(rows, p.bothRows()...))
	for i := range out {
		out[i].InText = true
	}
	return out
}

// row is an action in short: id, title, hint, keys, whether it answers, and
// what it does.
type row struct {
	id, title, hint string
	keys            []string
	acts            bool
	run             func() tea.Cmd
}

// bothRows are what can be done on a question and on the review.
func (p *Page) bothRows() []row {
	return []row{
		{"previous", "Previous question", "", []string{"left", "h"}, false, tui.Do(func() { p.turn(-1) })},
		{"next", "Next question", "", []string{"right", "l"}, false, tui.Do(func() { p.turn(1) })},
		{"up", "Up", "", []string{"up", "k"}, false, tui.Do(func() { p.move(-1) })},
		{"down", "Down", "", []string{"down", "j"}, false, tui.Do(func() { p.move(1) })},
		{"top", "First option", "", []string{"home"}, false, tui.Do(func() { p.move(-1000) })},
		{"bottom", "Last option", "", []string{"end"}, false, tui.Do(func() { p.move(1000) })},
		{"snooze", "Snooze", "snooze", []string{"z"}, true, func() tea.Cmd { return p.snooze(p.id, 0) }},
		{"snoozefor", "Snooze until…", "", []string{"Z"}, true, p.openSnooze},
		{"decline", "Decline the whole request", "decline", []string{"x"}, true, tui.Do(p.decline)},
		{"allrecommended", "Choose the recommended option for every unanswered question, then review", "", []string{"R"}, true, tui.Do(p.allRecommended)},
		{"before", "Previous request", "", []string{"["}, false, tui.Do(func() { p.beside(-1) })},
		{"after", "Next request", "", []string{"]"}, false, tui.Do(func() { p.beside(1) })},
		{"release", "Let its terminal ask: it shows nothing while it waits here", "to its terminal", []string{"t", "alt+t"}, true, p.release},
		{"jump", "Go to the agent's terminal", "jump", []string{jumpKey}, false, p.jump},
		{"forget", "Dismiss a question no agent is waiting for", "", []string{"D"}, true, p.dismiss},
		{"history", "History of answered questions", "", []string{"H"}, false, tui.Do(p.toHistory)},
		{"send", "Send, if everything is answered", "", []string{"ctrl+s"}, true, p.send},
		{"leave", "Back to the list; keep the question as it is", "list", []string{"esc", "ctrl+c"}, false, tui.Do(p.toList)},
	}
}

// actionsOf makes actions of rows for a part of the page.
func (p *Page) actionsOf(part string, rows []row) []tui.Action {
	out := make([]tui.Action, len(rows))
	for i, r := range rows {
		out[i] = tui.Action{
			ID: "ask." + r.id, Title: r.title, Hint: r.hint, Keys: r.keys, Part: part, Acts: r.acts, Run: r.run,
			Sight: decides(r.id), Hidden: !r.acts && r.hint == "", Moves: moves(r.id),
		}
		switch r.id {
		case "release":
			out[i].Enabled = p.whyNoRelease
		case "jump":
			out[i].Enabled = p.whyNoJump
		case "always":
			out[i].Enabled = p.whyNoLasting
		case "group":
			out[i].Enabled, out[i].HintNow = p.whyNoGroup, p.groupHint
		}
	}
	return out
}

// moves reports whether an action only moves about in a request, or between requests.
func moves(id string) bool {
	switch strings.TrimPrefix(strings.TrimPrefix(id, "group."), "prompt.") {
	case "previous", "next", "up", "down", "top", "bottom", "pageup", "pagedown", "before", "after", "preview", "form.scrollup", "form.scrolldown":
		return true
	}
	return false
}

// decides reports whether an action chooses, sends or drops something, which nobody
// may do to a question that is not in sight.
func decides(id string) bool {
	switch id {
	case "accept", "toggle", "skip", "form.skip", "recommended", "allrecommended", "yes", "no", "send", "forget", "release":
		return true
	}
	return strings.HasPrefix(id, "prompt.") && !moves(id) || id == "group.answer"
}

// optionActions are the digits: option n, or question n of the review.
func (p *Page) optionActions() []tui.Action {
	var out []tui.Action
	for _, part := range []string{partRequest, partReview, partPrompt} {
		for n := range 9 {
			key := strconv.Itoa(n + 1)
			out = append(out, tui.Action{
				ID: "ask.option" + key, Title: "Option " + key, Keys: []string{key}, Part: part, Acts: true, Sight: true, Hidden: true,
				Run: func() tea.Cmd { return p.digit(n) },
			})
		}
	}
	return out
}

func (p *Page) textActions() []tui.Action {
	return []tui.Action{
		{ID: "ask.text.accept", Title: "Accept the text", Hint: "done", Keys: []string{"enter"}, Part: partText, InText: true, Acts: true, Sight: true, HintNow: p.textEnds, Run: p.textEnter},
		{ID: "ask.text.close", Title: "Close the text field; keep the text", Hint: "close, keep text", Keys: []string{"esc", "tab"}, Part: partText, InText: true, Run: tui.Do(p.textClose)},
		{ID: "ask.text.break", Title: "Line break (also shift+enter and alt+enter)", Moves: true, Hint: "line break", Keys: []string{"ctrl+j"}, Part: partText, InText: true, Run: func() tea.Cmd {
			return p.typeText(func() { p.editor.Insert("\n") })
		}},
		{ID: "ask.text.undo", Title: "Undo what was typed", Moves: true, Keys: []string{"ctrl+_", "ctrl+/"}, Part: partText, InText: true, Run: func() tea.Cmd {
			return p.typeText(func() { p.editor.Undo() })
		}},
		{ID: "ask.text.redo", Title: "Redo what was undone", Moves: true, Keys: []string{"ctrl+y"}, Part: partText, InText: true, Run: func() tea.Cmd {
			return p.typeText(func() { p.editor.Redo() })
		}},
		{ID: "ask.text.send", Title: "Accept the text and send, if everything is answered", Keys: []string{"ctrl+s"}, Part: partText, InText: true, Acts: true, Sight: true, Run: func() tea.Cmd {
			if p.place != partRequest {
				return nil
			}
			p.textTake()
			return p.send()
		}},
		{ID: "ask.text.leave", Title: "Back to the list; keep the text", Keys: []string{"ctrl+c"}, Part: partText, InText: true, Run: tui.Do(func() {
			if p.place == partHistory {
				p.textClose()
				return
			}
			p.toList()
		})},
	}
}

func (p *Page) listActions() []tui.Action {
	none := func() string { return tui.Because(len(p.rows) == 0, "no open questions") }
	out := []tui.Action{
		{ID: "ask.open", Title: "Open the question", Hint: "open", Keys: []string{"enter", "right", "l"}, Part: partList, Enabled: none, Run: p.openRow},
		{ID: "ask.list.up", Title: "Up", Moves: true, Keys: []string{"up", "k"}, Part: partList, Hidden: true, Run: tui.Do(func() { p.moveRow(-1) })},
		{ID: "ask.list.down", Title: "Down", Moves: true, Keys: []string{"down", "j"}, Part: partList, Hidden: true, Run: tui.Do(func() { p.moveRow(1) })},
		{ID: "ask.list.top", Title: "First", Moves: true, Keys: []string{"home", "g"}, Part: partList, Hidden: true, Run: tui.Do(func() { p.moveRow(-1000) })},
		{ID: "ask.list.bottom", Title: "Last", Moves: true, Keys: []string{"end", "G"}, Part: partList, Hidden: true, Run: tui.Do(func() { p.moveRow(1000) })},
		{ID: "ask.list.forget", Title: "Dismiss a question no agent is waiting for", Keys: []string{"D"}, Part: partList, Acts: true, Sight: true, Enabled: none, Run: p.dismiss},
		{ID: "ask.list.history", Title: "History of answered questions", Hint: "history", Keys: []string{"H"}, Part: partList, Run: tui.Do(p.toHistory)},
		{ID: "ask.reader.close", Title: "Back to the question", Hint: "back", Keys: []string{"esc", "d", "enter", "ctrl+c"}, Part: partReader, Run: tui.Do(func() { p.place = partRequest })},
	}
	return slices.Concat(out, p.search.Actions("ask.reader"), tui.ScrollActions("ask.reader", partReader, &p.reader))
}

func (p *Page) historyActions() []tui.Action {
	out := []tui.Action{
		{ID: "ask.history.close", Title: "Back to open questions", Hint: "back", Keys: []string{"esc", "H", "ctrl+c"}, Part: partHistory, Run: tui.Do(func() { p.place = partList })},
		{ID: "ask.history.search", Title: "Search the history", Hint: "search", Keys: []string{"/"}, Part: partHistory, Run: tui.Do(func() { p.past.searching = true })},
		{ID: "ask.history.copy", Title: "Copy question and answer", Hint: "copy", Keys: []string{"c"}, Part: partHistory, Run: func() tea.Cmd { return p.past.copy() }},
	}
	return append(out, tui.ListActions("ask.history", partHistory, &p.past.list)...)
}
