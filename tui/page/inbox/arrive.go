package inbox

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// snapshotMsg is the queue as it is now.
type snapshotMsg struct{ snap *questions.Snapshot }

// take is a newer version of the queue.
func (p *Page) take(s *questions.Snapshot) tea.Cmd {
	old, heard := p.snap, p.heard
	p.snap, p.heard = s, s
	var cmds []tea.Cmd
	for ; p.notices < len(s.Notices); p.notices++ {
		cmds = append(cmds, tui.Toast(tui.Warn, s.Notices[p.notices]))
	}
	if heard != nil {
		cmds = append(cmds, keptNow(heard, s), untaken(heard, s, p.all))
	}
	if i := slices.IndexFunc(s.History, func(r questions.Record) bool { return r.ID == p.settled.record.ID }); p.place == partSettled && !p.settled.own() && i >= 0 {
		p.settled.record = s.History[i] // more may have been seen of it
	}
	if fresh := fresh(heard, s); len(fresh) > 0 {
		cmds = append(cmds, p.alerts.came(fresh, p.opt.Notify))
		if !p.shown {
			p.fresh = fresh[len(fresh)-1].ID
			if p.opt.Follow {
				cmds = append(cmds, tui.GoUnasked(ID))
			}
		}
	}
	switch it, ok := s.Item(p.id); {
	case p.place == partGroup:
		if len(p.grouped()) == 0 {
			p.leaveGroup()
		}
	case p.id != 0 && (!ok || it.State == questions.Sending):
		if cmd := p.settle(old, s); cmd != nil {
			cmds = append(cmds, cmd)
			break
		}
		p.id, p.place, p.form = 0, "", nil
		p.draft = questions.Draft{}
		if p.opened {
			p.next()
		}
	}
	p.lent(old, s)
	p.past.update(s.History)
	if p.past.view == partDenied {
		p.denials.update(s.History)
	}
	p.lay(time.Now())
	return tea.Batch(cmds...)
}

// lent shows what was entered on another machine for the open request, unless something is entered here.
func (p *answer) lent(old, s *questions.Snapshot) {
	it, ok := s.Item(p.id)
	was, _ := old.Item(p.id)
	if !ok || p.place != partRequest || p.draft.Field != questions.NoField || it.LentBy == "" && was.LentBy == "" || s.Version < old.Version {
		return
	}
	p.draft = it.Draft.At(p.draft)
	p.warned, p.unsure = warning{}, warning{}
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
func keptNow(old, s *questions.Snapshot) tea.Cmd {
	for _, r := range s.Kept {
		was := slices.ContainsFunc(old.Kept, func(o questions.Record) bool { return o.ID == r.ID })
		if it, open := old.Item(r.ID); !was && (!open || it.Absent != questions.Gone) {
			return tui.Toast(tui.Warn, sanitize.Line(r.Request.Client())+" did not get your answer; it is kept for a day and listed in the Inbox")
		}
	}
	return nil
}

// untaken says of an answer that its agent has just not taken.
func untaken(old, s *questions.Snapshot, all []snapshot.Session) tea.Cmd {
	for _, r := range slices.Backward(s.History) {
		if r.Request.Prompt == nil || r.End() != questions.EndNotTaken {
			continue
		}
		i := slices.IndexFunc(old.History, func(o questions.Record) bool { return o.ID == r.ID })
		if i >= 0 && old.History[i].End() == questions.EndSent {
			agent, in := whoAsks(&r.Request, projectNames(all))
			return tui.Toast(tui.Warn, strings.TrimSpace(agent+" "+in)+": "+r.Words(jumpKey))
		}
	}
	return nil
}

// fresh are the requests that wait and were not known to, and those that were just handed to the user.
// What was heard before tells, and is nil at first: what is marked as shown then was so in an earlier
// run. Later the page may have shown a request before it hears of it, as it also looks by itself.
func fresh(heard, s *questions.Snapshot) (all []questions.Item) {
	for _, it := range s.Items {
		var was questions.Item
		known := false
		if heard != nil {
			was, known = heard.Item(it.ID)
		}
		isNew := it.State == questions.Queued && (!known || was.State == questions.Snoozed) || it.State == questions.Shown && !known && heard != nil
		if it.Waits() && (isNew || it.Handed.Here() && !was.Handed.Here()) {
			all = append(all, it)
		}
	}
	return all
}

// isSending reports whether an answer can still be taken back.
func (p *answer) isSending() bool {
	return slices.ContainsFunc(p.snap.Items, func(it questions.Item) bool { return it.State == questions.Sending })
}
