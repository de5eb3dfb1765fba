package pixelsrc

import (
	"image"
	"sync"
	"time"
)

// Bounds of the store of recent renders.
const (
	maxRecent       = 64
	maxRecentPixels = 16 << 20
	maxKeptSource   = 256 << 10
)

// Frame is a picture and, in an animation, how long it stands.
type Frame struct {
	Image    *image.NRGBA
	Duration time.Duration
}

// Render is one picture that an agent has seen. Everything in it is shared and
// must not be changed.
type Render struct {
	ID    uint64 // rises with every render
	Agent string // the connection's id
	Who   string // the agent's name, for people
	Kind  string // sprite, variant, composition or animation
	Name  string // of the object
	Path  string // of the file as the agent gave it, "" for inline source
	// Source is the text it was drawn from, cut at 256 KiB.
	Source string
	Time   time.Time
	// Frames are smoothed as asked but not scaled; a still picture has one.
	Frames    []Frame
	Loop      bool
	Scale     int
	Antialias string
	Warnings  []string
	// Before is the render of the same object by the same agent before this one,
	// nil for the first; its own Before is nil.
	Before *Render
}

// key says which renders replace each other.
type key struct{ agent, path, kind, name string }

// Recents is the state of the store at one time.
type Recents struct {
	Version uint64 // rises with every change
	// Renders has the latest render of each object and agent, the newest first.
	Renders []*Render
}

// store keeps the latest renders, bounded in number and pixels.
type store struct {
	mu      sync.Mutex
	version uint64
	list    []*Render // newest first
	changed func()
}

// Notify sets what is called after each render; nil for nothing.
func (s *Server) Notify(changed func()) {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	s.recent.changed = changed
}

// add puts a render in front and drops what is too old.
func (s *store) add(r *Render) {
	s.mu.Lock()
	s.version++
	r.ID = s.version
	k := key{r.Agent, r.Path, r.Kind, r.Name}
	list := make([]*Render, 1, len(s.list)+1)
	list[0] = r
	for _, old := range s.list {
		if (key{old.Agent, old.Path, old.Kind, old.Name}) == k {
			before := *old
			before.Before = nil
			r.Before = &before
			continue
		}
		list = append(list, old)
	}
	pixels := 0
	for i, old := range list {
		pixels += old.pixels()
		if i > 0 && (i >= maxRecent || pixels > maxRecentPixels) {
			list = list[:i]
			break
		}
	}
	s.list = list
	changed := s.changed
	s.mu.Unlock()
	if changed != nil {
		changed()
	}
}

func (r *Render) pixels() int {
	n := 0
	for _, f := range r.Frames {
		n += f.Image.Rect.Dx() * f.Image.Rect.Dy()
	}
	if r.Before != nil {
		n += r.Before.pixels()
	}
	return n
}

// Recent is the latest render of each object and agent.
func (s *Server) Recent() Recents {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	return Recents{s.recent.version, append([]*Render(nil), s.recent.list...)}
}
