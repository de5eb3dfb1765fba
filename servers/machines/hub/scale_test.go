package hub

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

var hosts = flag.Int("hosts", 10, "how many hosts are on the hub whose memory and restart are measured")

// mostMemory is what hub, hosts and deck may use together before the measurement gives up.
const mostMemory = 9 << 30

// ownerOnly are the decks that a host knows which knows the owner's.
type ownerOnly struct{ key ed25519.PublicKey }

func (o ownerOnly) Host() (string, error) { return "", nil }
func (o ownerOnly) All() []wire.Deck      { return nil }
func (o ownerOnly) Find(key ed25519.PublicKey) (wire.Deck, bool) {
	return wire.Deck{Name: "laptop"}, o.key.Equal(key)
}

// asHosts has the test program be many hosts, so that the deck has a process of its own.
const asHosts = "MCPDECK_TEST_AS_HOSTS"

// serveHosts is the hosts of the memberships in the first line that is read. To each line after it says a line: to an
// empty one how many are linked, to a number and a text what an agent of that host gets which asks this.
func serveHosts() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	var joined []Membership
	if !in.Scan() || json.Unmarshal(in.Bytes(), &joined) != nil {
		return
	}
	dir, err := os.MkdirTemp("", "hosts")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	all := make([]*machine, len(joined))
	var begun sync.WaitGroup
	places := make(chan bool, 64) // as many make their first connection at once
	for i, m := range joined {
		places <- true
		begun.Go(func() {
			all[i] = quietHost(m, filepath.Join(dir, m.Name))
			_, _ = all[i].host.connected(context.Background())
			<-places
		})
	}
	begun.Wait()
	for in.Scan() {
		var n int
		if number, text, asks := strings.Cut(in.Text(), " "); asks {
			n, _ = strconv.Atoi(number)
			call, err := all[n].q.Open(question(text))
			if err != nil {
				return
			}
			<-call.Done()
			r, err := call.Reply()
			call.Delivered(ask.Delivered)
			fmt.Println(r.Results, err)
			continue
		}
		for _, h := range all {
			if h.host.State().Linked {
				n++
			}
		}
		fmt.Println(n)
	}
}

// quietHost is a host on which nobody works yet.
func quietHost(m Membership, dir string) *machine {
	h := &machine{dir: dir, q: ask.New(ask.Options{Hold: -1})}
	var err error
	h.host, err = NewHost(HostOptions{
		Membership: m, Book: Book{Dir: dir}, Learn: func(context.Context, *Member) {}, Forget: func(*Member) {},
		Host: host.Options{
			Queue: h.q, Sessions: &sessions.Roster{}, Decks: ownerOnly{m.Owner}, Version: "1",
		},
	})
	if err != nil {
		panic(err)
	}
	h.run(h.host.Run)
	return h
}

// scale is a hub with a deck and many hosts on it. The hub is a process of its own, and so are the hosts.
type scale struct {
	*world

	n      int
	deck   *machine
	hosts  *exec.Cmd
	to     io.Writer
	from   *bufio.Scanner
	report []string
}

// memory is what a process has in memory, 0 where the system does not say.
func memory(pid int) int {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	var kib int
	_, _ = fmt.Sscan(rest, &kib)
	return kib << 10
}

// spent is how long a process has computed, 0 where the system does not say.
func spent(pid int) time.Duration {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	fields := strings.Fields(string(b))
	const user, system, tick = 13, 14, 10 * time.Millisecond
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.Atoi(fields[user])
	s, _ := strconv.Atoi(fields[system])
	return time.Duration(u+s) * tick
}

func (s *scale) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server.Process.Pid
}

// note keeps a figure.
func (s *scale) note(format string, a ...any) { s.report = append(s.report, fmt.Sprintf(format, a...)) }

// until waits for long enough, as long as there is memory for all, and returns how long that took.
func (s *scale) until(what string, is func() bool) time.Duration {
	s.t.Helper()
	began := time.Now()
	for !is() {
		used := memory(os.Getpid()) + memory(s.pid())
		if s.hosts != nil {
			used += memory(s.hosts.Process.Pid)
		}
		if used > mostMemory {
			s.t.Fatalf("%s: %d MB are in use, and no more than %d may be", what, used>>20, mostMemory>>20)
		}
		if time.Since(began) > 5*time.Minute+time.Duration(s.n)*time.Second/2 {
			s.t.Fatalf("waited in vain: %s; so far: %s", what, strings.Join(s.report, "; "))
		}
		time.Sleep(50 * time.Millisecond) // testwait does not look at the memory, and not for this long
	}
	return time.Since(began)
}

// present is how many hosts have said that they are there since the hub has begun.
func (s *scale) present() int {
	has, err := s.deck.deck.has(s.t.Context(), hereStream)
	if err != nil {
		return 0
	}
	return int(has.Msgs) //nolint:gosec // one a host
}

// say has the hosts' process say a line to one.
func (s *scale) say(line string) string {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.to, line); err != nil {
		s.t.Fatal(err)
	}
	if !s.from.Scan() {
		s.t.Fatalf("the hosts have ended, when told %q", line[:min(len(line), 80)])
	}
	return s.from.Text()
}

func (s *scale) linked() bool { return s.say("") == strconv.Itoa(s.n) }

// begin starts the hosts.
func (s *scale) begin(joined []Membership) {
	s.t.Helper()
	own, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	s.hosts = exec.Command(own)
	s.hosts.Env, s.hosts.Stderr = append(os.Environ(), asHosts+"=1"), os.Stderr
	in, err := s.hosts.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.hosts.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.hosts.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { in.Close(); _ = s.hosts.Wait() })
	b, err := json.Marshal(joined)
	if err != nil {
		s.t.Fatal(err)
	}
	s.to, s.from = in, bufio.NewScanner(out)
	fmt.Fprintf(in, "%s\n", b)
}

// shown is how many hosts are linked in the deck.
func (s *scale) shown() (n int) {
	for _, m := range s.deck.set.States() {
		if m.Linked {
			n++
		}
	}
	return n
}

// asks has an agent of a host ask, and returns how long the answer takes.
func (s *scale) asks(host int, text string) time.Duration {
	s.t.Helper()
	began := time.Now()
	answered := make(chan string, 1)
	go func() { answered <- s.say(fmt.Sprint(host, " ", text)) }()
	s.until(text+" is shown", s.deck.showsIt(text))
	s.deck.answers(text, "Postgres")
	if got := <-answered; !strings.Contains(got, "Postgres") {
		s.t.Errorf("the agent got %s", got)
	}
	return time.Since(began)
}

// sizes notes what is in use.
func (s *scale) sizes() {
	s.note("hub %d MB, %.1f s of CPU; deck %d MB, %.1f s; hosts %d MB", memory(s.pid())>>20, spent(s.pid()).Seconds(),
		memory(os.Getpid())>>20, spent(os.Getpid()).Seconds(), memory(s.hosts.Process.Pid)>>20)
}

// TestAllHostsArePresentAgainAfterTheHubHasEnded measures a hub with many hosts: its memory, and how long it takes after
// kill -9 and a start until all are there again.
func TestAllHostsArePresentAgainAfterTheHubHasEnded(t *testing.T) {
	if *hosts > mostHosts {
		t.Fatalf("a hub has room for %d hosts", mostHosts)
	}
	w, _ := newWorld(t)
	w.kill()
	s := &scale{world: w, n: *hosts}
	var joined []Membership
	for n := range s.n {
		name, seed := fmt.Sprintf("h%d", n), NewSeed()
		if err := w.owned.add(name, Host, seed); err != nil {
			t.Fatal(err)
		}
		m := w.owned.Owner()
		m.Name, m.Role, m.Seed = name, Host, seed
		joined = append(joined, m)
	}
	if err := w.owned.Save(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(w.owned.Conf())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	w.start()
	s.note("%d hosts; configuration %d kB, read and begun in %.1f s; hub with nothing stored %d MB", s.n, info.Size()>>10, time.Since(began).Seconds(), memory(s.pid())>>20)
	s.deck = w.newDeck(w.owned.Owner(), t.TempDir())
	defer s.deck.end()
	took := s.until("the deck has prepared the hub", func() bool { return len(s.deck.deck.Hosts()) == s.n })
	s.note("streams made in %.1f s", took.Seconds())
	began = time.Now()
	s.begin(joined)
	s.until("all hosts are present and shown", func() bool { return s.present() == s.n && s.shown() == s.n })
	s.note("all present and in the deck after %.1f s", time.Since(began).Seconds())
	s.note("a question is answered in %.2f s", s.asks(0, "Before?").Seconds())
	s.sizes()
	w.kill()
	began = time.Now()
	w.start()
	s.note("after kill -9 the hub was back in %.1f s", time.Since(began).Seconds())
	s.until("all hosts are connected again", s.linked)
	s.note("all hosts connected after %.1f s", time.Since(began).Seconds())
	s.until("all hosts are present again", func() bool { return s.present() == s.n })
	s.note("all present after %.1f s", time.Since(began).Seconds())
	s.until("the deck shows all hosts again", func() bool { return s.shown() == s.n })
	s.note("all in the deck after %.1f s", time.Since(began).Seconds())
	s.note("a question is answered in %.2f s", s.asks(s.n-1, "After?").Seconds())
	was, own, at := spent(s.pid()), spent(os.Getpid()), time.Now()
	if s.n > 100 { // it is measured, not tested
		time.Sleep(time.Minute) // what is used in it is what is measured
		part := func(d time.Duration) float64 { return 100 * float64(d) / float64(time.Since(at)) }
		s.note("at rest the hub uses %.1f %% of a core, the deck %.1f %%", part(spent(s.pid())-was), part(spent(os.Getpid())-own))
	}
	s.sizes()
	t.Log(strings.Join(s.report, "\n"))
}
