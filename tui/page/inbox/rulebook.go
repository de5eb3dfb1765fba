package inbox

import (
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// partRules is the view of the user's rules.
const partRules = "rules"

// rulebook is the view of the user's rules, beside the history. It is the one place that turns them on.
type rulebook struct {
	from *book.Store // nil: there are none
	may  book.Allowed
	home string // of the user
	now  book.Standing
	list widget.List
}

// rulesMsg is the book as it is now, after something was done.
type rulesMsg struct {
	now  book.Standing
	done string
	err  error
}

// does works on the book, and shows it then.
func (b *rulebook) does(done string, do func() error) tea.Cmd {
	from := b.from
	return func() tea.Msg {
		m := rulesMsg{done: done, err: do()}
		m.now = from.Now()
		return m
	}
}

// look reads the book.
func (b *rulebook) look() tea.Cmd { return b.does("", func() error { return nil }) }

func (b *rulebook) take(m rulesMsg) tea.Cmd {
	b.now = m.now
	b.list.SetLen(len(b.now.Listed.Rules))
	switch {
	case m.err != nil:
		return tui.Toast(tui.Warn, sanitize.Line(m.err.Error()))
	case m.done != "":
		return tui.Toast(tui.Info, sanitize.Line(m.done))
	}
	return nil
}

// selected is the rule under the cursor, nil if there is none.
func (b *rulebook) selected() *book.Rule { return widget.Selected(&b.list, b.now.Listed.Rules) }

func (b *rulebook) actions(p *Page) []tui.Action {
	none := func() string { return tui.Because(b.selected() == nil, "no rule is selected") }
	return slices.Concat(p.past.leaving("inbox.rules", partRules), []tui.Action{
		{ID: "inbox.rules", Title: "Your rules", Hint: "view", Verb: verb.View, Part: partHistory, Moves: true, Enabled: func() string { return tui.Because(b.from == nil, "this deck has no rules") }, Run: func() tea.Cmd {
			p.past.view = partRules
			return b.look()
		}},
		{ID: "inbox.granted", Title: "What agents were allowed in their own files", Hint: "view", Verb: verb.View, Part: partRules, Moves: true, Run: func() tea.Cmd {
			if p.past.view = partGranted; p.grants.from == nil {
				p.past.view = partHistory
				return nil
			}
			return p.grants.look(p.all)
		}},
		{ID: "inbox.rules.on", Title: "Turn rules on as they are in the book", HintNow: b.turnsOn, Verb: verb.Yes, Part: partRules, Acts: true, Enabled: b.cannotAccept, Run: b.accept},
		{ID: "inbox.rules.off", Title: "Turn rules off: everything is asked", HintNow: b.turnsOff, Verb: verb.No, Part: partRules, Acts: true, Enabled: func() string { return tui.Because(!b.now.Enabled, "rules are off") }, Run: func() tea.Cmd {
			return b.does(book.Off, b.from.Off)
		}},
		{ID: "inbox.rules.pause", Title: "Have the rule not count, or count again", Hint: "on/off", Verb: verb.Mark, Part: partRules, Acts: true, Enabled: none, Run: func() tea.Cmd {
			id := b.selected().ID
			return b.does("", func() error { return b.from.Pause(id) })
		}},
		{ID: "inbox.rules.forget", Title: "Forget the rule", Hint: "remove", Verb: verb.Stop, Part: partRules, Acts: true, Enabled: none, Run: b.forget},
		{ID: "inbox.rules.reads", Title: "Add a rule: those that would have answered the most", Hint: "add a rule…", Verb: verb.Always, Part: partRules, Acts: true, Enabled: b.cannotAllow, Run: func() tea.Cmd { return b.suggests(p.queue) }},
		{ID: "inbox.rules.learn", Title: "Keep a rule that answers this from now on", Hint: "always…", Verb: verb.Always, Part: partHistory, Acts: true, Enabled: func() string {
			r := p.past.selected()
			if r == nil {
				return "nothing is selected"
			}
			return b.whyNoRule(&r.Request)
		}, Run: func() tea.Cmd { return b.learns(0, p.past.selected().Request, p.queue) }},
	}, tui.ListActions("inbox.rules", partRules, &b.list))
}

func (b *rulebook) turnsOn() string {
	if b.cannotAccept() != "" {
		return ""
	}
	return "turn on"
}

func (b *rulebook) turnsOff() string {
	if !b.now.Enabled {
		return ""
	}
	return "turn off"
}

func (b *rulebook) cannotAccept() string {
	switch {
	case b.now.Fault != "":
		return "the book is off: " + b.now.Fault
	case b.now.Answers():
		return "rules are on"
	}
	return ""
}

// accept shows all rules whole, and turns them on.
func (b *rulebook) accept() tea.Cmd {
	shown := b.now
	return tui.Open(&tui.Sure{
		Name: "rules", Title: "Have these rules answer?", Give: "turn them on", ItemID: "rules " + shown.Hash(),
		Rows: func(th *theme.Theme, w int) []string {
			var rows []string
			for i := range shown.Listed.Rules {
				r := &shown.Listed.Rules[i]
				lead := r.ID + "  "
				for _, row := range widget.Paragraph(th.Text, "", sanitize.Line(r.Words()), w-widget.Width(lead)) {
					rows = append(rows, lead+row)
					lead = widget.Repeat(" ", widget.Width(lead))
				}
				if r.Tell != "" {
					rows = append(rows, widget.Paragraph(th.Muted, "    ", "tells: "+sanitize.Line(r.Tell), w-4)...)
				}
			}
			if len(rows) == 0 {
				rows = append(rows, "The book is empty: everything is asked.")
			}
			says := "From the next prompt on, what a rule allows runs without being asked, once each time, and what a rule denies does not. All else is asked. " +
				"A deny is no wall: what an agent may do by itself does not come here."
			return append(append(rows, ""), widget.Paragraph(th.Muted, "", says, w)...)
		},
		Run: func() tea.Cmd {
			return b.does("Rules are on.", func() error { return b.from.Accept(shown) })
		},
	})
}

func (b *rulebook) forget() tea.Cmd {
	r := *b.selected()
	return tui.Open(&tui.Sure{
		Name: "rules", Title: "Forget this rule?", Give: "forget it", ItemID: "forget " + r.ID + " " + r.Words(),
		Rows: func(th *theme.Theme, w int) []string {
			return widget.Paragraph(th.Text, "", sanitize.Line(r.Words()), w)
		},
		Run: func() tea.Cmd {
			return b.does("forgotten: "+r.Words(), func() error { return b.from.Forget(r.ID) })
		},
	})
}

func (b *rulebook) cannotAllow() string {
	switch {
	case len(b.may.Agents(book.OfCommands)) == 0:
		return "no rule can allow what the agents here ask"
	case b.now.Fault != "":
		return "the book is off: " + b.now.Fault
	}
	return ""
}

// used says how often a rule has answered of late, and when last.
func used(all []questions.Record, id string, now time.Time) string {
	u := questions.RuleUses(all)[id]
	if u.Times == 0 {
		return "has not answered of late"
	}
	return "has answered " + strconv.Itoa(u.Times) + " of the last " + humanize.Count(len(all), "prompt") + ", " + humanize.Ago(now.Sub(u.Last))
}

func (b *rulebook) render(f *tui.Frame, past []questions.Record) []string {
	th, all := f.Theme, b.now.Listed.Rules
	rows := []string{widget.Heading(th, "Rules "+strconv.Itoa(len(all)), "", true, f.W)}
	style := th.Muted
	if b.now.Fault != "" || b.now.Enabled && !b.now.Answers() {
		style = th.Warn
	}
	for _, row := range widget.Paragraph(style, "", sanitize.Line(b.now.Says()), f.W-2) {
		rows = append(rows, " "+row)
	}
	switch {
	case len(all) == 0 && b.now.Fault != "":
		return rows
	case len(all) == 0:
		return append(rows, "", "  "+th.Muted.Render("no rules yet"))
	}
	r := b.selected()
	about := []remark{{th.Text, r.Words()}}
	if r.Tell != "" {
		about = append(about, remark{th.Muted, "tells its agent: " + r.Tell})
	}
	if r.ByHand() {
		about = append(about, remark{th.Muted, "edited by hand; it was: " + r.Say})
	}
	about = append(about, remark{th.Muted, r.ID + " " + used(past, r.ID, f.Now) + ", line " + strconv.Itoa(r.Line()) + " of rules.toml"})
	return listAbout(f, rows, &b.list, 2, 4, about, func(i, w int) string {
		r := &all[i]
		state := b.now.State(r, f.Now)
		style := th.Muted
		if state == "on" {
			style = th.Good
		}
		return widget.Ends(th.Muted.Render(r.ID)+"  "+th.Text.Render(widget.Cut(sanitize.Line(r.Words()), w-widget.Width(r.ID+state)-5)), style.Render(state), w-1)
	})
}

// remark is a paragraph about what is selected.
type remark struct {
	style theme.Style
	text  string
}

// listAbout draws a list below some rows, and about the one under the cursor below that, in a part of the room.
func listAbout(f *tui.Frame, rows []string, list *widget.List, part, least int, about []remark, row func(i, w int) string) []string {
	rest := f.H - len(rows)
	rows = append(rows, list.Render(f.Theme, f.W, rest-min(max(rest/part, least), rest), f.Focus, row)...)
	rows = append(rows, f.Theme.Border.Render(widget.Repeat(f.Theme.Glyph.Frame.Top, f.W)))
	for _, s := range about {
		for _, line := range widget.Paragraph(s.style, "", sanitize.Line(s.text), f.W-2) {
			rows = append(rows, " "+line)
		}
	}
	return rows[:min(len(rows), f.H)]
}
