package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func mustParse(t testing.TB, raw string) []Question {
	t.Helper()
	qs, err := ParseQuestions(json.RawMessage(raw))
	if err != nil {
		t.Fatalf("parse %s: %v", raw, err)
	}
	return qs
}

const twoWays = `[{"id":"auth","question":"Auth?","options":["OAuth","API key"]}]`

func request(t testing.TB) Request {
	t.Helper()
	return Request{Questions: mustParse(t, twoWays), From: From{Client: "claude-code", Cwd: "/home/me/shop"}, Peer: Peer{PID: 7, Program: "claude"}}
}

func open(t testing.TB, q *Queue, r Request) *Call {
	t.Helper()
	c, err := q.Open(r)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return c
}

// choose fills in the draft of the only open request and returns its id.
func choose(t testing.TB, q *Queue, option int) int {
	t.Helper()
	it := q.Pending().Items[0]
	d := it.Draft
	d.Answers[0].Chosen = []int{option}
	q.SetDraft(it.ID, d)
	return it.ID
}

func ended(t testing.TB, c *Call) Reply {
	t.Helper()
	select {
	case <-c.Done():
	default:
		t.Fatal("the call has not ended")
	}
	r, err := c.Reply()
	if err != nil {
		t.Fatalf("reply: %v", err)
	}
	return r
}

func TestSentAnswerCanBeTakenBackDuringTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		c := open(t, q, request(t))
		id := choose(t, q, 1)
		if err := q.Send(id); err != nil {
			t.Fatal(err)
		}
		testwait.Pass(time.Second)
		if got := q.Undo(0); got != id {
			t.Fatalf("undo brought back %d, want %d", got, id)
		}
		testwait.Pass(5 * time.Second)
		if it, _ := q.Pending().Item(id); it.State != Shown || it.Draft.Answers[0].Chosen[0] != 1 {
			t.Fatalf("after undo: %+v", it)
		}
		if err := q.Send(id); err != nil {
			t.Fatal(err)
		}
		testwait.Pass(2 * time.Second)
		if r := ended(t, c); !reflect.DeepEqual(r.Results[0].SelectedOptions, []string{"API key"}) {
			t.Fatalf("got %+v", r)
		}
		if q.Undo(0) != 0 {
			t.Fatal("a sent answer was taken back")
		}
	})
}

func TestSecondEnterSendsAtOnce(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := open(t, q, request(t))
	id := choose(t, q, 0)
	for range 2 {
		if err := q.Send(id); err != nil {
			t.Fatal(err)
		}
	}
	ended(t, c)
}

func TestSendNeedsAnAnswer(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	open(t, q, request(t))
	var inc *Incomplete
	if err := q.Send(1); !errors.As(err, &inc) || inc.Question != 0 {
		t.Fatalf("got %v", err)
	}
}

func TestQueueIsInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		var calls []*Call
		for i := range 4 {
			r := request(t)
			r.Title = fmt.Sprint(i)
			calls = append(calls, open(t, q, r))
		}
		ids := func() (out []int) {
			for _, it := range q.Pending().Items {
				out = append(out, it.ID)
			}
			return out
		}
		_ = q.Snooze(2, time.Hour)
		_ = q.Snooze(1, time.Minute)
		calls[2].Leave("hung up")
		if got, want := ids(), []int{4, 2, 1, 3}; !reflect.DeepEqual(got, want) {
			t.Fatalf("order %v, want %v", got, want)
		}
		testwait.Pass(time.Minute)
		if got, want := ids(), []int{1, 4, 2, 3}; !reflect.DeepEqual(got, want) {
			t.Fatalf("after the snooze: order %v, want %v", got, want)
		}
	})
}

func TestQueueCanBeInOrderOfDeadlines(t *testing.T) {
	q := New(Options{DeadlineFirst: true})
	defer q.Close()
	open(t, q, request(t))
	r := request(t)
	r.ClientDeadline = 30 * time.Second
	open(t, q, r)
	if got := q.Pending().Items[0].ID; got != 2 {
		t.Fatalf("first is %d, want 2", got)
	}
}

func TestQueueIsLimitedAsAWholeAndByAsker(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	for i := range 100 {
		r := request(t)
		r.Peer.PID = 1 + i/20
		if _, err := q.Open(r); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if i == 19 {
			if _, err := q.Open(r); !errors.Is(err, ErrBusyPeer) || !strings.Contains(err.Error(), "limit 20") {
				t.Fatalf("the 21st of one peer: %v", err)
			}
		}
	}
	r := request(t)
	r.Peer.PID = 99
	if _, err := q.Open(r); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "limit 100") {
		t.Fatalf("the 101st: %v", err)
	}
}

func TestWithdrawnStaysMarkedAndIsNotCounted(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := open(t, q, request(t))
	c.Leave("hung up")
	s := q.Pending()
	if s.Waiting != 0 || len(s.Items) != 1 || s.Items[0].Absent != Gone || s.Items[0].Why != "hung up" {
		t.Fatalf("%+v", s)
	}
	if len(s.History) != 1 || s.History[0].Delivery != Withdrawn {
		t.Fatalf("history %+v", s.History)
	}
}

func TestAnswerToNobodyIsParkedAndFetched(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	r := request(t)
	r.ResumeKey, r.Owner = "secret", "me"
	open(t, q, r).Leave("hung up")
	if err := q.Send(choose(t, q, 0)); err != nil {
		t.Fatal(err)
	}
	if s := q.Pending(); s.Parked != 1 || len(s.Items) != 0 {
		t.Fatalf("%+v", s)
	}
	if _, err := q.Resume("secret", "somebody else", Peer{}); !errors.Is(err, ErrUnknownKey) {
		t.Fatalf("a stranger got %v", err)
	}
	c, err := q.Resume("secret", "me", Peer{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ended(t, c).Results[0].SelectedOptions[0]; got != "OAuth" {
		t.Fatalf("got %q", got)
	}
	c.Delivered(Delivered)
	if s := q.Pending(); s.Parked != 0 || s.History[0].Delivery != Delivered {
		t.Fatalf("%+v", s)
	}
}

func TestUndeliveredAnswerIsParked(t *testing.T) {
	q := New(Options{Hold: -1})
	defer q.Close()
	c := open(t, q, request(t))
	_ = q.Send(choose(t, q, 0))
	c.Delivered(NotTaken)
	if s := q.Pending(); s.Parked != 1 || s.History[0].Delivery != NotTaken {
		t.Fatalf("%+v", s)
	}
}

func TestAskedAgainFindsItsDraftAndItsAnswer(t *testing.T) {
	tests := []struct {
		name string
		auto bool
		part bool // only a draft, no answer
		sent bool // without a key
	}{
		{"draft of a withdrawn one is back", false, true, false},
		{"parked answer is filled in, not sent", false, false, false},
		{"parked answer is sent with auto_deliver_parked", true, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := New(Options{AutoDeliverParked: tt.auto})
			defer q.Close()
			open(t, q, request(t)).Leave("timeout")
			id := choose(t, q, 1)
			if !tt.part {
				_ = q.Send(id)
			}
			c := open(t, q, request(t))
			if tt.sent {
				if got := ended(t, c).Results[0].SelectedOptions[0]; got != "API key" {
					t.Fatalf("got %q", got)
				}
				return
			}
			s := q.Pending()
			if len(s.Items) != 1 || s.Items[0].Note == "" || !reflect.DeepEqual(s.Items[0].Draft.Answers[0].Chosen, []int{1}) {
				t.Fatalf("%+v", s.Items)
			}
			if err := q.Send(s.Items[0].ID); err != nil {
				t.Fatal(err)
			}
			q.SendHeld()
			ended(t, c)
		})
	}
}

func TestNewerCallTakesTheQuestionOver(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	r := request(t)
	r.ResumeKey = "k"
	first := open(t, q, r)
	second := open(t, q, r)
	if _, err := first.Reply(); !errors.Is(err, ErrSuperseded) {
		t.Fatalf("first: %v", err)
	}
	if n := len(q.Pending().Items); n != 1 {
		t.Fatalf("%d items", n)
	}
	q.SetDraft(1, Draft{Answers: []AnswerDraft{{Chosen: []int{0}}}})
	_ = q.Send(1)
	q.SendHeld()
	ended(t, second)
}

func TestWithdrawalWhileHeldParksTheAnswer(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	c := open(t, q, request(t))
	_ = q.Send(choose(t, q, 0))
	c.Leave("gone")
	if s := q.Pending(); s.Parked != 1 || len(s.Items) != 0 {
		t.Fatalf("%+v", s)
	}
}

func TestQuestionTimesOut(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration
		setting time.Duration
		keyAt   time.Duration // 0: no key
		client  time.Duration
		want    time.Duration
	}{
		{"as asked", 2 * time.Minute, 0, 0, 0, 2 * time.Minute},
		{"a model's second is a minute", time.Second, 0, 0, 0, time.Minute},
		{"the user's setting wins", time.Minute, 5 * time.Minute, 0, 0, 5 * time.Minute},
		{"not while typing", 2 * time.Minute, 0, 110 * time.Second, 0, 170 * time.Second},
		{"not beyond the client", 2 * time.Minute, 0, 110 * time.Second, 150 * time.Second, 150 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(Options{Timeout: tt.setting})
				defer q.Close()
				r := request(t)
				r.Timeout, r.ClientDeadline = tt.timeout, tt.client
				c := open(t, q, r)
				start := time.Now()
				if tt.keyAt > 0 {
					testwait.Pass(tt.keyAt)
					it := q.Pending().Items[0]
					q.SetDraft(it.ID, it.Draft)
				}
				<-c.Done()
				if got := time.Since(start); got != tt.want {
					t.Errorf("timed out after %v, want %v", got, tt.want)
				}
				if r, err := c.Reply(); err != nil || r.Status != TimedOut || len(r.Results) != 0 {
					t.Errorf("got %+v, %v", r, err)
				}
			})
		})
	}
}

func TestHandOver(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	r := request(t)
	r.ResumeKey, r.Owner = "k", "me"
	c := open(t, q, r)
	c.HandOver()
	if s := q.Pending(); s.Waiting != 1 || s.Items[0].Absent != HandedOver {
		t.Fatalf("%+v", s)
	}
	c2, err := q.Resume("k", "me", Peer{})
	if err != nil {
		t.Fatal(err)
	}
	_ = q.Send(choose(t, q, 0))
	q.SendHeld()
	ended(t, c2)
}

func TestAskEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := q.Ask(ctx, request(t)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		if it := q.Pending().Items[0]; it.Absent != Gone {
			t.Fatalf("%+v", it)
		}
	})
}

func TestAskersThatDoNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		r := request(t)
		r.ResumeKey = "k"
		open(t, q, r).HandOver()
		testwait.Pass(9 * time.Minute)
		if s := q.Pending(); s.Waiting != 1 {
			t.Fatalf("%+v", s)
		}
		testwait.Pass(2 * time.Minute)
		s := q.Pending()
		if s.Waiting != 0 || s.Items[0].Absent != Gone || len(s.History) != 1 {
			t.Fatalf("%+v", s)
		}
		if _, err := q.Resume("k", "", Peer{}); err != nil {
			t.Fatalf("it came back after all: %v", err)
		}
		if s := q.Pending(); s.Waiting != 1 || len(s.History) != 0 {
			t.Fatalf("%+v", s)
		}
	})
}

func TestAbandonedQuestionsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		open(t, q, request(t)).Leave("gone")
		r := request(t)
		r.From.Cwd, r.Peer.PID = "/other", 8
		open(t, q, r).Leave("gone")
		it := q.Pending().Items[1]
		it.Draft.Answers[0].Other = "half a thought"
		q.SetDraft(it.ID, it.Draft)
		testwait.Pass(31 * time.Minute)
		if s := q.Pending(); len(s.Items) != 1 || s.Items[0].ID != it.ID {
			t.Fatalf("the empty one should be gone, the draft not: %+v", s.Items)
		}
		testwait.Pass(24 * time.Hour)
		if n := len(q.Pending().Items); n != 0 {
			t.Fatalf("%d left", n)
		}
		open(t, q, r)
		if got := q.Pending().Items[0].Draft.Answers[0].Other; got != "half a thought" {
			t.Errorf("the draft is lost: %q", got)
		}
	})
}

func TestAnAgentThatAsksAgainMayStillWaitForTheFirst(t *testing.T) {
	q := New(Options{Hold: -1})
	defer q.Close()
	r := request(t)
	r.ResumeKey, r.Owner = "first", "me"
	open(t, q, r).HandOver()
	r.ResumeKey = "second"
	open(t, q, r).HandOver()
	if n := len(q.Pending().Items); n != 1 {
		t.Fatalf("%d items", n)
	}
	_ = q.Send(choose(t, q, 0))
	for _, key := range []string{"second", "first"} {
		c, err := q.Resume(key, "me", Peer{})
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		ended(t, c)
	}
}
