package pixelsrc

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// KeptPixels is how many pixels of pictures a deck keeps in memory to look at, whoever
// drew them and however many there are: those of this store and those of the screen.
const KeptPixels = 16 << 20

// Bounds of the store of recent renders, which has half of what is kept: the screen keeps
// more versions. Only a single picture may be larger.
const (
	maxRecent       = 64
	maxRecentPixels = KeptPixels / 2
)

// Render is one picture that an agent has seen. Everything in it is shared and
// must not be changed.
type Render struct {
	ID    uint64 // rises with every render
	Agent string // the connection's id
	Who   string // the agent's name, for people
	Kind  string // sprite, variant, composition or animation
	Name  string // of the object
	Path  string // of the file as the agent gave it, "" for inline source
	Time  time.Time
	// Frames are smoothed as asked but not scaled; a still picture has one. Of an animation
	// there are as many as may be kept; a warning says how many were left out.
	Frames []frames.Frame
	// Names are those of the colours, and Tokens says which was painted where, if that is
	// known.
	Names    []pxl.Named
	Tokens   *pxl.TokenMap
	Loop     bool
	Warnings []string
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
	s.list = within(list)
	changed := s.changed
	s.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// within keeps what there is room for: the latest of each object, the newest first, and then
// those before them.
func within(list []*Render) []*Render {
	pixels := 0
	for i, r := range list {
		if pixels += r.Pixels(); i > 0 && (i >= maxRecent || pixels > maxRecentPixels) {
			list = list[:i]
			break
		}
	}
	pixels = 0
	for _, r := range list {
		pixels += r.Pixels()
	}
	for i, r := range list {
		if r.Before == nil {
			continue
		}
		if pixels += r.Before.Pixels(); pixels > maxRecentPixels {
			pixels -= r.Before.Pixels()
			alone := *r // the others may be reading it
			alone.Before = nil
			list[i] = &alone
		}
	}
	return list
}

// Pixels is how many pixels its pictures have.
func (r *Render) Pixels() int {
	n := 0
	for _, f := range r.Frames {
		n += f.Pixels()
	}
	return n
}

// CutFrames returns as many frames of an animation as may be kept, and what to say if those
// are not all.
func CutFrames(all []frames.Frame) (kept []frames.Frame, note string) {
	pixels := 0
	for i, f := range all {
		if pixels += f.Pixels(); pixels > maxRecentPixels && i > 0 {
			return slices.Clone(all[:i]), fmt.Sprintf("the deck keeps the first %d of %s to look at", i, humanize.Count(len(all), "frame"))
		}
	}
	return all, ""
}

// Recent is the latest render of each object and agent.
func (s *Server) Recent() Recents {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	return Recents{s.recent.version, append([]*Render(nil), s.recent.list...)}
}
