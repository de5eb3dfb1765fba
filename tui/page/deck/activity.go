package deck

import (
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

const (
	// sparks is how many steps of time a sparkline has, sparkOf how long one is.
	sparks  = 4
	sparkOf = 30 * time.Second
)

// activity is what has been seen of a session's own calls of tools: the last one, and when
// it was another than before.
type activity struct {
	last string
	at   []time.Time
}

// watch notes which sessions have called something since the last list of them.
func (p *Page) watch(now time.Time) {
	seen := make(map[string]activity, len(p.sessions))
	for i := range p.sessions {
		s := &p.sessions[i]
		k := worker{session: s}.key()
		a, had := p.active[k]
		last := s.LastTool + "\x00" + s.LastSubject
		if had && a.last != last {
			a.at = append(a.at, now)
		}
		for len(a.at) > 0 && now.Sub(a.at[0]) >= sparks*sparkOf {
			a.at = a.at[1:]
		}
		a.last = last
		seen[k] = a
	}
	p.active = seen
}

// pace is how often a row called something in each of the last steps of time, the newest
// last: its own tools, or tools of the deck.
func (p *Page) pace(now time.Time, wk worker) (n [sparks]int, some bool) {
	count := func(n *[sparks]int, at time.Time) {
		if i := sparks - 1 - int(now.Sub(at)/sparkOf); i >= 0 && i < sparks {
			n[i]++
			some = true
		}
	}
	for _, at := range p.active[wk.key()].at {
		count(&n, at)
	}
	if wk.agent != nil {
		var here [sparks]int
		for i := len(p.snap.Calls) - 1; i >= 0; i-- {
			c := &p.snap.Calls[i]
			if now.Sub(c.Started) >= sparks*sparkOf {
				break
			}
			if c.Agent == wk.agent.Agent {
				count(&here, c.Started)
			}
		}
		for i := range n { // a call of the deck's is one of the session's, too
			n[i] = max(n[i], here[i])
		}
	}
	return n, some
}

// sparkline draws how often a row called something lately, if it is at work.
func (p *Page) sparkline(f *tui.Frame, wk worker) string {
	const w = 5
	n, some := p.pace(f.Now, wk)
	if !some || wk.session.State != snapshot.Working {
		return widget.Blank(w)
	}
	f.RedrawAfter(sparkOf)
	most := 4 // so that a single call is no peak
	for _, c := range n {
		most = max(most, c)
	}
	levels := f.Theme.Glyph.Spark
	out := ""
	for _, c := range n {
		out += string(levels[(c*(len(levels)-1)+most-1)/most])
	}
	return f.Theme.Info.Render(widget.PadLeft(out, w))
}
