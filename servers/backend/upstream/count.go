package upstream

import (
	"encoding/json"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const maxKept = 64 << 10 // bytes of a file

// kept reads what a card has kept in a small file; the zero value if there is nothing of use,
// since it only serves to say more.
func kept[T any](path string) (v T) {
	b, err := file.Read(path, maxKept)
	if err != nil || json.Unmarshal(b, &v) != nil {
		return *new(T)
	}
	return v
}

// keep writes what [kept] reads.
func keep(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := file.Folder(filepath.Dir(path)); err != nil {
		return err
	}
	return file.Write(path, append(b, '\n'), file.Options{})
}

// LastCount reads what a card has counted last, which is kept in a file; zero if nothing is.
func LastCount(path string) snapshot.Count {
	n := kept[snapshot.Count](path)
	if n.Tools < 0 || n.Context < 0 {
		return snapshot.Count{}
	}
	return n
}

// KeepCount writes what a server has listed to its card's file.
func KeepCount(path string, n snapshot.Count) error { return keep(path, n) }

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
