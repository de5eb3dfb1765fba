package ask

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// of is a request of one connection of an agent's process.
func of(t testing.TB, connection, key string, agent int) Request {
	t.Helper()
	r := request(t)
	r.Peer.Key, r.Peer.Agent, r.Peer.PID = connection, agent, agent
	r.ResumeKey, r.Owner = key, "me"
	return r
}

func waits(t *testing.T, c *Call) {
	t.Helper()
	select {
	case <-c.Done():
		_, err := c.Reply()
		t.Fatalf("the call has ended: %v", err)
	default:
	}
}

func TestTwoAgentsThatAskTheSameGetTwoAnswers(t *testing.T) {
	q := New(Options{Hold: -1})
	defer q.Close()
	open(t, q, of(t, "one", "k1", 7)).HandOver()
	second := open(t, q, of(t, "two", "k2", 7))
	if n := len(q.Pending().Items); n != 2 {
		t.Fatalf("%d items, want one each", n)
	}
	first, err := q.Resume("k1", "me", Peer{Key: "one", PID: 7, Agent: 7})
	if err != nil {
		t.Fatal(err)
	}
	waits(t, second)
	for i, it := range q.Pending().Items {
		d := it.Draft
		d.Answers[0].Chosen = []int{i}
		q.SetDraft(it.ID, d)
		if err := q.Send(it.ID); err != nil {
			t.Fatal(err)
		}
	}
	for call, want := range map[*Call]string{first: "OAuth", second: "API key"} {
		if got := ended(t, call).Results[0].SelectedOptions[0]; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAnAnswerThatWaitsForItsAgentIsNotGivenToAnother(t *testing.T) {
	q := New(Options{Hold: -1})
	defer q.Close()
	open(t, q, of(t, "one", "k1", os.Getpid())).HandOver()
	if err := q.Send(choose(t, q, 1)); err != nil {
		t.Fatal(err)
	}
	other := open(t, q, of(t, "two", "k2", os.Getpid()))
	if it := q.Pending().Items[0]; !it.Draft.Empty() || it.Note != "" {
		t.Errorf("the other agent's question has a draft: %+v", it)
	}
	c, err := q.Resume("k1", "me", Peer{})
	if err != nil {
		t.Fatalf("the first agent's answer is lost: %v", err)
	}
	ended(t, c)
	waits(t, other)
}

func TestTwoCallsOfOneConnectionShareAQuestion(t *testing.T) {
	q := New(Options{Hold: -1})
	defer q.Close()
	open(t, q, of(t, "one", "k1", 7)).HandOver()
	again := open(t, q, of(t, "one", "k2", 7))
	if n := len(q.Pending().Items); n != 1 {
		t.Fatalf("%d items", n)
	}
	first, err := q.Resume("k1", "me", Peer{Key: "one", PID: 7, Agent: 7})
	if err != nil {
		t.Fatal(err)
	}
	waits(t, again)
	_ = q.Send(choose(t, q, 0))
	ended(t, first)
	ended(t, again)
}

func TestAKilledServersQuestionIsTakenUpByItsSuccessor(t *testing.T) {
	t.Run("that asks after the end", func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		open(t, q, of(t, "one", "k1", 7)).Leave("hung up")
		q.Left("one")
		open(t, q, of(t, "two", "k2", 7))
		if s := q.Pending(); len(s.Items) != 1 || s.Waiting != 1 {
			t.Errorf("%+v", s.Items)
		}
	})
	for name, seen := range map[string]bool{"before the end is noticed": false, "while the user is at it": true} {
		t.Run("that asks "+name, func(t *testing.T) {
			q := New(Options{Hold: -1})
			defer q.Close()
			old := open(t, q, of(t, "one", "k1", 7))
			id := choose(t, q, 1)
			if seen {
				q.Show(id)
			}
			twin := open(t, q, of(t, "two", "k2", 7))
			if n := len(q.Pending().Items); n != 2 {
				t.Fatalf("%d items while both wait", n)
			}
			old.Leave("hung up")
			q.Left("one")
			s := q.Pending()
			if len(s.Items) != 1 || s.Waiting != 1 || s.Items[0].ID != id || len(s.History) != 0 {
				t.Fatalf("not merged: %+v, history %+v", s.Items, s.History)
			}
			if err := q.Send(id); err != nil {
				t.Fatal(err)
			}
			if got := ended(t, twin).Results[0].SelectedOptions[0]; got != "API key" {
				t.Errorf("got %q", got)
			}
			twin.Delivered(Delivered)
			if s := q.Pending(); s.Parked != 0 || s.History[0].Delivery != Delivered {
				t.Errorf("%+v", s)
			}
		})
	}
	t.Run("that asks anew instead of fetching the answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := New(Options{Hold: -1})
			defer q.Close()
			old := open(t, q, of(t, "one", "k1", 7))
			id := choose(t, q, 1)
			open(t, q, of(t, "two", "k2", 7))
			old.HandOver()
			testwait.Pass(backAfterPending + time.Minute)
			if s := q.Pending(); len(s.Items) != 1 || s.Waiting != 1 || s.Items[0].ID != id || len(s.History) != 0 {
				t.Errorf("not merged: %+v, history %+v", s.Items, s.History)
			}
		})
	})
	t.Run("unless another agent asks", func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		old := open(t, q, of(t, "one", "k1", 7))
		choose(t, q, 1)
		open(t, q, of(t, "two", "k2", 8))
		old.Leave("hung up")
		q.Left("one")
		if n := len(q.Pending().Items); n != 2 {
			t.Errorf("%d items", n)
		}
	})
}

func TestEqualQuestionsOfTwoContainersStayApart(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	r := request(t)
	r.Peer = Peer{Machine: "container mnt:[1]"}
	open(t, q, r).Leave("hung up")
	r.Peer.Machine = "container mnt:[2]"
	open(t, q, r)
	if n := len(q.Pending().Items); n != 2 {
		t.Errorf("%d items, want one each", n)
	}
	r.Peer.Machine = "container mnt:[1]"
	open(t, q, r)
	if s := q.Pending(); len(s.Items) != 2 || s.Waiting != 2 {
		t.Errorf("the first container's question is not taken up again: %+v", s.Items)
	}
}

func TestAKeyIsGoodFromWhereverItComes(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	r := request(t)
	r.ResumeKey, r.Peer = "k", Peer{Machine: "ssh 1"}
	old := open(t, q, r)
	r.Peer.Machine = "ssh 2" // the carrier was started again
	open(t, q, r)
	if n := len(q.Pending().Items); n != 1 {
		t.Errorf("%d items", n)
	}
	if _, err := old.Reply(); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the lost carrier's call: %v", err)
	}
}

func TestARestartedDeckKeepsTwoAgentsApart(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	q := New(Options{StateFile: state})
	open(t, q, of(t, "one", "k1", os.Getpid()))
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q = New(Options{StateFile: state})
	defer q.Close()
	open(t, q, of(t, "two", "k2", os.Getpid()))
	open(t, q, of(t, "three", "k1", os.Getpid())) // the first, by its key
	if s := q.Pending(); len(s.Items) != 2 || s.Waiting != 2 || s.Items[0].ID != 1 {
		t.Errorf("%+v", s.Items)
	}
}

func TestAQuestionAskedAnewAfterARestartIsTheOneHandedOver(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	q := New(Options{StateFile: state})
	open(t, q, of(t, "one", "k1", os.Getpid())).HandOver()
	for _, connection := range []string{"two", "three"} { // each restart gives it a new connection
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		q = New(Options{StateFile: state, Hold: -1})
		open(t, q, of(t, connection, "of "+connection, os.Getpid())).HandOver()
		if s := q.Pending(); len(s.Items) != 1 || s.Items[0].ID != 1 {
			t.Fatalf("after a restart: %+v", s.Items)
		}
	}
	defer q.Close()
	first, err := q.Resume("k1", "me", Peer{})
	if err != nil {
		t.Fatal(err)
	}
	_ = q.Send(choose(t, q, 0))
	ended(t, first)
}

func TestAnAnswerFromBeforeARestartIsThereWhenItsAgentAsksAnew(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	q := New(Options{StateFile: state, Hold: -1})
	open(t, q, of(t, "one", "k1", os.Getpid())).HandOver()
	if err := q.Send(choose(t, q, 1)); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q = New(Options{StateFile: state, Hold: -1})
	defer q.Close()
	open(t, q, of(t, "two", "k2", os.Getpid()))
	if it := q.Pending().Items[0]; it.Draft.Empty() {
		t.Errorf("the user has to answer again: %+v", it)
	}
}

// crashed is what a deck finds that starts after another ended without a word.
func crashed(t *testing.T, q *Queue, state string) *Queue {
	t.Helper()
	if err := writeState(state, q.saved()); err != nil {
		t.Fatal(err)
	}
	again := New(Options{StateFile: state})
	t.Cleanup(func() { _ = again.Close() })
	return again
}

func TestASnoozeOutlivesTheDeck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := filepath.Join(t.TempDir(), "state.json")
		q := New(Options{})
		defer q.Close()
		open(t, q, of(t, "one", "k1", 0))
		other := of(t, "two", "k2", 0)
		other.From.Cwd = "/other"
		open(t, q, other)
		if err := q.Snooze(1, time.Hour); err != nil {
			t.Fatal(err)
		}
		until := q.Pending().Items[1].Snoozed
		testwait.Pass(10 * time.Minute)
		again := crashed(t, q, state)
		s := again.Pending()
		if it := s.Items[1]; it.ID != 1 || it.State != Snoozed || !it.Snoozed.Equal(until) {
			t.Fatalf("%+v", s.Items)
		}
		open(t, again, of(t, "three", "k1", 0))
		if it := again.Pending().Items[1]; it.ID != 1 || it.State != Snoozed {
			t.Errorf("awake because its agent is back: %+v", it)
		}
		testwait.Pass(50*time.Minute + time.Second)
		if it, _ := again.Pending().Item(1); it.State != Queued {
			t.Errorf("it does not come back: %+v", it)
		}
		_ = again.Close()
	})
}

func TestAnAnswerThatTheDeckDidNotLiveToSendIsSaidToBeUnsent(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	q := New(Options{})
	defer q.Close()
	open(t, q, of(t, "one", "k1", 0))
	if err := q.Send(choose(t, q, 1)); err != nil {
		t.Fatal(err)
	}
	again := crashed(t, q, state)
	it := again.Pending().Items[0]
	if !it.Unsent || it.State == Sending || it.Draft.Answers[0].Chosen[0] != 1 {
		t.Fatalf("%+v", it)
	}
	call := open(t, again, of(t, "two", "k1", 0))
	if it := again.Pending().Items[0]; !it.Unsent {
		t.Error("forgotten when the agent came back")
	}
	waits(t, call)
	for range 2 { // the second ends the hold
		if err := again.Send(1); err != nil {
			t.Fatal(err)
		}
	}
	ended(t, call)
}
