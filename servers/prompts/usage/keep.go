package usage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/file"
)

const (
	largestState = 64 << 20
	// keepState is how long what was counted is kept after its session was last seen.
	keepState = 30 * 24 * time.Hour
)

func (c *Counter) path(k key) string {
	return filepath.Join(c.opts.State, k.agent+"-"+k.id+".json")
}

// load returns what is kept of a session, or a new one.
func (c *Counter) load(k key) *session {
	fresh := &session{Version: version, Replies: map[uint64]reply{}}
	if c.opts.State == "" {
		return fresh
	}
	data, err := file.Read(c.path(k), largestState)
	if err != nil {
		return fresh
	}
	s := &session{}
	if json.Unmarshal(data, s) != nil || s.Version != version || s.Replies == nil {
		return fresh // it is counted again
	}
	return s
}

// price sums up the replies of a session.
func (c *Counter) price(s *session) {
	s.sum, s.usd, s.priced, s.unknown = reply{}, 0, false, false
	for _, r := range s.Replies {
		c.add(s, &r, 1)
	}
}

// Save keeps what was counted of a session, if that has changed.
func (c *Counter) Save(agent, id string) error {
	k := key{agent, id}
	s := c.sessions[k]
	if s == nil || !s.dirty || c.opts.State == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = file.Folder(c.opts.State)
	}
	if err == nil {
		err = file.Write(c.path(k), data, file.Options{Fleeting: true})
	}
	s.dirty = err != nil
	return err
}

// Drop frees the memory of sessions, after it has kept what was counted of them.
func (c *Counter) Drop(which func(agent, id string) bool) {
	for k := range c.sessions {
		if which(k.agent, k.id) {
			_ = c.Save(k.agent, k.id) // else it is counted again
			delete(c.sessions, k)
		}
	}
}

// Prune deletes what is kept of sessions that have not been seen for a month.
func (c *Counter) Prune(now time.Time) {
	if c.opts.State == "" {
		return
	}
	entries, err := os.ReadDir(c.opts.State)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") && now.Sub(info.ModTime()) > keepState {
			_ = os.Remove(filepath.Join(c.opts.State, e.Name())) // it is tried again next time
		}
	}
}
