package host

import (
	"crypto/ed25519"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

type nobody struct{ err error }

func (n nobody) Host() (string, error)                    { return "HOST", n.err }
func (n nobody) All() []wire.Deck                         { return nil }
func (n nobody) Find(ed25519.PublicKey) (wire.Deck, bool) { return wire.Deck{}, false }

// linked is the deck's end of a link to a host with a queue, and how the host's ends.
func linked(t *testing.T, d Decks) (*wire.Frames, *ask.Queue, <-chan error) {
	t.Helper()
	q := ask.New(ask.Options{})
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- New(Options{Queue: q, Sessions: &sessions.Roster{}, Decks: d, Version: "2"}).Serve(t.Context(), theirs, theirs)
		theirs.Close()
	}()
	t.Cleanup(func() { ours.Close(); q.Close() })
	return wire.NewFrames(ours, ours), q, ended
}

func ask1(t *testing.T, f *wire.Frames, req wire.Request) wire.Reply {
	t.Helper()
	if err := f.Write(1, req, false); err != nil {
		t.Fatal(err)
	}
	var r wire.Reply
	if _, err := f.Read(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestALinkBeginsWithAHelloOfAVersionThatBothSpeak(t *testing.T) {
	for name, tt := range map[string]struct {
		req   wire.Request
		decks nobody
		want  string
	}{
		"no hello":        {wire.Request{Items: &wire.Since{}}, nobody{}, "must be a hello"},
		"another version": {wire.Request{Hello: &wire.Hello{Versions: []int{0, 99}, Program: "1"}}, nobody{}, "mcpdeck 2 there and 1 here speak different protocols"},
		"no name":         {wire.Request{Hello: &wire.Hello{Versions: []int{wire.Version}}}, nobody{errors.New("the disk is gone")}, "the disk is gone"},
	} {
		f, _, ended := linked(t, tt.decks)
		if r := ask1(t, f, tt.req); !strings.Contains(r.Error, tt.want) {
			t.Errorf("%s: the deck is told %q", name, r.Error)
		}
		if err := <-ended; err == nil {
			t.Errorf("%s: the link goes on", name)
		}
	}
}

func TestARequestOfALaterVersionIsRefusedAndTheLinkGoesOn(t *testing.T) {
	f, q, ended := linked(t, nobody{})
	if r := ask1(t, f, wire.Request{Hello: &wire.Hello{Versions: []int{wire.Version, 99}}}); r.Hello == nil || r.Hello.Answers {
		t.Fatalf("a deck that is not known is greeted with %+v", r)
	}
	if r := ask1(t, f, wire.Request{}); r.Error == "" {
		t.Error("a request that says nothing is served")
	}
	if _, err := q.Open(ask.Request{Questions: []ask.Question{{ID: "q", Question: "?", Kind: ask.Text}}, Peer: ask.Peer{Host: "build2"}}); err != nil {
		t.Fatal(err)
	}
	if r := ask1(t, f, wire.Request{Items: &wire.Since{}}); r.Items == nil || len(r.Items.Open) != 0 {
		t.Errorf("items of a third machine are passed on: %+v", r.Items)
	}
	if err := f.Write(1, "no request", false); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after a line that is no request the link ends with %v", err)
	}
}

// TestAPromptIsSentOnceAndOnlyForADeckThatMayAnswer sends one again, also long after, one of another deck, one for
// another machine, one for the deck that ran there before, and an answer in place of one.
func TestAPromptIsSentOnceAndOnlyForADeckThatMayAnswer(t *testing.T) {
	_, mine, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, theirs, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent outbox
	h := New(Options{Decks: one{key: mine}, Prompts: &sent})
	prompt := func(key ed25519.PrivateKey, host, run string) *wire.Answer {
		a, err := wire.SignPrompt(key, host, run, wire.Prompt{Agent: "claude", Session: "s1", Text: "go on"})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	good := prompt(mine, "HOST", h.run)
	answer, err := wire.Sign(mine, "HOST", "item", wire.Decision{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		a     *wire.Answer
		taken bool
	}{
		{"the first time", good, true}, {"again", good, false}, {"of another deck", prompt(theirs, "HOST", h.run), false}, {"for another machine", prompt(mine, "HOST2", h.run), false}, {"for a run that has ended", prompt(mine, "HOST", "RUN"), false}, {"an answer", answer, false},
	} {
		if o := h.prompt(tt.a); o.Taken != tt.taken {
			t.Errorf("%s: %+v", tt.name, o)
		}
	}
	if len(sent) != 1 || sent[0] != "go on" {
		t.Errorf("the session was sent %q", sent)
	}
	for range 2 * keptGiven {
		if o := h.prompt(prompt(mine, "HOST", h.run)); !o.Taken {
			t.Fatalf("another one: %+v", o)
		}
	}
	if o := h.prompt(good); o.Taken {
		t.Error("one is sent again after many others")
	}
}

type outbox []string

func (o *outbox) Send(_, _, text string) error { *o = append(*o, text); return nil }
func (o *outbox) TakeBack(_, _ string) string  { return "" }

// one is a deck that may answer.
type one struct {
	nobody
	key ed25519.PrivateKey
}

func (d one) Find(key ed25519.PublicKey) (wire.Deck, bool) {
	return wire.Deck{Name: "laptop"}, key.Equal(d.key.Public())
}
