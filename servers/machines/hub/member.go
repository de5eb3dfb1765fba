package hub

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// member is a membership at work.
type member struct {
	Membership

	keys *Keys
	book Book
	*client

	mu    sync.Mutex
	list  List
	feeds map[string]*notify.Feed // by the beginning of a subject: hints that something has come
	bad   int                     // messages that were not taken
}

func newMember(m Membership, b Book) (*member, error) {
	k, err := KeysOf(m.Seed)
	if err != nil {
		return nil, err
	}
	x := &member{Membership: m, keys: k, book: b, feeds: map[string]*notify.Feed{}}
	raw, err := file.Read(b.listFile(&m), mostMessage)
	if err == nil {
		x.list, err = readList(raw, listOf(m.Role), m.Owner)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return x, nil
}

// heard hints at what has come: the hub has the message.
func (m *member) heard(is *nats.Msg) {
	parts := strings.SplitN(is.Subject, ".", 3)
	m.feed(strings.Join(parts[:min(len(parts), 2)], ".")).Send()
}

// feed is that of all subjects with a beginning of two words.
func (m *member) feed(subject string) *notify.Feed {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.feeds[subject]
	if f == nil {
		f = &notify.Feed{}
		m.feeds[subject] = f
	}
	return f
}

// drop counts a message that is not from whom it should be.
func (m *member) drop() {
	m.mu.Lock()
	m.bad++
	m.mu.Unlock()
}

// dropped is how many messages were not taken.
func (m *member) dropped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bad
}

// members returns the list as it is now.
func (m *member) members() List {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list
}

// poll is how often a member looks without a hint.
const poll = 10 * time.Second

// watch says when to look.
type watch struct {
	hints <-chan struct{}
	soon  int // looks that follow on the last hint, which may come before the message is stored, and may have come before this
}

// wait waits for a hint, or for as long as a look is useful without.
func (w *watch) wait(ctx context.Context) {
	pause := poll
	if w.soon > 0 {
		pause = time.Second >> (3 * w.soon)
		w.soon--
	}
	select {
	case <-w.hints:
		w.soon = 3
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// keepList reads the list whenever it may have changed, and calls changed with the one before if it has.
func (m *member) keepList(ctx context.Context, changed func(was List)) {
	hints, stop := m.feed(listOf(m.Role)).Subscribe()
	defer stop()
	links, end := m.client.feed.Subscribe()
	defer end()
	w := watch{hints: hints, soon: 3}
	for ctx.Err() == nil {
		was := m.members()
		if m.problem() == nil && m.readList(ctx) {
			changed(was)
		}
		select {
		case <-links:
			continue
		default:
		}
		w.wait(ctx)
	}
}

func (m *member) readList(ctx context.Context) (changed bool) {
	s, err := m.last(ctx, listStream, listOf(m.Role))
	if err != nil || s == nil {
		return false
	}
	return m.takeList(s.data)
}

// takeList takes a list if its owner has signed it and it is later than the one known.
func (m *member) takeList(message []byte) (changed bool) {
	l, err := readList(message, listOf(m.Role), m.Owner)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || l.Seq < m.list.Seq {
		m.bad++
		return false
	}
	if l.Seq == m.list.Seq {
		return false
	}
	m.list = l
	_ = file.Write(m.book.listFile(&m.Membership), message, file.Options{Folder: true}) // it is read again from the hub
	return true
}

// again does something until it succeeds, and reports whether it has before ctx ended.
func again(ctx context.Context, do func() error) bool {
	pause := 100 * time.Millisecond
	for ctx.Err() == nil {
		if do() == nil {
			return true
		}
		if sleep(ctx, pause) != nil {
			return false
		}
		pause = min(2*pause, 5*time.Second)
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// State is how it is with a hub.
type State struct {
	Hub     string `json:"hub"`
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Linked  bool   `json:"linked"`
	Why     string `json:"why,omitempty"` // not linked
	Dropped int    `json:"dropped"`       // messages that were not from whom they should be
}

// State returns how it is.
func (m *member) State() State {
	s := State{Hub: m.Hub, Name: m.Name, Role: m.Role, Linked: true, Dropped: m.dropped()}
	if err := m.problem(); err != nil {
		s.Linked, s.Why = false, err.Error()
	}
	return s
}
