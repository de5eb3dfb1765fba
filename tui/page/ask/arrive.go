package ask

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
)

// snapshotMsg is the queue as it is now.
type snapshotMsg struct{ snap *questions.Snapshot }

// take is a newer version of the queue.
func (p *Page) take(s *questions.Snapshot) tea.Cmd {
	old := p.snap
	p.snap = s
	var cmds []tea.Cmd
	for ; p.notices < len(s.Notices); p.notices++ {
		cmds = append(cmds, tui.Toast(tui.Warn, s.Notices[p.notices]))
	}
	cmds = append(cmds, p.keptNow(old, s), untaken(old, s))
	if i := slices.IndexFunc(s.History, func(r questions.Record) bool { return r.ID == p.settled.record.ID }); p.place == partSettled && !p.settled.own() && i >= 0 {
		p.settled.record = s.History[i] // more may have been seen of it
	}
	fresh := p.arrived()
	if len(fresh) > 0 {
		cmds = append(cmds, p.alerts.came(fresh, p.opt.Notify), p.openOnArrival(p.waiting == 0))
	}
	p.waiting = len(due(s))
	if p.place == partGroup {
		if len(p.grouped()) == 0 {
			p.leaveGroup()
		}
	} else if it, ok := s.Item(p.id); p.id != 0 && (!ok || it.State == questions.Sending) {
		if cmd := p.settle(old, s); cmd != nil {
			cmds = append(cmds, cmd)
		} else {
			p.leaveEnded(ok)
		}
	}
	p.past.update(s.History)
	return tea.Batch(append(cmds, p.goBack())...)
}

// due are the requests that wait for the user and are not snoozed.
func due(s *questions.Snapshot) (all []questions.Item) {
	for _, it := range s.Items {
		if it.Due() {
			all = append(all, it)
		}
	}
	return all
}

// keptNow says of an answer that has just not reached its agent.
func (p *Page) keptNow(old, s *questions.Snapshot) tea.Cmd {
	if old == s {
		return nil
	}
	for _, r := range s.Kept {
		was := slices.ContainsFunc(old.Kept, func(o questions.Record) bool { return o.ID == r.ID })
		if it, open := old.Item(r.ID); !was && (!open || it.Absent != questions.Gone) {
			return tui.Toast(tui.Warn, sanitize.Line(r.Request.Client())+" did not get your answer; it is kept for a day and listed on the Ask page")
		}
	}
	return nil
}

// untaken says of an answer that its agent has just not taken.
func untaken(old, s *questions.Snapshot) tea.Cmd {
	for _, r := range slices.Backward(s.History) {
		if r.Request.Prompt == nil || r.End() != questions.EndNotTaken {
			continue
		}
		i := slices.IndexFunc(old.History, func(o questions.Record) bool { return o.ID == r.ID })
		if i >= 0 && old.History[i].End() == questions.EndSent {
			return tui.Toast(tui.Warn, strings.TrimSpace(sanitize.Line(r.Request.Client())+" "+project(&r.Request))+": "+r.Words(jumpKey))
		}
	}
	return nil
}

// arrived are the requests not seen before that wait.
func (p *Page) arrived() []questions.Item {
	var fresh []questions.Item
	seen := make(map[int]bool, len(p.snap.Items))
	for _, it := range p.snap.Items {
		if !p.seen[it.ID] && it.Waits() && it.State == questions.Queued {
			fresh = append(fresh, it)
		}
		seen[it.ID] = it.State != questions.Snoozed // told of again when it comes back
	}
	p.seen = seen
	return fresh
}

// openOnArrival puts a new request on screen, if the user is not busy elsewhere; first
// says that nothing else waits.
func (p *Page) openOnArrival(first bool) tea.Cmd {
	if p.opt.Focus == FocusNever {
		return nil
	}
	if p.shown {
		idle := time.Since(p.lastKey) >= tui.IdleAfter
		if p.place == partList && p.id == 0 && first && (idle || p.opt.Focus == FocusAlways) {
			p.openFirst()
		}
		return nil
	}
	p.unasked = time.Now()
	return tui.GoUnasked(ID, p.opt.Focus == FocusAlways)
}

// goBack leaves the page that came by itself when nothing is left to answer.
func (p *Page) goBack() tea.Cmd {
	if !p.openedItself || p.place != partList || p.snap.Waiting > 0 || p.isSending() {
		return nil
	}
	p.openedItself = false
	return tui.Go("")
}

// isSending reports whether an answer can still be taken back.
func (p *Page) isSending() bool {
	return slices.ContainsFunc(p.snap.Items, func(it questions.Item) bool { return it.State == questions.Sending })
}

// leaveEnded goes on after the open request was sent or ended elsewhere.
func (p *Page) leaveEnded(sending bool) {
	ended := p.id
	p.id, p.place = 0, partList
	p.openFirst()
	switch {
	case sending: // what was typed went with it: the user is not busy elsewhere
		p.lastKey, p.waiting = time.Time{}, len(due(p.snap))
	case p.id == 0:
		p.message = fmt.Sprintf("question %d has ended", ended)
	}
}
