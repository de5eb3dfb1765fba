package card

import (
	"encoding/json"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/file"
)

const maxCount = 1 << 10 // bytes of the file

// LastCount reads what a card has counted last, which is kept in a file; zero if nothing is.
func LastCount(path string) (n deck.Count) {
	b, err := file.Read(path, maxCount)
	if err != nil || json.Unmarshal(b, &n) != nil || n.Tools < 0 || n.Context < 0 {
		return deck.Count{} // it only serves to say more
	}
	return n
}

// KeepCount writes what a server has listed to its card's file.
func KeepCount(path string, n deck.Count) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := file.Folder(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Write(path, append(b, '\n'), file.Options{})
}

// Recount reads the file again, where the card itself has not listed its tools: the server
// may have been tried elsewhere.
func (c *Card) Recount() {
	n := LastCount(c.opts.Count)
	c.mu.Lock()
	news := c.offer == nil && n != c.count
	c.mu.Unlock()
	if news {
		c.update(func() { c.count = n })
	}
}

// counted keeps what the offer comes to, if that is news. The caller holds mu.
func (c *Card) counted() {
	if c.offer == nil {
		return
	}
	n := deck.Count{Tools: len(c.offer.Tools), Context: c.offer.Context}
	if n == c.count {
		return
	}
	c.count = n
	if c.opts.Count == "" {
		return
	}
	c.spawn("count", func() {
		c.keeping.Lock()
		defer c.keeping.Unlock()
		c.mu.Lock()
		n := c.count
		c.mu.Unlock()
		if err := KeepCount(c.opts.Count, n); err != nil {
			c.log.Note("keep how many tools there are: " + err.Error())
		}
	})
}
