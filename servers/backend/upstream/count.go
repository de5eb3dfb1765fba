package upstream

import (
	"encoding/json"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const maxCount = 1 << 10 // bytes of the file

// LastCount reads what a card has counted last, which is kept in a file; zero if nothing is.
func LastCount(path string) (n snapshot.Count) {
	b, err := file.Read(path, maxCount)
	if err != nil || json.Unmarshal(b, &n) != nil || n.Tools < 0 || n.Context < 0 {
		return snapshot.Count{} // it only serves to say more
	}
	return n
}

// KeepCount writes what a server has listed to its card's file.
func KeepCount(path string, n snapshot.Count) error {
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
