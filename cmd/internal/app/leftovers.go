package app

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// marking marks the programs of servers that this process starts, so that what they
// leave behind is found, also after this process was killed.
type marking struct {
	run  string                   // the folder of the marks
	warn func(topic, text string) // the user

	mu    sync.Mutex
	marks *child.Marks // nil: none was needed yet
}

// open finds what earlier decks left behind when it is called for the first time.
func (m *marking) open() (*child.Marks, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.marks != nil {
		return m.marks, nil
	}
	marks, left, err := child.OpenMarks(m.run)
	if err != nil {
		return nil, err
	}
	m.marks = marks
	for _, l := range left {
		if l.Own {
			l.End()
			continue
		}
		// It has left its server: it may be the user's editor, or browser.
		m.warn("leftover", fmt.Sprintf("%s (process %d) was started by a server of a deck that has ended and is still running; to end it: kill %[2]d", l.Program, l.PID))
	}
	return marks, nil
}

func (m *marking) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.marks != nil {
		m.marks.Close()
		m.marks = nil
	}
}

// endLeftovers ends the programs of a deck that was killed.
func (m *marking) endLeftovers() {
	if _, err := m.open(); err != nil {
		m.warn("leftover", "look for programs of servers that are left: "+err.Error())
	}
}

// starter starts the programs of a server; note hears what they leave behind.
func (m *marking) starter(note func(string)) func(process.Command) (*process.Child, error) {
	var start func(c process.Command, again bool) (*process.Child, error)
	start = func(c process.Command, again bool) (*process.Child, error) {
		marks, err := m.open()
		if err != nil {
			return nil, err
		}
		p, mark, err := marks.Start(c)
		switch {
		case err == nil:
			recovery.Go("leftovers", func() { noteLeft(marks, p, mark, note) })
		case again && errors.Is(err, child.ErrMark) && errors.Is(err, fs.ErrNotExist): // the state folder was removed
			m.close()
			return start(c, false)
		}
		return p, err
	}
	return func(c process.Command) (*process.Child, error) { return start(c, true) }
}

// noteLeft notes what has outlived a program and left its group. It may be the user's.
func noteLeft(marks *child.Marks, p *process.Child, mark string, note func(string)) {
	const settled = 2 * time.Second // its descendants are ended after it
	<-p.Exited
	time.Sleep(settled)
	for _, l := range marks.Left(mark) {
		note(fmt.Sprintf("%s (process %d) was started by it and is still running; to end it: kill %[2]d", l.Program, l.PID))
	}
}
