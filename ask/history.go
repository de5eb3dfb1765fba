package ask

import (
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// history is what became of the requests that have ended.
type history struct {
	redact  redact.Rules
	store   *store
	records []Record // oldest first; snapshots share them
	unseen  []unseen
}

// RuleUse is how often a rule has answered, of the requests in a history, and when last.
type RuleUse struct {
	Times int       `json:"times"`
	Last  time.Time `json:"last"`
}

// RuleUses returns how often each rule has answered, by its ID.
func RuleUses(all []Record) map[string]RuleUse {
	out := map[string]RuleUse{}
	for i := range all {
		if r := all[i].Rule; r != nil {
			u := out[r.ID]
			out[r.ID] = RuleUse{u.Times + 1, all[i].Ended}
		}
	}
	return out
}

// ReadHistory returns the newest records of a history file, oldest first; none if there is no file.
func ReadHistory(path string) []Record {
	all, _ := readHistory(path)
	return all
}

// unseen is an answer of which nothing has shown what became of it, until then.
type unseen struct {
	id int
	at time.Time
}

// record adds the outcome of a request, or its withdrawal. A later outcome of the same
// request replaces an earlier one.
func (h *history) record(it *item, d Delivery, r Reply, how string) {
	req, r := h.kept(it.req, r)
	rec := Record{ID: it.id, Arrived: it.arrived, Ended: time.Now(), Request: req, Reply: r, Delivery: d, How: how, Rule: it.rule}
	if p := req.Prompt; p != nil {
		rec.Does, rec.Refused = p.Does, p.Refused
	}
	rec.Request.ResumeKey, rec.Request.Owner = "", ""
	h.add(rec)
}

// add adds a record, in place of an earlier one of the same request.
func (h *history) add(rec Record) {
	kept := append(slices.DeleteFunc(slices.Clone(h.records), func(r Record) bool { return rec.replaces(&r) }), rec)
	h.records = kept[max(0, len(kept)-historyLength):]
	h.store.record(rec)
}

// forget removes the outcome of a request.
func (h *history) forget(id int) {
	h.records = slices.DeleteFunc(slices.Clone(h.records), func(r Record) bool { return r.ID == id })
}

// awaits notes that an answer is on its way.
func (h *history) awaits(it *item) {
	within := reportedWithin
	if it.req.Prompt != nil {
		within = takenWithin
	}
	h.unseen = append(h.unseen, unseen{it.id, time.Now().Add(within)})
}

// overdue returns the answers that nothing has shown in time.
func (h *history) overdue(now time.Time) (ids []int) {
	for _, u := range h.unseen {
		if !u.at.After(now) {
			ids = append(ids, u.id)
		}
	}
	h.unseen = slices.DeleteFunc(h.unseen, func(u unseen) bool { return !u.at.After(now) })
	return ids
}

// became notes what has been seen of an answer, and returns what that comes to. news is false
// if that is known already, or was not this user's answer.
func (h *history) became(id int, d Delivery, how string) (as Delivery, news bool) {
	i := slices.IndexFunc(h.records, func(r Record) bool { return r.ID == id })
	if i < 0 {
		return d, false
	}
	was := h.records[i].Delivery
	switch {
	case d == was && how == h.records[i].How, d == Sent && was != NotKnown:
		return d, false
	case d == Elsewhere: // the agent's own record outweighs what it did
	case was == Elsewhere, was == Withdrawn, was == Delivered:
		return d, false
	case d == Withdrawn: // nobody is left to take it
		d = NotTaken
	}
	h.records = slices.Clone(h.records)
	r := &h.records[i]
	r.Delivery, r.How = d, how
	h.store.record(*r)
	if d != Sent {
		h.unseen = slices.DeleteFunc(h.unseen, func(u unseen) bool { return u.id == id })
	}
	return d, true
}
