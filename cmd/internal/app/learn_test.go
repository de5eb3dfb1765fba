package app

import (
	"context"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/hub"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// learning is a deck that decks may be introduced to.
type learning struct {
	m     machines
	path  string
	warns []string
}

func newLearning(t *testing.T, screen bool) *learning {
	t.Helper()
	l := &learning{path: transporttest.SocketPath(t)}
	q, gate := ask.New(ask.Options{Hold: -1}), userauth.New(userauth.Options{})
	if err := gate.Open(screen); err != nil {
		t.Fatal(err)
	}
	b := book.Book{Dir: t.TempDir()}
	l.m = machines{queue: q, book: b, trust: book.NewTrust(b), warn: func(texts ...string) { l.warns = texts }}
	if err := l.m.trust.Begin(); err != nil {
		t.Fatal(err)
	}
	on, err := socket.Listen(l.path)
	if err != nil {
		t.Fatal(err)
	}
	s := &transport.Server{Host: routertest.Start(t, transporttest.NewFixture()), Version: "test", Controls: map[string]transport.Control{"learn": l.m.learnControl(gate)}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Serve(ctx, on) }()
	t.Cleanup(func() { cancel(); on.Close(); <-done; q.Close() })
	return l
}

// introduce introduces a deck. Once that waits for the user, an option is chosen.
func (l *learning) introduce(t *testing.T, name, option string) (waited string, err error) {
	t.Helper()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	talk := transport.ControlClient{Wait: func(note string) error {
		waited = note
		hints, stop := l.m.queue.Hints()
		go func() {
			defer stop()
			for len(l.m.queue.Pending().Items) == 0 {
				<-hints
			}
			it := l.m.queue.Pending().Items[0]
			if q := it.Request.Questions[0]; !strings.Contains(q.Question, name) || !strings.Contains(q.Description, "SHA256:") || !strings.Contains(q.Description, "prints where the deck "+name+" runs") {
				t.Errorf("the user is asked %q, %q", q.Question, q.Description)
			}
			if doubt := it.Request.Doubt(); doubt != "" {
				t.Errorf("the deck's own question is said to be %s", doubt)
			}
			if err := l.m.queue.Answer(it.ID, []ask.Result{{ID: "deck", SelectedOptions: []string{option}}}); err != nil {
				t.Error(err)
			}
		}()
		return nil
	}}
	err = talk.Ask(t.Context(), l.path, "learn", book.Deck{Name: name, Key: public}, nil)
	return waited, err
}

func (l *learning) names() (all []string) {
	for _, d := range l.m.trust.Decks() {
		all = append(all, d.Name)
	}
	return all
}

func TestADeckAnswersOnlyOnceTheUserOfThisOneAgrees(t *testing.T) {
	l := newLearning(t, true)
	if waited, err := l.introduce(t, "laptop", "Refuse"); err == nil || waited == "" || len(l.names()) != 0 {
		t.Errorf("refused, it ends with %v after %q, and %q may answer", err, waited, l.names())
	}
	if _, err := l.introduce(t, "laptop", letAnswer); err != nil || len(l.names()) != 1 {
		t.Errorf("agreed to, it ends with %v, and %q may answer", err, l.names())
	}
	planted, _, _ := ed25519.GenerateKey(nil)
	if _, err := l.m.book.Learn(book.Deck{Name: "planted", Key: planted}); err != nil {
		t.Fatal(err)
	}
	l.m.sayUntold()
	if len(l.names()) != 1 || len(l.warns) != 1 || !strings.Contains(l.warns[0], "planted") {
		t.Errorf("%q may answer after the file was changed, and the user is told %q", l.names(), l.warns)
	}
}

func TestADeckOfAHubThatWasRefusedIsAskedAboutOnlyWhenTheUserWantsToBeAsked(t *testing.T) {
	l := newLearning(t, true)
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	asks := 0
	learn := func(option string) {
		t.Helper()
		over := make(chan struct{})
		go func() {
			defer close(over)
			l.m.learnOfHub(t.Context(), &hub.Member{Name: "desk", Role: hub.Deck, Sign: public})
		}()
		hints, stop := l.m.queue.Hints()
		defer stop()
		for {
			if all := l.m.queue.Pending().Items; len(all) > 0 {
				asks++
				if err := l.m.queue.Answer(all[0].ID, []ask.Result{{ID: "deck", SelectedOptions: []string{option}}}); err != nil {
					t.Fatal(err)
				}
				<-over
				return
			}
			select {
			case <-hints:
			case <-over:
				return
			}
		}
	}
	learn("Refuse")
	learn(letAnswer) // nobody is asked
	if names := l.names(); asks != 1 || len(names) != 0 {
		t.Errorf("after a refusal the user was asked %d times, and %q may answer", asks, names)
	}
	again, err := l.m.book.Reconsider(func(d book.Deck) bool { return d.Name == "desk" })
	if err != nil || len(again) != 1 {
		t.Fatalf("to be asked again is %v, %v", again, err)
	}
	learn(letAnswer)
	if names := l.names(); asks != 2 || len(names) != 1 {
		t.Errorf("asked %d times, %q may answer", asks, names)
	}
	if refused, err := l.m.book.Refused(); err != nil || len(refused) != 0 {
		t.Errorf("still refused is %v, %v", refused, err)
	}
}

func TestWithoutAScreenTheFirstDeckAgreesToTheNext(t *testing.T) {
	l := newLearning(t, false)
	if waited, err := l.introduce(t, "laptop", ""); err != nil || waited != "" {
		t.Fatalf("the first waits %q, %v", waited, err)
	}
	if waited, err := l.introduce(t, "desk", "Refuse"); err == nil || !strings.Contains(waited, "laptop") {
		t.Errorf("the second ends with %v after %q", err, waited)
	}
	if names := l.names(); len(names) != 1 {
		t.Errorf("%q may answer", names)
	}
}
