package mirror

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

func TestAnItemIsHandedToAnotherDeckAndTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var desk *ask.Queue
		p := newPair(t, func(p *pair) { desk = p.desk() })
		defer p.end()
		defer desk.Close()
		call := p.ask(question("Which database?"))
		to := func(q *ask.Queue, i int) string { return q.Pending().Items[0].Decks[i] }
		gives := func(q *ask.Queue, h *ask.Handed) {
			t.Helper()
			if err := (ask.Afar{Queue: q}).Hand(q.Pending().Items[0].ID, h); err != nil {
				t.Fatal(err)
			}
			settle(time.Second)
		}
		says := func(when, here, there, other string) {
			t.Helper()
			for q, want := range map[*ask.Queue]string{p.here: here, p.there: there, desk: other} {
				got := ""
				if h := q.Pending().Items[0].Handed; h != nil {
					got = h.String()
				}
				if got != want {
					t.Errorf("%s: it says %q, want %q", when, got, want)
				}
			}
		}
		if got := p.here.Pending().Items[0].Decks; len(got) != 2 || got[0] != "build1" || !strings.HasPrefix(got[1], "laptop (SHA256:") {
			t.Fatalf("it may be handed to %q", got)
		}
		types(t, p.here, "neither")
		gives(p.here, &ask.Handed{To: to(p.here, 1), Note: "you know\nit " + strings.Repeat("!", 300)})
		note := ": you know it " + strings.Repeat("!", 187) + "…"
		says("to the other deck", "handed to the deck laptop"+note, "handed to the deck laptop by the deck laptop"+note, "handed to you by the deck laptop"+note)
		shows(t, "the other deck", desk, "neither", "on build1")
		if got := at(t, desk); got != "" {
			t.Errorf("who has handed it over is at it %q", got)
		}
		gives(p.here, nil)
		says("taken back", "", "", "")
		gives(p.here, &ask.Handed{To: to(p.here, 0)})
		says("to the host", "handed to build1", "handed to you by the deck laptop", "handed to build1 by the deck laptop")
		gives(p.there, nil)
		says("declined", "", "", "")
		ask.SetDecks(p.there, []string{wire.Deck{Name: "laptop", Fingerprint: wire.Fingerprint(p.m.key)}.String()})
		gives(p.there, &ask.Handed{To: to(p.there, 0)})
		says("by the host", "handed to you by build1", "handed to the deck laptop", "handed to the deck laptop by build1")
		gives(p.here, nil)
		says("declined here", "", "", "")

		gives(p.here, &ask.Handed{To: "nobody"})
		if got := p.here.Pending().Notices; len(got) != 1 || got[0] != "not handed over: that deck may not answer there" {
			t.Errorf("of a deck that may not answer there it says %q", got)
		}

		it := p.shown() // it locks nothing
		it.Draft.Answers[0] = ask.AnswerDraft{Chosen: []int{1}}
		p.here.SetDraft(it.ID, it.Draft)
		if err := p.here.Send(it.ID); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		gets(t, call, "Postgres")
	})
}

// unhanding is a link to a host that knows nothing of handing over.
type unhanding struct{ net.Conn }

func (u unhanding) Read(b []byte) (int, error) {
	n, err := u.Conn.Read(b)
	copy(b, bytes.ReplaceAll(b[:n], []byte(`"decks":`), []byte(`"other":`)))
	return n, err
}

func TestNothingIsHandedOverOnAnOlderMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(p *pair) { p.around = func(c net.Conn) io.ReadWriteCloser { return unhanding{c} } })
		defer p.end()
		p.ask(question("Which database?"))
		if got := p.shown().Decks; got != nil {
			t.Errorf("it may be handed to %q", got)
		}
		if err := (ask.Afar{Queue: p.here}).Hand(p.shown().ID, nil); err != nil { // as of what was handed over before it was replaced by an older one
			t.Fatal(err)
		}
		settle(time.Second)
		if got := p.shown(); got.Handed != nil {
			t.Errorf("it is handed to %+v", got.Handed)
		}
	})
}

func TestWhatIsHandedOverWithoutALinkIsToldOnceThereIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		p.ask(question("Which database?"))
		p.cut(true)
		if err := (ask.Afar{Queue: p.here}).Hand(p.shown().ID, &ask.Handed{To: "build1"}); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		if got := p.shown().Note; got != "its machine does not know yet; handed to build1" {
			t.Errorf("without a link it says %q", got)
		}
		p.mu.Lock()
		p.down = false
		p.mu.Unlock()
		settle(time.Minute)
		if got := p.shown().Note; got != "handed to build1" {
			t.Errorf("with a link it says %q", got)
		}
		if got := p.there.Pending().Items[0].Note; got != "handed to you by the deck laptop" {
			t.Errorf("the host says %q", got)
		}
	})
}
