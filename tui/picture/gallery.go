package picture

import (
	"image"
	"slices"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/hint"
)

// Spec is a picture that a page wants on the screen.
type Spec struct {
	// Slot names the place, which shows one picture after the other: "pixels".
	Slot string
	// Key names the pixels: the same key in the same box is the same picture.
	Key string
	// Cols and Rows are its box in cells.
	Cols, Rows int
	// Smooth is for what is not pixel art: common colours are kept, the rest averaged.
	Smooth bool
	// Now asks for the picture in this frame: for those that take less than a
	// millisecond. Others come a frame or two later, drawn off the update loop.
	Now bool
	// Letters writes a picture of a pixel a cell, or two, where there is nothing but
	// letters; nil draws it by brightness.
	Letters *Lettering
	// Make draws the pixels. In modes that send pixels it must return as many as the box
	// has; in text any number that the box divides.
	Make func() *image.NRGBA
}

// Placed is a picture on the frame.
type Placed struct {
	Slot             string
	X, Y, Cols, Rows int
}

// Gallery keeps the pictures of a screen: it hands out the rows to draw, prepares in
// the background what takes long, and says which bytes the terminal needs beside the
// frame. Its methods may be called from several goroutines.
type Gallery struct {
	mu      sync.Mutex
	caps    Caps
	way     way // of caps
	ids     *IDs
	slots   map[string]*slot
	cache   cache
	waiting map[string]Spec // by slot: only the last request counts
	hint    chan struct{}
	send    strings.Builder
	last    []string // rows of the last frame

	frameDue bool // the last frame has not been written yet
}

// slot is what a place shows and what the terminal has of it.
type slot struct {
	spec  Spec
	shown *drawing // nil until something is ready
	seen  bool     // in this frame
	at    Placed

	id         uint32 // kitty; 0 when nothing was sent
	cols, rows int    // of id
	sent       *drawing
	placedAt   Placed
	old        uint32 // to be deleted after the next frame
	drawn      []bool // strips on the screen or about to be, by row
	due        []bool // of those, to follow the next frame's bytes
	clear      []bool // nothing lies over the row, as of the last frame
}

// drawing is a picture in the form a mode needs.
type drawing struct {
	key     string
	lines   []string // text, of all modes but kitty's placeholders
	payload Payload
	strips  []string
	holes   bool // some pixels of the strips are transparent
	bytes   int
}

// NewGallery makes a gallery that shows text until it is told what the terminal can.
// top keeps two programs in one terminal apart; see [NewIDs].
func NewGallery(c Caps, top uint8) *Gallery {
	return &Gallery{
		caps: c, way: wayOf(c.Mode), ids: NewIDs(top), slots: map[string]*slot{},
		cache: cache{limit: 64 << 20}, waiting: map[string]Spec{}, hint: make(chan struct{}, 1),
	}
}

// Caps is what the gallery draws for.
func (g *Gallery) Caps() Caps {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.caps
}

// SetCaps changes what the gallery draws for; everything is made again.
func (g *Gallery) SetCaps(c Caps) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.Mode != g.caps.Mode || c.CellW != g.caps.CellW || c.CellH != g.caps.CellH || c.Depth != g.caps.Depth || c.Tmux != g.caps.Tmux {
		g.forget()
		g.cache.clear()
	}
	g.caps, g.way = c, wayOf(c.Mode)
}

// Forget assumes that the terminal has lost all pictures, as after another program had
// the screen: everything is sent again.
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

// Room is the space that a box of cells gives in the present mode.
func (g *Gallery) Room(cols, rows int) Room {
	c := g.Caps()
	if p, ok := wayOf(c.Mode).(protocol); ok {
		cols, rows = p.most(c, cols, rows)
	}
	return RoomFor(c.Mode, cols, rows, c.CellW, c.CellH)
}

// Bytes is how many bytes what a place shows takes to send, 0 for nothing.
func (g *Gallery) Bytes(name string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.slots[name]; s != nil && s.shown != nil {
		return s.shown.bytes
	}
	return 0
}

// Begin starts a frame: no place is seen yet.
func (g *Gallery) Begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.slots {
		s.seen = false
	}
}

// Lines returns the rows for a picture, as many and as wide as its box. What is not
// ready is drawn later, and [Gallery.Hint] says when; until then the place keeps what it
// showed if that has the same box, else it is empty.
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

// poke hints that there is something to load or to send.
func (g *Gallery) poke() {
	hint.Poke(g.hint)
}

// Hint gets a value when [Gallery.Load] has something to do.
func (g *Gallery) Hint() <-chan struct{} { return g.hint }

// Load draws what is waiting and says whether the frame should be drawn again, and
// which bytes to send to the terminal before it. It is not for the update loop.
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

// Send takes the bytes that are to go to the terminal before the next frame.
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

// nudge is a write without effect: it saves and restores the cursor. The strips follow
// it when the frame itself has no change that would carry them.
const nudge = "\x1b7\x1b8"

// nudgeMost is how far into a write a nudge is looked for; a frame is longer.
const nudgeMost = 4096

// Close returns what frees all pictures in the terminal: the last thing to send.
func (g *Gallery) Close() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.send.Reset()
	g.forget()
	out := g.send.String()
	g.send.Reset()
	return out
}
