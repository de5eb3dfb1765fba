package upstream

import (
	"errors"
	"os"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Fault is what went wrong last with a server.
type Fault struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"` // safe to show, without secrets
}

// LastFault reads the fault that a card has kept in a file; the zero Fault if there is none.
func LastFault(path string) Fault { return kept[Fault](path) }

// faults is what went wrong last, and how often in a row.
type faults struct {
	path string // of the file; "": none
	log  *child.Log
	work *tasks

	last  Fault
	open  bool // the last one was not followed by a child that works
	inRow int  // of whichever child, since one has worked
}

// remember notes what went wrong, which may be what the server wrote.
func (f *faults) remember(text string) {
	f.last, f.open = Fault{time.Now(), f.log.Clean(sanitize.Line(text))}, true
	f.log.Note(f.last.Text)
	f.keep()
}

// recovered notes that a child works: none of the faults before it counts.
func (f *faults) recovered() {
	f.inRow = 0
	if f.open {
		f.open = false
		f.keep()
	}
}

// keep writes the last fault to its file, or removes the file if all is well again.
func (f *faults) keep() {
	if f.path == "" {
		return
	}
	last, failing, path := f.last, f.open, f.path
	f.work.save("what failed", func() error {
		if failing && last.Text != "" {
			return keep(path, last)
		}
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}
