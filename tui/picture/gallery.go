package picture

import (
	"image"
	"slices"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// Spec is a picture that a page wants to show.
type Spec struct {
	// Slot names the place, such as "pixels". A place shows one picture at a time.
	Slot string
	// Key identifies the pixels: the same key in the same box means the same picture.
	Key string
	// Cols and Rows are the size of the box in cells.
	Cols, Rows int
	// Smooth is for anything but pixel art: common colours are kept, the rest averaged.
	Smooth bool
	// Now asks for the picture in this frame, for pictures that take less than a millisecond
	// to draw. Others are drawn off the update loop and appear a frame or two later.
	Now bool
	// Letters writes a picture of one or two cells per pixel when only letters are
	// available; nil draws it by brightness.
	Letters *Lettering
	// Make draws the pixels. In modes that send pixels, the image must have the size of the
	// box in pixels; in text modes, a whole multiple of the box will do.
	Make func() *image.NRGBA
}

// Placed is the position of a picture in the frame.
type Placed struct {
	Slot             string
	X, Y, Cols, Rows int
}

// Gallery manages the pictures on a screen: it returns the rows to draw, prepares slow
// pictures in the background, and produces the bytes the terminal needs besides the frame.
// It is safe for concurrent use.
type Gallery struct {
	mu      sync.Mutex
	caps    Caps
	way     way // for caps
	ids     *IDs
	slots   map[string]*slot
	cache   cache
	waiting map[string]Spec // by slot; only the latest request counts
	hint    chan struct{}
	send    strings.Builder
	last    []string // rows of the previous frame

	frameDue bool // the latest frame has not been written yet
}

// slot is what a place shows and what the terminal holds for it.
type slot struct {
	spec  Spec
	shown *drawing // nil until a drawing is ready
	seen  bool     // in this frame
	at    Placed

	id         uint32 // kitty; 0 if nothing was sent
	cols, rows int    // of id
	sent       *drawing
	placedAt   Placed
	old        uint32 // to delete after the next frame
	drawn      []bool // by row: strips on the screen or about to be
	due        []bool // by row: strips of drawn to send after the next frame's bytes
	clear      []bool // by row: nothing covered the row in the latest frame
}

// drawing is a picture in the form that a mode needs.
type drawing struct {
	key     string
	lines   []string // text; used by all modes except kitty placeholders
	payload Payload
	strips  []string
	holes   bool // some pixels of the strips are transparent
	bytes   int
}

// NewGallery returns a gallery that draws for c. top keeps the pictures of two programs in
// one terminal apart; see [NewIDs].
func NewGallery(c Caps, top uint8) *Gallery {
	return &Gallery{
		caps: c, way: wayOf(c.Mode), ids: NewIDs(top), slots: map[string]*slot{},
		cache: cache{limit: 64 << 20}, waiting: map[string]Spec{}, hint: make(chan struct{}, 1),
	}
}

// Caps returns the capabilities the gallery draws for.
func (g *Gallery) Caps() Caps {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.caps
}

// SetCaps changes the capabilities the gallery draws for and redraws everything.
func (g *Gallery) SetCaps(c Caps) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.Mode != g.caps.Mode || c.CellW != g.caps.CellW || c.CellH != g.caps.CellH || c.Depth != g.caps.Depth || c.Tmux != g.caps.Tmux {
		g.forget()
		g.cache.clear()
	}
	g.caps, g.way = c, wayOf(c.Mode)
}

// Forget assumes that the terminal has lost all pictures, for example because another
// program used the screen. Everything is sent again.
func (g *Gallery) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget()
}

func (g *Gallery) forget() {
	for _, s := range g.slots {
		g.delete(s.id)
		g.delete(s.old)
		s.id, s.old, s.sent, s.drawn, s.due, s.clear, s.placedAt = 0, 0, nil, nil, nil, nil, Placed{}
	}
	g.last = nil
}

func (g *Gallery) delete(id uint32) {
	if id != 0 {
		if p, ok := g.way.(protocol); ok {
			g.send.WriteString(p.free(g.caps, id))
		}
	}
}

// Room returns the room that cols by rows cells provide in the current mode.
func (g *Gallery) Room(cols, rows int) Room {
	c := g.Caps()
	if p, ok := wayOf(c.Mode).(protocol); ok {
		cols, rows = p.most(c, cols, rows)
	}
	return roomFor(c.Mode, cols, rows, c.CellW, c.CellH)
}

// Bytes returns the number of bytes it takes to send what a place shows, or 0 if none.
func (g *Gallery) Bytes(name string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.slots[name]; s != nil && s.shown != nil {
		return s.shown.bytes
	}
	return 0
}

// Begin starts a frame in which no place has been seen yet.
func (g *Gallery) Begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.slots {
		s.seen = false
	}
}

// Lines returns the rows for a picture, with the size of its box. A picture that is not
// ready is drawn later and announced by [Gallery.Hint]; until then the place keeps its
// previous picture if that has the same box, and is empty otherwise.
func (g *Gallery) Lines(spec Spec) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if spec.Cols <= 0 || spec.Rows <= 0 {
		return nil
	}
	s := g.slots[spec.Slot]
	if s == nil {
		s = &slot{}
		g.slots[spec.Slot] = s
	}
	s.seen, s.spec = true, spec
	key := g.key(spec)
	if d := g.cache.get(key); d != nil {
		s.shown = d
		delete(g.waiting, spec.Slot)
	} else if spec.Now {
		s.shown = drawingOf(spec, key, g.caps)
		g.cache.put(s.shown)
		delete(g.waiting, spec.Slot)
	} else {
		g.waiting[spec.Slot] = spec
		g.poke()
		if s.shown != nil && !sameBox(s.shown.key, key) {
			s.shown = nil
		}
	}
	if s.shown == nil {
		return blankLines(spec.Cols, spec.Rows)
	}
	if p, ok := g.way.(protocol); ok {
		return p.lines(g, s)
	}
	return s.shown.lines
}

func blankLines(cols, rows int) []string {
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = strings.Repeat(" ", cols)
	}
	return lines
}

// poke signals that there is something to load or send.
func (g *Gallery) poke() {
	notify.Poke(g.hint)
}

// Hint returns a channel that receives a value when [Gallery.Load] has something to do.
func (g *Gallery) Hint() <-chan struct{} { return g.hint }

// Load draws the waiting pictures. It reports whether the frame should be redrawn and
// returns the bytes to send to the terminal before it. Don't call it in the update loop.
func (g *Gallery) Load() (redraw bool, send string) {
	g.mu.Lock()
	specs := g.waiting
	g.waiting = map[string]Spec{}
	caps := g.caps
	g.mu.Unlock()
	for _, spec := range specs {
		d := drawingOf(spec, keyFor(spec, caps), caps)
		g.mu.Lock()
		g.cache.put(d)
		g.mu.Unlock()
		redraw = true
	}
	return redraw, g.Send()
}

// Send returns, and clears, the bytes to send to the terminal before the next frame.
func (g *Gallery) Send() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := g.send.String()
	g.send.Reset()
	if out == "" && g.anyDue() {
		return nudge
	}
	return out
}

func (g *Gallery) anyDue() bool {
	for _, s := range g.slots {
		if slices.Contains(s.due, true) {
			return true
		}
	}
	return false
}

// nudge is a write without effect: it saves and restores the cursor. Strips follow it when
// the frame itself has no change that would carry them.
const nudge = "\x1b7\x1b8"

// nudgeMost is how far into a write to look for a nudge; a frame is longer.
const nudgeMost = 4096

// Close returns the bytes that free all pictures in the terminal. Send them last.
func (g *Gallery) Close() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.send.Reset()
	g.forget()
	out := g.send.String()
	g.send.Reset()
	return out
}
