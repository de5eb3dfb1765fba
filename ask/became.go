package ask

import (
	"cmp"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Delivery is what is known of what became of the answer to a request.
type Delivery string

// An answer is Sent until something shows what became of it, and that of a rule is NotKnown
// until it has been sent, as is one of which an earlier run of the deck has seen no more than
// that. It is Delivered only when the asker's own next event shows it; if none has for a while, or if it could not be sent, it
// is NotTaken, which it may still become Delivered from. Elsewhere means that the asker's
// own record says that it was answered in its terminal, and Withdrawn that nobody asks any
// more, whatever the reason.
const (
	NotKnown  Delivery = "not known"
	Sent      Delivery = "sent"
	Delivered Delivery = "delivered"
	NotTaken  Delivery = "not taken"
	Elsewhere Delivery = "answered elsewhere"
	Withdrawn Delivery = "withdrawn"
)

// takenWithin is how long an agent's program may take to show that it has an answer. The
// other doors say themselves what became of one; it is longer for them than they wait.
const (
	takenWithin    = 2 * time.Second
	reportedWithin = 2 * takenWithin
)

// End is what became of a request, in one word of few: a screen has a sign for each.
type End string

// The ends of requests.
const (
	EndNotKnown  End = "not known"
	EndSent      End = "sent"
	EndAllowed   End = "allowed"
	EndDenied    End = "denied"
	EndMayRetry  End = "told that it may try again"
	EndAnswered  End = "answered"
	EndDeclined  End = "declined"
	EndTimedOut  End = "timed out"
	EndNotTaken  End = "not taken yet"
	EndElsewhere End = "answered in its terminal"
	EndGone      End = "gone"
)

// End returns what became of the request. That something was allowed, denied or answered is
// said only of what has been seen.
func (r *Record) End() End {
	g, is := r.Request.Granted(r.Reply.Results)
	switch {
	case r.Refused != nil && !g.Again: // whatever became of the question
		return EndDenied
	case r.Delivery == Elsewhere:
		return EndElsewhere
	case r.Reply.Status == TimedOut:
		return EndTimedOut
	case r.Delivery == Withdrawn:
		return EndGone
	case r.Delivery == NotKnown:
		return EndNotKnown
	case r.Delivery == Sent:
		return EndSent
	case r.Delivery != Delivered:
		return EndNotTaken
	}
	switch {
	case is && g.Again:
		return EndMayRetry
	case is && g.Allow:
		return EndAllowed
	case is, r.Reply.Status == Declined && r.Request.permission() != nil:
		return EndDenied
	case r.Reply.Status == Declined:
		return EndDeclined
	}
	return EndAnswered
}

// Words say what became of the request, the same on every screen and in every command. key
// is the one that shows the terminal of an agent, "" where there is none.
func (r *Record) Words(key string) string {
	jump := ""
	if key != "" {
		jump = " (" + key + ")"
	}
	terminal := "answer in its terminal" + jump
	if r.Refused != nil {
		terminal = "tell it in its terminal" + jump
	}
	how := sanitize.Line(cmp.Or(r.How, r.Reply.Reason))
	end, prompt := r.End(), r.Request.Prompt != nil && !r.Request.here()
	switch {
	case end == EndDenied && r.Refused != nil:
		return r.Refused.Words()
	case end == EndElsewhere:
		return cmp.Or(how, string(EndElsewhere))
	case end == EndGone && !prompt:
		return "withdrawn: " + cmp.Or(how, "nobody asks any more")
	case end == EndGone && how == "":
		return "gone; " + terminal
	case end == EndGone:
		return "gone: " + how
	case end == EndNotKnown && prompt:
		return "not known whether it was taken: look at its terminal" + jump
	case end == EndNotKnown:
		return "not known whether it was taken"
	case end == EndNotTaken && r.How != "":
		return "not taken: " + how
	case end == EndNotTaken && prompt:
		return "not taken yet: " + terminal
	case end == EndNotTaken:
		return "not taken yet: kept until it is asked again"
	}
	if by := sanitize.Line(r.Reply.By); by != "" && end != EndTimedOut {
		return string(end) + " in the deck " + by
	}
	return string(end)
}

// Title is End, with where the request was answered if that was not here: "answered in the deck lap".
func (r *Record) Title() string {
	end, words := string(r.End()), DeckNames(r.Words(""))
	if r.End() == EndElsewhere || strings.HasPrefix(words, end+" in the deck ") {
		end, _, _ = strings.Cut(words, ": ")
	}
	return end
}

// Said is what the user answered, for the decks that have shown the request, too: "Postgres", "allowed". It is "" of a form, and
// where nothing was answered.
func (r *Record) Said() string {
	g, is := r.Request.Granted(r.Reply.Results)
	switch {
	case is && g.Again:
		return string(EndMayRetry)
	case is && g.Allow:
		return string(EndAllowed)
	case is, r.Reply.Status == Declined && r.Request.permission() != nil:
		return string(EndDenied)
	case r.Reply.Status == Declined:
		return string(EndDeclined)
	}
	var all []string
	for _, res := range r.Reply.Results {
		all = append(all, res.SelectedOptions...)
		if text := cmp.Or(res.CustomInput, res.Clarify); text != "" {
			all = append(all, "“"+text+"”")
		}
	}
	const most = 200
	return sanitize.Cut(sanitize.Line(strings.Join(all, ", ")), most)
}

// became notes what has been seen of the answer to a request that has ended. It returns
// false if that is known already, or was not this user's answer.
func (q *Queue) became(id int, d Delivery, how string) bool {
	d, news := q.history.became(id, d, how)
	if !news {
		return false
	}
	for i := range q.parked {
		if q.parked[i].ID == id && d != Sent {
			q.parked[i].sending = false
		}
	}
	if d == Delivered || d == Elsewhere {
		q.unpark(id)
	}
	return true
}

// lastSeen is the delivery of a record from an earlier run: what was not seen then is not
// seen any more. The answer to a question is kept for when it is asked again.
func lastSeen(r *Record) Delivery {
	switch d := r.Delivery; {
	case d == Delivered, d == Elsewhere, d == Withdrawn, d == NotKnown:
		return d
	case d == Sent && r.Request.Prompt != nil && !r.Request.here():
		return NotKnown
	default: // earlier versions have other words for it
		return NotTaken
	}
}
