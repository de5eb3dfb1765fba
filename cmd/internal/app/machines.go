package app

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/machines/book"
	"github.com/mcpdeck/mcpdeck/servers/machines/host"
	"github.com/mcpdeck/mcpdeck/servers/machines/mirror"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// machines is what the deck has to do with others: it serves them what it holds, and shows what
// they hold. Its list of sessions is that of all machines.
type machines struct {
	*mirror.Set
	agents  *sessions.Programs
	queue   *ask.Queue   // nil: nobody can be asked here
	serves  host.Options // how others are served
	host    *host.Host   // nil with it
	book    book.Book
	environ []string
	trust   *book.Trust
	warn    func(...string) // of decks that may not answer
	hubs    *hubs
}

func newMachines(h *App) machines {
	m := machines{Set: &mirror.Set{Local: h.Agents.Roster}, agents: h.Agents, queue: h.Queue, book: book.Book{Dir: h.Config.Paths.Machines}, environ: h.Config.Environ}
	m.trust = book.NewTrust(m.book)
	if h.Queue != nil {
		calls := heldCalls{host: func() *router.Host { return h.Host }, journal: func() *journal.Journal { return h.journal }, body: h.Body}
		m.serves = host.Options{Queue: h.Queue, Sessions: h.Agents.Roster, Prompts: h.Agents.Outbox, Calls: calls, Decks: decks{m.trust}, Version: cli.Version()}
		m.host = host.New(m.serves)
	}
	m.Changed = func(all []mirror.State) { h.Host.SetWarnings("machines", false, mirror.Problems(all)...) }
	m.warn = func(texts ...string) { h.Host.SetWarnings("decks", false, texts...) }
	m.hubs = &hubs{}
	return m
}

// decks are those that may answer here, as a host tells of them.
type decks struct{ *book.Trust }

func (d decks) Find(key ed25519.PublicKey) (wire.Deck, bool) {
	found, ok := d.Trust.Find(key)
	return shownDeck(found), ok
}

func (d decks) All() (all []wire.Deck) {
	for _, o := range d.Decks() {
		all = append(all, shownDeck(o))
	}
	return all
}

func shownDeck(d book.Deck) wire.Deck {
	return wire.Deck{Name: d.Name, Fingerprint: wire.Fingerprint(d.Key)}
}

// follow mirrors the machines of the user's list as it is now, and returns how it is with them.
func (m machines) follow(ctx context.Context) ([]mirror.State, error) {
	m.tellDecks()
	if err := m.join(ctx); err != nil {
		return nil, err
	}
	list, err := m.book.Machines()
	all := m.onHub(list)
	if err != nil || len(list) == 0 && len(all) == 0 && len(m.States()) == 0 {
		return nil, err
	}
	key, err := m.book.Key()
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		all = append(all, mirror.Options{Name: o.Name, Host: o.Host, Key: key, Decks: o.Decks, Dial: m.reach(&o).Dial(o.Target), Queue: m.queue, Version: cli.Version()})
	}
	m.Follow(ctx, all)
	return m.States(), nil
}

func (m machines) reach(o *book.Machine) mirror.Reach {
	return mirror.Reach{Environ: m.environ, Engine: o.Engine}
}

// tellDecks tells the queue to which decks its items may be handed.
func (m machines) tellDecks() {
	if m.queue == nil {
		return
	}
	var all []string
	for _, d := range (decks{m.trust}).All() {
		all = append(all, d.String())
	}
	ask.SetDecks(m.queue, all)
}

// jump brings the terminal of a session to the front.
func (m machines) jump(s snapshot.Session) (string, error) {
	if s.Machine == "" {
		return m.agents.Jump(s)
	}
	list, err := m.book.Machines()
	if err != nil {
		return "", err
	}
	for _, o := range list {
		if o.Name == s.Machine {
			return m.reach(&o).Jump(o.Target, s, config.Env("TMUX") != "")
		}
	}
	return "", errors.New("this session runs on " + s.Machine + ", which ssh does not reach from here")
}

// send sends a text to a session as its next prompt.
func (m machines) send(machine, agent, id, text string) error {
	if machine == "" {
		return m.agents.Outbox.Send(agent, id, text)
	}
	_, err := m.Prompt(machine, wire.Prompt{Agent: agent, Session: id, Text: text})
	if err == nil { // what becomes of it is its machine's matter
		ask.NextDrafts{Queue: m.queue}.SetNextDraft(snapshot.OnMachine(machine, agent), id, "")
	}
	return err
}

// takeBack forgets a prompt that its session has not taken, and returns its text.
func (m machines) takeBack(machine, agent, id string) string {
	if machine == "" {
		return m.agents.Outbox.TakeBack(agent, id)
	}
	text, err := m.Prompt(machine, wire.Prompt{Agent: agent, Session: id, Back: true})
	if err != nil {
		m.queue.Notice(err.Error())
	}
	return text
}

// jumpTo brings the terminal to the front in which an agent's program asks.
func (m machines) jumpTo(r ask.Request) (string, error) {
	if r.Peer.Host == "" {
		return m.agents.JumpTo(r)
	}
	at := snapshot.Session{Machine: r.Peer.Host}
	for _, s := range m.Sessions() {
		if p := r.Prompt; p != nil && s.Machine == r.Peer.Host && s.Agent == p.Agent && s.ID == p.Session {
			at = s
		}
	}
	return m.jump(at)
}

// looksAt reports whether the user looks at the terminal in which an agent's program asks.
func (m machines) looksAt(r ask.Request) bool {
	return r.Peer.Host == "" && m.agents.LooksAt(r)
}

// WaitUnused waits until no deck of another machine has been linked for a while, nothing waits for
// the user, and no agent works here.
func (h *App) WaitUnused(ctx context.Context) {
	const look, most = 10 * time.Second, 10 * time.Minute
	used := time.Now()
	for time.Since(used) < most {
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return
		}
		if h.isUsed() {
			used = time.Now()
		}
	}
}

func (h *App) isUsed() bool {
	if h.others.hubs.holds() || h.others.host.Links() > 0 || h.Queue.Pending().Waiting > 0 {
		return true
	}
	for _, s := range h.Agents.Roster.Sessions() {
		if s.State != snapshot.Ended {
			return true
		}
	}
	return false
}
