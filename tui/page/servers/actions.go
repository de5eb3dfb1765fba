package servers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Actions are the switches, what is accepted, and moving about.
func (p *Page) Actions() []tui.Action {
	list, detail := browser.PartList, browser.PartDetail
	choose := func(at int) func() tea.Cmd { return func() tea.Cmd { return p.choose(at) } }
	out := []tui.Action{
		{ID: "servers.toggle", Title: "Turn the server on or off", Hint: "on/off", Verb: verb.Mark, Part: list, Acts: true, Enabled: p.whyNoServer, Run: p.toggle},
		{ID: "servers.off", Title: "Turn the server off", Hint: "choose", Label: "1-3", Verb: verb.Choose, Keys: []string{"1"}, Acts: true, Enabled: p.whyNoServer, Run: choose(0)},
		{ID: "servers.on", Title: "Turn the server on", Verb: verb.Choose, Keys: []string{"2"}, Acts: true, Enabled: p.whyNoServer, Run: choose(1)},
		{ID: "servers.demand", Title: "Turn the server on, on demand: agents search for its tools", Verb: verb.Choose, Keys: []string{"3"}, Acts: true, Enabled: p.whyNoServer, Run: choose(2)},
		{ID: "servers.accept", Title: "Accept what changed", Verb: verb.Yes, Acts: true, Sight: true, Enabled: p.whyNoChange, Run: p.accept},
		{ID: "servers.keep", Title: "Keep what changed hidden", Verb: verb.No, Enabled: p.whyNoChange, Run: p.keep},
		{ID: "servers.open", Title: "Read about the server", Hint: "open", Verb: verb.Open, Also: []verb.Verb{verb.NextPane}, Part: list, Run: p.open},
		{ID: "servers.details", Title: "Show its details: processes, sizes, resources and prompts", Hint: "details", Verb: verb.Details, Enabled: p.whyNoServer, Run: tui.Do(func() { p.about.plumbing = !p.about.plumbing })},
		{ID: "servers.remove", Title: "Remove the server", Hint: "remove", Verb: verb.Stop, Acts: true, Enabled: p.whyNoFile, Run: p.confirmRemove},
		{ID: "servers.view", Title: "Show its log, or what it offers", Hint: "view", Verb: verb.View, Moves: true, Enabled: p.whyNoServer, Run: p.view},
		{ID: "servers.restart", Title: "Restart the server", Hint: "again", Verb: verb.Again, Acts: true, Enabled: p.whyNoRestart, Run: func() tea.Cmd {
			s, all := p.server(), p.opts.Servers
			return tui.ConfirmRestart(s, p.snap.Calls, func() error { return all.Restart(s.Name) })
		}},
		{ID: "servers.edit", Title: "Edit the server's entry", Hint: "edit", Verb: verb.Edit, Acts: true, Enabled: func() string {
			return cmp.Or(p.whyNoFile(), tui.Because(p.opts.Editor.Program == "", "$EDITOR is not set"))
		}, Run: p.edit},
		{ID: "servers.copy", Title: "Copy what the server runs", Hint: "copy", Verb: verb.Copy, Enabled: func() string { return tui.Because(p.about.Runs == "", "it runs no program of its own") }, Run: func() tea.Cmd {
			return tui.Copy(sanitize.Line(p.about.Runs), "what it runs")
		}},
		{ID: "servers.undo", Title: "Undo the last switch", Verb: verb.Undo, Acts: true, Enabled: func() string { return tui.Because(p.undo == nil, "nothing to undo") }, Run: func() tea.Cmd {
			back := p.undo
			p.undo = nil
			return back()
		}},
		{ID: "servers.sort", Title: "Sort the servers by name, state, tools or tokens", Moves: true, Hint: "sort", Verb: verb.Sort, Part: list, Run: func() tea.Cmd { return p.sortBy(tui.Next([]string{"", "State", "Tools", "Tokens"}, p.Order.By, 1)) }},
		{ID: "servers.tool", Title: "Allow the tool, or turn it off", Hint: "on/off", Verb: verb.Mark, Part: detail, Acts: true, Enabled: p.whyNoSwitch, Run: p.switchItem},
		{ID: "servers.look", Title: "Show the definition", Hint: "open", Verb: verb.Open, Part: detail, Enabled: func() string { return tui.Because(p.pane.item() == nil, "there is nothing here") }, Run: p.look},
		{ID: "servers.tools.sort", Title: "Sort the tools by name, tokens, calls or p95", Moves: true, Hint: "sort", Verb: verb.Sort, Part: detail, Run: tui.Do(func() {
			p.tools.sortBy(tui.Next(toolSorts(), p.tools.order.By, 1), &p.about.Details)
		})},
		{ID: "servers.allowall", Title: "Allow all tools that the filter shows", Part: detail, Acts: true, Enabled: p.whyNoFilter, Run: func() tea.Cmd { return p.allow(p.tools.filtered(), true) }},
		{ID: "servers.denyall", Title: "Turn off all tools that the filter shows", Part: detail, Acts: true, Enabled: p.whyNoFilter, Run: func() tea.Cmd { return p.allow(p.tools.filtered(), false) }},
		{ID: "servers.logof", Title: "Show the log of one program, or of all", Moves: true, Hint: "sort", Verb: verb.Sort, Part: partLog, Enabled: func() string {
			return tui.Because(len(programs(p.about.Log)) < 2 && p.log.of == "", "there is one log")
		}, Run: tui.Do(func() { p.log.next(p.about.Log) })},
		{ID: "servers.all", Title: "List parts of mcpdeck that are off, too", Part: list, Enabled: func() string { return tui.Because(p.list.open, "they are listed") }, Run: p.unfold},
		{ID: "servers.calls", Title: "Show the server's calls", Enabled: p.whyNoServer, Run: p.calls},
		{ID: "servers.instructions", Title: "Show the server's instructions for agents", Enabled: func() string { return tui.Because(p.about.Instructions == "", "there are none") }, Run: func() tea.Cmd { return instructions(p.about.Instructions) }},
		{ID: "servers.back", Title: "Back to the servers", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.NextPane, verb.PreviousPane}, Part: detail, Run: p.back},
		{ID: "servers.log.back", Title: "Back to the servers", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.NextPane, verb.PreviousPane}, Part: partLog, Run: p.back},
		{ID: "servers.leave", Title: "Show all servers, or the first page", Verb: verb.Back, Part: list, Hidden: true, Run: p.back},
	}
	for name, part := range p.opts.Parts {
		out = append(out, part.Actions(func() bool { s := p.server(); return s != nil && s.Name == name })...)
	}
	toTools := tui.Action{Title: "Filter the tools", Part: detail, Run: p.Go(partTools)}
	out = append(out, p.tools.filter.Actions("servers.tools", toTools, p.Go(detail), tui.Action{Title: "Show all tools", Run: p.back})...)
	out = append(out, p.FilterActions("Show all servers", nil, p.back)...)
	out = append(out, p.MoveActions()...)
	out = append(out, p.ScrollActions()...)
	out = append(out, p.Search.Actions("servers.log", p.log.moved)...)
	return append(out, tui.ScrollActions("servers.log", partLog, &p.log, p.log.moved)...)
}

// Commands implements [tui.Commander]: showing each server by its name.
func (p *Page) Commands() []tui.Action {
	var out []tui.Action
	for i := range p.snap.Servers {
		s := &p.snap.Servers[i]
		name := s.Name
		out = append(out, tui.Action{ID: "servers.show." + name, Title: "Show " + title(s) + " and its tools", Run: func() tea.Cmd {
			return tea.Sequence(tui.Go(ID), func() tea.Msg { return tui.ShowServerMsg{Name: name} })
		}})
	}
	return out
}

// back is Esc: it takes the filter away, then leads to the servers, then to the first page.
func (p *Page) back() tea.Cmd {
	tools := p.Focus == partTools || p.Focus == browser.PartDetail
	switch {
	case tools && p.tools.filter.Text() != "":
		p.tools.filter.SetText("")
		p.lay()
		p.Focus = browser.PartDetail
		return nil
	case p.Focus == browser.PartList && p.Filter.Empty():
		return tui.Home()
	case p.Focus == browser.PartList || p.Focus == browser.PartFilter:
		p.Filter.SetText("")
		p.Focus = browser.PartList
		return p.arrange()
	}
	p.Focus = browser.PartList
	return nil
}

// open gives the reading pane the focus.
func (p *Page) open() tea.Cmd {
	switch {
	case p.server() != nil && p.inLog:
		p.Focus = partLog
	case p.server() != nil:
		p.Focus = browser.PartDetail
	}
	return nil
}

// unfold lists the servers that are folded away.
func (p *Page) unfold() tea.Cmd {
	p.list.open = true
	return p.arrange()
}

// view shows the log, or the text again.
func (p *Page) view() tea.Cmd {
	p.inLog = !p.inLog
	if p.Focus != browser.PartList {
		return p.open()
	}
	return nil
}

func (p *Page) whyNoServer() string {
	switch {
	case p.server() == nil:
		return "no server is selected"
	case p.opts.Servers == nil:
		return "the servers run elsewhere"
	}
	return ""
}

func (p *Page) toggle() tea.Cmd {
	s := p.server()
	switch {
	case s.IsOn():
		return p.choose(0)
	case s.Lazy:
		return p.choose(2)
	}
	return p.choose(1)
}

// choose takes one of the options of the select: off, on, on demand.
func (p *Page) choose(at int) tea.Cmd {
	s, all := p.server(), p.opts.Servers
	name, was := s.Name, chosen(s)
	if at == was {
		return tui.Toast(tui.Info, title(s)+" is "+state(s))
	}
	what := title(s) + []string{" off", " on", " on demand"}[at]
	set := func(at int) func(string) tea.Cmd {
		return func(undone string) tea.Cmd {
			if at > 0 {
				return turnOn(all, name, at == 2, "", undone)
			}
			return tui.Outcome(func() (string, error) {
				said, err := all.TurnOff(name)
				return cmp.Or(undone, undoable(cmp.Or(strings.TrimSpace(said), what))), err
			})
		}
	}
	return p.switched(what, set(at), set(was))
}

// undoable is a sentence about what u takes back.
func undoable(said string) string { return strings.TrimSuffix(said, ".") + " · u undo" }

// switched switches something, and remembers how to take that back. do and back say how it
// went; back says undone if it went well.
func (p *Page) switched(what string, do, back func(undone string) tea.Cmd) tea.Cmd {
	p.undo = func() tea.Cmd { return back("undone: " + what) }
	return do("")
}

// change changes files, and tells the page.
func change(what string, do func() (change string, err error)) tea.Cmd {
	return func() tea.Msg {
		id, err := do()
		if err != nil {
			return tui.Toast(tui.Bad, err.Error())()
		}
		return changedMsg{what, id}
	}
}

func (p *Page) whyNoSwitch() string {
	it := p.pane.item()
	switch {
	case it != nil && (it.kind != "" || it.one != nil):
	case it != nil && it.held != nil:
		return heldName(it.held) + " is hidden until you accept the change (y)"
	case it == nil || it.tool == nil || it.tool.Tool == nil:
		return "there is no tool here"
	case it.tool.Verdict == snapshot.OnHold:
		return sanitize.Line(it.tool.Original) + " is hidden until you accept the change (y)"
	case it.tool.Verdict == snapshot.Hidden:
		return sanitize.Line(it.tool.Original) + " cannot be offered: " + it.tool.Why
	}
	return p.whyNoServer()
}

// switchItem turns a tool, or all resources or prompts of the server, on or off.
func (p *Page) switchItem() tea.Cmd {
	it, name, all := p.pane.item(), p.server().Name, p.opts.Servers
	if it.tool != nil {
		return p.allow([]string{it.tool.Original}, it.tool.Verdict != snapshot.Allow)
	}
	kind := it.kind
	if it.one != nil {
		kind = p.about.kindOf(it.one)
	}
	offer := slices.Contains(p.about.Without, kind)
	return p.set(map[bool]string{true: " on", false: " off"}, string(kind)+" of "+name, offer, func(offer bool) error { return all.Offer(name, kind, offer) })
}

// set gives agents something of the server, or takes it away, and loads its details again.
func (p *Page) set(words map[bool]string, what string, give bool, do func(give bool) error) tea.Cmd {
	name := p.server().Name
	set := func(give bool) func(string) tea.Cmd {
		return func(undone string) tea.Cmd {
			said := cmp.Or(undone, undoable(what+words[give]))
			return tea.Sequence(tui.Outcome(func() (string, error) { return said, do(give) }), p.reload(name))
		}
	}
	return p.switched(what+words[give], set(give), set(!give))
}

// kindOf is the kind of a resource or prompt of the server.
func (d *details) kindOf(one *snapshot.Item) snapshot.Kind {
	for i := range d.Prompts {
		if &d.Prompts[i] == one {
			return snapshot.Prompts
		}
	}
	return snapshot.Resources
}

func (p *Page) whyNoFilter() string {
	switch {
	case p.tools.filter.Empty():
		return "filter the tools first (/)"
	case len(p.tools.filtered()) == 0:
		return "the filter shows no tool that could be changed"
	}
	return p.whyNoServer()
}

// allow gives agents tools of the server, or takes them away.
func (p *Page) allow(tools []string, allow bool) tea.Cmd {
	name, all := p.server().Name, p.opts.Servers
	what := humanize.Count(len(tools), "tool")
	if len(tools) == 1 {
		what = sanitize.Line(tools[0])
	}
	return p.set(map[bool]string{true: " allowed", false: " turned off"}, what, allow, func(allow bool) error { return all.Allow(name, tools, allow) })
}

func (p *Page) whyNoChange() string {
	return cmp.Or(tui.Because(len(p.about.Held) == 0, "nothing has changed"), p.whyNoServer())
}

// subjects are the changes that a key is about: the one under the cursor, or all.
func (p *Page) subjects() []subject {
	if p.pane.body == nil {
		return nil
	}
	all := p.pane.body.subjects
	if it := p.pane.item(); it != nil && it.held != nil && p.Focus == browser.PartDetail {
		for i, s := range all {
			if s.from == it.row {
				return all[i : i+1]
			}
		}
	}
	return all
}

// accept accepts changes of which all was shown, and else shows more of them.
func (p *Page) accept() tea.Cmd {
	var seen []snapshot.Held
	for _, s := range p.subjects() {
		if row, n := p.sight.Unseen(s.id, s.drawn); n > 0 {
			p.pane.Top = max(s.from+row-1, 0)
			seen = nil
			break
		}
		seen = append(seen, *s.held)
	}
	if seen == nil {
		p.inLog = false
		if p.Areas.Of(browser.PartDetail) == nil {
			return p.open()
		}
		return nil
	}
	name, all := p.about.of, p.opts.Servers
	delete(p.kept, name)
	return tea.Sequence(tui.Outcome(func() (string, error) { return all.Accept(name, seen) }), p.reload(name))
}

// keep keeps the changes hidden, and has the server no longer want a look for them.
func (p *Page) keep() tea.Cmd {
	p.kept[p.about.of] = strconv.Itoa(len(p.about.Held)) + " " + changed(p.about.Held)
	return tui.Toast(tui.Info, humanize.Count(len(p.about.Held), "change")+" of "+p.about.of+" stay hidden")
}

// look shows what is under the cursor of the reading pane.
func (p *Page) look() tea.Cmd {
	switch it := p.pane.item(); {
	case it == nil:
	case it.text:
		return instructions(p.about.Instructions)
	case it.child != nil:
		p.log.of, p.log.end, p.inLog, p.Focus = it.child.Name, true, true, partLog
	case it.one != nil:
		one := *it.one
		return tui.Open(&tui.Reader{Name: "item", Title: sanitize.Line(one.Key), Rows: func(f *tui.Frame, w int) []string {
			return itemRows(f.Theme, &one, w)
		}})
	case it.tool != nil && it.tool.Tool == nil:
		note := it.tool.note
		return tui.Open(&tui.Reader{Name: "note", Title: "Not offered", Rows: func(_ *tui.Frame, w int) []string { return widget.Wrap(note, w) }})
	case it.tool != nil:
		t := *it.tool.Tool
		return tui.Open(&tui.Reader{Name: "tool", Title: sanitize.Line(t.Original), Text: func(f *tui.Frame, w int) widget.Text { return definition(f, &t, w) }})
	}
	return nil
}

func instructions(text string) tea.Cmd {
	return tui.Open(&tui.Reader{Name: "instructions", Title: "Instructions for agents", Rows: func(_ *tui.Frame, w int) []string {
		return widget.Wrap(sanitize.Text(text), w)
	}})
}

func (p *Page) calls() tea.Cmd {
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

func (p *Page) whyNoFile() string {
	s := p.server()
	return cmp.Or(p.whyNoServer(), tui.Because(s != nil && p.list.origins[s.Name].File == "", "it is a part of mcpdeck; space turns it off"))
}

// confirmRemove asks before the server is taken out of the deck.
func (p *Page) confirmRemove() tea.Cmd {
	s, all := p.server(), p.opts.Servers
	name := s.Name
	return tui.Open(&tui.Confirm{
		Name: "remove", Title: "Remove " + title(s) + "?", Text: "Its file goes, with what you accepted of it. u, or mcpdeck undo, brings all of it back.",
		Choices: []tui.Choice{
			{Key: "n", Text: "Keep it"},
			{Key: "y", Text: "Remove", Run: func() tea.Cmd {
				return change("removed "+sanitize.Line(name), func() (string, error) { return all.Remove(name) })
			}},
		},
	})
}

// edit opens the file that configures the server in the user's editor.
func (p *Page) edit() tea.Cmd {
	return tui.Edit(p.opts.Editor, p.list.origins[p.server().Name].File)
}

// itemRows are a resource or a prompt in rows of w cells.
func itemRows(th *theme.Theme, it *snapshot.Item, w int) []string {
	rows := widget.Wrap(sanitize.Line(it.Name), w)
	if it.Description != "" {
		rows = append(append(rows, ""), widget.Wrap(sanitize.Text(it.Description), w)...)
	}
	if len(it.Args) > 0 {
		rows = append(rows, "", th.Muted.Render("arguments: ")+sanitize.Line(strings.Join(it.Args, ", ")))
	}
	return append(rows, "", th.Faint.Render(humanize.Bytes(it.Bytes)))
}
