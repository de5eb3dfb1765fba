package ask

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestHundredPendingFromTwentyPeersLeakNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	q := New(Options{Hold: -1})
	l := &Listener{q: q}
	type client struct {
		net.Conn
		lines *bufio.Reader
	}
	var clients []client
	for i := range 100 {
		ours, theirs := net.Pipe()
		c := &conn{Conn: theirs, l: l, in: &lineReader{r: theirs}, peer: Peer{PID: 1000 + i%20, Program: "agent"}}
		go c.serve()
		if _, err := fmt.Fprintf(ours, `{"id":%d,"questions":[{"id":"a","question":"Number %d?"}]}`+"\n", i, i); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client{ours, bufio.NewReader(ours)})
	}
	testwait.For(t, "a hundred wait", func() int { return q.Pending().Waiting }, func(n int) bool { return n == 100 })
	s := q.Pending()
	for i, it := range s.Items {
		if i%3 == 0 {
			continue // these hang up unanswered
		}
		want := it.Request.Questions[0].Question
		go func() { _ = q.Answer(it.ID, []Result{{ID: "a", CustomInput: want}}) }()
	}
	for i, c := range clients {
		answered := false
		for j, it := range s.Items {
			answered = answered || j%3 != 0 && it.Request.Questions[0].Question == fmt.Sprintf("Number %d?", i)
		}
		if answered { // to the connection of its own request
			line, err := c.lines.ReadString('\n')
			if err != nil || !strings.Contains(line, fmt.Sprintf(`"customInput":"Number %d?"`, i)) {
				t.Fatalf("client %d got %q, %v", i, line, err)
			}
		}
		c.Close()
	}
	testwait.For(t, "none waits", func() int { return q.Pending().Waiting }, func(n int) bool { return n == 0 })
	q.Close()
	if !testwait.Holds(func() bool { return runtime.NumGoroutine() <= before }) {
		buf := make([]byte, 64<<10)
		t.Errorf("%d goroutines before, now:\n%s", before, buf[:runtime.Stack(buf, true)])
	}
}

func TestStuckClientDelaysNobody(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	d.dial(d.l.Path())     // says nothing
	d.send(`{"id":1,"que`) // stops in the middle
	d.send(strings.Repeat(plainAsk, 3))
	d.pending(1)
	p := d.send(`{"type":"ping"}` + "\n")
	if got := p.line(); !strings.Contains(got, `"pong"`) {
		t.Errorf("got %s", got)
	}
}

func TestEachRequestIsItsOwn(t *testing.T) {
	d := newDeck(t, Options{Hold: -1}, ListenOptions{})
	first := d.send(plainAsk)
	d.pending(1)
	second := d.send(strings.Replace(plainAsk, "6f1c", "77", 1))
	s := d.pending(2)
	if s.Items[0].Request.Asker() != s.Items[1].Request.Asker() {
		t.Error("one asker is taken for two")
	}
	_ = d.q.Answer(s.Items[1].ID, []Result{{ID: "auth", SelectedOptions: []string{"API key"}}})
	if got := second.line(); !strings.Contains(got, `"id":"77"`) || !strings.Contains(got, "API key") {
		t.Errorf("second: %s", got)
	}
	_ = d.q.Answer(s.Items[0].ID, []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}})
	if got := first.line(); !strings.Contains(got, `"id":"6f1c"`) || !strings.Contains(got, "OAuth") {
		t.Errorf("first: %s", got)
	}
}

func TestPeerIsWhatTheSystemSays(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	p := d.dial(d.l.Path())
	_, _ = io.WriteString(p, `{"id":1,"from":{"client":"claude\u001b[31m","cwd":"/claimed"},"questions":[{"question":"A?"}]}`+"\n")
	r := d.pending(1).Items[0].Request
	if runtime.GOOS == "linux" && (r.Peer.PID == 0 || r.Cwd() == "/claimed") {
		t.Errorf("peer %+v", r.Peer)
	}
	if r.From.Client != "claude" {
		t.Errorf("claims are not cleaned: %q", r.From.Client)
	}
}

func TestDraftsGoAfterAWeek(t *testing.T) {
	opt := storeOptions(t)
	b := encode(savedState{Version: 1, Drafts: []savedDraft{
		{Print: "old", At: time.Now().Add(-8 * 24 * time.Hour)}, {Print: "new", At: time.Now()},
	}})
	if err := replaceFile(opt.StateFile, b); err != nil {
		t.Fatal(err)
	}
	q := New(opt)
	defer q.Close()
	if len(q.drafts) != 1 || q.drafts[0].Print != "new" {
		t.Errorf("%+v", q.drafts)
	}
}

func TestPlainClientsDraftIsFoundByTheQuestions(t *testing.T) {
	q := New(Options{Hold: -1})
	defer q.Close()
	open(t, q, request(t)).Leave("hung up")
	id := choose(t, q, 1)
	if err := q.Dismiss(id); err != nil {
		t.Fatal(err)
	}
	open(t, q, request(t))
	if it := q.Pending().Items[0]; it.Note == "" || it.Draft.Answers[0].Chosen[0] != 1 {
		t.Errorf("%+v", it)
	}
}

func TestFolderMustBeTheUsersOwn(t *testing.T) {
	dir := shortDir(t)
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Fatal(err)
	}
	q := New(Options{})
	defer q.Close()
	if _, err := Listen(q, ListenOptions{Path: filepath.Join(link, "ask.sock")}); err == nil || !strings.Contains(err.Error(), link) {
		t.Errorf("a link was taken for a folder: %v", err)
	}
}
