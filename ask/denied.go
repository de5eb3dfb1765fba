package ask

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// keepDenied is how long what was denied is listed.
const keepDenied = 30 * 24 * time.Hour

// Refusal is what an agent's program did not allow by itself: nobody was asked.
type Refusal struct {
	Reason string `json:"reason,omitempty"` // in the program's words
	Times  int    `json:"times"`            // that the same session was refused the same
	// Unjudged is set if its judge gave no verdict: it refuses then, too.
	Unjudged bool `json:"unjudged,omitempty"`
}

// Words say that it was refused, and why.
func (r *Refusal) Words() string {
	reason := sanitize.Line(r.Reason)
	switch {
	case r.Unjudged:
		return "not judged: " + reason
	case reason == "":
		return "denied by auto mode"
	}
	return "denied by auto mode: " + reason
}

// Refused adds to the history what an agent's program has refused by itself, and why. The same of a
// session is one record.
func (q *Queue) Refused(req Request, why Refusal) {
	if req.permission() == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	p := *req.Prompt
	p.Refused, req.Prompt = &why, &p
	q.history.refused(&item{id: q.nextID, req: req, arrived: time.Now()})
	q.nextID++
	q.changed(true)
}

// refused records a call that was refused, in place of the same that its session was refused before.
func (h *history) refused(it *item) {
	kept, _ := h.kept(it.req, Reply{})
	p, why := *it.req.Prompt, *it.req.Prompt.Refused
	why.Times = 1
	for i := range h.records {
		if r := &h.records[i]; r.Refused != nil && sameCall(&r.Request, &kept) {
			why.Times += r.Refused.Times
		}
	}
	p.Refused, it.req.Prompt = &why, &p
	h.record(it, Delivered, Reply{Status: Declined}, "")
}

// replaces reports whether a record of what was refused stands for another one as well.
func (r *Record) replaces(o *Record) bool {
	return r.ID == o.ID || r.Refused != nil && o.Refused != nil && sameCall(&r.Request, &o.Request)
}

// sameCall reports whether two requests are of the same session, for the same.
func sameCall(a, b *Request) bool {
	p, o := a.Prompt, b.Prompt
	return p != nil && o != nil && p.Agent == o.Agent && p.Session == o.Session && p.Tool == o.Tool && p.Command == o.Command && p.Path == o.Path && bytes.Equal(p.Args, o.Args)
}

// Denied is what an agent was not allowed.
type Denied struct {
	Time    time.Time `json:"time"` // the last one
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Project string    `json:"project"`
	Tool    string    `json:"tool"`
	Subject string    `json:"subject"`
	By      string    `json:"by"`               // "auto mode", "you", or "rule " and its ID
	Reason  string    `json:"reason,omitempty"` // in the words of who denied it
	Judged  bool      `json:"judged"`           // false: auto mode had no verdict
	Times   int       `json:"times"`            // that the same session was denied the same

	Record *Record `json:"-"` // the last one
}

// Denials returns what agents were not allowed of late, the newest first: by the user, by a rule of
// theirs, and by auto mode. The same of a session is one.
func Denials(all []Record, now time.Time) []Denied {
	out := []Denied{}
	for i := range slices.Backward(all) {
		r := &all[i]
		if r.Refused == nil && r.End() != EndDenied || now.Sub(r.Ended) > keepDenied {
			continue
		}
		p := r.Request.Prompt
		d := Denied{
			Time: r.Ended, Agent: p.Agent, Session: p.Session, Project: r.Request.Cwd(), Tool: p.Tool, Subject: p.Subject(),
			By: "you", Reason: r.note(), Judged: true, Times: 1, Record: r,
		}
		switch {
		case r.Refused != nil:
			d.By, d.Reason, d.Judged, d.Times = "auto mode", r.Refused.Reason, !r.Refused.Unjudged, r.Refused.Times
		case r.Rule != nil:
			d.By, d.Reason = "rule "+r.Rule.ID, cmp.Or(d.Reason, r.Rule.Say)
		}
		same := func(o Denied) bool { return o.By == d.By && sameCall(&o.Record.Request, &r.Request) }
		if j := slices.IndexFunc(out, same); j >= 0 {
			out[j].Times += d.Times
			continue
		}
		out = append(out, d)
	}
	return out
}

// note is what the user said with a denial.
func (r *Record) note() string {
	said := r.Reply.Reason
	for i := range r.Reply.Results {
		one := &r.Reply.Results[i]
		said = cmp.Or(said, one.CustomInput, one.Note)
		for _, note := range one.Notes {
			said = cmp.Or(said, note)
		}
	}
	return said
}
