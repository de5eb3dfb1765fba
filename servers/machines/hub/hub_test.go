package hub

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// asServer has the test program be the stock server, so that it can be killed.
const asServer = "MCPDECK_TEST_AS_NATS_SERVER"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asHosts) != "":
		serveHosts()
		os.Exit(0)
	case os.Getenv(asServer) == "":
		os.Exit(m.Run())
	}
	o, err := server.ProcessConfigFile("hub.conf")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s, err := server.NewServer(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.ConfigureLogger()
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the test
	os.Exit(0)
}

// world is a hub with an owner's deck, and whatever else a test adds.
type world struct {
	t     *testing.T
	owned *Owned

	mu     sync.Mutex
	server *exec.Cmd
	in     io.Closer
}

func newWorld(t *testing.T, hosts ...string) (w *world, joined map[string]Membership) {
	t.Helper()
	w = &world{t: t}
	at := freeAddress(t)
	var err error
	if w.owned, err = Init(filepath.Join(t.TempDir(), "hub"), at, at, "laptop"); err != nil {
		t.Fatal(err)
	}
	joined = map[string]Membership{}
	for _, name := range hosts {
		joined[name] = w.add(name, Host)
	}
	w.start()
	t.Cleanup(w.kill)
	return w, joined
}

// freeAddress is one that stays free while the hub is down: systems give ports from 32768 on to sockets that name none,
// such as those of the other tests.
func freeAddress(t *testing.T) string {
	t.Helper()
	const first, end = 20_000, 32_768
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(end-first))) //nolint:gosec // any will do
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no address is free")
	return ""
}

func (w *world) add(name string, r Role) Membership {
	w.t.Helper()
	m, err := w.owned.Add(name, r)
	if err != nil {
		w.t.Fatal(err)
	}
	if m, err = ReadLine(m.Line()); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// start starts the server.
func (w *world) start() {
	own, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := exec.Command(own)
	c.Dir, c.Env, c.Stderr = w.owned.Server(), append(os.Environ(), asServer+"=1"), os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b, _ := os.ReadFile(filepath.Join(w.owned.Server(), "hub.log"))
		w.t.Fatalf("the hub has not started: %v\n%s", err, b)
	}
	w.server, w.in = c, in
}

// kill ends the server as a power cut of the program would.
func (w *world) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server != nil {
		_ = w.server.Process.Kill()
		_ = w.server.Wait()
		w.in.Close()
		w.server = nil
	}
}

// machine is a host with its queue, or a deck with its own.
type machine struct {
	t     *testing.T
	q     *ask.Queue
	trust book.Book
	dir   string

	learning sync.Mutex

	host *HostSide
	deck *DeckSide
	set  *mirror.Set
	stop context.CancelFunc
	all  sync.WaitGroup
}

// keys are the decks in a book, as a host knows them.
type keys struct{ book.Book }

func (k keys) Find(key ed25519.PublicKey) (wire.Deck, bool) {
	all, _ := k.Decks()
	i := slices.IndexFunc(all, func(d book.Deck) bool { return d.Key.Equal(key) })
	if i < 0 {
		return wire.Deck{}, false
	}
	return wire.Deck{Name: all[i].Name, Fingerprint: wire.Fingerprint(key)}, true
}

func (k keys) All() []wire.Deck { return nil }

func (m *machine) end() {
	m.stop()
	m.all.Wait()
	m.q.Close()
}

// newHost begins a host which has learned of the deck that has made the hub.
func newHost(t *testing.T, s Membership, dir string, with ...func(*host.Options)) *machine {
	t.Helper()
	m := &machine{t: t, dir: dir, q: ask.New(ask.Options{Hold: -1, StateFile: filepath.Join(dir, "state.json")}), trust: book.Book{Dir: dir}}
	if _, err := m.trust.Learn(book.Deck{Name: s.Made, Key: s.Owner}); err != nil {
		t.Fatal(err)
	}
	serves := host.Options{
		Queue: m.q, Sessions: &sessions.Roster{}, Decks: keys{m.trust}, Version: "1",
	}
	for _, set := range with {
		set(&serves)
	}
	var err error
	m.host, err = NewHost(HostOptions{
		Membership: s, Book: Book{Dir: dir}, Host: serves,
		Learn: func(_ context.Context, d *Member) {
			m.learning.Lock()
			defer m.learning.Unlock()
			_, _ = m.trust.Learn(book.Deck{Name: d.Name, Key: d.Sign})
		},
		Forget: func(d *Member) { _, _ = m.trust.Forget(func(o book.Deck) bool { return o.Key.Equal(d.Sign) }) },
	})
	if err != nil {
		t.Fatal(err)
	}
	m.run(m.host.Run)
	return m
}

// newDeck begins a deck.
func (w *world) newDeck(s Membership, dir string) *machine {
	w.t.Helper()
	m := &machine{t: w.t, dir: dir, q: ask.New(ask.Options{Hold: -1, StateFile: filepath.Join(dir, "state.json")}), set: &mirror.Set{Local: &sessions.Roster{}}}
	ctx, stop := context.WithCancel(context.Background())
	var err error
	m.deck, err = NewDeck(DeckOptions{
		Membership: s, Book: Book{Dir: dir}, Owned: func() (*Owned, error) { return Load(w.owned.Dir) },
		Changed: func() { m.follow(ctx) }, Woke: m.set.Tell,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	m.run(m.deck.Run)
	end := m.stop
	m.stop = func() { stop(); end() }
	m.follow(ctx)
	return m
}

func (m *machine) run(f func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	m.all.Go(func() { f(ctx) })
}

func (m *machine) follow(ctx context.Context) {
	var all []mirror.Options
	for _, h := range m.deck.Hosts() {
		all = append(all, mirror.Options{
			Name: h.Name, Host: h.ID(), Key: m.deck.Key(), Dial: m.deck.Dial(h), Awake: m.deck.Awake(h), Queue: m.q, Version: "1",
		})
	}
	m.set.Follow(ctx, all)
}

func question(text string) ask.Request {
	return ask.Request{
		Questions: []ask.Question{{ID: "db", Question: text, Kind: ask.Choice, Options: []ask.Option{{Label: "SQLite"}, {Label: "Postgres"}}, AllowOther: true, Required: true}},
		From:      ask.From{Client: "claude"}, Peer: ask.Peer{PID: 7, Agent: 7, Program: "claude", Cwd: "/src/shop", Key: "conn 1"}, ResumeKey: "secret of " + text, Owner: "me",
	}
}

func (m *machine) ask(text string) *ask.Call {
	m.t.Helper()
	call, err := m.q.Open(question(text))
	if err != nil {
		m.t.Fatal(err)
	}
	return call
}

// shown returns the item with a text in this queue.
func (m *machine) shown(text string) (it ask.Item, is bool) {
	for _, it := range m.q.Pending().Items {
		if it.Request.Questions[0].Question == text && it.Absent != ask.Gone {
			return it, true
		}
	}
	return it, false
}

func chosen(option string) []ask.Result {
	return []ask.Result{{ID: "db", SelectedOptions: []string{option}}}
}

func (m *machine) answers(text, option string) {
	m.t.Helper()
	testwait.Until(m.t, text+" is shown", func() bool { _, is := m.shown(text); return is })
	it, _ := m.shown(text)
	if err := m.q.Answer(it.ID, chosen(option)); err != nil {
		m.t.Fatal(err)
	}
}

func got(t *testing.T, call *ask.Call) string {
	t.Helper()
	select {
	case <-call.Done():
	case <-time.After(testwait.Patience):
		t.Fatal("no answer")
	}
	r, err := call.Reply()
	if err != nil || len(r.Results) != 1 {
		t.Fatalf("the agent got %v, %v", r, err)
	}
	call.Delivered(ask.Delivered)
	return r.Results[0].SelectedOptions[0]
}

func TestAQuestionOfAHostIsAnsweredOverTheHub(t *testing.T) {
	w, joined := newWorld(t, "build1")
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	defer deck.end()
	h := newHost(t, joined["build1"], t.TempDir())
	defer h.end()
	call := h.ask("Which database?")
	deck.answers("Which database?", "Postgres")
	if answer := got(t, call); answer != "Postgres" {
		t.Errorf("the agent got %q", answer)
	}
	testwait.For(t, "the deck to say that it was answered", func() string {
		return fmt.Sprintf("here %q, there %q", deck.delivery("Which database?"), h.delivery("Which database?"))
	}, func(string) bool { return deck.delivery("Which database?") == ask.Delivered })
}

// delivery is what the deck says became of an item.
func (m *machine) delivery(text string) ask.Delivery {
	for _, r := range m.q.Pending().History {
		if r.Request.Questions[0].Question == text {
			return r.Delivery
		}
	}
	return ""
}

// TestNothingWaitsForAHubThatSaysNothing has something listen where the hub should be, which says nothing: a deck would
// not start before it has given up.
func TestNothingWaitsForAHubThatSaysNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o, err := Init(filepath.Join(t.TempDir(), "hub"), l.Addr().String(), l.Addr().String(), "laptop")
	if err != nil {
		t.Fatal(err)
	}
	m, err := o.Add("build1", Host)
	if err != nil {
		t.Fatal(err)
	}
	deck, err := NewDeck(DeckOptions{Membership: o.Owner(), Book: Book{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer deck.close()
	h, err := NewHost(HostOptions{Membership: m, Book: Book{Dir: t.TempDir()}, Host: host.Options{Queue: ask.New(ask.Options{}), Decks: keys{book.Book{Dir: t.TempDir()}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	for _, s := range []State{deck.State(), h.State()} {
		if s.Linked || !strings.Contains(s.Why, "not connected yet") { // else it says how the hub has failed
			t.Errorf("the %s is linked: %v, %q", s.Role, s.Linked, s.Why)
		}
	}
}

func TestAConnectionThatComesWhenAHostWasGivenUpIsALinkOrAnError(t *testing.T) {
	for range 100 { // which of two that are due at once comes first is by chance
		synctest.Test(t, func(t *testing.T) {
			c := newClient()
			d := &DeckSide{member: &member{client: c}, hosts: map[string]*farHost{}}
			time.AfterFunc(20*time.Second, func() { c.set(&nats.Conn{}, nil) })
			link, err := d.Dial(Member{Name: "build1"})(t.Context())
			if (link == nil) != (err != nil) {
				t.Fatalf("it is dialled with %v, %v", link, err)
			}
			if link != nil {
				link.Close()
			}
		})
	}
}
