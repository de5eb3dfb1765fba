package mirror

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// schedules is how many are played; each is made from its number.
var schedules = flag.Int("schedules", 50, "how many schedules of cuts and kills are played")

// What one schedule is made of.
const (
	chaosHosts  = 3
	chaosAgents = 5 // a host
	chaosAsks   = 4 // an agent, one after the other
	chaosBlows  = 20
)

// chaos is a deck, three other machines with agents, and links that are cut.
type chaos struct {
	t   *testing.T
	r   *rand.Rand
	dir string
	key ed25519.PrivateKey

	here  *ask.Queue
	stop  context.CancelFunc // of the mirrors
	sites []*site
	files int

	mu    sync.Mutex
	given map[string]map[string]bool // by question: the options that the user has chosen
	got   map[string]string          // by question: the answer that the agent has
	blows map[string]int
	over  chan struct{} // closed when no agent waits any more
}

// site is another machine.
type site struct {
	*chaos
	name  string
	trust *trust

	mu    sync.Mutex
	q     *ask.Queue
	host  *host.Host
	ended chan struct{} // closed when its deck is killed
	down  bool
	conns []net.Conn
}

func (c *chaos) file() string {
	c.files++
	return filepath.Join(c.dir, fmt.Sprint("state", c.files, ".json"))
}

// killed returns a queue that knows what another one had on the disk at this moment.
func (c *chaos) killed(q *ask.Queue, state string) (next *ask.Queue, file string) {
	b, err := os.ReadFile(state)
	file = c.file()
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Error(err)
	}
	q.Close() // what it writes now is lost
	return ask.New(ask.Options{Hold: -1, StateFile: file}), file
}

// begin starts the deck of a machine.
func (s *site) begin(q *ask.Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.q, s.ended = q, make(chan struct{})
	s.host = host.New(host.Options{Queue: q, Sessions: &sessions.Roster{}, Decks: s.trust, Version: "1"})
}

// fragile is a stream on which what is written is on its way for a while, and which may end in the
// middle of a frame.
type fragile struct {
	net.Conn
	way chan []byte
}

func (f *fragile) Write(b []byte) (int, error) {
	select {
	case f.way <- bytes.Clone(b):
	default:
		f.Close() // it has ended long ago
	}
	return len(b), nil
}

// carry carries what is written. left is how much comes through.
func (f *fragile) carry(late time.Duration, left int, over <-chan struct{}) {
	defer f.Conn.Close()
	for {
		select {
		case b := <-f.way:
			time.Sleep(late) // of the bubble
			n := min(len(b), left)
			if _, err := f.Conn.Write(b[:n]); err != nil || n < len(b) {
				return
			}
			left -= n
		case <-over:
			return
		}
	}
}

func (s *site) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errors.New("no route to host")
	}
	ours, theirs := net.Pipe()
	h := s.host
	there, back := s.wire(ours), s.wire(theirs)
	go func() {
		_ = h.Serve(context.WithoutCancel(ctx), theirs, back)
		theirs.Close()
	}()
	s.conns = append(s.conns, ours, theirs)
	return there, nil
}

// wire makes one direction of a link: a third of them end by themselves.
func (c *chaos) wire(to net.Conn) *fragile {
	c.mu.Lock()
	defer c.mu.Unlock()
	late, left := time.Duration(c.r.IntN(200))*time.Millisecond, 1<<30
	if c.r.IntN(3) == 0 {
		left = c.r.IntN(5_000)
	}
	f := &fragile{to, make(chan []byte, 256)}
	go f.carry(late, left, c.over)
	return f
}

func (s *site) cut(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	for _, c := range s.conns {
		c.Close()
	}
	s.conns = nil
}

// ask asks one question until it is answered, over all deaths of the machine's deck.
func (s *site) ask(text string) {
	req := question(text)
	req.Questions[0].Options = []ask.Option{{Label: "yes to " + text}, {Label: "no to " + text}}
	for {
		select {
		case <-s.over:
			return
		default:
		}
		s.mu.Lock()
		q, ended := s.q, s.ended
		s.mu.Unlock()
		call, err := q.Resume(req.ResumeKey, req.Owner, req.Peer)
		if err != nil {
			call, err = q.Open(req)
		}
		if err != nil {
			time.Sleep(time.Second) // of the bubble
			continue
		}
		select {
		case <-call.Done():
		case <-ended:
		}
		select {
		case <-call.Done():
		default:
			continue
		}
		r, err := call.Reply()
		if err != nil {
			time.Sleep(100 * time.Millisecond) // of the bubble
			continue
		}
		call.Delivered(ask.Delivered)
		s.chaos.mu.Lock()
		answer := r.Results[0].SelectedOptions[0]
		if !s.given[text][answer] {
			s.t.Errorf("%q is answered with %q, which the user has not said", text, answer)
		}
		if was := s.got[text]; was != "" {
			s.t.Errorf("%q is answered twice", text)
		}
		s.got[text] = answer
		s.chaos.mu.Unlock()
		return
	}
}

// user answers what the deck shows, one at a time.
func (c *chaos) user(ctx context.Context) {
	for ctx.Err() == nil {
		c.mu.Lock()
		pause, pick, q := time.Duration(c.r.IntN(600))*time.Millisecond, c.r.IntN(1000), c.here
		option := c.r.IntN(2)
		c.mu.Unlock()
		time.Sleep(pause) // of the bubble
		seen := map[string]bool{}
		var open []ask.Item
		for _, it := range q.Pending().Items {
			text := it.Request.Questions[0].Question
			if it.Absent == ask.Gone {
				continue
			}
			if seen[text] {
				c.t.Errorf("%q is shown twice", text)
			}
			seen[text] = true
			open = append(open, it)
		}
		if len(open) == 0 {
			continue
		}
		it := open[pick%len(open)]
		text, answer := it.Request.Questions[0].Question, it.Request.Questions[0].Options[option].Label
		c.mu.Lock()
		if c.given[text] == nil {
			c.given[text] = map[string]bool{}
		}
		c.given[text][answer] = true
		c.mu.Unlock()
		_ = q.Answer(it.ID, answers(answer)) // it may have gone
	}
}

// follow starts the mirrors of the deck.
func (c *chaos) follow() {
	ctx, stop := context.WithCancel(c.t.Context())
	c.stop = stop
	for _, s := range c.sites {
		m := New(Options{Name: s.name, Host: s.trust.name, Key: c.key, Dial: s.dial, Queue: c.here, Changed: func() {}, Version: "1"})
		go m.Run(ctx)
	}
}

func (c *chaos) blow(state *string, states []string) {
	c.mu.Lock()
	at, kind := c.r.IntN(len(c.sites)), c.r.IntN(4)
	c.mu.Unlock()
	s := c.sites[at]
	switch kind {
	case 0:
		s.cut(false)
		c.blows["links cut"]++
	case 1:
		s.cut(true)
		time.AfterFunc(time.Minute, func() { s.cut(false) })
		c.blows["links cut for 60 s"]++
	case 2:
		c.stop()
		for _, o := range c.sites {
			o.mu.Lock()
			down := o.down
			o.mu.Unlock()
			o.cut(down)
		}
		next, file := c.killed(c.here, *state)
		c.mu.Lock()
		c.here, *state = next, file
		c.mu.Unlock()
		c.follow()
		c.blows["decks killed"]++
	case 3:
		s.mu.Lock()
		q, ended, down := s.q, s.ended, s.down
		s.mu.Unlock()
		close(ended)
		s.cut(down)
		next, file := c.killed(q, states[at])
		states[at] = file
		s.begin(next)
		c.blows["hosts killed"]++
	}
}

func (c *chaos) play() {
	state := c.file()
	c.here = ask.New(ask.Options{Hold: -1, StateFile: state})
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.key = key
	var states []string
	var agents sync.WaitGroup
	for h := range chaosHosts {
		s := &site{chaos: c, name: fmt.Sprint("build", h), trust: &trust{fmt.Sprint("HOST", h), []ed25519.PublicKey{public}}}
		states = append(states, c.file())
		s.begin(ask.New(ask.Options{Hold: -1, StateFile: states[h]}))
		c.sites = append(c.sites, s)
		for a := range chaosAgents {
			agents.Go(func() {
				for n := range chaosAsks {
					s.ask(fmt.Sprintf("question %d of agent %d on %s", n, a, s.name))
				}
			})
		}
	}
	c.follow()
	ctx, stop := context.WithCancel(c.t.Context())
	var user sync.WaitGroup
	user.Go(func() { c.user(ctx) })
	for range chaosBlows {
		c.mu.Lock()
		pause := time.Duration(c.r.IntN(5000)) * time.Millisecond
		c.mu.Unlock()
		time.Sleep(pause) // of the bubble
		c.blow(&state, states)
	}
	done := make(chan struct{})
	go func() { agents.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Minute):
		c.mu.Lock()
		c.t.Errorf("after half an hour %d of %d questions are answered", len(c.got), chaosHosts*chaosAgents*chaosAsks)
		c.mu.Unlock()
	}
	close(c.over)
	stop()
	c.stop()
	for _, s := range c.sites {
		s.cut(true)
		s.q.Close()
	}
	user.Wait()
	<-done
	c.here.Close()
	settle(2 * time.Minute) // what is on its way
}

// TestNothingIsLostWhateverIsCutOrKilled plays schedules of cuts and kills, in which agents of three
// machines ask and a user answers in one deck. A kill leaves of a deck what it had on its disk.
func TestNothingIsLostWhateverIsCutOrKilled(t *testing.T) {
	var mu sync.Mutex
	total, answered := map[string]int{}, 0
	t.Run("schedules", func(t *testing.T) {
		for n := range *schedules {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				dir := testwait.TempDir(t)
				synctest.Test(t, func(t *testing.T) {
					c := &chaos{
						t: t, r: rand.New(rand.NewPCG(uint64(n), 26)), dir: dir, //nolint:gosec // it is to be the same each time
						given: map[string]map[string]bool{}, got: map[string]string{}, blows: map[string]int{}, over: make(chan struct{}),
					}
					c.play()
					mu.Lock()
					defer mu.Unlock()
					answered += len(c.got)
					for k, v := range c.blows {
						total[k] += v
					}
				})
			})
		}
	})
	t.Logf("%d schedules: %d of %d questions answered; %v", *schedules, answered, *schedules*chaosHosts*chaosAgents*chaosAsks, total)
}
