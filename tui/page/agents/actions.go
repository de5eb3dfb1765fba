package agents

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/verb"
)

// Actions are moving, sorting, and going where a session is.
func (p *Page) Actions() []tui.Action {
	focus := p.FocusActions("Read about the session", p.why)
	focus[0].Hint, focus[0].Run = "open", p.open
	focus[1].Hint = "back"
	out := append(focus, []tui.Action{
		{ID: "agents.leave", Title: "Show all sessions, or the first page", Verb: verb.Back, Part: browser.PartList, Hidden: true, Run: func() tea.Cmd {
			if p.Filter.Empty() {
				return tui.Home()
			}
			return p.unfilter()
		}},
		{ID: "agents.jump", Title: "Show the session's terminal", Hint: "terminal", Verb: verb.Terminal, Enabled: p.whyNoJump, Run: p.jump},
		{ID: "agents.message", Title: "Message to the agent", Hint: "message", Verb: verb.Message, Acts: true, Enabled: p.why, Run: p.message},
		{ID: "agents.undo", Title: "Take back the prompt that the session has not taken", Hint: "undo", Verb: verb.Undo, Acts: true, Enabled: func() string { return p.opts.Reply.WhyNotBack(p.selected()) }, Run: func() tea.Cmd {
			return p.opts.Reply.TakeBack(p.selected())
		}},
		{ID: "agents.calls", Title: "Show the calls of the session's agent", Hint: "calls", Verb: verb.Go, Keys: []string{"C"}, Enabled: p.whyNoCalls, Run: p.calls},
		{ID: "agents.copy", Title: "Copy what was said or asked, or the session's ID", Hint: "copy", Verb: verb.Copy, Enabled: p.why, Run: p.copy},
	}...)
	more := []tui.Action{
		{ID: "agents.details", Title: "Show or hide where it runs and how it is connected", Hint: "details", Verb: verb.Details, Run: tui.Do(func() { p.details = !p.details })},
		{ID: "agents.group", Title: "Group by project: on or off", Hint: "view", Verb: verb.View, Moves: true, Run: tui.Do(func() {
			p.group = !p.group
			p.arrange()
		})},
		{ID: "agents.next", Title: "Next file that the session changed", Moves: true, Verb: verb.Right, Hidden: true, Run: tui.Do(func() { p.turn(1) })},
		{ID: "agents.previous", Title: "Previous file that the session changed", Moves: true, Verb: verb.Left, Hidden: true, Run: tui.Do(func() { p.turn(-1) })},
		{ID: "agents.answer", Title: "Answer what the session waits for", Enabled: p.whyNoAnswer, Run: func() tea.Cmd { return tui.Go(p.opts.AskPage) }},
	}
	return slices.Concat(out, p.opts.Reply.Actions(ID, p.selected, p.leaveReply), browser.SortActions(ID, "", sorts(), &p.Order, p.sortBy), p.FilterActions("Show all sessions", nil, p.unfilter), p.SearchActions(), more,
		p.scrolling(p.MoveActions()), p.ScrollActions())
}

// message opens the field for the session's next prompt, below what was said there.
func (p *Page) message() tea.Cmd {
	if why := p.opts.Reply.Why(p.selected()); why != "" {
		return tui.Toast(tui.Info, why)
	}
	from := p.Focus
	return p.opts.Reply.Open(p.selected(), func() { p.from, p.Focus = from, browser.PartDetail })
}

// leaveReply goes back to where the field was opened.
func (p *Page) leaveReply() { p.Focus = cmp.Or(p.from, browser.PartList) }

// scrolling lets the keys that move a list by pages scroll what can be read below or beside
// it.
func (p *Page) scrolling(moves []tui.Action) []tui.Action {
	for i := range moves {
		_, name, _ := strings.Cut(moves[i].ID, browser.PartList+".")
		scroll := map[string]func(){
			"pagedown": func() { p.Detail.Page(1) }, "pageup": func() { p.Detail.Page(-1) },
			"halfdown": func() { p.Detail.Half(1) }, "halfup": func() { p.Detail.Half(-1) },
		}[name]
		if move := moves[i].Run; scroll != nil {
			moves[i].Run = func() tea.Cmd {
				if p.Areas.Of(browser.PartDetail) == nil {
					return move()
				}
				scroll()
				return nil
			}
		}
	}
	return moves
}

// turn shows how the next file was changed, or the one before.
func (p *Page) turn(by int) {
	if s := p.selected(); s != nil {
		p.file = conversation.Turn(s, p.file, by)
	}
}

func (p *Page) why() string {
	return tui.Because(p.selected() == nil, "no session selected")
}

func (p *Page) whyNoAnswer() string {
	switch s := p.selected(); {
	case s == nil:
		return p.why()
	case !s.State.Waits():
		return "nothing in this session needs you"
	case p.opts.AskPage == "":
		return "this deck has no page that answers"
	case p.opts.Questions != nil && !slices.ContainsFunc(p.opts.Questions.Pending().Items, func(it ask.Item) bool { return asks(&it, s) }):
		return "it waits in its own terminal only"
	}
	return ""
}

// asks reports whether a session asks a question.
func asks(it *ask.Item, s *snapshot.Session) bool {
	if p := it.Request.Prompt; p != nil {
		return p.Agent == s.Agent && p.Session == s.ID && it.Request.Peer.Host == s.Machine
	}
	return s.Connection != "" && it.Request.Peer.Key == s.Connection
}

func (p *Page) whyNoJump() string {
	switch s := p.selected(); {
	case s == nil:
		return p.why()
	case p.opts.Jump == nil:
		return "this deck cannot show other terminals"
	case s.Headless:
		return "this session has no terminal"
	case s.State == snapshot.Ended:
		return "this session has ended"
	case s.PID == 0 && s.Place == (snapshot.Place{}) && s.Machine == "":
		return "where this session runs is not known"
	}
	return ""
}

func (p *Page) jump() tea.Cmd {
	s, jump := *p.selected(), p.opts.Jump
	return tea.Batch(p.mark(), func() tea.Msg {
		said, err := jump(s)
		switch tty := s.Place.TTY; {
		case err != nil && tty != "":
			return tea.BatchMsg{tui.Copy(tty, tty), tui.Toast(tui.Warn, err.Error())}
		case err != nil:
			return tui.Toast(tui.Warn, err.Error())()
		case said != "":
			return tui.Toast(tui.Good, said)()
		}
		return nil
	})
}

func (p *Page) whyNoCalls() string {
	return cmp.Or(p.why(), tui.Because(p.opts.CallsPage == "", "this deck has no Calls page"))
}

// calls shows the calls of the session's agent.
func (p *Page) calls() tea.Cmd {
	s := p.selected()
	text := s.Agent
	if a := p.snap.Agent(s.Connection); a != nil {
		text = a.Name()
	}
	return tea.Sequence(tui.Go(p.opts.CallsPage), func() tea.Msg { return tui.FilterCallsMsg{Text: text} })
}

// copy asks what of the session is copied.
func (p *Page) copy() tea.Cmd {
	s := p.selected()
	var choices []tui.Choice
	add := func(what, text string) {
		if text != "" {
			choices = append(choices, tui.Choice{Text: strings.ToUpper(what[:1]) + what[1:], Run: func() tea.Cmd { return tui.Copy(text, what) }})
		}
	}
	if r := s.Record; r != nil {
		add("what the agent said", sanitize.Text(r.Said))
		add("what you asked", sanitize.Text(r.Prompt))
	}
	add("the folder", sanitize.Line(s.Folder))
	add("the session's ID", sanitize.Line(s.ID))
	return tui.Open(&tui.Confirm{Name: "copy", Title: "Copy", Text: sanitize.Line(s.Name()), Choices: choices})
}
