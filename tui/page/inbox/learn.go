package inbox

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// mostSuggested is how many rules are proposed from all that was answered.
const mostSuggested = 5

// lasting is what may last: the options of an agent's own, and rules that the user may keep. Nothing is chosen in
// advance, and what is chosen is shown whole before it counts.
type lasting struct {
	title string
	ways  []way
	note  string // below them

	list widget.List
}

// way is one that may be chosen.
type way struct {
	kind  string // whose it is
	words string
	says  string // what it would have done
	run   func() tea.Cmd
}

// lastingMsg is what may last of a prompt.
type lastingMsg struct {
	item     int // that is open; 0: the prompt is of the past
	lasting  *lasting
	rules    []book.Proposal
	standing book.Standing
}

// ID implements tui.Overlay.
func (*lasting) ID() string { return "lasting" }

// TextEntry is false: letters are keys.
func (*lasting) TextEntry() bool { return false }

// Actions are moving, choosing and going back.
func (l *lasting) Actions() []tui.Action {
	l.list.SetLen(len(l.ways))
	return append([]tui.Action{
		{ID: "lasting.open", Title: "Show exactly what it allows", Hint: "open", Verb: verb.Open, Run: func() tea.Cmd {
			w := widget.Selected(&l.list, l.ways)
			if w == nil {
				return nil
			}
			return tea.Sequence(tui.Close(l.ID()), w.run())
		}},
		{ID: "lasting.back", Title: "Back", Hint: "back", Verb: verb.Back, Run: func() tea.Cmd { return tui.Close(l.ID()) }},
	}, tui.ListActions("lasting", "", &l.list)...)
}

// Update scrolls.
func (l *lasting) Update(msg tea.Msg) tea.Cmd {
	if wheel, ok := msg.(tui.WheelMsg); ok {
		l.list.Move(wheel.Delta)
	}
	return nil
}

// Render draws the ways, the one under the cursor whole below them.
func (l *lasting) Render(f *tui.Frame) []string {
	th := f.Theme
	w := min(f.W, 100) - 6
	l.list.SetLen(len(l.ways))
	var about []string
	if at := widget.Selected(&l.list, l.ways); at != nil {
		about = widget.Paragraph(th.Text, "", at.words, w)
		if at.says != "" {
			about = append(about, widget.Paragraph(th.Muted, "", at.says, w)...)
		}
	}
	if l.note != "" {
		about = append(append(about, ""), widget.Paragraph(th.Muted, "", l.note, w)...)
	}
	room := max(f.H-3, 2)
	h := min(len(l.ways), max(room-len(about)-1, 1))
	rows := l.list.Render(th, w, h, f.Focus, func(i, w int) string {
		kind := th.Muted.Render(l.ways[i].kind)
		return widget.Ends(widget.Cut(l.ways[i].words, max(w-widget.Width(l.ways[i].kind)-3, 8)), kind, w-1)
	})
	rows = append(rows, th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, w)))
	rows = append(rows, about...)
	return widget.Dialog(th, l.title, "", rows[:min(len(rows), room)], w+6, f.H)
}

// whyNoRule says why no rule is proposed for a prompt.
func (b *rulebook) whyNoRule(r *questions.Request) string {
	p := r.Prompt
	switch {
	case b.from == nil || len(b.may) == 0:
		return "this deck has no rules"
	case p == nil || book.KindOf(p) == "":
		return "no rule is made of this"
	case p.Door == questions.Here && r.Verified(): // this deck makes the call
	case p.Door == questions.Here || !b.may.Has(p.Agent, book.KindOf(p)):
		return "no rule can allow what this agent asks"
	}
	return ""
}

// learns proposes rules for a prompt, which is open or, with item 0, of the past.
func (b *rulebook) learns(item int, r questions.Request, queue *questions.Queue) tea.Cmd {
	from, home := b.from, b.home
	return func() tea.Msg {
		now := from.Now()
		m := lastingMsg{item: item, standing: now, lasting: &lasting{title: "From now on"}}
		q, is := now.Asked(&r, home)
		if !is || now.Fault != "" {
			return m
		}
		all, refused := now.Listed.Propose(&q, now.Answered(questions.AllPast(queue), func(agent string, _ book.Kind) bool { return agent == q.Agent }, home))
		m.rules = all
		for _, p := range refused {
			m.lasting.note = notOffered(&p)
		}
		return m
	}
}

func notOffered(p *book.Proposal) string {
	return fmt.Sprintf("Not offered: “%s” would have allowed what you denied: %s", sanitize.Line(p.Rule.Words()), sanitize.Line(p.Against))
}

// suggests proposes rules from all that was answered.
func (b *rulebook) suggests(queue *questions.Queue) tea.Cmd {
	from, may, home := b.from, b.may, b.home
	return func() tea.Msg {
		now := from.Now()
		past := now.Answered(questions.AllPast(queue), may.Has, home)
		m := lastingMsg{standing: now, lasting: &lasting{title: "Rules that would have answered the most"}}
		if now.Fault == "" {
			m.rules = now.Listed.Suggest(past, mostSuggested)
			reads := book.Proposal{Rule: now.Listed.Reads(askers(past, may.Agents(book.OfCommands)))}
			reads.Simulated = now.Listed.Simulate([]book.Rule{reads.Rule}, past)
			switch words := reads.Rule.Words(); {
			case slices.ContainsFunc(now.Listed.Rules, func(r book.Rule) bool { return r.Words() == words }):
			case reads.Against != "":
				m.lasting.note = notOffered(&reads)
			default:
				m.rules = append(m.rules, reads)
			}
		}
		return m
	}
}

// askers are those agents that have asked for commands, or the first where none has.
func askers(past []book.Past, all []string) []string {
	out := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
		return !slices.ContainsFunc(past, func(p book.Past) bool { return p.Agent == id })
	})
	if len(out) == 0 {
		return all[:1]
	}
	return out
}

// chosen adds the ways of rules to what may last.
func (b *rulebook) chosen(m *lastingMsg) {
	for i := range m.rules {
		p := &m.rules[i]
		m.lasting.ways = append(m.lasting.ways, way{"rule", sanitize.Line(p.Rule.Words()), p.Says(), func() tea.Cmd { return b.keeps(p, m.standing.Enabled) }})
	}
}

// keeps shows a rule whole, and keeps it.
func (b *rulebook) keeps(p *book.Proposal, on bool) tea.Cmd {
	r := p.Rule
	return tui.Open(&tui.Sure{
		Name: "rules", Title: "Keep this rule?", Give: "keep it", ItemID: "keep " + r.ID + " " + r.Words(),
		Rows: func(th *theme.Theme, w int) []string {
			rows := append(widget.Paragraph(th.Strong, "", sanitize.Line(r.Words())+scope(&r), w), "")
			rows = append(rows, widget.Paragraph(th.Text, "", covered(&r), w)...)
			rows = append(append(rows, ""), widget.Paragraph(th.Text, "", p.Says(), w)...)
			if c := r.Command; c != nil && c.Exact != "" {
				rows = append(rows, "")
				for _, row := range widget.Code(th, sanitize.Exact(c.Exact), w-2) {
					rows = append(rows, "  "+row)
				}
			}
			when := "It answers from the next prompt on, and can be forgotten: H, v, x."
			if !on {
				when = "It answers once rules are on."
			}
			return append(append(rows, ""), widget.Paragraph(th.Muted, "", when, w)...)
		},
		Run: func() tea.Cmd {
			return b.does("kept: "+r.Words(), func() error { return b.from.Keep(r) })
		},
	})
}

// scope says for how long a rule is, and where, if its words leave that open.
func scope(r *book.Rule) string {
	s := ""
	if r.Project == "" {
		s = ", in all projects"
	}
	if r.Until.IsZero() {
		return s + ", until you forget it."
	}
	return s + "."
}

// covered says what a rule covers, and what not.
func covered(r *book.Rule) string {
	changes := "Which code of the project runs, agents may change: scripts, tests, what is built."
	if r.Command != nil && r.Command.Pin != "" {
		changes = "You are asked again once the script, or the file with the target, is changed. What that runs in turn, agents may change: tests, what is built."
	}
	switch c := r.Command; {
	case r.Edit != nil:
		made := " Not: files that are not there yet, what is deleted, and what commands write."
		if r.Edit.Make {
			made = " Not: what is deleted, and what commands write."
		}
		return "It covers changes by the agent's own tools to that file or folder, and all below it." + made +
			" Nor links that lead elsewhere, and what changes later what runs: hooks, settings of agents. Code that is written there may run by another rule."
	case r.Fetch != nil:
		return "It covers every page of that host by exactly that name, and where these lead, as the agent's own tool reads them. Not: commands such as curl. What a page says may mislead an agent."
	case r.MCP != nil && len(r.MCP.Args) > 0:
		return "It covers calls with these arguments, whatever else is among them. What the tool does is up to its server."
	case r.MCP != nil:
		return "It covers every call of that tool, whatever its arguments. What the tool does is up to its server."
	case c.Exact != "":
		return "It covers this text alone, letter for letter, in this folder, as long as it does no more than that. " + changes
	case len(c.Only) > 0:
		return "It covers commands of which every part is known to read files of the project, or to print: cat a | sort, sed -n 1,5p b. " +
			"Not: what writes, reaches the network, runs code or reads elsewhere, secrets, sudo, plan mode, and whatever is not certain."
	case slices.Contains(c.May, rules.Code):
		return "It covers each part of a command that begins so, whatever files it names, with no other options. Other parts need a rule of their own, but those that only print. " + changes
	}
	return "It covers each part of a command that begins so, whatever files it names, with no other options. Other parts need a rule of their own, but those that only print."
}

// always shows what may last of the prompt that is open: options of its agent's own, and rules.
func always(p *Page) tea.Cmd {
	it, open := p.current()
	if !open || p.rules.whyNoRuleNow(&it) != "" {
		p.toLasting()
		return nil
	}
	p.keep()
	return p.rules.learns(it.ID, it.Request, p.queue)
}

// whyNoRuleNow says why no rule is proposed for a prompt that is open.
func (b *rulebook) whyNoRuleNow(it *questions.Item) string {
	if why := b.whyNoRule(&it.Request); why != "" {
		return why
	}
	d := it.Request.Prompt
	if answered := d.Door == questions.Here || d.Door == questions.Shared && d.Runs != nil; !answered || d.Unconfirmed || d.Misread != "" {
		return "no rule would answer this"
	}
	return ""
}

// whyNotAlways says why nothing of what is open can be allowed for longer than once.
func whyNotAlways(p *Page) string {
	why := p.whyNoLasting()
	if it, open := p.current(); why != "" && open && p.deciding() != nil && p.rules.whyNoRuleNow(&it) == "" {
		return ""
	}
	return why
}

// takeLasting shows what may last, or says that nothing does.
func takeLasting(p *Page, m lastingMsg) tea.Cmd {
	if it, open := p.current(); m.item != 0 && open && it.ID == m.item {
		d := it.Request.Prompt
		for i, g := range d.Grants {
			if g.Lasts() && d.Offers(i) {
				label := shownLabels(it.Request.Questions[0])[i]
				m.lasting.ways = append(m.lasting.ways, way{sanitize.Line(it.Request.Client()), label, sanitize.Line(g.Effect), func() tea.Cmd { return p.sure(i) }})
			}
		}
	} else if m.item != 0 {
		return nil // it has gone
	}
	if len(m.rules) == 0 && m.item != 0 && tui.Lasting(p.deciding()) >= 0 {
		p.toLasting()
		return nil
	}
	p.rules.chosen(&m)
	switch {
	case len(m.lasting.ways) == 0:
		return tui.Toast(tui.Info, cmp.Or(m.lasting.note, "no rule is proposed for this: it may do what no rule allows, or there is one"))
	case len(m.lasting.ways) == 1 && m.lasting.note == "":
		return m.lasting.ways[0].run()
	}
	return tui.Open(m.lasting)
}
