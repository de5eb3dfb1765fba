package ask

import (
	"bufio"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func remote(t *testing.T, c *Client, r Request) *RemoteCall {
	t.Helper()
	call, err := c.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func finished(t *testing.T, c *RemoteCall) Reply {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(testwait.Patience):
		t.Fatal("no reply")
	}
	r, err := c.Reply()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestClientAsks(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	c := NewClient(ClientOptions{Path: d.l.Path()})
	req := Request{Questions: mustParse(t, `[
		{"id":"a","question":"A?","options":["x","Other","y"],"recommended":"Other","description":"why\nnot"},
		{"id":"b","question":"B?","multi":true,"options":["x","y","z"],"recommended":[0,2],"minSelect":0,"maxSelect":2,"required":false},
		{"id":"c","question":"C?","kind":"confirm","allowOther":false,"recommended":1}]`), Title: "T"}
	call := remote(t, c, req)
	it := d.pending(1).Items[0]
	if !reflect.DeepEqual(it.Request.Questions, req.Questions) {
		t.Errorf("questions changed on the way:\n got %+v\nwant %+v", it.Request.Questions, req.Questions)
	}
	err := d.q.Answer(it.ID, []Result{{ID: "a", SelectedOptions: []string{"y"}, Note: "n"}, {ID: "b", Skipped: true}, {ID: "c", Clarify: "what?"}})
	if err != nil {
		t.Fatal(err)
	}
	r := finished(t, call)
	if r.Status != Partial || r.Results[0].Notes["y"] != "n" || !r.Results[1].Skipped || r.Results[2].Clarify != "what?" {
		t.Errorf("got %+v", r)
	}
	call.Delivered(Delivered)
	d.until("confirmed", func(s *Snapshot) bool { return s.History[0].Delivery == Delivered })
}

// A program that ends after Close has acknowledged what it was told.
func TestAClientThatClosesHasToldTheDeckOfItsReply(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	for i := range 50 {
		c := NewClient(ClientOptions{Path: d.l.Path()})
		call := remote(t, c, Request{Questions: mustParse(t, twoWays)})
		_ = d.q.Answer(d.pending(1).Items[0].ID, []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}})
		finished(t, call)
		call.Delivered(Delivered)
		c.Close()
		select {
		case <-call.over:
		default:
			t.Fatalf("the %d. client closed before it told the deck", i+1)
		}
		d.until("confirmed", func(s *Snapshot) bool { return len(s.History) == i+1 && s.History[0].Delivery == Delivered })
	}
}

// An asker that leaves while the deck goes away is told of an end, too.
func TestClientLeavesADeckThatGoes(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	theirs.Close()
	r := newRemoteCall(NewClient(ClientOptions{}), Request{})
	r.Leave("changed my mind")
	r.run(ours)
	select {
	case <-r.Done():
	default:
		t.Fatal("the call has no end")
	}
	if _, err := r.Reply(); !errors.Is(err, ErrWithdrawn) {
		t.Errorf("it ended with %v", err)
	}
}

func TestClientOutcomes(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	c := NewClient(ClientOptions{Path: d.l.Path()})
	call := remote(t, c, Request{Questions: mustParse(t, twoWays)})
	_ = d.q.Decline(d.pending(1).Items[0].ID, "busy")
	if r := finished(t, call); r.Status != Declined || r.Reason != "busy" {
		t.Errorf("declined: %+v", r)
	}
	gone := remote(t, c, Request{Questions: mustParse(t, twoWays)})
	d.pending(1)
	gone.Leave("changed my mind")
	s := d.until("withdrawn", func(s *Snapshot) bool { return s.Items[0].Absent == Gone })
	if s.Items[0].Why != "changed my mind" {
		t.Errorf("why: %q", s.Items[0].Why)
	}
}

func TestWithoutADeckTheQuestionIsUnavailable(t *testing.T) {
	c := NewClient(ClientOptions{Path: filepath.Join(shortDir(t), "none.sock"), Wait: -1})
	if _, err := c.Open(Request{Questions: mustParse(t, twoWays)}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestRestartedDeckGetsTheRequestAgain(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	opt := Options{StateFile: filepath.Join(dir, "state.json"), HistoryFile: filepath.Join(dir, "history.jsonl")}
	lopt := ListenOptions{Path: filepath.Join(dir, "ask.sock")}
	d := newDeck(t, opt, lopt)
	c := NewClient(ClientOptions{Path: lopt.Path})
	call := remote(t, c, Request{Questions: mustParse(t, `[{"question":"A?","options":["x","y"]},{"question":"B?"}]`), From: From{Client: "claude"}})
	it := d.pending(1).Items[0]
	dr := it.Draft
	dr.Tab, dr.Field, dr.Option, dr.Caret = 0, NoteField, 1, 3
	dr.Answers[0].Cursor, dr.Answers[0].Notes = 1, map[int]string{1: "use the"}
	d.q.SetDraft(it.ID, dr)
	d.stop()

	d = newDeck(t, opt, lopt)
	s := d.until("attached again", func(s *Snapshot) bool { return len(s.Items) == 1 && s.Items[0].Absent == Present })
	if !reflect.DeepEqual(s.Items[0].Draft, dr) || s.Items[0].ID != it.ID {
		t.Errorf("draft\n got %+v\nwant %+v", s.Items[0].Draft, dr)
	}
	_ = d.q.Answer(it.ID, []Result{{ID: "q1", SelectedOptions: []string{"x"}}, {ID: "q2", CustomInput: "z"}})
	if r := finished(t, call); r.Results[1].CustomInput != "z" {
		t.Errorf("got %+v", r)
	}
}

func TestClientResumesWhatAnotherAsked(t *testing.T) {
	t.Parallel()
	d := newDeck(t, Options{Hold: -1}, ListenOptions{})
	first := NewClient(ClientOptions{Path: d.l.Path()})
	call := remote(t, first, Request{Questions: mustParse(t, twoWays), ResumeKey: "k", Owner: "me"})
	id := d.pending(1).Items[0].ID
	call.HandOver()
	first.Close()
	d.until("left", func(s *Snapshot) bool { return s.Items[0].Absent == Gone })

	second := NewClient(ClientOptions{Path: d.l.Path()})
	stranger, _ := second.Resume("k", "somebody")
	<-stranger.Done()
	_, err := stranger.Reply()
	if refused := new(Error); !errors.As(err, &refused) || refused.Code != "unknown" {
		t.Errorf("a stranger got %v", err)
	}
	again, err := second.Resume("k", "me")
	if err != nil {
		t.Fatal(err)
	}
	d.until("back", func(s *Snapshot) bool { return s.Items[0].Absent == Present })
	_ = d.q.Answer(id, []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}})
	if r := finished(t, again); r.Results[0].SelectedOptions[0] != "OAuth" {
		t.Errorf("got %+v", r)
	}
}

// A request that comes to the deck another way than it came first is there all the
// time.
func TestARequestThatMovesIsNeverShownAsLeft(t *testing.T) {
	d := newDeck(t, Options{Hold: -1}, ListenOptions{})
	c := NewClient(ClientOptions{Path: d.l.Path()})
	req := Request{Questions: mustParse(t, twoWays), ResumeKey: "k", Owner: "me", From: From{Client: "claude"}}
	call := remote(t, c, req)
	id := d.pending(1).Items[0].ID
	c.Move()
	call.Leave("the agent stopped waiting")
	time.Sleep(100 * time.Millisecond) // nothing tells that the deck has not been told that the call left
	if it := d.q.Pending().Items[0]; it.Absent != Present {
		t.Errorf("shown as %q (%s) before it came", it.Absent, it.Why)
	}
	again, err := d.q.Open(req)
	if err != nil {
		t.Fatal(err)
	}
	if it := d.pending(1).Items[0]; it.ID != id || it.Absent != Present || it.Note != "" {
		t.Errorf("shown as %q with %q", it.Absent, it.Note)
	}
	_ = d.q.Answer(id, []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}})
	<-again.Done()
	if r, err := again.Reply(); err != nil || r.Results[0].SelectedOptions[0] != "OAuth" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// What a client has sent before it moves is read by the deck before its agents go on elsewhere, or the deck
// would take it for the newer call.
func TestAClientHasMovedOnceTheDeckHasItsRequests(t *testing.T) {
	path := filepath.Join(shortDir(t), "ask.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := NewClient(ClientOptions{Path: path})
	call := remote(t, c, Request{Questions: mustParse(t, twoWays), ResumeKey: "k", Owner: "me"})
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewScanner(conn)
	if !in.Scan() {
		t.Fatal("nothing was sent")
	}
	var read atomic.Bool
	left := c.Move()
	call.Leave("the agent stopped waiting")
	go func() { // a deck that is busy
		for in.Scan() {
			if strings.Contains(in.Text(), `"handover"`) {
				read.Store(true)
				_, _ = conn.Write([]byte(`{"type":"status","id":"ask","state":"waiting"}` + "\n")) // the client may have gone, which is the fault
			}
		}
	}()
	left()
	if !read.Load() {
		t.Error("it has moved before the deck has read what it has sent")
	}
}

// A request that was answered with its id waits in the deck for whoever comes
// with the id, or with the same question.
func TestWhatNoCallWaitsForIsLetGoWhenTheAgentMoves(t *testing.T) {
	d := newDeck(t, Options{Hold: -1}, ListenOptions{})
	c := NewClient(ClientOptions{Path: d.l.Path()})
	req := Request{Questions: mustParse(t, twoWays), ResumeKey: "k", Owner: "me", From: From{Client: "claude"}}
	call := remote(t, c, req)
	req.Peer = d.pending(1).Items[0].Request.Peer
	testwait.Until(t, "the deck is reached", func() bool { return call.Unreached().IsZero() })
	call.HandOver()
	c.Move()()
	d.until("handed over", func(s *Snapshot) bool { return s.Items[0].Absent == HandedOver })
	req.ResumeKey, req.Peer.Key = "k2", "a connection"
	if _, err := d.q.Open(req); err != nil {
		t.Fatal(err)
	}
	if s := d.pending(1); s.Items[0].Absent != Present {
		t.Errorf("asked again, it is shown as %q", s.Items[0].Absent)
	}
	if _, err := d.q.Resume("k", "me", Peer{}); err != nil {
		t.Errorf("by its first id: %v", err)
	}
}

func TestAnAgentThatAsksAnewWhileNoDeckIsOpenHasOneRequest(t *testing.T) {
	path := filepath.Join(shortDir(t), "ask.sock")
	c := NewClient(ClientOptions{Path: path, Wait: time.Minute})
	for _, key := range []string{"k1", "k2", "k3"} {
		remote(t, c, Request{Questions: mustParse(t, twoWays), ResumeKey: key, Owner: "me"}).HandOver()
	}
	other := remote(t, c, Request{Questions: mustParse(t, twoWays), ResumeKey: "k4", Owner: "another"})
	d := newDeck(t, Options{Hold: -1}, ListenOptions{Path: path})
	s := d.pending(2)
	time.Sleep(100 * time.Millisecond) // nothing tells that a request will not come
	if n := len(d.q.Pending().Items); n != 2 {
		t.Errorf("%d requests, want one of each agent: %+v", n, s.Items)
	}
	other.Leave("")
}

func TestClientWaitsForADeckThatComesLate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(shortDir(t), "ask.sock")
	c := NewClient(ClientOptions{Path: path, Wait: time.Minute})
	call := remote(t, c, Request{Questions: mustParse(t, twoWays)})
	d := newDeck(t, Options{Hold: -1}, ListenOptions{Path: path})
	id := d.pending(1).Items[0].ID
	_ = d.q.Answer(id, []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}})
	finished(t, call)
}
