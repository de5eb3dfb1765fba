package hub

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
)

// crash ends a machine, and returns a folder with what it had on its disk before it knew of that.
func (m *machine) crash() (dir string) {
	err := fs.ErrNotExist
	for tries := 0; tries < 100 && errors.Is(err, fs.ErrNotExist); tries++ { // a file may be replaced meanwhile
		dir = m.t.TempDir()
		err = os.CopyFS(dir, os.DirFS(m.dir))
	}
	if err != nil {
		m.t.Error(err)
	}
	m.end()
	return dir
}

// site is a host over all its deaths.
type site struct {
	mu    sync.Mutex
	m     *machine
	ended chan struct{} // closed when it is killed
}

// agent asks until it has an answer.
func (s *site) agent(t *testing.T, text string, over <-chan struct{}) string {
	t.Helper()
	req := question(text)
	req.Questions[0].Options = []ask.Option{{Label: "yes to " + text}, {Label: "no"}}
	for {
		s.mu.Lock()
		q, ended := s.m.q, s.ended
		s.mu.Unlock()
		call, err := q.Resume(req.ResumeKey, req.Owner, req.Peer)
		if err != nil {
			call, err = q.Open(req)
		}
		if err == nil {
			select {
			case <-call.Done():
				if r, err := call.Reply(); err == nil {
					call.Delivered(ask.Delivered)
					return r.Results[0].SelectedOptions[0]
				}
			case <-ended:
			case <-over:
				return ""
			}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-over:
			return ""
		}
	}
}

// cable is between a machine and the hub.
type cable struct {
	to string
	in net.Listener

	mu    sync.Mutex
	conns []net.Conn
	down  bool
	held  chan struct{} // closed while bytes go through
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{to: to, in: in, held: make(chan struct{})}
	close(c.held)
	t.Cleanup(func() { in.Close(); c.cut(true); c.hold(false) })
	go func() {
		for {
			near, err := in.Accept()
			if err != nil {
				return
			}
			go c.carry(near)
		}
	}()
	return c
}

func (c *cable) carry(near net.Conn) {
	far, err := net.Dial("tcp", c.to)
	if err != nil {
		near.Close()
		return
	}
	c.mu.Lock()
	if c.conns = append(c.conns, near, far); c.down {
		near.Close()
		far.Close()
	}
	c.mu.Unlock()
	move := func(to, from net.Conn) {
		defer to.Close()
		b := make([]byte, 16<<10)
		for {
			n, err := from.Read(b)
			c.mu.Lock()
			held := c.held
			c.mu.Unlock()
			<-held
			if _, failed := to.Write(b[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go move(near, far)
	go move(far, near)
}

// cut ends what goes through, and lets nothing through while it is down.
func (c *cable) cut(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down = down; down {
		for _, o := range c.conns {
			o.Close()
		}
		c.conns = nil
	}
}

// hold lets no byte through while both ends take themselves to be connected.
func (c *cable) hold(is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.held:
		if is {
			c.held = make(chan struct{})
		}
	default:
		if !is {
			close(c.held)
		}
	}
}

var (
	schedules = flag.Int("schedules", 2, "how many schedules of kills and cuts are played; each begins processes and waits on the real clock")
	longest   = flag.Duration("longest", time.Second, "how long a link is down at most")
)

// What one schedule is made of.
const (
	killHosts  = 2
	killAgents = 2 // a host
	killAsks   = 4 // an agent, one after the other
	killBlows  = 10
)

// kills is a hub, two hosts with agents, a deck, and what happens to them.
type kills struct {
	*world

	r      *rand.Rand
	joined map[string]Membership
	names  []string
	owner  Membership
	deck   *machine
	sites  []*site
	cables []*cable
	blows  map[string]int
}

// TestNothingIsLostWhateverIsKilled has agents on two hosts ask while the hub, the hosts and the deck
// are killed, each of which begins again with what it had on its disk, and while their links to the hub are cut or
// carry nothing. What happens when follows from the number of the schedule.
func TestNothingIsLostWhateverIsKilled(t *testing.T) {
	sums, questions := map[string]int{}, 0
	var mu sync.Mutex
	t.Run("schedule", func(t *testing.T) {
		for seed := range *schedules {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				answered, blows := playKills(t, uint64(seed))
				mu.Lock()
				defer mu.Unlock()
				questions += answered
				for what, n := range blows {
					sums[what] += n
				}
			})
		}
	})
	t.Logf("%d schedules (task fleet:hub plays more): %d questions answered, each once and as the user said; killed and cut: %v", *schedules, questions, sums)
}

func playKills(t *testing.T, seed uint64) (answered int, blows map[string]int) {
	t.Helper()
	k := &kills{names: []string{"build0", "build1"}, r: rand.New(rand.NewPCG(seed, 26)), blows: map[string]int{}} //nolint:gosec // it is to be the same each time
	k.world, k.joined = newWorld(t, k.names...)
	lead := func(m Membership) Membership {
		c := newCable(t, m.Hub)
		k.cables = append(k.cables, c)
		m.Hub = c.in.Addr().String()
		return m
	}
	k.owner = lead(k.owned.Owner())
	k.deck = k.newDeck(k.owner, t.TempDir())
	over := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, name := range k.names {
		k.joined[name] = lead(k.joined[name])
		s := &site{m: newHost(t, k.joined[name], t.TempDir()), ended: make(chan struct{})}
		k.sites = append(k.sites, s)
		for a := range killAgents {
			all.Go(func() {
				for n := range killAsks {
					text := fmt.Sprintf("question %d of agent %d on %s", n, a, name)
					answer := s.agent(t, text, over)
					mu.Lock()
					if answered++; answer != "yes to "+text {
						t.Errorf("schedule %d: %q is answered with %q", seed, text, answer)
					}
					mu.Unlock()
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	k.until(done)
	close(over)
	<-done
	k.deck.end()
	for _, s := range k.sites {
		s.m.end()
	}
	if want := killHosts * killAgents * killAsks; answered != want {
		t.Errorf("schedule %d: %d of %d questions were answered", seed, answered, want)
	}
	return answered, k.blows
}

// until has the user answer, and something happen now and then, until the agents are done or have waited in vain.
func (k *kills) until(done <-chan struct{}) {
	next, left := time.Now(), killBlows
	for end := time.Now().Add(5*time.Minute + 10**longest); time.Now().Before(end); {
		seen := map[string]bool{}
		for _, it := range k.deck.q.Pending().Items {
			text := it.Request.Questions[0].Question
			if it.Absent == ask.Gone {
				continue
			}
			if seen[text] {
				k.t.Errorf("%q is shown twice", text)
			}
			seen[text] = true
			_ = k.deck.q.Answer(it.ID, chosen("yes to "+text)) // it may have gone
		}
		if left > 0 && time.Now().After(next) {
			next = time.Now().Add(time.Duration(k.r.IntN(600)) * time.Millisecond)
			left--
			k.blow()
		}
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// blow has one thing happen.
func (k *kills) blow() {
	what := []string{"hub", "host", "deck", "link cut", "link held"}[k.r.IntN(5)]
	k.blows[what]++
	n, m := k.r.IntN(killHosts), k.r.IntN(len(k.cables))
	switch c := k.cables[m]; what {
	case "hub":
		k.kill()
		k.start()
	case "host":
		s := k.sites[n]
		s.mu.Lock()
		close(s.ended)
		s.m = newHost(k.t, k.joined[k.names[n]], s.m.crash())
		s.ended = make(chan struct{})
		s.mu.Unlock()
	case "deck":
		k.deck = k.newDeck(k.owner, k.deck.crash())
	case "link cut":
		c.cut(true)
		time.AfterFunc(k.pause(), func() { c.cut(false) })
	case "link held":
		c.hold(true)
		time.AfterFunc(k.pause(), func() { c.hold(false) })
	}
}

// pause is how long a link is down.
func (k *kills) pause() time.Duration { return time.Duration(k.r.Int64N(int64(*longest))) }
