package card

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/file"
)

// Fault is what went wrong last with a server.
type Fault struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"` // safe to show, without secrets
}

const maxFault = 64 << 10 // bytes of the file

// LastFault reads the fault that a card has kept in a file; the zero Fault if there is none.
func LastFault(path string) (f Fault) {
	b, err := file.Read(path, maxFault)
	if err != nil || json.Unmarshal(b, &f) != nil {
		return Fault{} // it only serves to say more
	}
	return f
}

// keepFault writes the last fault to its file, or removes the file if all is well again.
// The caller holds mu.
func (c *Card) keepFault() {
	if c.opts.Fault == "" {
		return
	}
	c.spawn("fault", func() {
		c.keeping.Lock()
		defer c.keeping.Unlock()
		c.mu.Lock()
		f, failing := Fault{c.lastErrorAt, c.lastError}, c.faulty
		c.mu.Unlock()
		if err := f.keep(c.opts.Fault, failing && f.Text != ""); err != nil {
			c.log.Note("keep what failed: " + err.Error())
		}
	})
}

func (f Fault) keep(path string, failing bool) error {
	if !failing {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := file.Folder(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Write(path, append(b, '\n'), file.Options{})
}

// stumble counts an attempt to start a child of a slot that failed, or a child that ended
// too early.
func (c *Card) stumble(s *slot, why string) {
	s.stumble(why)
	c.failures++
}

// recovered notes that a child works: none of the failures before it counts.
func (c *Card) recovered(s *slot) {
	s.attempts = 0
	c.failures = 0
	if c.faulty {
		c.faulty = false
		c.keepFault()
	}
}
