package inbox

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// partDenied is the view of what agents were not allowed.
const partDenied = "denied"

// timesFrom is the width from which rows say how often something was denied.
const timesFrom = 60

// denials is that view, beside the rules.
type denials struct {
	all  []questions.Denied
	list widget.List
}

func (d *denials) update(history []questions.Record) {
	d.all = questions.Denials(history, time.Now())
	d.list.SetLen(len(d.all))
}

func (d *denials) selected() *questions.Denied { return widget.Selected(&d.list, d.all) }

func (d *denials) actions(p *Page) []tui.Action {
	none := func() string { return tui.Because(d.selected() == nil, "nothing is selected") }
	return slices.Concat(p.past.leaving("inbox.denied", partDenied), []tui.Action{
		{ID: "inbox.denied.view", Title: "The history", Hint: "view", Verb: verb.View, Part: partDenied, Moves: true, Run: p.past.turn(partHistory)},
		{ID: "inbox.denied.learn", Title: "Have this allowed from now on", Hint: "always…", Verb: verb.Always, Part: partDenied, Acts: true, Enabled: func() string {
			switch one := d.selected(); {
			case one == nil:
				return none()
			case one.Record.Refused != nil: // auto mode asks nobody, so a rule of the book would not be asked
				return tui.Because(p.grants.from == nil, "this deck writes no agent's file")
			default:
				return p.rules.whyNoRule(&one.Record.Request)
			}
		}, Run: func() tea.Cmd {
			if one := *d.selected(); one.Record.Refused != nil {
				from := p.grants.from
				return func() tea.Msg {
					plan, err := from.Exact(&one)
					return exactMsg{&one, plan, err}
				}
			}
			return p.rules.learns(0, d.selected().Record.Request, p.queue)
		}},
		{ID: "inbox.denied.copy", Title: "Copy what was denied", Hint: "copy", Verb: verb.Copy, Part: partDenied, Enabled: none, Run: func() tea.Cmd {
			return tui.Copy(d.selected().Subject, "what was denied")
		}},
	}, tui.ListActions("inbox.denied", partDenied, &d.list))
}

// againAction has what auto mode has denied tried again.
func againAction(p *Page, enabled func() string) tui.Action {
	return tui.Action{
		ID: "inbox.again", Title: "Let the agent try again what it was denied", Verb: verb.Again, Acts: true, Sight: true, Enabled: enabled,
		HintNow: func() string {
			if d := p.deciding(); d != nil && d.Refused != nil {
				return "again"
			}
			return ""
		},
		Run: func() tea.Cmd { return p.give("r", "only what was denied already can be tried again") },
	}
}

// exactMsg is how exactly what was denied would be allowed.
type exactMsg struct {
	denied *questions.Denied
	plan   tui.SetupPlan
	err    error
}

// take shows the command and what becomes of the file, and has it written once that was read.
func (m exactMsg) take() tea.Cmd {
	if m.err != nil {
		return tui.Toast(tui.Info, "not allowed from here: "+sanitize.Line(m.err.Error()))
	}
	return tui.Open(&tui.Sure{
		Name: "exact", Title: "Have exactly this allowed?", Give: "write it", ItemID: "exact " + strconv.Itoa(m.denied.Record.ID),
		Rows: func(th *theme.Theme, w int) []string {
			return append(append(widget.Code(th, sanitize.Exact(m.denied.Subject), w), ""), planRows(&m.plan, th, w)...)
		},
		Run: func() tea.Cmd {
			return func() tea.Msg {
				done, err := m.plan.Apply()
				if err != nil {
					return tui.Toast(tui.Warn, sanitize.Line(err.Error()))()
				}
				return tui.Toast(tui.Info, sanitize.Line(strings.Join(done.Then, "; ")))()
			}
		},
	})
}

// deniedBy says who denied something.
func deniedBy(d *questions.Denied) string {
	if !d.Judged {
		return "not judged"
	}
	return "by " + d.By
}

func (d *denials) render(f *tui.Frame) []string {
	th := f.Theme
	rows := []string{widget.Heading(th, "Denied "+strconv.Itoa(len(d.all)), "", true, f.W)}
	if len(d.all) == 0 {
		rows = append(rows, "")
		for _, says := range []string{"no agent was denied anything of late", "what Claude Code's auto mode denies is listed after", "mcpdeck setup claude --prompts --denied"} {
			for _, row := range widget.Paragraph(th.Muted, "", says, f.W-4) {
				rows = append(rows, "  "+row)
			}
		}
		return rows[:min(len(rows), f.H)]
	}
	one := d.selected()
	about := []remark{{th.Text, one.Tool + " " + one.Subject}}
	if one.Reason != "" {
		about = append(about, remark{th.Text, "“" + one.Reason + "”"})
	}
	when := deniedBy(one) + ", " + humanize.Ago(f.Now.Sub(one.Time))
	if one.Times > 1 {
		when += ", " + humanize.Count(one.Times, "time") + " in its session"
	}
	return listAbout(f, rows, &d.list, 3, 6, append(about, remark{th.Muted, when}), func(i, w int) string {
		one := &d.all[i]
		lead := sanitize.Line(one.Agent) + " " + sanitize.Line(filepath.Base(one.Project))
		tail := deniedBy(one)
		if one.Times > 1 && w >= timesFrom {
			tail += ", " + humanize.Count(one.Times, "time")
		}
		style := th.Muted
		if one.Record.Refused != nil {
			style = th.Warn
		}
		text := widget.Cut(sanitize.Line(one.Tool+" "+one.Subject), max(w-widget.Width(lead+tail)-5, 0))
		return widget.Ends(th.Muted.Render(lead)+"  "+th.Text.Render(text), style.Render(tail), w-1)
	})
}
