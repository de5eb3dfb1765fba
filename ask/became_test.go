package ask

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// world is an agent's program as it really is, which the queue only hears of.
type world struct {
	answer  string // that it took: "" while it has none, else "here" or "elsewhere"
	allowed bool   // by what it took
	ended   bool
}

// TestWordsAreOnlyOfWhatWasSeen has many answers raced by terminals, lost replies, late news
// and agents that end, in an order that chance decides, and compares every word that the
// queue says meanwhile with what the agent has really done.
func TestWordsAreOnlyOfWhatWasSeen(t *testing.T) {
	answers := 1_000
	if os.Getenv("CI") != "" {
		answers = 20_000
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	ends := map[End]int{}
	for batch := range 100 {
		synctest.Test(t, func(t *testing.T) {
			q := New(Options{Hold: -1})
			defer q.Close()
			for n := range answers / 100 {
				ends[race(t, q, chance, fmt.Sprint(batch, " ", n))]++
			}
		})
	}
	t.Logf("%v", ends)
	for _, end := range []End{EndAllowed, EndDenied, EndAnswered, EndNotTaken, EndElsewhere, EndGone} {
		if ends[end] < answers/100 {
			t.Errorf("only %d are %q: the test does not try it", ends[end], end)
		}
	}
}

// race asks once, and returns what became of it.
func race(t *testing.T, q *Queue, chance *rand.Rand, id string) End {
	t.Helper()
	r := permissionRequest(id, []Door{Shared, Held}[chance.IntN(2)])
	r.Prompt.ID = id
	r.Peer.PID = 0
	if chance.IntN(3) == 0 {
		r.Prompt.Kind, r.Prompt.Grants = OwnQuestion, nil
	}
	c, err := q.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	var w world
	it := q.Pending().Items[len(q.Pending().Items)-1]
	ms := func(most int) time.Duration { return time.Duration(chance.IntN(most)) * time.Millisecond }
	option := chance.IntN(2)

	type event struct {
		at time.Duration
		do func()
	}
	var events []event
	at := func(d time.Duration, do func()) { events = append(events, event{d, do}) }
	sent := ms(200)
	at(sent, func() {
		q.SetDraft(it.ID, Draft{Answers: []AnswerDraft{{Chosen: []int{option}, Accepted: true}}})
		_ = q.Send(it.ID) // it may have gone
	})
	arrives, news := sent+ms(3000), ms(3000)
	lost := chance.IntN(5) == 0
	take := func(who string, allow bool) {
		if w.answer == "" && !w.ended {
			w.answer, w.allowed = who, allow
		}
	}
	if !lost {
		at(arrives, func() {
			if _, err := c.Reply(); err == nil && isDone(c) {
				take("here", option == 0)
			}
		})
	}
	if chance.IntN(3) == 0 {
		at(ms(400), func() { take("elsewhere", chance.IntN(2) == 0) })
	}
	if chance.IntN(5) == 0 {
		ends := ms(3000)
		at(ends, func() { w.ended = true })
		at(ends+news, func() { c.Gone("its agent has ended") })
	}
	if chance.IntN(5) == 0 {
		at(ms(400), func() { c.Gone("") }) // its hook was killed
	}
	// Some time after each step, the agent's own record tells of what it has done.
	tell := func() {
		switch w.answer {
		case "here":
			c.Delivered(Delivered)
		case "elsewhere":
			c.Settled(map[bool]string{true: "answered in its terminal: allowed", false: "answered in its terminal: denied"}[w.allowed])
		}
	}
	for _, d := range []time.Duration{arrives + news, 400*time.Millisecond + news, 7 * time.Second} {
		at(d, tell)
	}
	for range 8 {
		at(ms(8000), func() {}) // only looks
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })

	start := time.Now()
	var end End
	for _, e := range events {
		testwait.Pass(e.at - time.Since(start))
		e.do()
		end = w.check(t, q, it.ID, time.Since(start) >= sent+takenWithin)
	}
	return end
}

func isDone(c *Call) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// check compares what the queue says with what is so.
func (w *world) check(t *testing.T, q *Queue, id int, late bool) End {
	t.Helper()
	s := q.Pending()
	i := slices.IndexFunc(s.History, func(r Record) bool { return r.ID == id })
	if i < 0 {
		return ""
	}
	r := s.History[i]
	words := r.Words("J")
	here, there := w.answer == "here", w.answer == "elsewhere"
	chose, _ := r.Request.Granted(r.Reply.Results)
	isTrue := map[End]bool{
		EndAllowed: here && w.allowed && chose.Allow, EndDenied: here && !w.allowed && !chose.Allow, EndAnswered: here,
		EndElsewhere: there, EndSent: !late, EndNotKnown: true, EndNotTaken: true, EndGone: !here, EndTimedOut: false, EndDeclined: false,
	}
	if !isTrue[r.End()] {
		t.Fatalf("request %d: it says %q of what was answered %q, allowed %v, ended %v", id, words, w.answer, w.allowed, w.ended)
	}
	return r.End()
}

func TestWordsSayWhatBecameOfIt(t *testing.T) {
	allow, deny := Reply{Status: Answered, Results: []Result{{SelectedOptions: []string{"Allow once"}}}}, Reply{Status: Answered, Results: []Result{{SelectedOptions: []string{"Deny"}}}}
	question, prompt := Request{Questions: []Question{{ID: "a"}}}, permissionRequest("1", Shared)
	for _, tt := range []struct {
		r    Record
		want string
	}{
		{Record{Request: prompt, Reply: allow, Delivery: Sent}, "sent"},
		{Record{Request: prompt, Reply: allow, Delivery: Delivered}, "allowed"},
		{Record{Request: prompt, Reply: deny, Delivery: Delivered}, "denied"},
		{Record{Request: prompt, Reply: Reply{Status: Declined}, Delivery: Delivered}, "denied"},
		{Record{Request: prompt, Reply: allow, Delivery: NotKnown}, "not known whether it was taken: look at its terminal (J)"},
		{Record{Request: prompt, Reply: allow, Delivery: NotTaken}, "not taken yet: answer in its terminal (J)"},
		{Record{Request: prompt, Reply: allow, Delivery: NotTaken, How: "its agent has ended"}, "not taken: its agent has ended"},
		{Record{Request: prompt, Reply: allow, Delivery: Elsewhere, How: "answered in its terminal: denied"}, "answered in its terminal: denied"},
		{Record{Request: prompt, Delivery: Withdrawn}, "gone; answer in its terminal (J)"},
		{Record{Request: prompt, Delivery: Withdrawn, How: "its agent has ended"}, "gone: its agent has ended"},
		{Record{Request: question, Reply: Reply{Status: Answered}, Delivery: Delivered}, "answered"},
		{Record{Request: question, Reply: Reply{Status: Answered}, Delivery: NotTaken}, "not taken yet: kept until it is asked again"},
		{Record{Request: question, Reply: Reply{Status: Declined}, Delivery: Delivered}, "declined"},
		{Record{Request: question, Reply: Reply{Status: TimedOut}, Delivery: Delivered}, "timed out"},
		{Record{Request: question, Delivery: Withdrawn, How: "hung up"}, "withdrawn: hung up"},
	} {
		if got := tt.r.Words("J"); got != tt.want {
			t.Errorf("it says %q, want %q", got, tt.want)
		}
	}
}

// TestWhatWasNotSeenIsNotSaidAfterARestart reads what an earlier run had seen, also in words
// that the deck had once.
func TestWhatWasNotSeenIsNotSaidAfterARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	q := New(Options{Hold: -1, HistoryFile: file})
	opened(t, q, permissionRequest("1", Shared))
	decide(t, q, 1, 0)
	if got := q.Pending().History[0]; got.End() != EndSent {
		t.Errorf("it is %s", got.End())
	}
	_ = q.Close()
	q = New(Options{HistoryFile: file})
	defer q.Close()
	if got := q.Pending().History[0]; got.End() != EndNotKnown {
		t.Errorf("after a restart it is %s", got.End())
	}
	for _, old := range []Delivery{"not confirmed", "not delivered", Sent} {
		if got := lastSeen(&Record{Delivery: old}); got != NotTaken {
			t.Errorf("%s is %s", old, got)
		}
	}
}
