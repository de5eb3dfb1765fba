package ask

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Snapshot is one version of the contents of the queue. It is immutable.
type Snapshot struct {
	Version uint64
	Items   []Item   // in display order
	Waiting int      // number of items whose asker is waiting and whose answer is not being sent
	Parked  int      // number of answers that their askers have not confirmed
	Kept    []Record // the parked answers that are not being delivered, oldest first
	History []Record
	Notices []string // sentences about the stored state, reported once
}

// Item is an open request.
type Item struct {
	ID       int
	Request  Request
	State    State
	Absent   Absence
	Why      string    // about Absent
	Note     string    // about earlier attempts; "" if none
	Arrived  time.Time // first attempt
	Deadline time.Time // when it times out; zero: never
	Client   time.Time // when the asker's client gives up; zero: unknown
	SendAt   time.Time // while Sending
	Snoozed  time.Time // when the snooze ends
	Draft    Draft     // a copy
	LentBy   string    // where the draft was entered, if not here: "on build1"
	At       []string  // where somebody else is at it: "in the deck desk"
	Handed   *Handed   // nil: to nobody
	Decks    []string  // to which it may be handed
	Unsent   bool      // the deck ended before a sent answer was released
}

// Waits reports whether the item counts as waiting for the user.
func (i Item) Waits() bool { return i.Absent != Gone && i.State != Sending }

// Due reports whether the item waits for the user now: it waits and is not snoozed.
func (i Item) Due() bool { return i.Waits() && i.State != Snoozed }

// Record is a request that has ended, or whose asker is gone.
type Record struct {
	ID       int       `json:"id"`
	Arrived  time.Time `json:"arrived"`
	Ended    time.Time `json:"ended"`
	Request  Request   `json:"request"`
	Reply    Reply     `json:"reply"`
	Delivery Delivery  `json:"delivery"`
	How      string    `json:"how,omitempty"`  // it was answered elsewhere, or why nobody asks any more
	Rule     *ByRule   `json:"rule,omitempty"` // that answered in the user's place
	// Does is that of the prompt, which has it, too.
	Does    *Does    `json:"does,omitempty"`
	Refused *Refusal `json:"refused,omitempty"` // the agent's program refused it by itself; that of the prompt
}

// Item returns the open request with this ID, if any.
func (s *Snapshot) Item(id int) (it Item, ok bool) {
	i := slices.IndexFunc(s.Items, func(it Item) bool { return it.ID == id })
	if i < 0 {
		return Item{}, false
	}
	return s.Items[i], true
}

// Notice adds a sentence for the user to the notices of the snapshot.
func (q *Queue) Notice(sentence string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notice(sentence)
	q.changed(false)
}

func (q *Queue) notice(sentence string) {
	q.notices = append(slices.Clip(q.notices), sentence) // snapshots share what was there
}

// Pending returns the latest snapshot.
func (q *Queue) Pending() *Snapshot {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.snap != nil {
		return q.snap
	}
	s := &Snapshot{Version: q.version, Parked: len(q.parked), History: q.history.records, Notices: q.notices}
	for _, it := range q.ordered() {
		v := it.view()
		if v.Request.Peer.Host == "" {
			v.Decks = q.decks
		}
		if v.Waits() {
			s.Waiting++
		}
		s.Items = append(s.Items, v)
	}
	for i := range q.parked {
		if p := &q.parked[i]; !p.sending {
			s.Kept = append(s.Kept, p.record())
		}
	}
	q.snap = s
	return s
}

func (p *parked) record() Record {
	r := Record{ID: p.ID, Ended: p.At, Request: p.Request, Reply: p.Reply, Delivery: NotTaken}
	r.Request.ResumeKey, r.Request.Owner = "", ""
	return r
}

func (it *item) view() Item {
	v := Item{
		ID: it.id, Request: it.req, State: it.state, Absent: cmp.Or(it.absent, it.away), Why: it.why, Note: it.note,
		Arrived: it.arrived, Client: it.client, SendAt: it.sendAt, Snoozed: it.snooze, Draft: it.draft.Clone(), LentBy: it.lentBy, At: it.elsewhere(), Unsent: it.unsent, Handed: it.handed, Decks: it.decks,
	}
	var notes []string
	if it.handing {
		notes = append(notes, "its machine does not know yet")
	}
	if it.handed != nil {
		notes = append(notes, it.handed.String())
	}
	if len(v.At) > 0 {
		notes = append(notes, it.answered())
	} else if it.lentBy != "" && it.handed == nil {
		notes = append(notes, "entered "+sanitize.Line(DeckNames(it.lentBy)))
	}
	if len(notes) > 0 {
		v.Note = strings.Join(notes, "; ")
	}
	v.Request.ResumeKey = "" // a secret of the asker
	if !it.deadline.IsZero() {
		v.Deadline = it.due()
	}
	return v
}
