package inbox

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/form"
)

// Actions implements tui.Page.
func (p *Page) Actions() []tui.Action {
	out := slices.Concat(
		p.chooseActions(), p.itemActions(), p.listActions(), p.paneActions(), p.groupActions(), p.formActions(),
		p.files.Actions("inbox.complete", ""), p.textActions(), p.past.actions(), p.welcome.actions(), []tui.Action{p.pairing.action()},
	)
	for i := range out {
		if out[i].Enabled == nil {
			out[i].Enabled = p.reachable(out[i].Part)
		}
	}
	for _, w := range p.opt.Widgets {
		out = append(out, w.Actions()...)
	}
	return out
}

// reachable says why nothing of a part of the page can be done: the palette
// offers it also while another part is shown.
func (p *Page) reachable(part string) func() string {
	if part == "" {
		return nil
	}
	return func() string { return tui.Because(p.Part() != part, "not on screen") }
}

// itemActions act on what the pane shows, whether the list or the pane has the focus.
func (p *Page) itemActions() []tui.Action {
	asked := func(why string) func() string {
		return func() string {
			_, open := p.current()
			switch {
			case p.past.shown:
				return "the history is open"
			case p.place == partSettled:
				return "already answered: j goes on"
			case !open || p.place != partRequest:
				return why
			case p.closed():
				return "only its terminal can answer this"
			}
			return ""
		}
	}
	decides := func(key string) func() string {
		open := asked("nothing is asked here")
		return func() string {
			q, _, ok := p.at()
			switch d := p.deciding(); {
			case open() != "":
				return open()
			case d == nil && (!ok || q.Kind != questions.Confirm || key == "x"):
				return "no permission is selected"
			case d != nil && tui.Granted(d, key) < 0:
				return "the agent does not offer this"
			}
			return ""
		}
	}
	some := asked("nothing is asked here")
	out := []tui.Action{
		{ID: "inbox.pagedown", Title: "Scroll the pane down", Label: "pgdn", Moves: true, Keys: []string{"pgdown", "ctrl+d", "shift+down"}, HintNow: func() string {
			if _, open := p.current(); open && p.place == partRequest && p.permission.cut {
				return "more"
			}
			return ""
		}, Run: tui.Do(func() { p.turnPage(1) })},
		{ID: "inbox.yes", Title: "Allow once, accept the plan, or say yes", Keys: []string{"y"}, Acts: true, Sight: true, Enabled: decides("y"), HintNow: p.yesHint, Run: func() tea.Cmd { return p.verdict("y", 0) }},
		{ID: "inbox.no", Title: "Deny, keep planning, or say no", Hint: "deny", Keys: []string{"n"}, Acts: true, Sight: true, Enabled: decides("n"), HintNow: p.noHint, Run: func() tea.Cmd { return p.verdict("n", 1) }},
		{ID: "inbox.always", Title: "Show the options that last, with what exactly they allow", Hint: "always…", Keys: []string{"a"}, Acts: true, Enabled: p.whyNoLasting, Run: tui.Do(p.toLasting)},
		{ID: "inbox.message", Title: "Deny with a message, or ask back", Hint: "message", Keys: []string{"m"}, Acts: true, Enabled: p.whyNoMessage(some), HintNow: p.messageHint, Run: p.ask},
		{ID: "inbox.later", Title: "Snooze", Hint: "later", Keys: []string{"z"}, Acts: true, Enabled: some, Run: func() tea.Cmd { return p.snooze(p.id, 0) }},
		{ID: "inbox.until", Title: "Snooze until…", Acts: true, Enabled: some, Run: p.openSnooze},
		{ID: "inbox.stop", Title: "Deny and stop the turn, decline the request, or dismiss it", Hint: "decline", Keys: []string{"x"}, Acts: true, Enabled: p.whyNoStop(some), HintNow: p.stopHint, Run: p.stop},
		{ID: "inbox.undo", Title: "Undo the answer just sent", Hint: "undo", Keys: []string{"u"}, Acts: true, Enabled: func() string { return tui.Because(!p.isSending(), "nothing is being sent") }, Run: tui.Do(p.undo)},
		{ID: "inbox.edit", Title: "Edit the answer in your editor", Keys: []string{"e"}, Acts: true, Enabled: some, Run: p.edit},
		{ID: "inbox.jump", Title: "Go to the agent's terminal", Hint: "terminal", Keys: []string{jumpKey}, Enabled: p.whyNoJump, Run: p.jump},
		{ID: "inbox.copy", Title: "Copy what wants to run, or what is asked", Keys: []string{"c"}, Enabled: func() string { return tui.Because(p.place == "", "nothing is selected") }, Run: p.copy},
		{ID: "inbox.details", Title: "Read everything in full, with details", Keys: []string{"d"}, Enabled: func() string { _, open := p.current(); return tui.Because(!open, "no request is selected") }, Run: tui.Do(p.read)},
		{ID: "inbox.view", Title: "Preview the option in the place of the description", Keys: []string{"v"}, Moves: true, Run: tui.Do(func() { p.preview = !p.preview })},
		{ID: "inbox.mark", Title: "Mark for a common answer, or tick the option", Keys: []string{"space"}, Acts: true, Sight: true, Enabled: some, Run: p.tick},
		{ID: "inbox.left", Title: "Previous question of the request", Moves: true, Keys: []string{"left", "h"}, Hidden: true, Run: tui.Do(func() { p.turn(-1) })},
		{ID: "inbox.right", Title: "Next question of the request", Moves: true, Keys: []string{"right", "l"}, Hidden: true, Run: tui.Do(func() { p.turn(1) })},
		{ID: "inbox.pageup", Title: "Scroll the pane up", Moves: true, Keys: []string{"pgup", "ctrl+u", "shift+up"}, Hidden: true, Run: tui.Do(func() { p.turnPage(-1) })},
		{ID: "inbox.skip", Title: "Skip this question, or the form", Acts: true, Enabled: some, Run: p.skip},
		{ID: "inbox.other", Title: "Type your own answer", Acts: true, Enabled: some, Run: tui.Do(p.own)},
		{ID: "inbox.note", Title: "Add a note to the option", Acts: true, Enabled: some, Run: tui.Do(p.note)},
		{ID: "inbox.recommended", Title: "Choose the recommended option", Acts: true, Enabled: some, Run: tui.Do(p.recommended)},
		{ID: "inbox.allrecommended", Title: "Choose the recommended option for every unanswered question, then review", Acts: true, Enabled: some, Run: tui.Do(p.allRecommended)},
		{ID: "inbox.send", Title: "Send, if everything is answered", Keys: []string{"ctrl+s"}, Acts: true, Sight: true, Enabled: some, Run: p.send},
		{ID: "inbox.calls", Title: "Show the calls of the agent", Enabled: func() string { return tui.Because(p.session == nil || p.opt.CallsPage == "", "no session is selected") }, Run: func() tea.Cmd {
			text := p.session.Agent
			return tea.Sequence(tui.Go(p.opt.CallsPage), func() tea.Msg { return tui.FilterCallsMsg{Text: text} })
		}},
	}
	for n := range 9 {
		key := strconv.Itoa(n + 1)
		out = append(out, tui.Action{ID: "inbox.option" + key, Title: "Option " + key, Keys: []string{key}, Acts: true, Sight: true, Hidden: true, Enabled: some, Run: func() tea.Cmd { return p.digit(n) }})
	}
	return out
}

// chooseActions choose in the pane.
func (p *Page) chooseActions() []tui.Action {
	at := func(part, hint string, now func() string) tui.Action {
		return tui.Action{ID: "inbox.accept", Title: "Choose what is under the cursor and continue, or send", Hint: hint, HintNow: now, Keys: []string{"enter"}, Part: part, Acts: true, Sight: true, Run: p.accept}
	}
	return []tui.Action{
		{ID: "inbox.option", Title: "Choose an option by its digit", Hint: "choose", Label: "1-9", Keys: []string{"1"}, Part: partRequest, Acts: true, Sight: true, Run: func() tea.Cmd { return p.digit(0) }},
		at(partRequest, "next", func() string {
			_, ok := p.inTerminal()
			switch {
			case p.closed() && ok:
				return "terminal"
			case len(p.questions()) == 1:
				return "answer"
			}
			return ""
		}),
		at(partReview, "send", nil),
		at(partPrompt, "", nil),
	}
}

// verdict is y or n; with marks, for all that is marked.
func (p *Page) verdict(key string, option int) tea.Cmd {
	if len(p.marked()) > 0 {
		p.openGroup(key)
		return nil
	}
	return p.yesNo(key, option)
}

func (p *Page) yesHint() string {
	switch d := p.deciding(); {
	case len(p.marked()) > 0:
		return "allow " + strconv.Itoa(len(p.marked()))
	case d == nil:
		return "yes"
	case p.permission.cut && p.unseen() >= 0:
		return "" // it shows more first
	case d.Kind == questions.Plan:
		return "accept"
	}
	return "allow once"
}

func (p *Page) noHint() string {
	switch {
	case len(p.marked()) > 0:
		return "deny " + strconv.Itoa(len(p.marked()))
	case p.deciding() == nil:
		return "no"
	}
	return ""
}

func (p *Page) messageHint() string {
	if p.deciding() == nil && p.place == partRequest {
		return "ask back"
	}
	return ""
}

func (p *Page) whyNoMessage(some func() string) func() string {
	return func() string {
		d := p.deciding()
		switch {
		case p.session != nil:
			return p.session.Agent + " takes messages in its own terminal: J"
		case some() != "":
			return some()
		case d != nil && tui.Granted(d, "m") < 0:
			return "the agent takes no message"
		}
		return ""
	}
}

func (p *Page) whyNoStop(some func() string) func() string {
	return func() string {
		if d := p.deciding(); d != nil && tui.Granted(d, "x") < 0 {
			return "the agent does not offer this"
		}
		if p.kept() {
			return ""
		}
		return some()
	}
}

func (p *Page) stopHint() string {
	it, _ := p.current()
	switch {
	case p.kept():
		return "remove"
	case p.deciding() != nil:
		return "stop"
	case it.Absent == questions.Gone:
		return "remove"
	}
	return ""
}

// tick is space: it marks a permission, or ticks an option.
func (p *Page) tick() tea.Cmd {
	q, _, ok := p.at()
	switch {
	case p.deciding() != nil:
		return p.mark()
	case ok && !p.opened && !q.Multi:
		return tui.Toast(tui.Info, "enter opens the question")
	case ok:
		p.opened = true
		p.toggle()
	}
	return nil
}

func (p *Page) undo() {
	if id := p.queue.Undo(0); id != 0 {
		p.place = ""
		p.refresh()
		p.lay(p.list.lastKey)
		p.list.to(id)
		p.list.moved = true
		p.showSelected()
		if it, ok := p.current(); ok && decision(&it.Request) == nil {
			p.opened = true
		}
		p.message = "taken back"
	}
}

func (p *Page) listActions() []tui.Action {
	row := func(d int) func() tea.Cmd { return tui.Do(func() { p.moveRow(d) }) }
	settled := func() bool { return p.place == partSettled && p.settled.own() }
	down := func() tea.Cmd {
		if settled() {
			p.next()
			return nil
		}
		p.moveRow(1)
		return nil
	}
	return []tui.Action{
		{ID: "inbox.open", Title: "Open what is selected", Hint: "open", Keys: []string{"enter"}, Part: partList, Enabled: func() string {
			switch {
			case settled():
				return "already answered: j goes on"
			case p.place == "" || p.place == partSettled:
				return "nothing is selected"
			}
			return ""
		}, Run: tui.Do(p.enter)},
		{ID: "inbox.list.up", Title: "Up", Moves: true, Keys: []string{"up", "k"}, Part: partList, Hidden: true, Run: row(-1)},
		{ID: "inbox.list.down", Title: "Down", Moves: true, Keys: []string{"down", "j"}, Part: partList, Hidden: true, Run: down},
		{ID: "inbox.list.next", Title: "Into the pane", Moves: true, Keys: []string{"tab"}, Part: partList, Hidden: true, Run: func() tea.Cmd {
			if settled() {
				p.next()
			} else {
				p.enter()
			}
			return nil
		}},
		{ID: "inbox.list.top", Title: "First", Moves: true, Keys: []string{"home", "g"}, Part: partList, Hidden: true, Run: row(-10000)},
		{ID: "inbox.list.bottom", Title: "Last", Moves: true, Keys: []string{"end", "G"}, Part: partList, Hidden: true, Run: row(10000)},
	}
}

// paneActions are moving in the pane, choosing there and leaving it.
func (p *Page) paneActions() []tui.Action {
	move := func(d int) func() tea.Cmd { return tui.Do(func() { p.move(d) }) }
	var out []tui.Action
	for _, part := range []string{partRequest, partReview, partPrompt, partSession, partRecord} {
		out = append(
			out,
			tui.Action{ID: "inbox.up", Title: "Up", Moves: true, Keys: []string{"up", "k"}, Part: part, Hidden: true, Run: move(-1)},
			tui.Action{ID: "inbox.down", Title: "Down", Moves: true, Keys: []string{"down", "j"}, Part: part, Hidden: true, Run: move(1)},
			tui.Action{ID: "inbox.top", Title: "First", Moves: true, Keys: []string{"home", "g"}, Part: part, Hidden: true, Run: move(-10000)},
			tui.Action{ID: "inbox.bottom", Title: "Last", Moves: true, Keys: []string{"end", "G"}, Part: part, Hidden: true, Run: move(10000)},
			tui.Action{ID: "inbox.back", Title: "Back to the list; keep everything as it is", Hint: "back", Keys: []string{"esc", "shift+tab", "ctrl+c"}, Part: part, Run: tui.Do(p.back)},
		)
	}
	out = append(
		out,
		tui.Action{ID: "inbox.settled.back", Title: "Back to the list", Hint: "back", Keys: []string{"esc", "ctrl+c"}, Part: partSettled, InText: true, Run: tui.Do(p.back)},
		tui.Action{ID: "inbox.settled.next", Title: "On to what needs you next", Hint: "next", Keys: []string{"j", "down", "tab"}, Part: partSettled, Run: tui.Do(p.next)},
		tui.Action{ID: "inbox.settled.again", Title: "Answered already", Keys: []string{"enter"}, Part: partSettled, Hidden: true, Run: tui.Do(func() { p.message = "already answered: j goes on" })},
		tui.Action{ID: "inbox.reader.close", Title: "Back to the question", Hint: "back", Keys: []string{"esc", "d", "enter", "ctrl+c"}, Part: partReader, Run: tui.Do(p.back)},
	)
	return slices.Concat(out, p.search.Actions("inbox.reader"), tui.ScrollActions("inbox.reader", partReader, &p.reader))
}

func (p *Page) groupActions() []tui.Action {
	at := func(id, title, hint, key string, run func() tea.Cmd) tui.Action {
		return tui.Action{ID: "inbox.group." + id, Title: title, Hint: hint, Keys: strings.Split(key, " "), Part: partGroup, Acts: id == "answer", Sight: id == "answer", Moves: hint == "", Hidden: hint == "", Run: run}
	}
	verdict := func(key string) func() tea.Cmd { return tui.Do(func() { p.group.key, p.message = key, "" }) }
	return []tui.Action{
		at("answer", "Answer all that are ticked and were on screen in full", "choose", "enter", p.answerGroup),
		at("allow", "Have enter allow them once", "allow once", "y", verdict("y")),
		at("deny", "Have enter deny them", "deny", "n", verdict("n")),
		at("tick", "Tick or untick", "mark", "space", tui.Do(p.tickInGroup)),
		at("up", "Up", "", "up k", tui.Do(func() { p.moveInGroup(-1) })),
		at("down", "Down", "", "down j", tui.Do(func() { p.moveInGroup(1) })),
		at("pageup", "A page up", "", "pgup ctrl+u shift+up", tui.Do(func() { p.group.scroll.Page(-1) })),
		at("pagedown", "A page down", "", "pgdown ctrl+d shift+down", tui.Do(func() { p.group.scroll.Page(1) })),
		at("back", "Back to the list", "back", "esc ctrl+c", tui.Do(p.leaveGroup)),
	}
}

// formActions are what can be done in a form.
func (p *Page) formActions() []tui.Action {
	out := form.Actions("inbox."+partForm, func() *form.Form { return p.form })
	for i := range out {
		out[i].Part = strings.TrimPrefix(out[i].Part, "inbox.")
	}
	fields := partForm + "." + form.PartFields
	out = append(out, tui.Action{ID: "inbox.back", Title: "Back to the list; keep everything as it is", Hint: "back", Keys: []string{"esc", "ctrl+c"}, Part: fields, Run: tui.Do(p.back)})
	for _, part := range []string{form.PartText, form.PartOptions, form.PartFilter, form.PartJSON} {
		out = append(out, tui.Action{ID: "inbox.leave", Title: "Back to the list; keep everything as it is", Keys: []string{"ctrl+c"}, Part: partForm + "." + part, InText: true, Run: tui.Do(p.back)})
	}
	return out
}

func (p *Page) textActions() []tui.Action {
	edit := func(f func()) func() tea.Cmd { return func() tea.Cmd { return p.typeText(f) } }
	return []tui.Action{
		{ID: "inbox.text.accept", Title: "Accept the text", Hint: "done", Keys: []string{"enter"}, Part: partText, InText: true, Acts: true, Sight: true, HintNow: p.textEnds, Run: p.textEnter},
		{ID: "inbox.text.close", Title: "Close the text field; keep the text", Hint: "back", Keys: []string{"esc"}, Part: partText, InText: true, Run: tui.Do(p.textClose)},
		{ID: "inbox.text.break", Title: "Line break (also shift+enter and alt+enter)", Moves: true, Hint: "line break", Keys: []string{"ctrl+j"}, Part: partText, InText: true, Run: edit(func() { p.editor.Insert("\n") })},
		{ID: "inbox.text.undo", Title: "Undo what was typed", Moves: true, Keys: []string{"ctrl+_", "ctrl+/"}, Part: partText, InText: true, Run: edit(func() { p.editor.Undo() })},
		{ID: "inbox.text.redo", Title: "Redo what was undone", Moves: true, Keys: []string{"ctrl+y"}, Part: partText, InText: true, Run: edit(func() { p.editor.Redo() })},
		{ID: "inbox.text.send", Title: "Accept the text and send, if everything is answered", Keys: []string{"ctrl+s"}, Part: partText, InText: true, Acts: true, Sight: true, Run: func() tea.Cmd {
			p.textTake()
			return p.send()
		}},
		{ID: "inbox.text.leave", Title: "Back to the list; keep the text", Keys: []string{"ctrl+c"}, Part: partText, InText: true, Run: tui.Do(func() {
			p.draft.Field = questions.NoField
			p.keep()
			p.back()
		})},
	}
}

func (h *history) actions() []tui.Action {
	typing := func() string { return tui.Because(!h.searching, "nothing is typed") }
	out := []tui.Action{
		{ID: "inbox.history.keep", Title: "Keep what was found", Hint: "done", Keys: []string{"enter", "esc", "ctrl+c"}, Part: partHistory, InText: true, Enabled: typing, Run: tui.Do(func() { h.searching = false })},
		{ID: "inbox.history.close", Title: "Back to the list", Hint: "back", Keys: []string{"esc", "H", "ctrl+c"}, Part: partHistory, Run: tui.Do(func() { h.shown = false })},
		{ID: "inbox.history.search", Title: "Search the history", Hint: "filter", Keys: []string{"/"}, Part: partHistory, Run: tui.Do(func() { h.searching = true })},
		{ID: "inbox.history.copy", Title: "Copy question and answer", Hint: "copy", Keys: []string{"c"}, Part: partHistory, Run: func() tea.Cmd { return h.copy() }},
	}
	return append(out, tui.ListActions("inbox.history", partHistory, &h.list)...)
}
