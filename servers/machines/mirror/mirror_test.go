package mirror

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

func TestAQuestionOfAnotherMachineIsAnsweredHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		settle(time.Minute)
		call := p.ask(question("Which database?"))
		it := p.shown()
		r := &it.Request
		if r.Project() != "build1:shop" || r.Identity() != ask.Vouched || r.Doubt() != "" || r.Client() != "claude" {
			t.Errorf("it is of %q in %q, %s, in doubt because %q", r.Client(), r.Project(), r.Identity(), r.Doubt())
		}
		if r.Peer.PID != 0 || r.Peer.Agent != 0 {
			t.Errorf("it names processes of this machine: %+v", r.Peer)
		}
		if err := p.here.Answer(it.ID, answers("Postgres")); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		gets(t, call, "Postgres")
		call.Delivered(ask.Delivered)
		settle(time.Second)
		if w := ended(t, p.here); w != "answered" {
			t.Errorf("here it is %q, want what the host has seen", w)
		}
		if w, want := ended(t, p.there), "answered in the deck "+p.trust.All()[0].String(); w != want {
			t.Errorf("there it is %q, want %q", w, want)
		}
		if n := len(p.m.entries); n != 0 {
			t.Errorf("%d items are remembered for nothing", n)
		}
	})
}

func TestAPermissionOfAnotherMachineIsTakenOrNotAsItsHostSays(t *testing.T) {
	for name, tt := range map[string]struct {
		after func(*ask.Call)
		want  string
	}{
		"the agent goes on":           {func(c *ask.Call) { c.Delivered(ask.Delivered) }, "allowed"},
		"it was answered there first": {func(c *ask.Call) { c.Settled("answered in its terminal: denied") }, "answered in its terminal: denied"},
		"nothing is seen":             {func(*ask.Call) {}, "not taken yet: answer in its terminal"},
		"its program has gone":        {func(c *ask.Call) { c.Gone("its program has ended") }, "not taken: its program has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t)
				defer p.end()
				call := p.ask(permission("make"))
				it := p.shown()
				if d := it.Request.Prompt; d.Command != "make" || d.Door != ask.Shared || len(d.Grants) != 2 {
					t.Errorf("the prompt is %+v", d)
				}
				if err := p.here.Answer(it.ID, []ask.Result{{ID: "permission", SelectedOptions: []string{"Allow once"}}}); err != nil {
					t.Fatal(err)
				}
				settle(time.Second)
				gets(t, call, "Allow once")
				tt.after(call)
				settle(10 * time.Second)
				if w := ended(t, p.here); w != tt.want {
					t.Errorf("here it is %q, want %q", w, tt.want)
				}
			})
		})
	}
}

func TestWhatIsAnsweredWhileTheLinkIsDownIsSentOnceItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		calls := []*ask.Call{p.ask(question("Which database?")), p.ask(question("Which cache?"))}
		p.cut(true)
		settle(time.Minute)
		if s := p.m.State(); s.Linked || s.Why != "no route to host" {
			t.Errorf("the state is %+v", s)
		}
		for _, it := range p.here.Pending().Items {
			if err := p.here.Answer(it.ID, answers("SQLite")); err != nil {
				t.Fatal(err)
			}
		}
		later, err := p.there.Open(question("Which queue?"))
		if err != nil {
			t.Fatal(err)
		}
		settle(time.Minute)
		p.mu.Lock()
		p.down = false
		p.mu.Unlock()
		settle(time.Minute)
		for _, c := range calls {
			gets(t, c, "SQLite")
			c.Delivered(ask.Delivered)
		}
		if it := p.shown(); it.Request.Questions[0].Question != "Which queue?" || it.Request.Waited < time.Minute {
			t.Errorf("the deck shows %q, which has waited %v", it.Request.Questions[0].Question, it.Request.Waited)
		}
		for range 5 { // nothing comes twice, however often the link is lost
			p.cut(false)
			settle(time.Minute)
			p.shown()
		}
		if n := len(p.here.Pending().History); n != 2 {
			t.Errorf("%d items have ended here, want 2", n)
		}
		later.Leave("enough")
		settle(time.Second)
		if all := p.here.Pending().Items; len(all) != 1 || all[0].Absent != ask.Gone {
			t.Errorf("what its asker has left is %+v", all)
		}
	})
}

// lossy is a link that breaks after the host has taken an answer and before it says so.
type lossy struct {
	net.Conn
	armed *bool
}

func (l lossy) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if *l.armed && err == nil {
		*l.armed = false
		l.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

func TestAnAnswerWhoseTakingWasNotHeardIsNotGivenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		armed := false
		p := newPair(t, func(p *pair) { p.around = func(c net.Conn) io.ReadWriteCloser { return lossy{c, &armed} } })
		defer p.end()
		call := p.ask(question("Which database?"))
		p.cut(false)
		settle(time.Minute)
		it := p.shown()
		armed = true
		if err := p.here.Answer(it.ID, answers("Postgres")); err != nil {
			t.Fatal(err)
		}
		settle(time.Minute)
		if armed {
			t.Fatal("nothing was lost")
		}
		gets(t, call, "Postgres")
		call.Delivered(ask.Delivered)
		settle(time.Minute)
		if w := ended(t, p.here); w != "answered" {
			t.Errorf("here it is %q", w)
		}
		if n := len(p.there.Pending().History); n != 1 {
			t.Errorf("the host has %d records", n)
		}
	})
}

func TestTheFirstAnswerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		call := p.ask(question("Which database?"))
		p.cut(true)
		if err := p.here.Answer(p.shown().ID, answers("Postgres")); err != nil {
			t.Fatal(err)
		}
		if err := p.there.Answer(p.there.Pending().Items[0].ID, answers("SQLite")); err != nil {
			t.Fatal(err)
		}
		p.mu.Lock()
		p.down = false
		p.mu.Unlock()
		settle(time.Minute)
		gets(t, call, "SQLite")
		if w := ended(t, p.here); w != "answered on build1: SQLite" {
			t.Errorf("here it is %q", w)
		}
	})
}

func TestADeckSaysWhichOtherOneHasAnsweredAndWhat(t *testing.T) {
	for name, tt := range map[string]struct {
		ask  ask.Request
		does func(q *ask.Queue, id int) error
		said string
	}{
		"an option": {question("Which database?"), func(q *ask.Queue, id int) error { return q.Answer(id, answers("SQLite")) }, ": SQLite"},
		"a text": {question("Which database?"), func(q *ask.Queue, id int) error {
			return q.Answer(id, []ask.Result{{ID: "db", CustomInput: "none\nof these"}})
		}, ": “none of these”"},
		"a refusal": {question("Which database?"), func(q *ask.Queue, id int) error { return q.Decline(id, "not now") }, ": declined"},
		"a permission": {permission("make"), func(q *ask.Queue, id int) error {
			return q.Answer(id, []ask.Result{{ID: "permission", SelectedOptions: []string{"Allow once"}}})
		}, ": allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var desk *ask.Queue
				p := newPair(t, func(p *pair) { desk = p.desk() })
				defer p.end()
				defer desk.Close()
				p.ask(tt.ask)
				if err := tt.does(desk, desk.Pending().Items[0].ID); err != nil {
					t.Fatal(err)
				}
				settle(time.Second)
				r := p.here.Pending().History[0]
				if w, want := r.Words(""), "answered in the deck "+p.trust.All()[1].String()+tt.said; w != want {
					t.Errorf("it is %q, want %q", w, want)
				}
				if w := r.Title(); w != "answered in the deck laptop" {
					t.Errorf("its title is %q", w)
				}
			})
		})
	}
}

func TestADeckThatIsNotKnownThereMayLookButNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(p *pair) { p.trust.keys = nil })
		defer p.end()
		call := p.ask(question("Which database?"))
		if err := p.here.Answer(p.shown().ID, answers("Postgres")); err != nil {
			t.Fatal(err)
		}
		settle(10 * time.Second)
		select {
		case <-call.Done():
			t.Fatal("the host took an answer that nobody it knows has signed")
		default:
		}
		if it := p.shown(); it.Draft.Empty() {
			t.Error("the user's answer is lost")
		}
	})
}

func TestAnAnswerCountsForOneItemOfOneHostAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		first, second := p.ask(question("Which database?")), p.ask(question("Which database? "))
		var keys []string
		p.m.mu.Lock()
		for _, it := range p.m.last.Open {
			keys = append(keys, wire.KeyOf(it.Asked))
		}
		p.m.mu.Unlock()
		_, stranger, _ := ed25519.GenerateKey(nil)
		sign := func(key ed25519.PrivateKey, host, item string) *wire.Answer {
			a, err := wire.Sign(key, host, item, wire.Decision{Results: answers("Postgres")})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		moved := sign(p.key, "HOST", keys[0])
		moved.Item = keys[1]
		changed := sign(p.key, "HOST", keys[1])
		changed.Body = []byte(`{"decline":true}`)
		claimed := sign(stranger, "HOST", keys[1])
		claimed.Key = p.m.key
		short := sign(p.key, "HOST", keys[1])
		short.Sign = nil
		ours, theirs := net.Pipe()
		go func() { _ = p.host.Serve(p.ctx, theirs, theirs) }()
		defer ours.Close()
		l, err := greet(p.ctx, ours, p.m.key, "1")
		if err != nil {
			t.Fatal(err)
		}
		for name, a := range map[string]*wire.Answer{
			"a stranger's":           sign(stranger, "HOST", keys[1]),
			"one in another's name":  claimed,
			"one for another item":   moved,
			"one for another host":   sign(p.key, "OTHER", keys[1]),
			"one with another body":  changed,
			"one without signature":  short,
			"one for no item at all": sign(p.key, "HOST", "0"),
		} {
			r, err := l.ask(p.ctx, wire.Request{Answer: a})
			if err != nil {
				t.Fatal(err)
			}
			if r.Answer.Taken {
				t.Errorf("%s is taken", name)
			}
		}
		for _, c := range []*ask.Call{first, second} {
			select {
			case <-c.Done():
				t.Error("an asker has got an answer")
			default:
			}
		}
		if r, err := l.ask(p.ctx, wire.Request{Answer: sign(p.key, "HOST", keys[1])}); err != nil || !r.Answer.Taken {
			t.Errorf("the deck's own is refused: %+v, %v", r, err)
		}
	})
}

func TestAnAnswerOfADeckThatWasEndedIsSentByTheNext(t *testing.T) {
	state := filepath.Join(t.TempDir(), "drafts.json")
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		p.here.Close()
		p.stop()
		settle(time.Minute)
		p.ctx, p.stop = context.WithCancel(t.Context())
		p.here = ask.New(ask.Options{Hold: -1, StateFile: state})
		p.mirror()
		call := p.ask(question("Which database?"))
		p.cut(true)
		if err := p.here.Answer(p.shown().ID, answers("Postgres")); err != nil {
			t.Fatal(err)
		}
		settle(time.Minute)
		p.stop()
		if err := p.here.Close(); err != nil {
			t.Fatal(err)
		}
		settle(time.Minute)

		p.ctx, p.stop = context.WithCancel(t.Context())
		p.down = false
		p.here = ask.New(ask.Options{Hold: -1, StateFile: state})
		p.mirror()
		settle(time.Minute)
		gets(t, call, "Postgres")
		if n := len(p.here.Pending().Items); n != 0 {
			t.Errorf("the deck still shows %d items", n)
		}
	})
}

func TestAnotherMachineIsNotTakenForTheOneThatWasAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		settle(time.Second)
		p.trust.name = "IMPOSTOR"
		p.cut(false)
		settle(time.Minute)
		p.ask(question("Which database?"))
		if n := len(p.here.Pending().Items); n != 0 {
			t.Errorf("the deck shows %d items of it", n)
		}
		if s := p.m.State(); s.Linked {
			t.Errorf("the state is %+v", s)
		}
	})
}

func TestAMachineTakesHalfOfTheDecksPlacesAndTheRestWaitsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		calls := make([]*ask.Call, mostShown+10)
		for i := range calls {
			r := question(fmt.Sprint("Which database, ", i, "?"))
			r.Peer.PID = 1 + i/10
			r.Peer.Key = fmt.Sprint("conn ", r.Peer.PID)
			calls[i] = p.ask(r)
		}
		settle(time.Minute)
		if n := len(p.here.Pending().Items); n != mostShown {
			t.Errorf("the deck shows %d items, want %d", n, mostShown)
		}
		own := question("What here?")
		own.Peer.Key = "here"
		call, err := p.here.Open(own)
		if err != nil {
			t.Fatalf("an agent of the deck's own machine gets %v", err)
		}
		call.Gone("")
		for range calls {
			for _, it := range p.here.Pending().Items {
				if it.Request.Peer.Host != "" && it.State != ask.Sending {
					if err := p.here.Answer(it.ID, answers("Postgres")); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			settle(10 * time.Second)
		}
		for _, c := range calls {
			gets(t, c, "Postgres")
		}
	})
}

func TestAMachineWhoseItemsAreTooManyForOneFrameStaysLinked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		calls := make([]*ask.Call, 14)
		for i := range calls {
			r := question(fmt.Sprint("Which database, ", i, "?"))
			for n := range r.Questions[0].Options {
				r.Questions[0].Options[n].Description = strings.Repeat("word ", 12<<10)
			}
			for len(r.Questions) < 8 {
				q := r.Questions[0]
				q.ID, q.Required = fmt.Sprint("more", len(r.Questions)), false
				r.Questions = append(r.Questions, q)
			}
			r.Peer.PID = 1 + i/10
			r.Peer.Key = fmt.Sprint("conn ", r.Peer.PID)
			calls[i] = p.ask(r)
		}
		for answered := 0; answered < len(calls); {
			s := p.m.State()
			if !s.Linked || s.Items == 0 {
				t.Fatalf("after %d answers the state is %+v", answered, s)
			}
			for _, it := range p.here.Pending().Items {
				if err := p.here.Answer(it.ID, answers("Postgres")); err != nil {
					t.Fatal(err)
				}
				answered++
			}
			settle(time.Minute)
		}
		for _, c := range calls {
			gets(t, c, "Postgres")
		}
	})
}

func TestAnItemThatCannotBeReadIsNotShownByTheNextLinkEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		later := question("Which database?")
		later.Questions[0].Kind = "of a later version"
		p.ask(later)
		for range 2 {
			if all := p.here.Pending().Items; len(all) != 0 {
				t.Fatalf("the deck shows %+v", all)
			}
			p.cut(false)
			settle(time.Minute)
		}
	})
}

func TestWhatBecameOfAPromptWhileTheDeckWasAwayIsShownByTheNext(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(p *pair) {
			p.here.Close()
			p.here = ask.New(ask.Options{Hold: -1, StateFile: state})
		})
		defer p.end()
		call := p.ask(permission("make test"))
		p.shown()
		p.stop()
		if err := p.here.Close(); err != nil {
			t.Fatal(err)
		}
		call.Doubted()
		call.Watched(false)
		p.ctx, p.stop = context.WithCancel(t.Context())
		p.here = ask.New(ask.Options{Hold: -1, StateFile: state})
		p.mirror()
		settle(time.Second)
		if d := p.shown().Request.Prompt; !d.Unconfirmed || !d.Unwatched {
			t.Errorf("the prompt is shown as %+v", d)
		}
	})
}
