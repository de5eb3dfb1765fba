package hub

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// reload has the server take the configuration as it is now.
func (w *world) reload() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.server.Process.Signal(syscall.SIGHUP); err != nil {
		w.t.Fatal(err)
	}
}

// how is what the deck says of how an item ended.
func (m *machine) how(text string) string {
	for _, r := range m.q.Pending().History {
		if r.Request.Questions[0].Question == text {
			return r.How
		}
	}
	return ""
}

func (m *machine) showsIt(text string) func() bool {
	return func() bool { _, is := m.shown(text); return is }
}

func TestTheFirstOfTwoDecksAnswersAndTheOtherKeepsItsText(t *testing.T) {
	w, joined := newWorld(t, "build1")
	second := w.add("desk", Deck)
	w.reload()
	laptop := w.newDeck(w.owned.Owner(), t.TempDir())
	defer laptop.end()
	h := newHost(t, joined["build1"], t.TempDir())
	defer h.end()
	desk := w.newDeck(second, t.TempDir())
	defer desk.end()
	const text = "Which database?"
	call := h.ask(text)
	testwait.Until(t, "both decks show it", func() bool { return laptop.showsIt(text)() && desk.showsIt(text)() })
	it, _ := laptop.shown(text)
	laptop.q.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{{Other: "neither, because"}}})
	for _, m := range []*machine{h, desk} { // it does not say what is entered
		testwait.Until(t, "it is said who is at it", func() bool {
			it, _ := m.shown(text)
			return len(it.At) == 1 && strings.Contains(it.At[0], "in the deck laptop") && it.Draft.Empty()
		})
	}
	testwait.Until(t, "the laptop knows of the desk", func() bool { it, _ = laptop.shown(text); return len(it.Decks) == 2 })
	if err := (ask.Afar{Queue: laptop.q}).Hand(it.ID, &ask.Handed{To: it.Decks[1], Note: "you know it"}); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "it is handed over", func() bool {
		it, _ := desk.shown(text)
		return it.Note == "handed to you by the deck laptop: you know it"
	})
	desk.answers(text, "SQLite")
	if answer := got(t, call); answer != "SQLite" {
		t.Errorf("the agent got %q", answer)
	}
	testwait.Until(t, "the other deck says who was faster", func() bool { return strings.Contains(laptop.how(text), "desk") })
	h.ask(text)
	testwait.Until(t, "it is asked again", laptop.showsIt(text))
	if it, _ := laptop.shown(text); it.Draft.Empty() || it.Draft.Answers[0].Other != "neither, because" {
		t.Errorf("the text of the other deck is %+v", it.Draft)
	}
}

func TestAnAnswerWaitsAtTheHubForAHostThatIsAway(t *testing.T) {
	w, joined := newWorld(t, "build1")
	dir := t.TempDir()
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	h := newHost(t, joined["build1"], dir)
	const text = "Which database?"
	h.ask(text)
	testwait.Until(t, "it is shown", deck.showsIt(text))
	h.end()
	deck.answers(text, "Postgres")
	c := w.operator()
	testwait.Until(t, "the hub has the answer", func() bool {
		s, err := c.next(t.Context(), answersOf("build1"), "a.>", 1)
		return err == nil && s != nil
	})
	c.close()
	deck.end()
	h = newHost(t, joined["build1"], dir)
	defer h.end()
	r := question(text)
	call, err := h.q.Resume(r.ResumeKey, r.Owner, r.Peer)
	if err != nil {
		call = h.ask(text)
	}
	if answer := got(t, call); answer != "Postgres" {
		t.Errorf("the agent got %q", answer)
	}
}

// operator is a connection with all rights of the owner's deck at the hub.
func (w *world) operator() *client {
	w.t.Helper()
	m := w.owned.Owner()
	c := newClient()
	c.connect(&m, mustKeys(w.t, m.Seed), nil)
	testwait.Until(w.t, "the operator is connected", func() bool { return c.problem() == nil })
	return c
}

func mustKeys(t *testing.T, seed []byte) *Keys {
	t.Helper()
	k, err := KeysOf(seed)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestNoForgedAnswerReachesAnAgent has somebody with all rights at the hub put answers there that no
// deck has given for this item: under a key of its own, under that of another host, an old one that
// was moved here, one with another item's signature, and a damaged one.
func TestNoForgedAnswerReachesAnAgent(t *testing.T) {
	w, joined := newWorld(t, "build1", "build2")
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	defer deck.end()
	h := newHost(t, joined["build1"], t.TempDir())
	defer h.end()
	const text = "Which database?"
	target := h.ask(text)
	testwait.Until(t, "it is shown", deck.showsIt(text))
	is, err := h.host.keys.Member("build1", Host)
	if err != nil {
		t.Fatal(err)
	}
	build1 := &is
	h.host.mu.Lock()
	key := wire.KeyOf(h.host.items.Open[0].Asked)
	h.host.mu.Unlock()
	owner, operator, build2 := deck.deck.keys, mustKeys(t, NewSeed()), mustKeys(t, joined["build2"].Seed)
	signed := func(k *Keys, item string) *wire.Answer {
		a, err := wire.Sign(k.Sign, build1.ID(), item, wire.Decision{Results: chosen("SQLite")})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	sealed := func(k *Keys, subject string, a *wire.Answer) []byte {
		b, err := k.seal(subject, a, *build1)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	c := w.operator()
	defer c.close()
	const to = "a.build1.laptop."
	sent := 0
	for n := range 100 {
		other := fmt.Sprintf("%064x", n)
		moved := signed(owner, other)
		moved.Item = key
		damaged := sealed(owner, to+key, signed(owner, key))
		damaged[len(damaged)-1-n] ^= 1
		for _, message := range [][]byte{
			sealed(operator, to+key, signed(operator, key)),
			sealed(build2, to+key, signed(build2, key)),
			sealed(owner, to+other, signed(owner, other)),
			sealed(operator, to+key, moved),
			damaged,
		} {
			if err := c.put(t.Context(), to+key, message); err != nil {
				t.Fatal(err)
			}
			sent++
			testwait.Until(t, "the host has dropped it", func() bool { return h.host.dropped() >= sent })
		}
		if o := h.host.host.Reply(t.Context(), &wire.Request{Answer: moved}).Answer; o == nil || o.Taken {
			t.Fatalf("an answer to another item is taken: %+v", o)
		}
	}
	select {
	case <-target.Done():
		t.Error("a forged answer reached the agent")
	default:
	}
	deck.answers(text, "Postgres")
	if answer := got(t, target); answer != "Postgres" {
		t.Errorf("the agent got %q", answer)
	}
	t.Logf("%d forged answers at the hub, none taken", sent)
}

func TestTheHubHasNoTextOfQuestionsAndAnswers(t *testing.T) {
	w, joined := newWorld(t, "build1")
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	defer deck.end()
	h := newHost(t, joined["build1"], t.TempDir())
	defer h.end()
	got := h.ask("One that waits?")
	deck.answers("One that waits?", "Postgres")
	<-got.Done()
	h.ask("Another that waits?")
	testwait.Until(t, "it is shown", deck.showsIt("Another that waits?"))
	w.kill()
	files := 0
	err := filepath.WalkDir(w.owned.Server(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		for _, text := range []string{"that waits", "Postgres", "/src/shop", "claude"} {
			if bytes.Contains(b, []byte(text)) {
				t.Errorf("%s has %q", filepath.Base(path), text)
			}
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files of the hub were read, %v", files, err)
	}
}

func TestWhoIsRevokedIsCutOff(t *testing.T) {
	w, joined := newWorld(t, "build1", "build2")
	second := w.add("desk", Deck)
	w.reload()
	laptop, desk := w.newDeck(w.owned.Owner(), t.TempDir()), w.newDeck(second, t.TempDir())
	defer laptop.end()
	defer desk.end()
	one, two := newHost(t, joined["build1"], t.TempDir()), newHost(t, joined["build2"], t.TempDir())
	defer one.end()
	defer two.end()
	testwait.Until(t, "all are there", func() bool {
		return len(laptop.deck.Hosts()) == 2 && len(one.host.decks.all()) == 2 && len(two.host.decks.all()) == 2 && desk.deck.State().Linked
	})
	for _, name := range []string{"desk", "build2"} {
		if _, err := w.owned.Revoke(name); err != nil {
			t.Fatal(err)
		}
	}
	w.reload()
	laptop.deck.Refresh()
	testwait.Until(t, "both are cut off", func() bool { return !desk.deck.State().Linked && !two.host.State().Linked })
	testwait.Until(t, "both say why", func() bool {
		return strings.Contains(desk.deck.State().Why, "revoked") && strings.Contains(two.host.State().Why, "revoked")
	})
	testwait.Until(t, "the rest knows", func() bool { return len(one.host.decks.all()) == 1 && len(laptop.deck.Hosts()) == 1 })
	a, err := wire.Sign(desk.deck.Key(), (&Member{Sign: one.host.keys.public()}).ID(), "x", wire.Decision{Decline: true})
	if err != nil {
		t.Fatal(err)
	}
	if o := one.host.host.Reply(t.Context(), &wire.Request{Answer: a}).Answer; !o.Open || !strings.Contains(o.Why, "takes no answers") {
		t.Errorf("an answer of the deck that was removed: %+v", o)
	}
	call := one.ask("Which database?")
	laptop.answers("Which database?", "SQLite")
	got(t, call)
	if _, err := w.owned.Revoke("laptop"); err == nil {
		t.Error("the owner was removed")
	}
}

// TestAHostReachesNothingOfAnother tries what a host would that was taken over.
func TestAHostReachesNothingOfAnother(t *testing.T) {
	w, joined := newWorld(t, "build1", "build2")
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	defer deck.end()
	h := newHost(t, joined["build2"], t.TempDir())
	h.ask("Which database?")
	testwait.Until(t, "it is shown", deck.showsIt("Which database?"))
	h.end()
	m := joined["build1"]
	c := newClient()
	c.connect(&m, mustKeys(t, m.Seed), nil)
	defer c.close()
	testwait.Until(t, "the host is connected", func() bool { return c.problem() == nil })
	before := w.stored()
	for _, subject := range []string{
		"v.build2", "i.build2.x", "o.build2.laptop.x", "p.build2", "a.build1.laptop.x", "a.build2.laptop.x", listSubject, decksSubject, "$SYS.REQ.SERVER.PING", "x",
		"$JS.API.STREAM.PURGE.H_build2", "$JS.API.STREAM.PURGE.A_build2", "$JS.API.STREAM.PURGE.H_build1", "$JS.API.STREAM.DELETE.H_build2", "$JS.API.STREAM.CREATE.X",
		"$JS.API.STREAM.INFO.H_build2", "$JS.API.STREAM.NAMES", "$JS.API.DIRECT.GET.K.k.list", "$JS.API.DIRECT.GET.H_build2", "$JS.API.DIRECT.GET.H_build2.v.build2", "$JS.API.DIRECT.GET.A_build2", "$JS.API.CONSUMER.CREATE.H_build2", "q.build2.laptop",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if _, err := c.exchange(ctx, ackWithin, subject, []byte("{}")); err == nil {
			t.Errorf("the hub replies to another host at %s", subject)
		}
		cancel()
	}
	// The server's own reply must not be stored as another's message.
	for _, reply := range []string{"v.build2", "i.build2.x", "o.build2.laptop.x", "a.build2.laptop.x", "p.build2", listSubject, "$JS.API.STREAM.PURGE.H_build2"} {
		if err := c.nc.PublishRequest("i.build1.x", reply, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.nc.FlushTimeout(time.Minute); err != nil {
		t.Fatal(err)
	}
	if after := w.stored(); after != before {
		t.Errorf("another host's streams were %s and are %s", before, after)
	}
}

// has is what the hub has in a stream.
func (c *client) has(ctx context.Context, stream string) (is nats.StreamState, err error) {
	err = c.store(ctx, func(js nats.JetStreamContext, in nats.ContextOpt) error {
		info, err := js.StreamInfo(stream, in)
		if err == nil {
			is = info.State
		}
		return err
	})
	return is, err
}

// stored is what the hub has of build2.
func (w *world) stored() string {
	w.t.Helper()
	c := w.operator()
	defer c.close()
	var all []string
	for _, s := range []string{itemsOf("build2"), answersOf("build2"), listStream} {
		has, err := c.has(w.t.Context(), s)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s: %d up to %d", s, has.Msgs, has.LastSeq))
	}
	return strings.Join(all, ", ")
}
