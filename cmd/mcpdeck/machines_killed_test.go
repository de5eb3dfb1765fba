//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

var (
	kills = flag.Int("kills", 0, "how often each part of the way to another machine is killed (default: twice, with the real programs' tests)")
	cut   = flag.Duration("cut", time.Second, "how long the network to another machine is down")
)

// road is the network between two machines. While it is locked, what is on its way stays there.
type road struct{ sync.RWMutex }

// to begins a road to a port, and returns the port where it begins.
func (r *road) to(t *testing.T, port int) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				in.Close()
				continue
			}
			go r.carry(in, out)
			go r.carry(out, in)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func (r *road) carry(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		r.RLock()
		_, werr := to.Write(b[:n])
		r.RUnlock()
		if err != nil || werr != nil {
			return
		}
	}
}

// farMachine adds a machine with a network of its own.
func farMachine(d *driver, n int) *sshServer {
	m := &sshServer{name: fmt.Sprint("build", n), there: newDriver(d.t)}
	if os.Getenv(isApart) != "" {
		m.cable = &cable{n}
	} else {
		m.road = &road{}
	}
	d.reaches(m)
	d.addsMachine(m.name)
	return m
}

// isCut takes the network to a machine down until the function that it returns is called.
func (m *sshServer) isCut(d *driver) (ends func()) {
	if m.cable == nil {
		m.road.Lock()
		return m.road.Unlock
	}
	m.cable.ip(d, "link", "set", m.cable.name(), "down")
	return func() { m.cable.ip(d, "link", "set", m.cable.name(), "up") }
}

// below are the processes that a process has started whose command line has a text.
func below(pid int, text string) (all []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // it may have ended
	for _, file := range tasks {
		b, _ := os.ReadFile(file)
		for _, f := range strings.Fields(string(b)) {
			child, _ := strconv.Atoi(f)
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			if strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), text) {
				all = append(all, child)
			}
			all = append(all, below(child, text)...)
		}
	}
	return all
}

// blows are machines on which, and between which, something is killed in each round.
type blows struct {
	t       *testing.T
	d       *driver
	all     []*sshServer
	screen  *window
	agents  []*agent       // the n-th is on the machine n of all
	next    int            // number of the next question
	waits   map[int]string // by agent: its question
	relays  []int          // processes whose agents were killed
	answers map[string]int // by question: how many its agent got

	mu   sync.Mutex
	done map[string]int // by part: how often it was killed
}

// kill ends one part of the way to a machine in the hardest way, or holds the network for a while.
func (k *blows) kill(m *sshServer, part string, deck int, a *agent) bool {
	pids := []int{deck}
	switch part {
	case "ssh":
		pids = below(deck, m.name)
	case "session of sshd":
		pids = below(m.Process.Pid, "sshd")
	case "remote-end":
		pids = below(m.Process.Pid, "mcpdeck remote-end")
	case "deck there":
		pids = []int{m.there.deckPID()}
	case "agent's relay":
		pids = below(a.Cmd.Process.Pid, "mcpdeck mcp")
	case "agent":
		k.mu.Lock()
		k.relays = append(k.relays, below(a.Cmd.Process.Pid, "mcpdeck mcp")...)
		k.mu.Unlock()
		defer a.Out.Close() // the system closes its ends
		defer a.In.Close()
		pids = []int{a.Cmd.Process.Pid}
	case "network":
		defer m.isCut(k.d)()
		time.Sleep(*cut) // the network is down
		return true
	}
	return len(pids) > 0 && pids[0] > 1 && syscall.Kill(pids[0], syscall.SIGKILL) == nil
}

// begins starts an agent that asks what the one in its place has asked.
func (k *blows) begins(i int) {
	there := k.all[i%len(k.all)].there
	c := there.command("mcp")
	c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `"$@"; true`, "sh", there.program}, c.Args[1:]...)
	k.agents[i] = &agent{decktest.Serve(k.t, c), k.t}
	k.agents[i].Handshake(fmt.Sprint("agent", i))
	if text := k.waits[i]; text != "" {
		k.asks(i, text)
	}
}

func (k *blows) asks(i int, text string) {
	k.waits[i] = text
	k.agents[i].Send(strconv.Quote(text), "tools/call", fmt.Sprintf(`{"name":"ask","arguments":{"questions":[{"question":%q,"header":"H","options":[{"label":"yes to %s"},{"label":"no to %s"}]}]}}`, text, text, text))
}

// stillWaits is in the answer to an agent that is to go on waiting.
var stillWaits = regexp.MustCompile(`"id":"([0-9a-f]+)","message":"[^"]*\\"[^"]*\\"[^"]*","status":"pending"`)

// hears takes what an agent has got. One that was killed comes back and asks again.
func (k *blows) hears(i int) {
	for {
		select {
		case m, ok := <-k.agents[i].Lines:
			if !ok {
				if rand.IntN(2) == 0 { //nolint:gosec // any time will do
					return // it comes back later
				}
				k.begins(i)
				continue
			}
			text, _ := m["id"].(string)
			if m["method"] != nil || text == "" {
				continue
			}
			b, _ := json.Marshal(m)
			if id := stillWaits.FindSubmatch(b); id != nil && text == k.waits[i] {
				k.agents[i].Send(strconv.Quote(text), "tools/call", fmt.Sprintf(`{"name":"ask_wait","arguments":{"id":%q}}`, id[1]))
				continue
			}
			if k.answers[text]++; text != k.waits[i] || k.answers[text] > 1 {
				k.t.Errorf("an agent that waits for %q gets an answer to %q, and has got %d", k.waits[i], text, k.answers[text])
			}
			if !strings.Contains(string(b), "no to "+text) || strings.Contains(string(b), "yes to "+text) {
				k.t.Errorf("%q is answered with %s", text, b)
			}
			k.waits[i] = ""
		default:
			return
		}
	}
}

func (k *blows) waiting() (n int) {
	for _, text := range k.waits {
		if text != "" {
			n++
		}
	}
	return n
}

// user answers what the screen shows, and starts the deck again where it was killed.
func (k *blows) user() {
	select {
	case <-k.screen.done:
		k.screen = k.d.window("--page", "inbox")
		k.screen.wide()
	default:
	}
	if !strings.Contains(k.screen.screen(), "no to q") {
		time.Sleep(100 * time.Millisecond) // the next look
		return
	}
	// The first rows are those that wait, but for one that was just answered.
	for _, keys := range []string{"\x1b[H" + strings.Repeat("j", rand.IntN(k.waiting())), "2"} { //nolint:gosec // any will do
		_, _ = k.screen.tty.Write([]byte(keys)) // it may have been killed
		time.Sleep(time.Second)                 // a key counts by how long what it answers has been there
	}
}

// round has each agent ask, and kills parts of the ways meanwhile, each at a random point.
func (k *blows) round(parts []string) {
	k.t.Helper()
	for i := range k.agents {
		k.next++
		k.asks(i, fmt.Sprintf("q%d.", k.next))
	}
	deck := k.screen.cmd.Process.Pid
	var over sync.WaitGroup
	for _, part := range parts {
		at := rand.IntN(len(k.agents)) //nolint:gosec // any will do
		agent := k.agents[at]
		over.Go(func() {
			time.Sleep(time.Duration(rand.IntN(1500*len(k.agents))) * time.Millisecond) //nolint:gosec // any point will do
			if k.kill(k.all[at%len(k.all)], part, deck, agent) {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.done[part]++
			}
		})
	}
	answered := testwait.Holds(func() bool {
		k.user()
		for i := range k.agents {
			k.hears(i)
		}
		return k.waiting() == 0
	})
	over.Wait()
	if !answered {
		lists, _ := k.d.command("ask", "list").Output()
		for _, m := range k.all {
			there, _ := m.there.command("ask", "list").Output()
			lists = fmt.Appendf(lists, "on %s\n%s", m.name, there)
		}
		k.t.Fatalf("after %v, the agents wait for %v; the deck lists\n%s\n%s", parts, k.waits, lists, k.screen.screen())
	}
}

// linkedTo is how many machines are linked and take answers.
func linkedTo(d *driver) (n int) {
	for _, m := range d.machines() {
		if m.Linked && m.Answers {
			n++
		}
	}
	return n
}

// TestNothingIsLostWhateverIsKilledOnTheWayOverSSH kills each part of the way between agents on three other machines
// and this deck, at random points, while a user answers by keys. An agent's connection that was killed comes back.
func TestNothingIsLostWhateverIsKilledOnTheWayOverSSH(t *testing.T) {
	t.Parallel()
	times, agents, atOnce := *kills, 5, 5 // agents on each machine, parts that are killed in a round
	if times == 0 {
		realtest.On(t)
		times, agents, atOnce = 2, 1, 2
	}
	if setsApart(t, fmt.Sprint("-kills=", *kills), fmt.Sprint("-cut=", *cut), "-test.timeout=2h") {
		return
	}
	k := &blows{t: t, d: newDriver(t), waits: map[int]string{}, answers: map[string]int{}, done: map[string]int{}}
	for n := 1; n <= 3; n++ {
		k.all = append(k.all, farMachine(k.d, n))
	}
	k.agents = make([]*agent, agents*len(k.all))
	k.screen = k.d.window("--page", "inbox")
	k.screen.wide()
	k.d.until("links", func() bool { return linkedTo(k.d) == len(k.all) })
	for i := range k.agents {
		k.begins(i)
	}
	var parts []string
	for n := range times {
		parts = append(parts, "deck", "ssh", "session of sshd", "remote-end", "deck there", "agent's relay", "agent")
		if n < 3 || n%2 == 0 {
			parts = append(parts, "network")
		}
	}
	rand.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] }) //nolint:gosec // any order will do
	began := time.Now()
	for some := range slices.Chunk(parts, atOnce) {
		k.round(some)
	}
	k.d.until("the end of the relays whose agents were killed", func() bool { return !slices.ContainsFunc(k.relays, runs) })
	t.Logf("%d questions answered once, as the user said, in %v; killed or cut: %v", k.next, time.Since(began).Round(time.Second), k.done)
}

// overTheWire runs Claude Code on a machine behind its ssh server, in a terminal of this one.
func overTheWire(d *driver, m *sshServer, model *mockmodel.Server, args ...string) *coder {
	d.t.Helper()
	c := claudeCommand(m.there, model, args...)
	line := append([]string{"cd", m.there.project, "&&", "exec", "env", "-i"}, c.Env...)
	port := model.URL[strings.LastIndex(model.URL, ":")+1:]
	ssh := d.command("-tt", "-R", port+":127.0.0.1:"+port, m.name, strings.Join(append(line, c.Args...), " "))
	ssh.Path = filepath.Join(d.home, "bin", "ssh")
	w := d.terminal(ssh)
	w.wide()
	return &coder{window: w, d: d, model: model}
}

// wroteUser reports whether Claude Code has written down what its user said, which it may do only
// after it has asked for a permission.
func wroteUser(d *driver) bool {
	return slices.ContainsFunc(conversations(d), func(name string) bool {
		b, _ := os.ReadFile(name) // it is read again
		return bytes.Contains(b, []byte(`"type":"user"`))
	})
}

// TestARealClaudeThatIsKilledOnAnotherMachineGetsTheAnswerOfItsNextLife kills it while its prompt waits, also with the
// network down and the user's answer under way, and answers what it asks when its session is resumed.
func TestARealClaudeThatIsKilledOnAnotherMachineGetsTheAnswerOfItsNextLife(t *testing.T) {
	t.Parallel()
	claude := realtest.Claude(t)
	if setsApart(t) {
		return
	}
	d := newDriver(t)
	m := farMachine(d, 1)
	m.there.coder = claude
	claudeHome(m.there)
	deck := d.window("--page", "inbox")
	deck.wide()
	d.until("a link", func() bool { return linkedTo(d) == 1 })
	const command = "mkdir made"
	step := bash(t, command)
	model := mockmodel.New(t, "", step, step, step)
	life := []string{"--permission-mode", "default"}
	asks := func() (c *coder) {
		t.Helper()
		c = overTheWire(d, m, model, life...)
		c.shows(d, "? for shortcuts")
		c.says("go")
		d.until("the prompt", steady(func() bool { return deck.asks(command) }))
		d.until("a session to resume", func() bool { return wroteUser(m.there) })
		life = append(life[:2], "--continue")
		return c
	}
	for _, answered := range []bool{false, true} {
		c := asks()
		ends := func() {}
		if answered {
			ends = m.isCut(d)
		}
		for _, pid := range below(m.Process.Pid, claude) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended with its parent
		}
		what := "gone: its agent has ended"
		if answered {
			deck.answers(d, command, key{"y", ""})
			what = "not taken: its agent has ended"
		}
		ends()
		<-c.done
		deck.shows(d, what)
		d.until("no hook and no prompt", func() bool { return waitingHooks(m.there)+d.prompted() == 0 })
	}
	c, made := asks(), filepath.Join(m.there.project, "made")
	if _, err := os.Stat(made); err == nil {
		t.Error("what was allowed to a process that had ended is done")
	}
	deck.answers(d, command, key{"y", ""})
	if got := c.answered(2); !strings.Contains(got, "no output") {
		t.Errorf("the model gets %s", got)
	}
	if _, err := os.Stat(made); err != nil {
		t.Errorf("what was allowed was not done: %v", err)
	}
	want := []ask.End{ask.EndGone, ask.EndGone, ask.EndAllowed}
	testwait.For(t, fmt.Sprintf("the history there to say %q", want), m.there.became, func(all []ask.End) bool { return slices.Equal(all, want) })
}
