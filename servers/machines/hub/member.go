package hub

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// member is a membership at work.
type member struct {
	Membership

	keys *Keys
	book Book
	*client

	bad atomic.Int64 // messages that were not taken

	mu   sync.Mutex
	list List
}

// newMember returns one that is not connected.
func newMember(m Membership, b Book) (*member, error) {
	k, err := KeysOf(m.Seed)
	if err != nil {
		return nil, err
	}
	x := &member{Membership: m, keys: k, book: b, client: newClient()}
	raw, err := file.Read(b.listFile(&m), mostMessage)
	if err == nil {
		x.list, err = readList(raw, listOf(m.Role), m.Owner)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return x, nil
}

// run does all of a member's work, by name, until ctx ends.
func (m *member) run(ctx context.Context, works map[string]func(context.Context)) {
	defer m.close()
	var all sync.WaitGroup
	for name, work := range works {
		all.Add(1)
		recovery.Go(name, func() {
			defer all.Done()
			work(ctx)
		})
	}
	all.Wait()
}

// drop counts a message that is not from whom it should be.
func (m *member) drop() { m.bad.Add(1) }

// dropped is how many messages were not taken.
func (m *member) dropped() int { return int(m.bad.Load()) }

// members returns the list as it is now.
func (m *member) members() List {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list
}

// keepList reads the list whenever it may have changed, and calls changed with the one before if it has.
func (m *member) keepList(ctx context.Context, changed func(was List)) {
	for range m.looks(ctx, listOf(m.Role)) {
		was := m.members()
		if s, err := m.last(ctx, listStream, listOf(m.Role)); err == nil && s != nil && m.takeList(s.Data) {
			changed(was)
		}
	}
}

// takeList takes a list if its owner has signed it and it is later than the one known.
func (m *member) takeList(message []byte) (changed bool) {
	l, err := readList(message, listOf(m.Role), m.Owner)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || l.Seq < m.list.Seq {
		m.drop()
		return false
	}
	if l.Seq == m.list.Seq {
		return false
	}
	m.list = l
	_ = file.Write(m.book.listFile(&m.Membership), message, file.Options{Folder: true}) // it is read again from the hub
	return true
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
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
