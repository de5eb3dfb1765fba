package inbox

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/form"
	"github.com/mcpdeck/mcpdeck/tui/verb"
)

// Actions implements tui.Page.
func (p *Page) Actions() []tui.Action {
	out := slices.Concat(
		p.chooseActions(), inSight(p, p.itemActions()), p.listActions(), p.paneActions(), p.groupActions(), p.formActions(),
		p.files.Actions("inbox.complete", ""), p.textActions(), p.opt.Reply.Actions(ID, func() *snapshot.Session { return replying(&p.pane) }, func() { p.opened = p.unreplied }), p.past.actions(), p.rules.actions(p), p.grants.actions(p), p.denials.actions(p), p.welcome.actions(), []tui.Action{p.pairing.action()},
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

// inSight has all do nothing while a view stands in the place of what they are about.
func inSight(p *Page, all []tui.Action) []tui.Action {
	for i := range all {
		if why := all[i].Enabled; all[i].Verb != verb.Undo && all[i].Verb != verb.Terminal {
			all[i].Enabled = func() string {
				if p.past.view != "" {
					return "the history is open"
				} else if why == nil {
					return ""
				}
				return why()
			}
		}
	}
	return all
}

// settledHint says why an item that is shown once more cannot be answered: it was answered
// here or elsewhere, or its agent has gone.
const settledHint = "closed: j next"

// itemActions act on what the pane shows, whether the list or the pane has the focus.
func (p *Page) itemActions() []tui.Action {
	asked := func(why string) func() string {
		return func() string {
			_, open := p.current()
			switch {
			case p.place == partSettled:
				return settledHint
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
	turn := func(by int) func() tea.Cmd {
		return tui.Do(func() {
			if s := p.context(); s != nil && diffOf(p) >= 0 {
				p.file = conversation.Turn(s, p.file, by)
			}
			p.turn(by)
		})
	}
	out := []tui.Action{
		{ID: "inbox.pagedown", Title: "Scroll the pane down", Label: "pgdn", Moves: true, Verb: verb.PageDown, HintNow: func() string {
			if _, open := p.current(); open && p.place == partRequest && p.deciding() != nil && p.permission.cut {
				return "more"
			}
			return ""
		}, Run: tui.Do(func() { p.turnPage(1) })},
		{ID: "inbox.yes", Title: "Allow once, accept the plan, or say yes", Verb: verb.Yes, Acts: true, Sight: true, Enabled: decides("y"), HintNow: p.yesHint, Run: func() tea.Cmd { return p.verdict("y", 0) }},
		againAction(p, decides("r")),
		{ID: "inbox.no", Title: "Deny, keep planning, or say no", Verb: verb.No, Acts: true, Sight: true, Enabled: decides("n"), HintNow: p.noHint, Run: func() tea.Cmd { return p.verdict("n", 1) }},
		{ID: "inbox.always", Title: "Show the lasting options and exactly what each allows", Hint: "always…", Verb: verb.Always, Acts: true, Enabled: func() string { return whyNotAlways(p) }, Run: func() tea.Cmd { return always(p) }},
		{ID: "inbox.message", Title: "Deny with a message, or ask back", Hint: "message", Verb: verb.Message, Acts: true, Enabled: p.whyNoMessage(some), HintNow: p.messageHint, Run: p.ask},
		{ID: "inbox.later", Title: "Snooze: choose when it comes back", Hint: "later", Verb: verb.Later, Acts: true, Enabled: some, Run: p.openLater},
		handAction(p, some),
		{ID: "inbox.stop", Title: "Deny and stop the turn, decline the request, or dismiss it", Hint: "decline", Verb: verb.Stop, Acts: true, Enabled: p.whyNoStop(some), HintNow: p.stopHint, Run: p.stop},
		{ID: "inbox.undo", Title: "Undo the answer just sent", Hint: "undo", Verb: verb.Undo, Acts: true, Enabled: func() string { return whyNoUndo(p) }, Run: p.undo},
		{ID: "inbox.edit", Title: "Edit the answer in your editor", Verb: verb.Edit, Acts: true, Enabled: some, Run: p.edit},
		{ID: "inbox.jump", Title: "Go to the agent's terminal", Hint: "terminal", Verb: verb.Terminal, Enabled: func() string { return whyNotThere(p) }, Run: func() tea.Cmd { return there(p) }},
		{ID: "inbox.copy", Title: "Copy the command or the question", Verb: verb.Copy, Enabled: func() string { return tui.Because(p.place == "", "nothing is selected") }, Run: p.copy},
		{ID: "inbox.details", Title: "Show everything in full, with details", Verb: verb.Details, Enabled: func() string { _, open := p.current(); return tui.Because(!open, "no request is selected") }, Run: tui.Do(p.read)},
		{ID: "inbox.view", Title: "Show the option's preview instead of the description", Verb: verb.View, Moves: true, Run: tui.Do(func() { p.preview = !p.preview })},
		{ID: "inbox.mark", Title: "Mark for a common answer, or tick the option", Verb: verb.Mark, Acts: true, Sight: true, Enabled: some, Run: p.tick},
		{ID: "inbox.left", Title: "Previous question of the request, or file that the session changed", Moves: true, Verb: verb.Left, Hidden: true, Run: turn(-1)},
		{ID: "inbox.right", Title: "Next question of the request, or file that the session changed", Moves: true, Verb: verb.Right, Hidden: true, Run: turn(1)},
		{ID: "inbox.pageup", Title: "Scroll the pane up", Moves: true, Verb: verb.PageUp, Hidden: true, Run: tui.Do(func() { p.turnPage(-1) })},
		{ID: "inbox.skip", Title: "Skip this question, or the form", Acts: true, Enabled: some, Run: inView(&p.pane, p.skip)},
		{ID: "inbox.other", Title: "Type your own answer", Acts: true, Enabled: some, Run: tui.Do(p.own)},
		{ID: "inbox.note", Title: "Add a note to the option", Acts: true, Enabled: some, Run: tui.Do(p.note)},
		{ID: "inbox.recommended", Title: "Choose the recommended option", Acts: true, Enabled: some, Run: inView(&p.pane, tui.Do(p.recommended))},
		{ID: "inbox.allrecommended", Title: "Choose the recommended option for every unanswered question, then review", Acts: true, Enabled: some, Run: inView(&p.pane, tui.Do(p.allRecommended))},
		{ID: "inbox.send", Title: "Send, if everything is answered", Verb: verb.Send, Acts: true, Sight: true, Enabled: some, Run: inView(&p.pane, p.send)},
		{ID: "inbox.calls", Title: "Show the calls of the agent", Enabled: func() string { return tui.Because(p.session == nil || p.opt.CallsPage == "", "no session is selected") }, Run: func() tea.Cmd {
			text := p.session.Agent
			return tea.Sequence(tui.Go(p.opt.CallsPage), func() tea.Msg { return tui.FilterCallsMsg{Text: text} })
		}},
	}
	for n := range 9 {
		key := strconv.Itoa(n + 1)
		out = append(out, tui.Action{ID: "inbox.option" + key, Title: "Option " + key, Verb: verb.Choose, Keys: []string{key}, Acts: true, Sight: true, Hidden: true, Enabled: some, Run: func() tea.Cmd { return p.digit(n) }})
	}
	return out
}

// options is how many digits choose something of the question that is shown.
func (p *answer) options() int {
	q, _, ok := p.at()
	if !ok || p.deciding() != nil || p.onForm() || p.closed() {
		return 0
	}
	n := len(q.Options)
	if q.HasOther() {
		n++
	}
	return min(n, 9)
}

func (p *answer) optionHint() string {
	switch {
	case p.options() < 2:
		return ""
	case !p.drawn:
		return "open"
	}
	return "choose"
}

// chooseActions choose in the pane.
func (p *Page) chooseActions() []tui.Action {
	at := func(part, hint string, now func() string) tui.Action {
		return tui.Action{ID: "inbox.accept", Title: "Choose the highlighted option and continue, or send", Hint: hint, HintNow: now, Verb: verb.Open, Part: part, Acts: true, Sight: true, Run: p.accept}
	}
	digit := func(part string) tui.Action {
		label := func() string { return "1-" + strconv.Itoa(p.options()) }
		return tui.Action{
			ID: "inbox.option", Title: "Choose an option by its digit", LabelNow: label, HintNow: p.optionHint, Verb: verb.Choose, Keys: []string{"1"}, Part: part, Acts: true, Sight: true,
			Enabled: func() string {
				if p.closed() {
					return "only its terminal can answer this"
				}
				return p.reachable(part)()
			},
			Run: func() tea.Cmd { return p.digit(0) },
		}
	}
	return []tui.Action{
		digit(partRequest),
		digit(partList),
		at(partRequest, "next", func() string {
			if _, ok := p.inTerminal(); ok && p.closed() {
				return "terminal"
			}
			return ""
		}),
		at(partReview, "send", func() string {
			if it, ok := p.current(); ok {
				if i, _ := p.draft.FirstOpen(it.Request.Questions); i >= 0 {
					return "next"
				}
			}
			return "send"
		}),
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
		return "allow once"
	case d != nil && !p.opened && p.permission.alone && p.unseen() >= 0:
		return "open"
	case d == nil, d.Kind == questions.Plan, d.Refused != nil, p.permission.cut && p.unseen() >= 0: // it shows more first
		return ""
	}
	return "allow once"
}

func (p *Page) noHint() string {
	switch d := p.deciding(); {
	case len(p.marked()) > 0:
	case d == nil:
		return ""
	case d.Refused != nil: // and so denied already
		return "decline"
	}
	return "deny"
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
			return p.opt.Reply.Why(p.session)
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
	q, a, ok := p.at()
	switch {
	case p.deciding() != nil:
		return p.mark()
	case ok && !p.opened && !q.Multi:
		return tui.Toast(tui.Info, "enter opens the question")
	case ok && !sees(&p.pane, a.Cursor):
		look(&p.pane, a.Cursor)
	case ok:
		p.opened = true
		p.toggle()
	}
	return nil
}

func whyNoUndo(p *Page) string {
	return tui.Because(!p.isSending() && p.opt.Reply.WhyNotBack(p.session) != "", "nothing is being sent")
}

func (p *Page) undo() tea.Cmd {
	if p.opt.Reply.WhyNotBack(p.session) == "" {
		return p.opt.Reply.TakeBack(p.session)
	}
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
	return nil
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
		{ID: "inbox.open", Title: "Open what is selected", Hint: "open", Verb: verb.Open, Part: partList, Enabled: func() string {
			switch {
			case settled():
				return settledHint
			case p.place == "" || p.place == partSettled:
				return "nothing is selected"
			}
			return ""
		}, Run: tui.Do(p.enter)},
		{ID: "inbox.list.up", Title: "Up", Moves: true, Verb: verb.Up, Part: partList, Hidden: true, Run: row(-1)},
		{ID: "inbox.list.down", Title: "Down", Moves: true, Verb: verb.Down, Part: partList, Hidden: true, Run: down},
		{ID: "inbox.list.next", Title: "Go to the pane", Moves: true, Verb: verb.NextPane, Part: partList, Hidden: true, Run: func() tea.Cmd {
			if settled() {
				p.next()
			} else {
				p.enter()
			}
			return nil
		}},
		{ID: "inbox.list.top", Title: "First", Moves: true, Verb: verb.First, Part: partList, Hidden: true, Run: row(-10000)},
		{ID: "inbox.list.bottom", Title: "Last", Moves: true, Verb: verb.Last, Part: partList, Hidden: true, Run: row(10000)},
	}
}

// paneActions are moving in the pane, choosing there and leaving it.
func (p *Page) paneActions() []tui.Action {
	move := func(d int) func() tea.Cmd { return tui.Do(func() { p.move(d) }) }
	var out []tui.Action
	for _, part := range []string{partRequest, partReview, partPrompt, partSession, partRecord} {
		out = append(
			out,
			tui.Action{ID: "inbox.up", Title: "Up", Moves: true, Verb: verb.Up, Part: part, Hidden: true, Run: move(-1)},
			tui.Action{ID: "inbox.down", Title: "Down", Moves: true, Verb: verb.Down, Part: part, Hidden: true, Run: move(1)},
			tui.Action{ID: "inbox.top", Title: "First", Moves: true, Verb: verb.First, Part: part, Hidden: true, Run: move(-10000)},
			tui.Action{ID: "inbox.bottom", Title: "Last", Moves: true, Verb: verb.Last, Part: part, Hidden: true, Run: move(10000)},
			tui.Action{ID: "inbox.back", Title: "Back to the list; keep everything as it is", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.PreviousPane}, Part: part, Run: tui.Do(p.back)},
		)
	}
	out = append(
		out,
		tui.Action{ID: "inbox.settled.back", Title: "Back to the list", Hint: "back", Verb: verb.Back, Part: partSettled, InText: true, Run: tui.Do(p.back)},
		tui.Action{ID: "inbox.settled.next", Title: "Next item that needs you", Hint: "next", Verb: verb.Down, Also: []verb.Verb{verb.NextPane}, Part: partSettled, Run: tui.Do(p.next)},
		tui.Action{ID: "inbox.settled.again", Title: "Say that it is closed", Verb: verb.Open, Part: partSettled, Hidden: true, Run: tui.Do(func() { p.message = settledHint })},
		tui.Action{ID: "inbox.reader.close", Title: "Back to the question", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.Details, verb.Open}, Part: partReader, Run: tui.Do(p.back)},
	)
	return slices.Concat(out, p.search.Actions("inbox.reader"), tui.ScrollActions("inbox.reader", partReader, &p.reader))
}

func (p *Page) groupActions() []tui.Action {
	at := func(id, title, hint string, key verb.Verb, run func() tea.Cmd) tui.Action {
		return tui.Action{ID: "inbox.group." + id, Title: title, Hint: hint, Verb: key, Part: partGroup, Acts: id == "answer", Sight: id == "answer", Moves: hint == "", Hidden: hint == "", Run: run}
	}
	verdict := func(key string) func() tea.Cmd { return tui.Do(func() { p.group.key, p.message = key, "" }) }
	return []tui.Action{
		at("answer", "Answer every ticked permission that was shown in full", "choose", verb.Open, p.answerGroup),
		at("allow", "Set enter to \"allow once\"", "allow once", verb.Yes, verdict("y")),
		at("deny", "Set enter to \"deny\"", "deny", verb.No, verdict("n")),
		at("tick", "Tick or untick", "mark", verb.Mark, tui.Do(p.tickInGroup)),
		at("up", "Up", "", verb.Up, tui.Do(func() { p.moveInGroup(-1) })),
		at("down", "Down", "", verb.Down, tui.Do(func() { p.moveInGroup(1) })),
		at("pageup", "Page up", "", verb.PageUp, tui.Do(func() { p.group.scroll.Page(-1) })),
		at("pagedown", "Page down", "", verb.PageDown, tui.Do(func() { p.group.scroll.Page(1) })),
		at("back", "Back to the list", "back", verb.Back, tui.Do(p.leaveGroup)),
	}
}

// formActions are what can be done in a form.
func (p *Page) formActions() []tui.Action {
	out := form.Actions("inbox."+partForm, func() *form.Form { return p.form })
	for i := range out {
		out[i].Part = strings.TrimPrefix(out[i].Part, "inbox.")
	}
	fields := partForm + "." + form.PartFields
	out = append(out, tui.Action{ID: "inbox.back", Title: "Back to the list; keep everything as it is", Hint: "back", Verb: verb.Back, Part: fields, Run: tui.Do(p.back)})
	return out
}

func (p *Page) textActions() []tui.Action {
	edit := func(f func()) func() tea.Cmd { return func() tea.Cmd { return p.typeText(f) } }
	return []tui.Action{
		{ID: "inbox.text.accept", Title: "Accept the text", Hint: "next", Verb: verb.Open, Part: partText, InText: true, Acts: true, Sight: true, HintNow: p.textEnds, Run: p.textEnter},
		{ID: "inbox.text.close", Title: "Close the text field; keep the text", Hint: "back", Verb: verb.Back, Part: partText, InText: true, Run: tui.Do(p.textClose)},
		{ID: "inbox.text.break", Title: "Line break (also shift+enter and alt+enter)", Moves: true, Verb: verb.Break, Part: partText, InText: true, Run: edit(func() { p.editor.Insert("\n") })},
		{ID: "inbox.text.undo", Title: "Undo what was typed", Moves: true, Verb: verb.UndoTyping, Part: partText, InText: true, Run: edit(func() { p.editor.Undo() })},
		{ID: "inbox.text.redo", Title: "Redo what was undone", Moves: true, Verb: verb.RedoTyping, Part: partText, InText: true, Run: edit(func() { p.editor.Redo() })},
		{ID: "inbox.text.send", Title: "Accept the text and send, if everything is answered", Verb: verb.Send, Part: partText, InText: true, Acts: true, Sight: true, Run: func() tea.Cmd {
			p.textTake()
			return p.send()
		}},
	}
}

func (h *history) actions() []tui.Action {
	typing := func() string { return tui.Because(!h.searching, "nothing is typed") }
	out := []tui.Action{
		{ID: "inbox.history.keep", Title: "Keep matches", Hint: "choose", Verb: verb.Open, Also: []verb.Verb{verb.Back}, Part: partHistory, InText: true, Enabled: typing, Run: tui.Do(func() { h.searching = false })},
		{ID: "inbox.history.close", Title: "Back to the list", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.History}, Part: partHistory, Run: h.turn("")},
		{ID: "inbox.history.search", Title: "Search the history", Hint: "filter", Verb: verb.Filter, Part: partHistory, Run: tui.Do(func() { h.searching = true })},
		{ID: "inbox.history.copy", Title: "Copy question and answer", Hint: "copy", Verb: verb.Copy, Part: partHistory, Run: func() tea.Cmd { return h.copy() }},
	}
	return append(out, tui.ListActions("inbox.history", partHistory, &h.list)...)
}
