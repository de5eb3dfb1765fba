package agents

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/match"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
)

// filter is which sessions are listed.
type filter struct {
	tui.Filter
	query match.Query
	err   error // of the query, which then asks for less
	at    time.Time
}

// lets tells whether a session is listed.
func (f *filter) lets(s *deck.Session) bool { return f.Empty() || f.query.LetsSession(s, f.at) }

// narrow lists the sessions that the query asks for.
func (p *Page) narrow() tea.Cmd {
	f := &p.filter
	f.at = time.Now()
	f.query, f.err = match.ParseSessions(f.Text(), f.at)
	p.arrange()
	return nil
}

func (p *Page) unfilter() tea.Cmd {
	p.filter.SetText("")
	p.part = partList
	return p.narrow()
}

// values are those that a field of the query can have.
func (p *Page) values(field string) []string {
	var values []string
	for i := range p.all {
		switch s := &p.all[i]; field {
		case "agent":
			values = append(values, plain.Line(s.Agent))
		case "tool":
			values = append(values, plain.Line(s.LastTool))
		}
	}
	if field == "status" {
		return match.SessionStatuses()
	}
	slices.Sort(values)
	return values
}

func (p *Page) filterActions() []tui.Action {
	to := func(part string) func() tea.Cmd {
		return func() tea.Cmd { p.part = part; p.filter.Leave(); return nil }
	}
	return append(p.filter.Actions("agents.complete"), []tui.Action{
		{ID: "agents.filter", Title: "Filter", Hint: "filter", Keys: []string{"/"}, Part: partList, Run: to(partFilter)},
		{ID: "agents.filtered", Title: "Apply the filter", Hint: "keep", Keys: []string{"enter", "down"}, Part: partFilter, InText: true, Run: to(partList)},
		{ID: "agents.unfilter", Title: "Show all sessions", Hint: "show all", Keys: []string{"esc"}, Part: partFilter, InText: true, Run: p.unfilter},
	}...)
}

// filterRow is the row in which the filter is typed, y rows below the top of the page; none
// while there is no filter.
func (p *Page) filterRow(f *tui.Frame, y, w int) []string {
	typing := p.part == partFilter
	if !typing && p.filter.Empty() {
		return nil
	}
	return []string{p.filter.Row(f, 0, y, w, typing)}
}
