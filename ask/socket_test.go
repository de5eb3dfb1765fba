package ask

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/socket"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// deck is a queue with its socket.
type deck struct {
	t *testing.T
	q *Queue
	l *Listener
}

func newDeck(t *testing.T, opt Options, lopt ListenOptions) *deck {
	t.Helper()
	if lopt.Path == "" {
		dir, err := os.MkdirTemp("", "ask")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		lopt.Path = filepath.Join(dir, "ask.sock")
	}
	q := New(opt)
	l, err := Listen(q, lopt)
	if err != nil {
		t.Fatal(err)
	}
	d := &deck{t: t, q: q, l: l}
	t.Cleanup(d.stop)
	return d
}

func (d *deck) stop() {
	d.q.Close()
	d.l.Close()
}

type peer struct {
	*net.UnixConn
	t *testing.T
	r *bufio.Reader
}

func (d *deck) dial(path string) *peer {
	d.t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	return &peer{UnixConn: c, t: d.t, r: bufio.NewReader(c)}
}

// send writes s to a new connection.
func (d *deck) send(s string) *peer {
	d.t.Helper()
	p := d.dial(d.l.Path())
	// A refusal may close the connection before everything is written.
	_, _ = io.WriteString(p, s)
	return p
}

func (p *peer) line() string {
	p.t.Helper()
	_ = p.SetReadDeadline(time.Now().Add(testwait.Patience))
	s, err := p.r.ReadString('\n')
	if err != nil {
		p.t.Fatalf("read a line: %v (got %q)", err, s)
	}
	return strings.TrimSuffix(s, "\n")
}

// until returns what is open once it satisfies ok.
func (d *deck) until(what string, ok func(*Snapshot) bool) *Snapshot {
	d.t.Helper()
	return testwait.For(d.t, what, d.q.Pending, ok)
}

func (d *deck) pending(n int) *Snapshot {
	d.t.Helper()
	return d.until(fmt.Sprintf("%d requests", n), func(s *Snapshot) bool { return len(s.Items) == n })
}

const plainAsk = `{"id":"6f1c","type":"ask","questions":[{"id":"auth","question":"Auth method?","options":[{"label":"OAuth"},{"label":"API key"}],"multi":false,"recommended":0}]}` + "\n"

func TestReplies(t *testing.T) {
	noted := Result{ID: "auth", SelectedOptions: []string{"API key"}, Note: "rotate <it>"}
	const v1 = `{"v":1,"features":["notes","clarify","skip"],"id":7,"questions":[{"id":"auth","question":"A?","options":["OAuth","API key"]}]}` + "\n"
	const bare = `{"v":1,"id":7,"questions":[{"id":"auth","question":"A?","options":["OAuth","API key"]}]}` + "\n"
	const multi = `{"id":1,"questions":[{"id":"a","question":"A?","multi":true,"options":["JWT","Session","C"]}]}` + "\n"
	tests := []struct {
		name, in string
		answer   Result
		want     string
	}{
		{"plain", plainAsk, Result{ID: "auth", SelectedOptions: []string{"OAuth"}}, `{"id":"6f1c","type":"result","results":[{"id":"auth","selectedOptions":["OAuth"]}]}`},
		{"unchanged labels", `{"id":1,"questions":[{"id":"a","question":"A?","options":[" Safe (Recommended) ","x"],"recommended":0}]}` + "\n", Result{ID: "a", SelectedOptions: []string{" Safe (Recommended) "}}, `{"id":1,"type":"result","results":[{"id":"a","selectedOptions":[" Safe (Recommended) "]}]}`},
		{"option order", multi, Result{ID: "a", SelectedOptions: []string{"C", "JWT"}}, `{"id":1,"type":"result","results":[{"id":"a","selectedOptions":["JWT","C"]}]}`},
		{"single free text", plainAsk, Result{ID: "auth", CustomInput: " custom auth\nflow "}, `{"id":"6f1c","type":"result","results":[{"id":"auth","selectedOptions":[],"customInput":"custom auth\nflow"}]}`},
		{"multi both", multi, Result{ID: "a", SelectedOptions: []string{"JWT"}, CustomInput: "organization-sso"}, `{"id":1,"type":"result","results":[{"id":"a","selectedOptions":["JWT"],"customInput":"organization-sso"}]}`},
		{"note, plain", plainAsk, noted, `{"id":"6f1c","type":"result","results":[{"id":"auth","selectedOptions":["API key - rotate <it>"]}]}`},
		{"note on one of several", multi, Result{ID: "a", SelectedOptions: []string{"JWT", "Session"}, Notes: map[string]string{"Session": "stateful"}}, `{"id":1,"type":"result","results":[{"id":"a","selectedOptions":["JWT","Session - stateful"]}]}`},
		{"note, feature notes", v1, noted, `{"id":7,"type":"result","results":[{"id":"auth","selectedOptions":["API key"],"notes":{"API key":"rotate <it>"},"note":"rotate <it>"}],"v":1,"status":"answered"}`},
		{"skip", v1, Result{ID: "auth", Skipped: true}, `{"id":7,"type":"result","results":[{"id":"auth","selectedOptions":[],"skipped":true}],"v":1,"status":"partial"}`},
		{"skip, plain", plainAsk, Result{ID: "auth", Skipped: true}, `{"id":"6f1c","type":"result","results":[{"id":"auth","selectedOptions":[]}]}`},
		{"clarify", v1, Result{ID: "auth", Clarify: "which?"}, `{"id":7,"type":"result","results":[{"id":"auth","selectedOptions":[],"clarify":"which?"}],"v":1,"status":"partial"}`},
		{"clarify without the feature", bare, Result{ID: "auth", Clarify: "which?"}, `{"id":7,"type":"result","results":[{"id":"auth","selectedOptions":[],"customInput":"which?"}],"v":1,"status":"partial"}`},
		{"id is a number", strings.Replace(plainAsk, `"6f1c"`, `7.50`, 1), Result{ID: "auth", SelectedOptions: []string{"OAuth"}}, `{"id":7.50,"type":"result","results":[{"id":"auth","selectedOptions":["OAuth"]}]}`},
		{"id with escapes", strings.Replace(plainAsk, `"6f1c"`, `"\u0041\/"`, 1), Result{ID: "auth", SelectedOptions: []string{"OAuth"}}, `{"id":"\u0041\/","type":"result","results":[{"id":"auth","selectedOptions":["OAuth"]}]}`},
		{"CRLF, BOM, blank lines", "\xef\xbb\xbf\n\r\n\n" + strings.TrimSpace(plainAsk) + "\r\n", Result{ID: "auth", SelectedOptions: []string{"OAuth"}}, `{"id":"6f1c","type":"result","results":[{"id":"auth","selectedOptions":["OAuth"]}]}`},
		{"later lines are dropped", plainAsk + plainAsk + "garbage\n", Result{ID: "auth", SelectedOptions: []string{"OAuth"}}, `{"id":"6f1c","type":"result","results":[{"id":"auth","selectedOptions":["OAuth"]}]}`},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDeck(t, Options{}, ListenOptions{})
			p := d.send(tt.in)
			id := d.pending(1).Items[0].ID
			if err := d.q.Answer(id, []Result{tt.answer}); err != nil {
				t.Fatal(err)
			}
			if got := p.line(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if i > 0 { // the first stays and says nothing, for which the deck waits
				_, _ = io.WriteString(p, `{"type":"ack"}`+"\n") // it is still there
			}
			if rest, err := io.ReadAll(p.r); len(rest) > 0 || err != nil {
				t.Errorf("after the reply came %q, %v", rest, err)
			}
			d.until("delivered", func(s *Snapshot) bool {
				return len(s.History) == 1 && s.History[0].Delivery == Delivered && s.Parked == 0
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	big := `{"questions":"` + strings.Repeat("x", maxLine) + `"}` + "\n"
	tests := []struct {
		name, in string
		half     bool
		want     string
	}{
		{"unsupported type", `{"v":1,"id":1,"type":"dance"}` + "\n", false, `{"id":1,"type":"error","message":"unsupported request type \"dance\"","v":1,"code":"unsupported"}`},
		{"unsupported type, plain", `{"id":1,"type":"dance"}` + "\n", false, `{"id":1,"type":"error","message":"unsupported request type \"dance\""}`},
		{"too large", big, false, `{"id":null,"type":"error","message":"request too large (limit 1048576 bytes)","v":1,"code":"too_large"}`},
		{"too large without an end", big[:maxLine+2], false, `{"id":null,"type":"error","message":"request too large (limit 1048576 bytes)","v":1,"code":"too_large"}`},
		{"half a request", `{"id":1,`, true, `{"id":null,"type":"error","message":"invalid request: not a complete JSON object","v":1,"code":"invalid"}`},
		{"not UTF-8", "{\"id\":\"\xff\"}\n", false, `{"id":null,"type":"error","message":"invalid request: not valid UTF-8","v":1,"code":"invalid"}`},
		{"id is an object", `{"id":{},"questions":[]}` + "\n", false, `{"id":null,"type":"error","message":"invalid request: id is neither a string nor a number","v":1,"code":"invalid"}`},
		{"not JSON", "hello\n", false, `{"id":null,"type":"error","message":"invalid request: not a JSON object","v":1,"code":"invalid"}`},
		{"no questions", `{"id":"a","questions":[]}` + "\n", false, `{"id":"a","type":"error","message":"invalid request: questions must not be empty"}`},
		{"65 blank lines", strings.Repeat("\n", 65) + plainAsk, false, `{"id":null,"type":"error","message":"invalid request: not a complete JSON object","v":1,"code":"invalid"}`},
		{"ping", `{"type":"ping","id":1}` + "\n", false, `{"type":"pong","v":1,"app":"mcpdeck","version":"1.2","pending":0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDeck(t, Options{}, ListenOptions{Version: "1.2"})
			p := d.send(tt.in)
			if tt.half {
				_ = p.CloseWrite()
			}
			if got := p.line(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestHalfClosedRequestIsServed(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{"a line": plainAsk, "no line end": strings.TrimSpace(plainAsk)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeck(t, Options{}, ListenOptions{})
			p := d.send(in)
			_ = p.CloseWrite()
			d.pending(1)
			time.Sleep(2 * hangupEvery) // nothing tells that the poll has looked
			s := d.q.Pending()
			if len(s.Items) != 1 || s.Items[0].Absent != Present {
				t.Fatalf("half-close withdrew the request: %+v", s)
			}
			_ = d.q.Answer(s.Items[0].ID, []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}})
			if got := p.line(); !strings.Contains(got, `["OAuth"]`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestHangUpWithdrawsTheQuestion(t *testing.T) {
	t.Parallel()
	for _, half := range []bool{false, true} {
		t.Run(fmt.Sprint("half closed before: ", half), func(t *testing.T) {
			t.Parallel()
			d := newDeck(t, Options{}, ListenOptions{})
			p := d.send(plainAsk)
			d.pending(1)
			if half {
				_ = p.CloseWrite()
				time.Sleep(50 * time.Millisecond) // nothing tells that the deck has seen the end of its input
			}
			p.Close()
			d.until("withdrawn", func(s *Snapshot) bool { return s.Items[0].Absent == Gone && s.Waiting == 0 })
		})
	}
}

func TestAnswerThatCannotBeWrittenIsParked(t *testing.T) {
	d := newDeck(t, Options{Hold: -1}, ListenOptions{})
	p := d.send(plainAsk)
	d.pending(1)
	// An abortive close and an answer race; either way the answer is kept.
	p.Close()
	it := d.q.Pending().Items[0]
	dr := it.Draft
	dr.Answers[0].Chosen = []int{0}
	d.q.SetDraft(it.ID, dr)
	if err := d.q.Send(it.ID); err != nil {
		t.Fatal(err)
	}
	d.until("parked", func(s *Snapshot) bool { return s.Parked == 1 && len(s.Items) == 0 })
}

func TestEndOfInputWithoutARequest(t *testing.T) {
	t.Run("a probe leaves no trace", func(t *testing.T) {
		d := newDeck(t, Options{}, ListenOptions{})
		p := d.dial(d.l.Path())
		_ = p.CloseWrite()
		if b, _ := io.ReadAll(p); len(b) > 0 {
			t.Errorf("got %q", b)
		}
	})
	t.Run("no request", func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		q := New(Options{})
		defer q.Close()
		c := &conn{Conn: expired{server}, l: &Listener{q: q}, in: &lineReader{r: expired{server}}}
		go c.serve()
		got, _ := bufio.NewReader(client).ReadString('\n')
		if want := `{"id":null,"type":"error","message":"invalid request: no request received","v":1,"code":"invalid"}` + "\n"; got != want {
			t.Errorf("got %s", got)
		}
	})
}

// expired is a connection whose time for a request is over.
type expired struct{ net.Conn }

func (expired) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestDeckThatEndsTellsItsClients(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	old := d.send(plainAsk)
	newer := d.send(`{"v":1,"features":["resume"],"id":2,"resumeKey":"k","questions":[{"question":"B?"}]}` + "\n")
	d.pending(2)
	d.stop()
	if got, want := old.line(), `{"id":"6f1c","type":"error","message":"shutting down"}`; got != want {
		t.Errorf("plain: got %s", got)
	}
	if got, want := newer.line(), `{"id":2,"type":"error","message":"shutting down","v":1,"code":"shutdown","retry":true}`; got != want {
		t.Errorf("resume: got %s", got)
	}
	if _, err := os.Lstat(d.l.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestClientsThatAskForTheirPlaceAreTold(t *testing.T) {
	t.Parallel()
	d := newDeck(t, Options{}, ListenOptions{})
	d.send(plainAsk)
	d.pending(1)
	p := d.send(`{"v":1,"features":["status"],"id":2,"questions":[{"question":"B?"}]}` + "\n")
	if got, want := p.line(), `{"id":2,"type":"status","state":"queued","position":2,"pending":2}`; got != want {
		t.Fatalf("got %s", got)
	}
	s := d.pending(2)
	d.q.Show(s.Items[1].ID)
	if got, want := p.line(), `{"id":2,"type":"status","state":"shown","position":2,"pending":2}`; got != want {
		t.Fatalf("got %s", got)
	}
}

func TestDeliveryIsWhatTheClientConfirms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(p *peer)
		want Delivery
	}{
		{"confirmed", func(p *peer) { _, _ = io.WriteString(p, `{"type":"ack","id":2}`+"\n") }, Delivered},
		{"hung up", func(p *peer) { p.Close() }, NotTaken},
		{"silent", func(*peer) {}, NotTaken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDeck(t, Options{Hold: -1}, ListenOptions{})
			p := d.send(`{"v":1,"features":["ack"],"id":2,"questions":[{"id":"b","question":"B?"}]}` + "\n")
			id := d.pending(1).Items[0].ID
			_ = d.q.Answer(id, []Result{{ID: "b", CustomInput: "x"}})
			p.line()
			tt.do(p)
			d.until(string(tt.want), func(s *Snapshot) bool { return len(s.History) == 1 && s.History[0].Delivery == tt.want })
			if parked := d.q.Pending().Parked; (parked == 1) != (tt.want != Delivered) {
				t.Errorf("got %d parked after %q", parked, tt.want)
			}
		})
	}
}

// The hang-up must not overtake the last word: both are there at once, so only
// many rounds show it.
func TestConfirmationBeforeHangUpCounts(t *testing.T) {
	d := newDeck(t, Options{Hold: -1}, ListenOptions{})
	for range 100 {
		p := d.send(`{"v":1,"features":["ack"],"id":2,"questions":[{"id":"b","question":"B?"}]}` + "\n")
		id := d.pending(1).Items[0].ID
		_ = d.q.Answer(id, []Result{{ID: "b", CustomInput: "x"}})
		p.line()
		_, _ = io.WriteString(p, `{"type":"ack","id":2}`+"\n")
		p.Close()
		last := func(s *Snapshot) Record { return s.History[len(s.History)-1] }
		s := d.until("delivered or not", func(s *Snapshot) bool { return last(s).ID == id && last(s).Delivery != Sent })
		if last(s).Delivery != Delivered {
			t.Fatalf("request %d: %s", id, last(s).Delivery)
		}
	}
}

func TestCancelWithdrawsWithItsReason(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	d.send(plainAsk + `{"type":"cancel","id":"6f1c","reason":"found it"}` + "\n")
	s := d.until("withdrawn", func(s *Snapshot) bool { return len(s.Items) == 1 && s.Items[0].Absent == Gone })
	if s.Items[0].Why != "found it" {
		t.Errorf("why is %q", s.Items[0].Why)
	}
}

func TestSocketAndFolderAreTheUsersAlone(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	info, err := os.Lstat(d.l.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket mode %v, %v", info.Mode(), err)
	}
	dir, err := os.Lstat(filepath.Dir(d.l.Path()))
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v, %v", dir.Mode(), err)
	}
}

func TestListenRefuses(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	q := New(Options{})
	defer q.Close()
	var used *socket.InUseError
	if _, err := Listen(q, ListenOptions{Path: d.l.Path()}); !errors.As(err, &used) {
		t.Errorf("live deck: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(q, ListenOptions{Path: file}); err == nil {
		t.Error("a file was taken for a socket")
	}
	if _, err := Listen(q, ListenOptions{Path: "/" + strings.Repeat("x", 103)}); err == nil || !strings.Contains(err.Error(), "104 bytes") {
		t.Errorf("a path that is too long: got %v, want the limit of 104 bytes", err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ask.sock")
	stale := func(p string) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		l.Close()
	}
	stale(path)
	stale(filepath.Join(dir, "s-00000001.sock"))
	d := newDeck(t, Options{}, ListenOptions{Path: path})
	if _, _, err := NewClient(ClientOptions{Path: path}).Ping(); err != nil {
		t.Errorf("ping: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "s-00000001.sock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a stale session's socket: got %v, want it gone", err)
	}
	d.stop()
}

func TestCase64(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	open(t, q, request(t))
	for _, r := range []Result{{ID: "auth", SelectedOptions: []string{"Telnet"}}, {ID: "nope"}, {ID: "auth", SelectedOptions: []string{"OAuth", "API key"}}, {ID: "auth"}} {
		if err := q.Answer(1, []Result{r}); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte(plainAsk), 3)
	f.Add([]byte("\xef\xbb\xbf\r\n\n{}"), 1)
	f.Add(bytes.Repeat([]byte("\n"), 70), 7)
	f.Fuzz(func(t *testing.T, in []byte, chunk int) {
		l := &lineReader{r: &drip{in, max(chunk%64, 1)}}
		raw, err := l.request()
		if err == nil && len(bytes.TrimSpace(raw)) == 0 {
			t.Fatal("a blank request")
		}
		if err != nil {
			return
		}
		m, err := parseMessage(raw)
		if !json.Valid(m.id) {
			t.Fatalf("id %q", m.id)
		}
		if err == nil {
			_, _ = m.request()
		}
		if out := m.failure(errors.New("x")).bytes(); bytes.Count(out, []byte("\n")) != 1 || !json.Valid(out) {
			t.Fatalf("got %q, want one line of JSON", out)
		}
	})
}

// drip gives a few bytes at a time.
type drip struct {
	b []byte
	n int
}

func (d *drip) Read(p []byte) (int, error) {
	if len(d.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.b[:min(d.n, len(d.b))])
	d.b = d.b[n:]
	return n, nil
}
