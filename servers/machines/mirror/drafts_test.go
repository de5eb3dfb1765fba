package mirror

import (
	"context"
	"crypto/ed25519"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

// types enters an answer of the user's own in a queue's one item.
func types(t *testing.T, q *ask.Queue, text string) {
	t.Helper()
	all := q.Pending().Items
	if len(all) != 1 {
		t.Fatalf("%d items are shown, want 1", len(all))
	}
	d := all[0].Draft.Clone()
	d.Answers[0].Other, d.Answers[0].OtherOn = text, text != ""
	q.SetDraft(all[0].ID, d)
}

// reads is the own answer that a queue shows in its one item, and of whom.
func reads(t *testing.T, q *ask.Queue) (text, by string) {
	t.Helper()
	all := q.Pending().Items
	if len(all) != 1 {
		t.Fatalf("%d items are shown, want 1", len(all))
	}
	return all[0].Draft.Answers[0].Other, all[0].LentBy
}

func shows(t *testing.T, where string, q *ask.Queue, text, by string) {
	t.Helper()
	if got, of := reads(t, q); got != text || !strings.HasPrefix(of, by) || (by == "") != (of == "") {
		t.Errorf("%s has %q, entered %q; want %q, entered %q", where, got, of, text, by)
	}
}

// desk is another deck that mirrors the host of a pair, before the first does.
func (p *pair) desk() *ask.Queue {
	p.t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.trust.keys = append(p.trust.keys, public)
	q := ask.New(ask.Options{Hold: -1})
	m := New(Options{Name: "build1", Host: "HOST", Key: key, Dial: p.dial, Queue: q, Changed: func() {}, Version: "1"})
	go m.Run(p.ctx)
	p.t.Cleanup(func() { q.Close() })
	return q
}

func TestADraftIsShownWhereNobodyHasEnteredAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var desk *ask.Queue
		p := newPair(t, func(p *pair) { desk = p.desk() })
		defer p.end()
		defer desk.Close()
		call := p.ask(question("Which database?"))

		types(t, p.here, "neither")
		settle(time.Second)
		shows(t, "the deck", p.here, "neither", "")
		shows(t, "the host", p.there, "neither", "in the deck laptop")
		shows(t, "another deck", desk, "neither", "on build1")

		types(t, p.here, "neither, because")
		settle(time.Second)
		shows(t, "the host", p.there, "neither, because", "in the deck laptop")
		shows(t, "another deck", desk, "neither, because", "on build1")

		types(t, p.here, "")
		settle(time.Second)
		shows(t, "the deck", p.here, "", "")
		shows(t, "the host", p.there, "", "")
		shows(t, "another deck", desk, "", "")

		types(t, p.there, "the host's")
		settle(time.Second)
		shows(t, "the deck", p.here, "the host's", "on build1")
		types(t, p.here, "the host's, and mine")
		types(t, desk, "another")
		settle(time.Second)
		shows(t, "the deck", p.here, "the host's, and mine", "")
		shows(t, "the host", p.there, "the host's", "")
		shows(t, "another deck", desk, "another", "")
		select {
		case <-call.Done():
			t.Error("a draft has answered")
		default:
		}
	})
}

// at is where a queue says that others are at its one item.
func at(t *testing.T, q *ask.Queue) string {
	t.Helper()
	all := q.Pending().Items
	if len(all) != 1 {
		t.Fatalf("%d items are shown, want 1", len(all))
	}
	return strings.Join(all[0].At, ", ")
}

func TestWhoIsAtAnItemIsSaidElsewhereUntilThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var desk *ask.Queue
		p := newPair(t, func(p *pair) { desk = p.desk() })
		defer p.end()
		defer desk.Close()
		call := p.ask(question("Which database?"))
		own := "in the deck laptop (" + wire.Fingerprint(p.m.key) + ")"
		opens := func(q *ask.Queue, f ask.Field) {
			d := q.Pending().Items[0].Draft.Clone()
			d.Field = f
			q.SetDraft(q.Pending().Items[0].ID, d)
		}
		says := func(when, here, there, other string) {
			t.Helper()
			for q, want := range map[*ask.Queue]string{p.here: here, p.there: there, desk: other} {
				if got := at(t, q); got != want {
					t.Errorf("%s: others are at it %q, want %q", when, got, want)
				}
			}
		}
		opens(p.here, ask.OtherField)
		settle(time.Second)
		says("a field is open", "", own, own)
		settle(time.Hour)
		says("an hour later", "", own, own)
		opens(p.here, ask.NoField)
		settle(time.Second)
		says("it is closed", "", "", "")
		opens(p.there, ask.OtherField)
		settle(time.Second)
		says("one is open on the host", "on build1", "", "on build1")
		opens(p.there, ask.NoField)
		opens(p.here, ask.OtherField)
		settle(time.Second)
		p.stop() // as by a kill
		settle(90 * time.Second)
		if got := at(t, p.there); got != own {
			t.Errorf("90 s after a deck was killed, the host has %q", got)
		}
		settle(time.Minute)
		if got := at(t, p.there); got != "" {
			t.Errorf("after two minutes it still has %q", got)
		}
		select {
		case <-call.Done():
			t.Error("being at it has answered")
		default:
		}
	})
}

func TestWhoAnswersWhereAnotherIsAtItIsAskedOnce(t *testing.T) {
	for name, end := range map[string]func(*ask.Queue, int) error{
		"answer":  func(q *ask.Queue, id int) error { return q.Send(id) },
		"decline": func(q *ask.Queue, id int) error { return q.Decline(id, "") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t)
				defer p.end()
				p.there.Configure(ask.Options{Hold: -1})
				call := p.ask(question("Which database?"))
				types(t, p.here, "neither")
				settle(time.Second)
				it := p.there.Pending().Items[0]
				p.there.SetDraft(it.ID, it.Draft) // as a screen does that has shown it
				if err := end(p.there, it.ID); err == nil || !strings.Contains(err.Error(), "being answered in the deck laptop") {
					t.Errorf("at first it says %v", err)
				}
				settle(time.Hour)
				if err := end(p.there, it.ID); err != nil {
					t.Fatal(err)
				}
				<-call.Done()
			})
		})
	}
}

func TestADraftIsSentOnceTheLinkIsBackAndByTheNextDeck(t *testing.T) {
	state := filepath.Join(t.TempDir(), "drafts.json")
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(p *pair) {
			p.here.Close()
			p.here = ask.New(ask.Options{Hold: -1, StateFile: state})
		})
		defer p.end()
		call := p.ask(question("Which database?"))
		p.cut(true)
		types(t, p.here, "neither")
		settle(time.Hour)
		shows(t, "the deck", p.here, "neither", "")
		shows(t, "the host", p.there, "", "")
		p.stop() // as by a kill: nothing is closed
		p.ctx, p.stop = context.WithCancel(t.Context())
		killed := p.here
		p.here = ask.New(ask.Options{Hold: -1, StateFile: state})
		p.mirror()
		settle(time.Hour)
		shows(t, "the next deck, without a link", p.here, "neither", "")
		p.mu.Lock()
		p.down = false
		p.mu.Unlock()
		settle(time.Minute)
		shows(t, "the next deck", p.here, "neither", "")
		shows(t, "the host", p.there, "neither", "in the deck laptop")
		if err := p.here.Send(p.shown().ID); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		if r, err := call.Reply(); err != nil || r.Results[0].CustomInput != "neither" {
			t.Errorf("the asker gets %+v, %v", r, err)
		}
		killed.Close()
	})
}

func TestWhoeverAnswersFirstTheTextOfTheOtherIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var desk *ask.Queue
		p := newPair(t, func(p *pair) { desk = p.desk() })
		defer p.end()
		defer desk.Close()
		p.ask(question("Which database?"))
		types(t, p.here, "neither")
		settle(time.Second)
		if err := p.there.Answer(p.there.Pending().Items[0].ID, answers("SQLite")); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		if it := p.shown(); it.Absent != ask.Gone || it.Draft.Answers[0].Other != "neither" {
			t.Errorf("the deck has %+v, which is %s", it.Draft, it.Absent)
		}
		if n := len(desk.Pending().Items); n != 0 {
			t.Errorf("a deck whose user has entered nothing keeps %d items", n)
		}
		if err := p.here.Dismiss(p.shown().ID); err != nil {
			t.Fatal(err)
		}
		p.ask(question("Which database?"))
		settle(time.Second)
		shows(t, "the deck that is asked again", p.here, "neither", "")
	})
}

func TestADraftOfADeckThatMayNotAnswerIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		p.ask(question("Which database?"))
		p.m.mu.Lock()
		item := wire.KeyOf(p.m.last.Open[0].Asked)
		p.m.mu.Unlock()
		body := wire.DraftJSON(ask.Draft{Answers: []ask.AnswerDraft{{Other: "forged"}}})
		_, stranger, _ := ed25519.GenerateKey(nil)
		claimed := wire.SignDraft(stranger, "HOST", item, body)
		claimed.Key = p.m.key
		answer, err := wire.Sign(p.key, "HOST", item, wire.Decision{Results: answers("SQLite")})
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		go func() { _ = p.host.Serve(p.ctx, theirs, theirs) }()
		defer ours.Close()
		l, err := greet(p.ctx, ours, p.m.key, "1")
		if err != nil {
			t.Fatal(err)
		}
		for name, a := range map[string]*wire.Answer{
			"a stranger's": wire.SignDraft(stranger, "HOST", item, body), "one in another's name": claimed,
			"one for another host": wire.SignDraft(p.key, "OTHER", item, body), "an answer": answer,
		} {
			if r, err := l.ask(p.ctx, wire.Request{Draft: a}); err != nil || r.Draft == nil || r.Draft.Taken {
				t.Errorf("%s is taken: %+v, %v", name, r, err)
			}
		}
		if r, err := l.ask(p.ctx, wire.Request{Answer: wire.SignDraft(p.key, "HOST", item, body)}); err != nil || r.Answer.Taken {
			t.Errorf("a draft is taken for an answer: %+v, %v", r, err)
		}
		shows(t, "the host", p.there, "", "")
	})
}

func TestOfAPermissionOnlyANoteTravels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		p.ask(permission("make"))
		p.here.SetDraft(p.shown().ID, ask.Draft{Answers: []ask.AnswerDraft{{Chosen: []int{0}, Notes: map[int]string{1: "use go build"}}}})
		settle(time.Second)
		if a := p.there.Pending().Items[0].Draft.Answers[0]; a.Notes[1] != "use go build" || !slices.Equal(a.Chosen, nil) {
			t.Errorf("the host has %+v", a)
		}
	})
}
