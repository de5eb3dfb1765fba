package child

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/file"

	"github.com/gofrs/flock"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// Marks mark the programs that a deck starts, so that what they leave behind is found:
// by the deck, and by the next one when this one is killed. Each deck keeps a file for
// its marks, locked for as long as it lives.
type Marks struct {
	own  string // begins all marks of this deck
	file *flock.Flock

	mu   sync.Mutex
	last int
}

// Leftover is a process that outlived the deck that started it, or what it descends
// from.
type Leftover struct {
	process.Marked
	Own bool // it is in the group of the program, and not something the program let go
}

const (
	marksPrefix = "children-"
	maxMarks    = 16 << 20
)

// ErrMark is why a program was not started whose mark cannot be kept.
var ErrMark = errors.New("keep the mark of a child")

// OpenMarks makes marks for this deck and finds what earlier ones left behind. dir, a
// folder of the user's own, keeps the marks; "" keeps none.
func OpenMarks(dir string) (*Marks, []Leftover, error) {
	m := &Marks{own: rand.Text()}
	if dir == "" {
		return m, nil, nil
	}
	left, err := leftovers(dir)
	if err != nil {
		return nil, nil, err
	}
	m.file = file.Lock(filepath.Join(dir, marksPrefix+m.own))
	for {
		if err := m.file.Lock(); err != nil {
			return nil, nil, fmt.Errorf("keep the marks of children: %w", err)
		}
		// A deck that looked before the lock was there has taken the file for that of
		// a deck that is gone, and removed it.
		if there(m.file) {
			return m, left, nil
		}
		_ = m.file.Close() // of a file that has no name
	}
}

// there tells whether a locked file is the one that has its name.
func there(lock *flock.Flock) bool {
	named, err := os.Stat(lock.Path())
	if err != nil {
		return false
	}
	locked, err := lock.Stat()
	return err == nil && os.SameFile(named, locked)
}

// leftovers reads the files of decks that no longer live. One is removed when nothing
// is left of its children.
func leftovers(dir string) (all []Leftover, err error) {
	files, err := filepath.Glob(filepath.Join(dir, marksPrefix+"*"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		lock := file.Lock(name)
		if free, err := lock.TryLock(); err != nil || !free {
			continue // its deck lives
		}
		found, err := leftBy(name)
		if err == nil && len(found) == 0 {
			_ = os.Remove(name)
		}
		all = append(all, found...)
		_ = lock.Unlock()
	}
	return all, nil
}

// leftBy finds what is left of the children of the deck whose file this is.
func leftBy(name string) (all []Leftover, err error) {
	b, err := file.Read(name, maxMarks)
	if err != nil {
		return nil, err
	}
	groups := map[string]process.Group{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		mark, rest, _ := strings.Cut(lines.Text(), " ")
		var g process.Group
		_, _ = fmt.Sscan(rest, &g.PID, &g.Session, &g.Born) // what is not there stays zero
		groups[mark] = g
	}
	own := strings.TrimPrefix(filepath.Base(name), marksPrefix)
	if own == "" {
		return nil, errors.New("a file of marks without a name")
	}
	for _, p := range process.FindMarked(func(mark string) bool { return strings.HasPrefix(mark, own+"-") }) {
		all = append(all, Leftover{Marked: p, Own: p.Group == groups[p.Mark].PID})
	}
	for _, g := range groups { // a program started with a cleared environment has no mark
		for _, p := range g.Members() {
			if !slices.ContainsFunc(all, func(l Leftover) bool { return l.PID == p.PID }) {
				all = append(all, Leftover{Marked: p, Own: true})
			}
		}
	}
	return all, nil
}

// Start starts a program with a mark of its own, which it returns.
func (m *Marks) Start(c process.Command) (p *process.Child, mark string, err error) {
	m.mu.Lock()
	m.last++
	mark = m.own + "-" + strconv.Itoa(m.last)
	m.mu.Unlock()
	c.Mark = mark
	if p, err = process.Start(c); err != nil {
		return nil, "", err
	}
	if m.file != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if err := note(m.file.Path(), line(mark, process.GroupOf(p))); err != nil {
			p.Kill()
			return nil, "", fmt.Errorf("%w: %w", ErrMark, err)
		}
	}
	return p, mark, nil
}

// line is how a file of marks has a child; [leftBy] reads it.
func line(mark string, g process.Group) string {
	return fmt.Sprintln(mark, g.PID, g.Session, g.Born)
}

func note(name, line string) (err error) {
	f, err := file.Open(name, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(line)
	return err
}

// Left finds what has outlived a program that has ended. Such a process has left the
// program's group and its descendants: it may be the user's editor or browser.
func (m *Marks) Left(mark string) []process.Marked {
	return process.FindMarked(func(s string) bool { return s == mark })
}

// Close forgets the marks, unless something carries them still.
func (m *Marks) Close() {
	if m.file == nil {
		return
	}
	if left, err := leftBy(m.file.Path()); err == nil && len(left) == 0 {
		_ = os.Remove(m.file.Path())
	}
	_ = m.file.Close() // the lock goes with the process at the latest
}
