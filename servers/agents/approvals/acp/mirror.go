package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// mostUnread is how many bytes of lines wait to be looked at. More are not: the agent and the
// editor do not wait for the deck.
const mostUnread = 16 << 20

// Time limits of the connection to the deck.
const (
	dialWithin  = 2 * time.Second
	writeWithin = 2 * time.Second
	heardWithin = 40 * time.Second // a living deck says so every 15 s
)

// note is something to look at: a line that has gone by, or the end of a request.
type note struct {
	line    []byte
	editor  bool     // the line is the editor's
	request *request // that the line makes
	settled *settled
}

// mirror tells the deck what goes on between an agent and an editor.
type mirror struct {
	socket string
	folder string
	answer func(id, result json.RawMessage)

	mu     sync.Mutex // guards what follows
	notes  []note
	unread int // bytes of their lines
	poke   chan struct{}

	// What follows is of the goroutine that looks at notes.
	about  about
	talks  map[string]*talk // sessions by their IDs
	calls  map[string]ahead // the editor's requests by the JSON of their IDs
	open   []asked          // of which the deck was told, or would have been
	deck   net.Conn         // nil: none
	opened chan net.Conn
}

func newMirror(b Between, answer func(id, result json.RawMessage)) *mirror {
	command := make([]string, 0, len(b.Command))
	for _, word := range b.Command {
		command = append(command, filepath.Base(word))
	}
	return &mirror{
		socket: b.Socket, folder: b.Folder, answer: answer, poke: make(chan struct{}, 1),
		about: about{PID: b.PID, Command: command[:min(len(command), 3)]},
		talks: map[string]*talk{}, calls: map[string]ahead{}, opened: make(chan net.Conn),
	}
}

// add has something looked at. It does not wait.
func (m *mirror) add(n note) {
	m.mu.Lock()
	if m.unread += len(n.line); m.unread <= mostUnread || n.line == nil {
		m.notes = append(m.notes, n)
	} else {
		m.unread -= len(n.line)
	}
	m.mu.Unlock()
	notify.Poke(m.poke)
}

// next returns what is to be looked at.
func (m *mirror) next() []note {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.notes
	m.notes, m.unread = nil, 0
	return all
}

// run looks at notes until ctx ends.
func (m *mirror) run(ctx context.Context) {
	recovery.Go("deck of an agent", func() { m.connect(ctx) })
	for {
		select {
		case <-m.poke:
			for _, n := range m.next() {
				m.take(&n)
			}
		case c := <-m.opened:
			m.deck = c
			m.retell()
		case <-ctx.Done():
			if m.deck != nil {
				_ = m.deck.Close() // all was said
			}
			return
		}
	}
}

// connect keeps a connection to a deck, when there is one.
func (m *mirror) connect(ctx context.Context) {
	pauses := reconnect.Pauses{First: 250 * time.Millisecond, Most: 2 * time.Second}
	dial := func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialWithin)
		defer cancel()
		return socket.Dial(ctx, m.socket)
	}
	for wait := pauses.First; ; wait = min(2*wait, pauses.Most) {
		c, err := reconnect.Dial(ctx, pauses, reconnect.Forever, dial)
		if err != nil {
			return
		}
		select {
		case m.opened <- c:
		case <-ctx.Done():
			_ = c.Close() // nothing was said
			return
		}
		m.hear(c)
		_ = c.Close() // it is lost, as the next write notices
		select {      // a deck that hangs up at once is not called at once
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// hear gives the deck's answers until the connection is lost.
func (m *mirror) hear(c net.Conn) {
	in := bufio.NewScanner(c)
	in.Buffer(nil, maxLine)
	for {
		_ = c.SetReadDeadline(time.Now().Add(heardWithin)) // fails only on a closed connection, which the read reports
		if !in.Scan() {
			return
		}
		var post struct {
			Post string
			Body struct {
				ID     json.RawMessage `json:"id"`
				Result json.RawMessage `json:"result"`
			}
		}
		if err := json.Unmarshal(in.Bytes(), &post); err != nil {
			return
		}
		if post.Post == "/answer" {
			recovery.Go("answer of the deck", func() { m.answer(post.Body.ID, post.Body.Result) }) // a program that does not read holds up no other
		}
	}
}

// retell tells a deck that was not there before all that is still so.
func (m *mirror) retell() {
	hello, err := hook.Greeting(Name, m.folder)
	if err != nil || !m.write(hello) {
		return
	}
	m.say(eventAgent, m.about)
	for _, t := range m.talks {
		if !t.loading { // else there may be no such session
			m.tell(t)
		}
	}
	for _, a := range m.open {
		m.say(eventAsked, a)
	}
}

// tell tells the deck what is known of a session from before.
func (m *mirror) tell(t *talk) {
	m.say(eventSession, t.state)
	for _, s := range []said{t.prompt, t.said} {
		if s.Again = true; s.At > 0 {
			m.say(eventSaid, s)
		}
	}
}

// say reports an event, and whether it can be.
func (m *mirror) say(event string, v any) bool {
	if m.deck == nil {
		return true
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return false
	}
	line, err := hook.Event(event, raw)
	return err == nil && m.write(line)
}

// write sends a line to the deck. One that does not read is left.
func (m *mirror) write(line []byte) bool {
	_ = m.deck.SetWriteDeadline(time.Now().Add(writeWithin)) // fails only on a closed connection, which the write reports
	if _, err := m.deck.Write(line); err != nil {
		_ = m.deck.Close() // its reader notices, if it was not that
		m.deck = nil
		return false
	}
	return true
}
