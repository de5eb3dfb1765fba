package agents

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui/browser"
)

// filterQuery is what the filter asks for.
type filterQuery struct {
	query.Query
	err error // of the filter, which then asks for less
	at  time.Time
}

// lets reports whether a session is listed.
func (p *Page) lets(s *snapshot.Session) bool {
	return p.Filter.Empty() || p.asked.LetsSession(s, p.asked.at)
}

// narrow lists the sessions that the query asks for.
func (p *Page) narrow() tea.Cmd {
	q := &p.asked
	q.at = time.Now()
	q.Query, q.err = query.ParseSessions(p.Filter.Text(), q.at)
	p.arrange()
	return nil
}

func (p *Page) unfilter() tea.Cmd {
	p.Filter.SetText("")
	p.Focus = browser.PartList
	return p.narrow()
}

// values are those that a field of the query can have.
func (p *Page) values(field string) []string {
	var values []string
	for i := range p.all {
		switch s := &p.all[i]; field {
		case "agent":
			values = append(values, sanitize.Line(s.Agent))
		case "tool":
			values = append(values, sanitize.Line(s.LastTool))
		}
	}
	if field == "status" {
		return query.SessionStatuses()
	}
	slices.Sort(values)
	return values
}
