package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// work is what a host has beside its queue: prompts that were sent to its sessions, and calls.
type work struct {
	notify.Feed

	mu    sync.Mutex
	sent  []string
	calls int
}

func (w *work) Send(_, session, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, session+": "+text)
	return nil
}

func (w *work) TakeBack(_, _ string) string { return "" }

func (w *work) prompts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

func (w *work) called() {
	w.mu.Lock()
	w.calls++
	w.mu.Unlock()
	w.Feed.Send()
}

func (w *work) Run() int64 { return 1 }

func (w *work) Calls(since uint64) (out []snapshot.Call, version uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := since + 1; id <= uint64(w.calls); id++ {
		out = append(out, snapshot.Call{ID: id, Tool: "render", Status: snapshot.OK})
	}
	return out, uint64(w.calls)
}

func (w *work) Project(string) string { return "shop" }

func (w *work) Earlier(_ context.Context, before uint64, _ int) ([]snapshot.Call, error) {
	if before > 0 {
		return nil, nil
	}
	return []snapshot.Call{{ID: 7, Tool: "old", Status: snapshot.OK}}, nil
}

func (w *work) Body(_ context.Context, id uint64, _ bool) (snapshot.CallBody, bool) {
	return snapshot.CallBody{Args: json.RawMessage(`{"size":64}`)}, id == 1
}

func (w *work) Pictures() ([]snapshot.Picture, uint64) {
	return []snapshot.Picture{{Call: 1, Data: "cGl4ZWxz"}}, 1
}

// takes has a host take prompts and tell of calls.
func (w *work) takes(o *host.Options) { o.Prompts, o.Calls = w, w }

func TestCallsAndPromptsGoOverAHub(t *testing.T) {
	w, joined := newWorld(t, "build1")
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	defer deck.end()
	var there work
	there.called()
	h := newHost(t, joined["build1"], t.TempDir(), there.takes)
	defer h.end()
	watch := deck.set.Watch()
	defer watch.Stop()
	shown := func(want string) {
		t.Helper()
		testwait.For(t, "the calls there", func() string {
			var all []string
			for _, c := range watch.Calls() {
				all = append(all, c.Afar.Machine+":"+c.Afar.Project+" "+c.Tool)
			}
			return strings.Join(all, ", ")
		}, func(got string) bool { return got == want })
	}
	shown("build1:shop old, build1:shop render")
	there.called()
	shown("build1:shop old, build1:shop render, build1:shop render")
	c := watch.Calls()[1]
	body, pictures, err := deck.set.CallBody(t.Context(), &c)
	if err != nil || string(body.Args) != `{"size":64}` || len(pictures) != 1 {
		t.Fatalf("the call carried %s and the pictures %q: %v", body.Args, pictures, err)
	}
	if picture, err := deck.set.CallPicture(t.Context(), &c, pictures[0]); err != nil || string(picture) != "pixels" {
		t.Errorf("the picture is %q: %v", picture, err)
	}
	for _, text := range []string{"Mend it", "And test it"} {
		if _, err := deck.set.Prompt("build1", wire.Prompt{Agent: "codex", Session: "s", Text: text}); err != nil {
			t.Error(err)
		}
	}
	if got := there.prompts(); !slices.Equal(got, []string{"s: Mend it", "s: And test it"}) {
		t.Errorf("its sessions got %q", got)
	}
}

// TestARequestEndsWithItsConnection keeps one from holding up what the same member has to say on the next connection.
func TestARequestEndsWithItsConnection(t *testing.T) {
	w, joined := newWorld(t, "build1")
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	defer deck.end()
	h := newHost(t, joined["build1"], t.TempDir())
	defer h.end()
	asks := func(within time.Duration) error {
		_, err := deck.deck.exchange(t.Context(), within, liveOf("build1", "laptop"), []byte("what no host replies to"))
		return err
	}
	testwait.Until(t, "a host that hears", func() bool {
		return errors.Is(asks(time.Second/10), context.DeadlineExceeded) && h.host.dropped() > 0
	})
	before := h.host.dropped()
	ended := make(chan error, 1)
	go func() { ended <- asks(time.Hour) }()
	testwait.Until(t, "the host hears it", func() bool { return h.host.dropped() > before })
	w.kill()
	testwait.Until(t, "the request ends", func() bool { return len(ended) == 1 })
	if err := <-ended; err == nil {
		t.Error("it has a reply")
	}
}

// TestAPromptThatTheHubRepeatsIsNotSent has somebody who runs the hub keep a prompt, and bring it again: at once, and to
// the host after it was started again, which does not know what it has sent before.
func TestAPromptThatTheHubRepeatsIsNotSent(t *testing.T) {
	w, joined := newWorld(t, "build1")
	owner := w.owned.Owner()
	keys := mustKeys(t, owner.Seed)
	c := w.operator()
	defer c.close()
	if err := c.prepare(t.Context(), keys, w.owned.List); err != nil {
		t.Fatal(err)
	}
	var there work
	dir := t.TempDir()
	h := newHost(t, joined["build1"], dir, there.takes)
	is, err := h.host.keys.Member("build1", Host)
	if err != nil {
		t.Fatal(err)
	}
	d := &farHost{DeckSide: &DeckSide{member: &member{Membership: owner, keys: keys, client: c}}, is: is}
	var first alive
	testwait.Until(t, "the host replies", func() bool {
		first, err = d.askLive(t.Context(), &live{})
		return err == nil
	})
	prompt, err := wire.SignPrompt(keys.Sign, is.ID(), "", wire.Prompt{Agent: "codex", Session: "s", Text: "Mend it"})
	if err != nil {
		t.Fatal(err)
	}
	subject := liveOf("build1", owner.Name)
	kept, err := keys.seal(subject, live{Request: &wire.Request{Prompt: prompt}, Fresh: first.Fresh}, is)
	if err != nil {
		t.Fatal(err)
	}
	brings := func() string {
		t.Helper()
		var m *nats.Msg
		testwait.Until(t, "the host replies", func() bool {
			m, err = c.exchange(t.Context(), liveWithin, subject, kept)
			return err == nil
		})
		var text json.RawMessage
		if err := keys.open(replyTo(subject, kept), m.Data, is.Sign, &text); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := brings(); !strings.Contains(got, `"taken":true`) {
		t.Errorf("the first is not taken: %s", got)
	}
	again := func(when string) {
		t.Helper()
		if got := brings(); !strings.Contains(got, "came too late") || len(there.prompts()) != 1 {
			t.Errorf("%s: the host says %s, and has sent %q", when, got, there.prompts())
		}
	}
	again("at once")
	h.end()
	h = newHost(t, joined["build1"], dir, there.takes)
	defer h.end()
	again("after a start")
	kept[len(kept)-1] ^= 1
	if _, err := c.exchange(t.Context(), liveWithin/10, subject, kept); err == nil || h.host.dropped() == 0 {
		t.Errorf("a damaged request has a reply; %d were dropped", h.host.dropped())
	}
}
