package mirror

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestMachinesThatCannotBeReachedAreTriedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		m := New(Options{Name: "b", Key: ed25519.NewKeyFromSeed(make([]byte, 32)), Changed: func() {}, Dial: func(context.Context) (io.ReadWriteCloser, error) {
			tries++
			return nil, errors.New("no route to host")
		}})
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		m.Run(ctx)
		if tries > 130 || tries < 90 {
			t.Errorf("%d tries in an hour", tries)
		}
	})
}

func TestWhatWasWrongIsPartOfASentence(t *testing.T) {
	var tail Tail
	_, _ = tail.Write([]byte("a banner\r\nTimeout, server build1 not responding.\r\n")) // it never fails
	if got := tail.Last(); got != "Timeout, server build1 not responding" {
		t.Errorf("it is %q", got)
	}
}

func sends(s *Set, machine string, p wire.Prompt) error {
	_, err := s.Prompt(machine, p)
	return err
}

func TestSessionsOfAnotherMachineStandInOneListWithItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(p *pair) {
			p.trust.keys = append(p.trust.keys, ed25519.PublicKey("another deck that was added"))
		})
		defer p.end()
		p.roster.Report(snapshot.Session{Agent: "claude", ID: "s1", State: snapshot.Working, Folder: "/src/shop", Since: time.Now(), Title: "Add a cart", Door: snapshot.Door{Open: true}})
		here := &sessions.Roster{}
		here.Report(snapshot.Session{Agent: "claude", ID: "s2", State: snapshot.Idle, Folder: "/src/shop", Since: time.Now()})
		set := &Set{Local: here}
		hints, stop := set.Hints()
		defer stop()
		set.Follow(p.ctx, []Options{{Name: "build1", Host: "HOST", Key: p.key, Dial: p.dial, Queue: p.here, Version: "1"}})
		settle(3 * time.Second)
		select {
		case <-hints:
		default:
			t.Error("nobody is told that the list has changed")
		}
		all := set.Sessions()
		if names := snapshot.Projects(all); !slices.Equal(names, []string{"build1:shop", "shop"}) {
			t.Errorf("the projects are %q", names)
		}
		if s := all[0]; s.Title != "Add a cart" || s.PID != 0 || s.Place != (snapshot.Place{}) {
			t.Errorf("the session is %+v", s)
		}
		if err := sends(set, "build1", wire.Prompt{Agent: "claude", Session: "s1", Text: "go on"}); err != nil || len(p.sent) != 1 || p.sent[0] != "claude: go on" {
			t.Errorf("the session is sent %q, %v", p.sent, err)
		}
		if err := sends(set, "build1", wire.Prompt{Agent: "claude", Session: "s2", Text: "go on"}); err == nil || err.Error() != "build1: this session has ended" {
			t.Errorf("a session that is not there takes a prompt: %v", err)
		}
		if text, err := set.Prompt("build1", wire.Prompt{Agent: "claude", Session: "s1", Back: true}); text != "back from claude s1" || err != nil {
			t.Errorf("what is taken back is %q, %v", text, err)
		}
		if sends(set, "build2", wire.Prompt{}) == nil {
			t.Error("a machine that is not there takes a prompt")
		}
		other := wire.Fingerprint(ed25519.PublicKey("another deck that was added"))
		if all := Problems(set.States()); len(all) != 1 || !strings.Contains(all[0], other) {
			t.Errorf("of a deck that was added to the host the user is told %q", all)
		}
		set.Follow(p.ctx, []Options{{Name: "build1", Host: "HOST", Decks: []string{other}}})
		if all := Problems(set.States()); len(all) != 0 {
			t.Errorf("of one that the user knows, too: %q", all)
		}
		p.here.Notice("") // has the queue look
		set.Follow(p.ctx, nil)
		settle(time.Second)
		if n := len(set.Sessions()); n != 1 {
			t.Errorf("%d sessions are there after the machine was removed", n)
		}
	})
}

func TestAMachineIsAwayForTheUserWhenItsLinkDoesNotComeBackSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, func(p *pair) { p.idle = true })
		defer p.end()
		var said []string
		set := &Set{Local: &sessions.Roster{}, Changed: func(all []State) {
			for _, text := range Problems(all) {
				if !slices.Contains(said, text) {
					said = append(said, text)
				}
			}
		}}
		is := func(when, want string) {
			t.Helper()
			got := ""
			for _, a := range set.Away() {
				got += a.String() + ": " + a.Why
			}
			if got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		set.Follow(p.ctx, []Options{{Name: "build1", Host: "HOST", Key: p.key, Dial: p.dial, Queue: p.here, Version: "1", Decks: []string{wire.Fingerprint(p.key.Public().(ed25519.PublicKey))}}})
		settle(time.Second)
		p.cut(true)
		settle(3 * time.Second)
		is("soon after the cut", "")
		p.mu.Lock()
		p.down = false
		p.mu.Unlock()
		settle(time.Minute)
		is("linked again", "")
		if len(said) != 0 {
			t.Errorf("of a link that is back soon the user is told %q", said)
		}
		at := time.Now().Format("15:04")
		p.cut(true)
		settle(10 * time.Second)
		is("a while after the cut", "build1 is away since "+at+": no route to host")
		settle(time.Hour)
		is("an hour after it", "build1 is away since "+at+": no route to host")
		text := "build1 is away since " + at + "; what waits there stays"
		if !slices.Equal(said, []string{text}) {
			t.Errorf("the user is told %q, want %q", said, text)
		}
		if n := len(" ! machines:  ──") + len(text); n > 80 {
			t.Errorf("it takes %d columns", n)
		}
		p.mu.Lock()
		p.down = false
		p.mu.Unlock()
		settle(time.Minute)
		is("linked again", "")
	})
}

func TestAMachineThatIsAwayIsSentNoPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		settle(time.Second)
		for n, down := range []bool{false, true} {
			if down {
				p.cut(true)
			}
			_, err := p.m.Prompt(wire.Prompt{Agent: "claude", Session: "s1", Text: "go on"})
			if (err != nil) != down || len(p.sent) != 1 {
				t.Errorf("%d: the session was sent %q, %v", n, p.sent, err)
			}
		}
		settle(time.Hour)
		if len(p.sent) != 1 {
			t.Error("it was sent later")
		}
	})
}

func TestASessionWhoseEndWasSeenStaysReadOnAMachineWithAnotherClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Options{Name: "build1", Key: ed25519.NewKeyFromSeed(make([]byte, 32)), Changed: func() {}})
		set := &Set{Local: &sessions.Roster{}, all: []*running{{Mirror: m}}}
		there := time.Now().Add(time.Hour)
		tells := func(since time.Time, late time.Duration) bool {
			now := time.Now().Add(time.Hour)
			settle(late)
			m.takeSessions(&wire.Sessions{Now: now, Sessions: []snapshot.Session{{Agent: "claude", ID: "s1", Since: since, Unread: true}}})
			return set.Sessions()[0].Unread
		}
		if !tells(there, 0) {
			t.Fatal("the end of a turn is read before the user has seen it")
		}
		set.MarkRead("claude", "s1")
		if set.Sessions()[0].Unread || tells(there, time.Second) {
			t.Error("what the user has seen is unread again with the next list")
		}
		if !tells(there.Add(time.Minute), 0) {
			t.Error("the end of the next turn is read")
		}
	})
}
