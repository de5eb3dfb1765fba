package usage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

const (
	suffix       = ".json"
	largestState = 64 << 20
	// keepState is how long what was counted is kept after its session was last seen.
	keepState = 30 * 24 * time.Hour
)

func (c *Counter) path(k key) string {
	return filepath.Join(c.opts.State, k.agent+"-"+k.id+suffix)
}

// load returns what is kept of a session, or a new one.
func (c *Counter) load(k key) *session {
	fresh := &session{Version: version, Replies: map[uint64]Reply{}}
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
	s.kept = true
	return s
}

// price sums up the replies of a session.
func (c *Counter) price(s *session) {
	s.sum, s.usd, s.today, s.undated, s.priced, s.unknown = Reply{}, 0, 0, false, false, false
	for _, r := range s.Replies {
		c.add(s, &r, 1)
	}
}

// Unread notes whether the user has not looked at a session since its last turn, which is kept.
func (c *Counter) Unread(agent, id string, is bool) {
	if s := c.sessions[key{agent, id}]; s != nil && s.Unread != is {
		s.Unread, s.dirty = is, true
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
		err = file.Write(c.path(k), data, file.Options{Folder: true, Fleeting: true})
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

// Spent tells what each session of which anything is kept spent on the day of now, in US
// dollars, also where that is nothing; what two share is told of one. It reads files.
func (c *Counter) Spent(now time.Time, tell func(agent, id string, usd float64)) {
	kept := &Counter{opts: c.opts, prices: c.prices, sessions: map[key]*session{}}
	c.each(func(name string, changed time.Time) {
		agent, id, ok := strings.Cut(name, "-")
		if !ok || dayOf(changed) < dayOf(now) {
			return
		}
		s := c.load(key{agent, id})
		s.key = key{agent, id}
		kept.dated(s, now)
		kept.sessions[s.key] = s
	})
	for k, s := range kept.sessions {
		tell(k.agent, k.id, s.today-kept.shared(s).Today)
	}
}

// Prune deletes what is kept of sessions that have not been seen for a month.
func (c *Counter) Prune(now time.Time) {
	c.each(func(name string, changed time.Time) {
		if now.Sub(changed) > keepState {
			_ = os.Remove(filepath.Join(c.opts.State, name+suffix)) // it is tried again next time
		}
	})
}

// each visits the files of what is kept: their names without the suffix, and when they
// were written last.
func (c *Counter) each(visit func(name string, changed time.Time)) {
	if c.opts.State == "" {
		return
	}
	entries, err := os.ReadDir(c.opts.State)
	if err != nil {
		return // nothing is kept yet
	}
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), suffix)
		if info, err := e.Info(); ours && err == nil {
			visit(name, info.ModTime())
		}
	}
}
