package mirror

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

// trust is what a host knows of decks.
type trust struct {
	name string
	keys []ed25519.PublicKey
}

func (k *trust) Host() (string, error) { return k.name, nil }
func (k *trust) Find(key ed25519.PublicKey) (wire.Deck, bool) {
	i := slices.IndexFunc(k.keys, func(o ed25519.PublicKey) bool { return o.Equal(key) })
	if i < 0 {
		return wire.Deck{}, false
	}
	return k.All()[i], true
}

func (k *trust) All() (all []wire.Deck) {
	for _, key := range k.keys {
		all = append(all, wire.Deck{Name: "laptop", Fingerprint: wire.Fingerprint(key)})
	}
	return all
}

// prompts are those that sessions were sent.
type prompts []string

func (p *prompts) Send(agent, id, text string) error {
	if id != "s1" {
		return errors.New("this session has ended")
	}
	*p = append(*p, agent+": "+text)
	return nil
}

func (p *prompts) TakeBack(agent, id string) string { return "back from " + agent + " " + id }

// pair is a machine with a deck and another one that mirrors it.
type pair struct {
	t      *testing.T
	there  *ask.Queue
	roster *sessions.Roster
	here   *ask.Queue
	key    ed25519.PrivateKey
	trust  *trust
	host   *host.Host
	sent   prompts
	m      *Mirror
	ctx    context.Context
	stop   context.CancelFunc

	around func(net.Conn) io.ReadWriteCloser // a link as the deck has it; nil as it is

	mu   sync.Mutex
	conn net.Conn // of the link
	down bool     // no other link can be made
	idle bool     // the test mirrors by itself
}

// newPair begins a pair, which is first made what a test wants it to be.
func newPair(t *testing.T, as ...func(*pair)) *pair {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{
		t: t, there: ask.New(ask.Options{}), here: ask.New(ask.Options{Hold: -1}), roster: &sessions.Roster{}, key: key,
		trust: &trust{"HOST", []ed25519.PublicKey{public}},
	}
	p.host = host.New(host.Options{Queue: p.there, Sessions: p.roster, Prompts: &p.sent, Decks: p.trust, Version: "1"})
	p.ctx, p.stop = context.WithCancel(t.Context())
	for _, f := range as {
		f(p)
	}
	if !p.idle {
		p.mirror()
	}
	return p
}

// mirror begins one anew, as a deck does that is started.
func (p *pair) mirror() {
	p.m = New(Options{Name: "build1", Host: "HOST", Key: p.key, Dial: p.dial, Queue: p.here, Changed: func() {}, Version: "1"})
	go p.m.Run(p.ctx)
}

func (p *pair) dial(context.Context) (io.ReadWriteCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return nil, errors.New("no route to host")
	}
	ours, theirs := net.Pipe()
	go func() {
		_ = p.host.Serve(p.ctx, theirs, theirs)
		theirs.Close()
	}()
	p.conn = ours
	if p.around != nil {
		return p.around(ours), nil
	}
	return ours, nil
}

// cut ends the link; down says that there is no other one until it is mended.
func (p *pair) cut(down bool) {
	p.mu.Lock()
	p.down = down
	p.conn.Close()
	p.mu.Unlock()
	synctest.Wait()
}

// end waits for all that the pair has started.
func (p *pair) end() {
	p.stop()
	p.mu.Lock()
	if p.conn != nil {
		p.conn.Close()
	}
	p.mu.Unlock()
	p.here.Close()
	p.there.Close()
	synctest.Wait()
}

// settle lets what is under way happen.
func settle(d time.Duration) {
	time.Sleep(d) // of the bubble
	synctest.Wait()
}

func question(text string) ask.Request {
	return ask.Request{
		Questions: []ask.Question{{ID: "db", Question: text, Kind: ask.Choice, Options: []ask.Option{{Label: "SQLite"}, {Label: "Postgres"}}, AllowOther: true, Required: true}},
		From:      ask.From{Client: "claude"}, Peer: ask.Peer{PID: 7, Agent: 7, Program: "claude", Cwd: "/src/shop", Key: "conn 1"}, ResumeKey: "secret of " + text, Owner: "me",
	}
}

func permission(command string) ask.Request {
	return ask.Request{
		Questions: []ask.Question{{ID: "permission", Question: "Allow Bash?", Kind: ask.Choice, Options: []ask.Option{{Label: "Allow once"}, {Label: "Deny"}}, Required: true}},
		Peer:      ask.Peer{PID: 7, Agent: 7, Program: "claude", Cwd: "/src/shop"},
		Prompt: &ask.Prompt{
			Kind: ask.Permission, ID: "p " + command, Agent: "claude", Session: "s1", Tool: "Bash", Command: command, Door: ask.Shared,
			Grants: []ask.Grant{{Allow: true, Scope: ask.Once}, {Scope: ask.Once}},
		},
	}
}

func (p *pair) ask(r ask.Request) *ask.Call {
	p.t.Helper()
	c, err := p.there.Open(r)
	if err != nil {
		p.t.Fatal(err)
	}
	settle(time.Second)
	return c
}

// shown is the one item that this deck shows.
func (p *pair) shown() ask.Item {
	p.t.Helper()
	all := p.here.Pending().Items
	if len(all) != 1 {
		p.t.Fatalf("the deck shows %d items, want 1", len(all))
	}
	return all[0]
}

func answers(option string) []ask.Result {
	return []ask.Result{{ID: "db", SelectedOptions: []string{option}}}
}

// gets fails unless the asker has an answer, and this one.
func gets(t *testing.T, c *ask.Call, want string) {
	t.Helper()
	select {
	case <-c.Done():
	default:
		t.Fatal("the asker has no answer")
	}
	r, err := c.Reply()
	if err != nil {
		t.Fatalf("the asker gets the error %v", err)
	}
	if got := r.Results[0].SelectedOptions[0]; got != want {
		t.Errorf("the asker gets %q, want %q", got, want)
	}
}

func ended(t *testing.T, q *ask.Queue) string {
	t.Helper()
	all := q.Pending().History
	if len(all) != 1 {
		t.Fatalf("the history has %d records, want 1", len(all))
	}
	return all[0].Words("")
}
