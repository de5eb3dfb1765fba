package card

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// Actions are the switches, what is accepted, and moving about.
func (p *Page) Actions() []tui.Action {
	to := func(part func() string) func() tea.Cmd {
		return func() tea.Cmd { p.focus(part()); return nil }
	}
	next := func(d int) func() tea.Cmd {
		return func() tea.Cmd { p.next(d); return nil }
	}
	out := []tui.Action{
		{ID: "cards.toggle", Title: "Turn the server on or off", Hint: "turn on", Keys: []string{"space"}, Part: partCards, Acts: true, Enabled: p.whyNoServer, HintNow: p.toggleHint, Run: p.toggle},
		{ID: "cards.open", Title: "Show the server's tools", Hint: "open", Keys: []string{"enter"}, Part: partCards, Enabled: p.whyNoServer, Run: to(func() string { return p.pane })},
		{ID: "cards.tool", Title: "Show the definition, or what changed in it", Hint: "look", Keys: []string{"enter"}, Part: partTools, Enabled: p.whyNoRow, Run: p.openRow},
		{ID: "cards.allow", Title: "Allow the tool, or turn it off", Hint: "allow", Keys: []string{"space"}, Part: partTools, Acts: true, Enabled: p.whyNoVerdict, HintNow: p.verdictHint, Run: p.allowOne},
		{ID: "cards.accept", Title: "Accept the definition that is held", Hint: "accept", Keys: []string{"a"}, Part: partTools, Acts: true, Enabled: p.whyNotHeld, Run: p.acceptOne},
		{ID: "cards.acceptall", Title: "Accept all that is held of the server", Hint: "accept all", Keys: []string{"a", "ctrl+a"}, Acts: true, Enabled: p.whyNothingHeld, Run: p.confirmAccept},
		{ID: "cards.filter", Title: "Filter the tools", Hint: "filter", Keys: []string{"/"}, Enabled: p.whyNoServer, Run: to(func() string { p.pane = partTools; return partFilter })},
		{ID: "cards.sort", Title: "Sort the tools by name, context, calls or p95", Moves: true, Hint: "sort", Keys: []string{"o"}, Part: partTools, Run: p.sortNext},
		{ID: "cards.allowall", Title: "Allow all tools that the filter shows", Keys: []string{"A"}, Part: partTools, Acts: true, Enabled: p.whyNoFilter, Run: func() tea.Cmd { return p.allowAll(true) }},
		{ID: "cards.denyall", Title: "Turn off all tools that the filter shows", Keys: []string{"O"}, Part: partTools, Acts: true, Enabled: p.whyNoFilter, Run: func() tea.Cmd { return p.allowAll(false) }},
		{ID: "cards.resource", Title: "Show the resource", Hint: "look", Keys: []string{"enter"}, Part: partResources, Enabled: p.whyNoItem, Run: p.openItem},
		{ID: "cards.prompt", Title: "Show the prompt", Hint: "look", Keys: []string{"enter"}, Part: partPrompts, Enabled: p.whyNoItem, Run: p.openItem},
		{ID: "cards.resources", Title: "Allow the server's resources, or turn them off", Hint: "allow", Keys: []string{"space"}, Part: partResources, Acts: true, Enabled: p.whyNoServer, HintNow: p.offerHint, Run: p.offer},
		{ID: "cards.prompts", Title: "Allow the server's prompts, or turn them off", Hint: "allow", Keys: []string{"space"}, Part: partPrompts, Acts: true, Enabled: p.whyNoServer, HintNow: p.offerHint, Run: p.offer},
		{ID: "cards.childlog", Title: "Show the log of the program", Hint: "log", Keys: []string{"enter"}, Part: partChildren, Run: p.openChildLog},
		{ID: "cards.logof", Title: "Show the log of one program, or of all", Moves: true, Hint: "log of", Keys: []string{"o"}, Part: partLog, Enabled: p.whyOneLog, Run: p.nextLog},
		{ID: "cards.call", Title: "Show the call", Hint: "show", Keys: []string{"enter"}, Part: partCalls, Enabled: p.whyNoCall, Run: p.openCall},
		{ID: "cards.restart", Title: "Restart the server", Hint: "restart", Keys: []string{"r"}, Acts: true, Enabled: p.whyNoRestart, Run: p.confirmRestart},
		{ID: "cards.calls", Title: "Show the server's calls on the Calls page", Keys: []string{"c"}, Enabled: p.whyNoServer, Run: p.filterCalls},
		{ID: "cards.instructions", Title: "Show the server's instructions for agents", Keys: []string{"i"}, Enabled: func() string { return tui.Because(p.details.Instructions == "", "there are none") }, Run: p.openInstructions},
		{ID: "cards.switch", Title: "Turn the server on, make it lazy, or turn it off", Hint: "on/lazy/off", Keys: []string{"s"}, Acts: true, Enabled: p.whyNoServer, Run: p.cycle},
		{ID: "cards.back", Title: "Back to the servers", Hint: "back", Keys: []string{"esc"}, Run: p.back},
		{ID: "cards.next", Title: "Next pane", Moves: true, Hint: "pane", Keys: []string{"tab", "right", "l"}, Run: next(1)},
		{ID: "cards.previous", Title: "Previous pane", Moves: true, Keys: []string{"shift+tab", "left", "h"}, Hidden: true, Run: next(-1)},
		{ID: "cards.filtered", Title: "Apply the filter", Hint: "keep", Keys: []string{"enter", "down", "tab"}, Part: partFilter, InText: true, Run: to(func() string { return partTools })},
		{ID: "cards.unfilter", Title: "Show all tools", Hint: "show all", Keys: []string{"esc"}, Part: partFilter, InText: true, Run: p.unfilter},
	}
	for name, part := range p.opts.Parts {
		out = append(out, part.Actions(func() bool { s := p.server(); return s != nil && s.Name == name })...)
	}
	for _, a := range tui.ListActions("cards.list", partCards, &p.servers) {
		move := a.Run
		a.Run = func() tea.Cmd { move(); return p.moved() }
		out = append(out, a)
	}
	for _, pane := range []string{partTools, partResources, partPrompts, partChildren, partCalls} {
		out = append(out, tui.ListActions("cards."+pane, pane, p.lists[pane])...)
	}
	out = append(out, p.search.Actions("cards.log", p.logMoved)...)
	return append(out, tui.ScrollActions("cards.log", partLog, &p.log, p.logMoved)...)
}

// Commands implements [tui.Commander]: restarting each server by its name.
func (p *Page) Commands() []tui.Action {
	var out []tui.Action
	for i := range p.snap.Servers {
		s := &p.snap.Servers[i]
		name := s.Name
		out = append(out, tui.Action{ID: "cards.show." + name, Title: "Show " + title(s) + " and its tools", Run: func() tea.Cmd {
			return tea.Sequence(tui.Go(ID), func() tea.Msg { return tui.ShowServerMsg{Name: name} })
		}})
	}
	return out
}

// back is Esc: it takes the filter away, then leads to the servers.
func (p *Page) back() tea.Cmd {
	switch {
	case p.part == partTools && p.filter.Text() != "":
		return p.unfilter()
	case p.part == partCards:
		return tui.Home()
	}
	p.part = partCards
	return nil
}

func (p *Page) unfilter() tea.Cmd {
	p.filter.SetText("")
	p.part = partTools
	p.arrange()
	return nil
}

// open is what Enter does.
func (p *Page) open() tea.Cmd {
	switch p.part {
	case partCards:
		p.focus(p.pane)
	case partTools:
		if p.whyNoRow() == "" {
			return p.openRow()
		}
	case partCalls:
		if p.whyNoCall() == "" {
			return p.openCall()
		}
	case partResources, partPrompts:
		return p.openItem()
	case partChildren:
		return p.openChildLog()
	}
	return nil
}

func (p *Page) whyNoServer() string {
	switch {
	case p.server() == nil:
		return "there is no server"
	case p.opts.Cards == nil:
		return "the servers run elsewhere"
	}
	return ""
}

func (p *Page) toggleHint() string {
	if s := p.server(); s != nil && s.IsOn() {
		return "turn off"
	}
	return ""
}

func (p *Page) toggle() tea.Cmd {
	s := p.server()
	if !s.IsOn() {
		return turnOn(p.opts.Cards, s.Name, s.Lazy, "")
	}
	name := s.Name
	return tui.Outcome(func() (string, error) { return p.opts.Cards.TurnOff(name) })
}

// cycle leads from off to on, where agents list the tools, to lazy, where they find
// them, and to off.
func (p *Page) cycle() tea.Cmd {
	s := p.server()
	if s.IsOn() && s.Lazy {
		return p.toggle()
	}
	return turnOn(p.opts.Cards, s.Name, s.IsOn(), "")
}

func (p *Page) whyNoRow() string {
	return tui.Because(p.row() == nil, "no tools yet")
}

func (p *Page) whyNoVerdict() string {
	r := p.row()
	switch {
	case r == nil || r.tool == nil:
		return "there is no tool here"
	case r.tool.Verdict == snapshot.OnHold:
		return sanitize.Line(r.tool.Original) + " is held until you accept it (a)"
	case r.tool.Verdict == snapshot.Hidden:
		return sanitize.Line(r.tool.Original) + " cannot be offered: " + r.tool.Why
	}
	return p.whyNoServer()
}

func (p *Page) verdictHint() string {
	if r := p.row(); r != nil && r.tool != nil && r.tool.Verdict == snapshot.Allow {
		return "turn off"
	}
	return ""
}

// allowOne cycles through what agents may do with the tool under the cursor.
func (p *Page) allowOne() tea.Cmd {
	t := p.row().tool
	return p.allow([]string{t.Original}, t.Verdict != snapshot.Allow, "")
}

func (p *Page) whyNoItem() string {
	return tui.Because(p.item() == nil, "there is nothing here")
}

func (p *Page) offerHint() string {
	return tui.Because(!p.without(p.part), "turn all off")
}

// offer turns all resources or prompts of the server on or off.
func (p *Page) offer() tea.Cmd {
	name, kind, offer := p.server().Name, snapshot.Kind(p.part), p.without(p.part)
	return tea.Sequence(tui.Outcome(func() (string, error) { return "", p.opts.Cards.Offer(name, kind, offer) }), p.look(name))
}

func (p *Page) whyNoFilter() string {
	switch {
	case p.filter.Empty():
		return "filter the tools first (/)"
	case len(p.filtered()) == 0:
		return "the filter shows no tool that could be changed"
	}
	return p.whyNoServer()
}

// filtered are the tools that the filter shows whose verdict is the user's.
func (p *Page) filtered() (tools []string) {
	for _, r := range p.rows {
		if r.tool != nil && (r.tool.Verdict == snapshot.Allow || r.tool.Verdict == snapshot.Denied) {
			tools = append(tools, r.tool.Original)
		}
	}
	return tools
}

func (p *Page) allowAll(allow bool) tea.Cmd {
	tools := p.filtered()
	word := "turned off"
	if allow {
		word = "allowed"
	}
	return p.allow(tools, allow, humanize.Count(len(tools), "tool")+" "+word)
}

func (p *Page) allow(tools []string, allow bool, said string) tea.Cmd {
	name := p.server().Name
	return tea.Sequence(tui.Outcome(func() (string, error) { return said, p.opts.Cards.Allow(name, tools, allow) }), p.look(name))
}

// look loads the details of a server once they have changed.
func (p *Page) look(name string) tea.Cmd {
	return func() tea.Msg {
		d, _ := p.opts.Cards.Details(name)
		return detailsMsg{name, d}
	}
}

func (p *Page) whyNoCall() string {
	switch {
	case p.opts.CallsPage == "":
		return "this deck has no Calls page"
	case p.lists[partCalls].Len() == 0:
		return "no calls yet"
	}
	return ""
}

func (p *Page) openCall() tea.Cmd {
	msg := tui.ShowCallMsg{ID: p.calls[p.lists[partCalls].Cursor].ID}
	return tea.Sequence(tui.Go(p.opts.CallsPage), func() tea.Msg { return msg })
}

func (p *Page) filterCalls() tea.Cmd {
	if p.opts.CallsPage == "" {
		return nil
	}
	text := "server:" + p.server().Name
	return tea.Sequence(tui.Go(p.opts.CallsPage), func() tea.Msg { return tui.FilterCallsMsg{Text: text} })
}

func (p *Page) whyNoRestart() string {
	if s := p.server(); s != nil && s.State.Status == snapshot.Off {
		return title(s) + " is off"
	}
	return p.whyNoServer()
}

func (p *Page) confirmRestart() tea.Cmd {
	s := p.server()
	return tui.ConfirmRestart(s, p.calls, func() error { return p.opts.Cards.Restart(s.Name) })
}

func (p *Page) whyNotHeld() string {
	if r := p.row(); r == nil || r.held == nil {
		return "it is not held"
	}
	return ""
}

func (p *Page) acceptOne() tea.Cmd { return p.accept(p.server().Name, []snapshot.Held{*p.row().held}) }

func (p *Page) accept(name string, seen []snapshot.Held) tea.Cmd {
	return tui.Outcome(func() (string, error) { return p.opts.Cards.Accept(name, seen) })
}

func (p *Page) whyNothingHeld() string {
	if len(p.details.Held) == 0 {
		return "nothing is held"
	}
	return p.whyNoServer()
}

// confirmAccept asks before all held definitions are offered.
func (p *Page) confirmAccept() tea.Cmd {
	name, seen := p.of, p.details.Held
	var names []string
	for _, h := range seen {
		names = append(names, sanitize.Line(heldName(&h))+" ("+what(&h)+")")
	}
	text := "You have not accepted these definitions: " + strings.Join(names, ", ") + "."
	if why, _, ok := strings.Cut(p.details.Holding, ": "); ok {
		text += " The server has changed: " + why + "."
	}
	text += " In the list, enter on a tool shows its text."
	return tui.Open(&tui.Confirm{
		Name: "accept", Title: "Accept " + humanize.Count(len(names), "definition") + "?", Text: text,
		Choices: []tui.Choice{
			{Key: "n", Text: "Leave held"},
			{Key: "y", Text: "Accept", Run: func() tea.Cmd { return p.accept(name, seen) }},
		},
	})
}

// heldName is what the user calls a held definition.
func heldName(h *snapshot.Held) string {
	if h.Tool == "" {
		return "the instructions"
	}
	return strings.TrimSpace(h.Kind + " " + h.Tool)
}

// what says why it is held.
func what(h *snapshot.Held) string {
	if h.New {
		return fmt.Sprintf("new, %d bytes", h.Now)
	}
	return fmt.Sprintf("changed, %+d bytes", h.Now-h.Was)
}
