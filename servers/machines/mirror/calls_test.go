package mirror

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// heldCalls are the calls of a host, and how often it was asked for them.
type heldCalls struct {
	notify.Feed
	mu       sync.Mutex
	run      int64
	list     []snapshot.Call // by ID
	changed  []uint64        // of each: the version
	version  uint64
	asked    int
	pictures [][]byte // of call 2
}

func (h *heldCalls) add(c snapshot.Call) {
	h.mu.Lock()
	h.version++
	if i := slices.IndexFunc(h.list, func(o snapshot.Call) bool { return o.ID == c.ID }); i >= 0 {
		h.list[i], h.changed[i] = c, h.version
	} else {
		h.list, h.changed = append(h.list, c), append(h.changed, h.version)
	}
	h.mu.Unlock()
	h.Send()
}

func (h *heldCalls) Run() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.run
}

func (h *heldCalls) Calls(since uint64) ([]snapshot.Call, uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	var out []snapshot.Call
	for i, c := range h.list {
		if h.changed[i] > since {
			out = append(out, c)
		}
	}
	return out, h.version
}

func (h *heldCalls) Project(agent string) string { return map[string]string{"a1": "shop"}[agent] }

func (h *heldCalls) Earlier(_ context.Context, before uint64, most int) (out []snapshot.Call, err error) {
	if before == 0 {
		before = 501
	}
	for id := max(1, int(before)-most); id < int(before); id++ {
		out = append(out, snapshot.Call{ID: uint64(id), Tool: "old", Status: snapshot.OK})
	}
	return out, nil
}

func (h *heldCalls) Body(_ context.Context, id uint64, earlier bool) (snapshot.CallBody, bool) {
	if earlier {
		return snapshot.CallBody{Args: json.RawMessage(`{"old":true}`)}, true
	}
	return snapshot.CallBody{Args: json.RawMessage(`{"id":2}`), Result: json.RawMessage(`{}`)}, id == 2
}

func (h *heldCalls) Pictures() (out []snapshot.Picture, _ uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pictures {
		out = append(out, snapshot.Picture{Call: 2, Data: base64.StdEncoding.EncodeToString(p)})
	}
	return out, 1
}

// withCalls is a set with one machine whose calls are held.
func withCalls(t *testing.T, held host.Calls) (*Set, *pair, func()) {
	t.Helper()
	s := &Set{Local: &sessions.Roster{}}
	p := newPair(t, func(p *pair) {
		p.host = host.New(host.Options{Queue: p.there, Sessions: p.roster, Decks: p.trust, Calls: held, Version: "1"})
		p.idle = true
	})
	s.Follow(p.ctx, []Options{{Name: "build1", Host: "HOST", Key: p.key, Dial: p.dial, Queue: p.here, Version: "1"}})
	settle(time.Second)
	return s, p, p.end
}

func TestCallsOfAnotherMachineAreAskedForOnlyWhileSomebodyLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := &heldCalls{run: 1}
		held.add(snapshot.Call{ID: 1, Agent: "a1", Tool: "echo", Status: snapshot.Running, Started: time.Now()})
		s, p, end := withCalls(t, held)
		defer end()
		settle(time.Minute)
		if held.asked != 0 {
			t.Errorf("the machine was asked %d times while nobody looks", held.asked)
		}
		w := s.Watch()
		settle(time.Second)
		list := w.Calls()
		last := &list[len(list)-1]
		if len(list) != 301 || last.Place() != "build1:shop" || last.Status != snapshot.Running || !list[0].Afar.Earlier || list[0].ID != 201 {
			t.Fatalf("%d calls are shown; the last is %+v at %q", len(list), last, last.Place())
		}
		held.add(snapshot.Call{ID: 1, Agent: "a1", Tool: "echo", Status: snapshot.OK, Started: last.Started, Duration: time.Second})
		held.add(snapshot.Call{ID: 2, Tool: "draw", Status: snapshot.OK, Started: time.Now(), Images: 1})
		settle(time.Second)
		if list = w.Calls(); len(list) != 302 || list[300].Status != snapshot.OK || list[301].Place() != "build1" {
			t.Errorf("what has changed is shown as %+v", list[300:])
		}
		w.Older()
		if list = w.Calls(); len(list) != 502 || list[0].ID != 1 {
			t.Errorf("with the log there are %d calls", len(list))
		}
		held.add(snapshot.Call{ID: 3, Tool: "slow", Status: snapshot.Running, Started: time.Now()})
		settle(time.Second)
		p.cut(true)
		settle(time.Second)
		if list = w.Calls(); list[len(list)-1].ID != 2 {
			t.Error("a call is said to run on a machine that is away")
		}
		if _, _, err := s.CallBody(t.Context(), &list[len(list)-1]); err == nil || err.Error() != "build1 is away" {
			t.Errorf("of its body it is said: %v", err)
		}
		p.mu.Lock()
		p.down = false
		p.mu.Unlock()
		held.mu.Lock()
		held.run, held.list, held.changed = 2, held.list[1:], held.changed[1:] // its deck was started again
		held.mu.Unlock()
		settle(time.Minute)
		if list = w.Calls(); list[len(list)-1].ID != 3 || len(list) != 302 {
			t.Errorf("of another run there are %d calls", len(list))
		}
		w.Stop()
		if _, ok := w.Next(); ok {
			t.Error("there is more after the end")
		}
		held.add(snapshot.Call{ID: 4, Tool: "echo", Status: snapshot.OK})
		settle(time.Second)
		asked := held.asked
		for id := range uint64(20) {
			held.add(snapshot.Call{ID: 5 + id, Tool: "echo", Status: snapshot.OK})
			settle(time.Second)
		}
		if held.asked != asked {
			t.Errorf("the machine was asked %d times after the end", held.asked-asked)
		}
	})
}

func TestPicturesOfAnotherMachineAreFetchedOnceByTheirHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := &heldCalls{run: 1, pictures: [][]byte{[]byte("first"), []byte("second"), make([]byte, 5<<20)}}
		held.add(snapshot.Call{ID: 2, Tool: "draw", Status: snapshot.OK, Images: 3, Started: time.Now()})
		s, _, end := withCalls(t, held)
		defer end()
		w := s.Watch()
		defer w.Stop()
		settle(time.Second)
		list := w.Calls()
		call := &list[len(list)-1]
		body, hashes, err := s.CallBody(t.Context(), call)
		if err != nil || string(body.Args) != `{"id":2}` || len(hashes) != 2 {
			t.Fatalf("the call carried %s with pictures %v, %v", body.Args, hashes, err)
		}
		if body, _, err = s.CallBody(t.Context(), &list[0]); err != nil || string(body.Args) != `{"old":true}` {
			t.Errorf("a call of the log carried %s, %v", body.Args, err)
		}
		if data, err := s.CallPicture(t.Context(), call, hashes[1]); err != nil || !bytes.Equal(data, []byte("second")) {
			t.Fatalf("the picture is %q, %v", data, err)
		}
		held.mu.Lock()
		held.pictures = nil
		held.mu.Unlock()
		if _, err := s.CallPicture(t.Context(), call, hashes[1]); err != nil {
			t.Errorf("it is fetched again: %v", err)
		}
		if _, err := s.CallPicture(t.Context(), call, hashes[0]); err == nil {
			t.Error("one that is gone is fetched")
		}
	})
}

func TestAMachineThatTellsOfNoCallsStaysLinked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, end := withCalls(t, nil)
		defer end()
		w := s.Watch()
		defer w.Stop()
		settle(time.Minute)
		if st := s.States(); !st[0].Linked || len(w.Calls()) != 0 {
			t.Errorf("it is %+v", st)
		}
	})
}

func TestPicturesAreKeptUpToASize(t *testing.T) {
	var a album
	for i := range 10 {
		a.put(string(rune('a'+i)), make([]byte, 4<<20))
	}
	if _, ok := a.get("a"); ok || a.bytes > keptPictures || len(a.list) != 4 {
		t.Errorf("%d pictures of %d bytes are kept", len(a.list), a.bytes)
	}
}
