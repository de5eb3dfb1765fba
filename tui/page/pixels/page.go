// Package pixels is the page of pictures: those that agents draw, as they draw them,
// and files that the user opens, to inspect and to compare.
package pixels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// ID is the page's name.
const ID = "pixels"

// Render is a picture in the list.
type Render struct {
	// ID rises with every render; of two of the same thing the greater is the later.
	ID uint64
	// Name and Kind are those of the object: "hero", "sprite".
	Name, Kind string
	// File is where the source is, "" for one that came inline.
	File string
	// Agent is who had it drawn, "" for a file that the user opened.
	Agent string
	Time  time.Time
	// Picture is what was drawn; nil when nothing could be, or not yet.
	Picture *viewer.Picture
	// Fetch reads the picture once it is looked at, where that is not nil.
	Fetch func() (*viewer.Picture, error)
	// Call is the call in whose result it was, 0 for none.
	Call uint64
	// Quiet keeps it out of the list until its call is asked for.
	Quiet bool
	// Notes are the diagnostics.
	Notes []string
	// Failed says why there is no picture.
	Failed string
	// Before is the version before this one, where the source still has it.
	Before *Render
}

// thing says which renders are versions of each other.
func (r *Render) thing() string {
	if r.Fetch != nil { // each screenshot stands for itself
		return fmt.Sprint(r.ID)
	}
	return r.Agent + "\x00" + r.File + "\x00" + r.Kind + "\x00" + r.Name
}

// has reports whether all words of a query are in what is said of the render.
func (r *Render) has(query string) bool {
	text := strings.ToLower(r.Name + " " + r.Agent + " " + r.File)
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(query)), func(w string) bool { return !strings.Contains(text, w) })
}

// Source is where renders come from. Its methods return at once.
type Source interface {
	// Version rises with every change of Renders.
	Version() uint64
	// Renders are the latest of each thing. The page does not change them.
	Renders() []Render
	// Subscribe hints, on a channel of one slot, that Version may differ.
	Subscribe() (hint <-chan struct{}, cancel func())
}

var (
	_ tui.Page         = (*Page)(nil)
	_ tui.Feeder       = (*Page)(nil)
	_ tui.FooterStatus = (*Page)(nil)
)

// Options are what the page needs.
type Options struct {
	// Sources have what agents draw.
	Sources []Source
	// Open are files to show from the start.
	Open []string
	// Load reads a .pxl file with its includes and imports; nil when those cannot be shown.
	Load func(path string) (*pxl.Document, error)
	// Editor is the command that opens a source; without a program there is none.
	Editor process.Command
}

// partColours is the part of the page with a picture's colours.
const partColours = "colours"

// Page is the page of pictures.
type Page struct {
	browser.Browser
	opts  Options
	files *files

	loaded []uint64               // versions of what load gave last
	wanted atomic.Bool            // the next load brings the page on screen
	fetch  atomic.Pointer[Render] // to be read by the next load
	asked  uint64                 // call whose pictures are shown though they are quiet
	all    []Render               // with the quiet ones

	renders  []Render
	versions versions
	colours  colours

	shown  uint64 // ID of the render in the viewer
	thing  string
	pinned bool            // does not follow the newest
	seen   bool            // is on screen
	resume bool            // playback goes on when it is
	unseen map[uint64]bool // renders that came since, and that the user has not moved on from
	view   viewer.Viewer
	sheet  *sheet
	shots  shots
	mode   picture.Mode // asked for by key
}

// sheet is how a still is cut into frames.
type sheet struct {
	w, h        int
	first, last int // last below 0 is the end
	of          *viewer.Picture
}

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string { return tui.EncodeState(p.view.Look()) }

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l viewer.Look
	if tui.DecodeState(kept, &l) {
		p.view.LookSo(l)
	}
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, versions: versions{of: map[string][]Render{}}, unseen: map[uint64]bool{}, view: viewer.Viewer{Slot: "pixels"}}
	p.Browser = browser.New(browser.Options{ID: ID, Moved: p.moved}, tui.Filter{Narrow: tui.Do(func() { p.take(p.all) })})
	p.List.Close, p.colours.Close = true, true
	p.Filter.Edit.Placeholder = "name, agent, file"
	p.files = newFiles(o.Load)
	for _, path := range o.Open {
		p.files.open(path)
	}
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Pixels".
func (p *Page) Title() string { return "Pixels" }

// Badge is how many of the pictures in the list are new.
func (p *Page) Badge() int {
	n := 0
	for i := range p.renders {
		if p.unseen[p.renders[i].ID] {
			n++
		}
	}
	return n
}

// Drags reports whether the mouse is over the picture, which it moves.
func (p *Page) Drags(x, y int) bool {
	a := p.Areas.At(x, y)
	return a != nil && a.Part == browser.PartDetail
}

// BadgeMark is the sign of what is new.
func (p *Page) BadgeMark(th *theme.Theme) (string, theme.Style) { return "+", th.Accent }

// Hovers reports whether the pixel under the mouse is shown: while a still picture
// is looked at.
func (p *Page) Hovers() bool { return p.view.Picture() != nil && !p.view.Playing() }

// Show shows the newest picture if there is a new one. Playback goes on.
func (p *Page) Show() tea.Cmd {
	p.seen = true
	if p.Badge() > 0 && !p.pinned {
		p.List.MoveTo(0)
		p.show(p.renders[0])
	}
	p.view.Play(p.resume)
	return nil
}

// Hide stops playback until Show. What was there is no news any more.
func (p *Page) Hide() {
	clear(p.unseen)
	p.seen, p.resume = false, p.view.Playing()
	p.view.Play(false)
}

// play starts a new animation, at once or when the page comes on the screen.
func (p *Page) play() {
	p.resume = true
	p.view.Play(p.seen)
}

// rendersMsg is the list as it is now; look asks for the page.
type rendersMsg struct {
	renders []Render
	look    bool
}

// Feed loads the renders of agents and the opened files.
func (p *Page) Feed() tui.Feed {
	joined := make(chan struct{}, 1)
	stop := make(chan struct{})
	pass := func(from <-chan struct{}) {
		recovery.Go("pixels hints", func() {
			for {
				select {
				case <-stop:
					return
				case <-from:
				}
				notify.Poke(joined)
			}
		})
	}
	pass(p.files.hint)
	var cancels []func()
	for _, s := range p.opts.Sources {
		sub, cancel := s.Subscribe()
		cancels = append(cancels, cancel)
		pass(sub)
	}
	return tui.Feed{Hint: joined, Load: p.load, Stop: func() {
		close(stop)
		for _, cancel := range cancels {
			cancel()
		}
		p.files.close()
	}}
}

// load runs off the update loop and never twice at once.
func (p *Page) load() tea.Msg {
	if r := p.fetch.Swap(nil); r != nil {
		p.files.poke() // for what else there may be
		return fetched(r)
	}
	renders, files := p.files.load()
	at := []uint64{files}
	for _, s := range p.opts.Sources {
		at = append(at, s.Version())
	}
	if slices.Equal(p.loaded, at) {
		return nil // the hint was about something else
	}
	p.loaded = at
	for _, s := range p.opts.Sources {
		renders = slices.Concat(renders, s.Renders())
	}
	slices.SortStableFunc(renders, func(a, b Render) int { return b.Time.Compare(a.Time) })
	return rendersMsg{renders, p.wanted.Swap(false)}
}

// Open shows a file and draws it again whenever it is saved. It may be called from any
// goroutine; with look the page comes on screen.
func (p *Page) Open(path string, look bool) {
	p.wanted.Store(look)
	p.files.open(path)
}

// Update takes new renders, clicks, and the keys that are no actions.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if p.mouse(msg) {
		return nil
	}
	if cmd, taken := p.Browser.Update(msg); taken {
		return cmd
	}
	switch msg := msg.(type) {
	case rendersMsg:
		if msg.look {
			p.pinned = false
		}
		p.take(msg.renders)
		if msg.look {
			return tui.Go(p.ID())
		}
	case fetchedMsg:
		p.took(msg)
	case tui.LookMsg:
		return p.lookAt(msg.Call)
	case tui.FocusMsg:
		if !msg.Focused {
			p.view.Play(false)
		}
	case OpenMsg:
		p.files.open(msg.Path)
		p.pinned = false
		return tui.Go(p.ID())
	}
	return nil
}

// OpenMsg asks the page to show a file and to draw it again whenever it is saved.
type OpenMsg struct{ Path string }

// take replaces the list. What is looked at stays, in its latest version; the newest
// comes into view unless the user pinned another.
func (p *Page) take(renders []Render) {
	latest := p.versions.latest(p.thing, p.shown)
	came := p.versions.keep(p.all, renders)
	p.versions.bound(renders, append(slices.Collect(maps.Values(p.shots.pics)), p.view.Picture()))
	p.all = renders
	listed := map[string]bool{}
	p.renders = slices.DeleteFunc(slices.Clone(renders), func(r Render) bool {
		hidden := r.Quiet && r.Call != p.asked || listed[r.thing()] || !r.has(p.Filter.Text())
		listed[r.thing()] = listed[r.thing()] || !hidden
		return hidden
	})
	if len(came) < len(renders) { // not at the start
		for _, id := range came {
			p.unseen[id] = true
		}
	}
	for thing := range p.versions.of {
		if !listed[thing] && thing != p.thing && p.Filter.Empty() {
			delete(p.versions.of, thing) // nothing leads there any more
		}
	}
	p.SetLen(len(p.renders), -1)
	if len(p.renders) == 0 {
		if p.Filter.Empty() {
			p.show(Render{})
		}
		return
	}
	at := slices.IndexFunc(p.renders, func(r Render) bool { return r.thing() == p.thing })
	if at < 0 || !p.pinned && len(came) > 0 {
		at = 0
	}
	p.List.MoveTo(at)
	if !p.pinned || latest || p.current() == nil {
		p.show(p.renders[at])
	}
}

// show brings a render into the viewer.
func (p *Page) show(r Render) {
	if r.ID == p.shown && r.thing() == p.thing {
		return
	}
	isNew := r.thing() != p.thing
	if isNew {
		p.sheet = nil
		p.view.Only(nil)
	}
	if p.seen {
		delete(p.unseen, p.shown)
	}
	p.shown, p.thing = r.ID, r.thing()
	pic := r.Picture
	if pic == nil && r.Fetch != nil {
		if pic = p.shots.get(r.ID); pic == nil && r.Failed == "" {
			p.fetch.Store(&r)
			p.files.poke()
		}
	}
	if p.sheet != nil && pic != nil {
		if cut, err := viewer.Slice(pic, p.sheet.w, p.sheet.h, p.sheet.first, p.sheet.last); err == nil {
			p.sheet.of, pic = pic, cut
		}
	}
	p.view.Set(pic)
	if isNew {
		p.play()
	}
	p.view.SetBefore(p.before())
	p.colours.SetLen(len(p.view.Uses()))
}

// current is the render in the viewer.
func (p *Page) current() *Render {
	for i := range p.renders {
		if p.renders[i].ID == p.shown && p.renders[i].thing() == p.thing {
			return &p.renders[i]
		}
	}
	list := p.versions.of[p.thing]
	for i := range list {
		if list[i].ID == p.shown {
			return &list[i]
		}
	}
	return nil
}

// moved shows the render under the list's cursor and pins it, unless it is the newest.
func (p *Page) moved(changed bool) tea.Cmd {
	if i := p.List.Cursor; changed && i >= 0 && i < len(p.renders) {
		p.pinned = i != 0
		p.show(p.renders[i])
	}
	return nil
}

// mouse takes what the mouse does to the picture and its colours.
func (p *Page) mouse(msg tea.Msg) (taken bool) {
	at := func(x, y int) (part string, dx, dy int) {
		if a := p.Areas.At(x, y); a != nil {
			return a.Part, x - a.X, y - a.Y
		}
		return "", 0, 0
	}
	switch m := msg.(type) {
	case tui.ClickMsg:
		switch part, x, y := at(m.X, m.Y); part {
		case browser.PartDetail:
			p.Go(part)()
			p.view.Point(x, y)
			p.view.DragFrom(m.X, m.Y)
			return true
		case partColours:
			p.Go(part)()
			p.colours.Click(y)
			return true
		}
	case tui.WheelMsg:
		switch part, x, y := at(m.X, m.Y); part {
		case browser.PartDetail:
			p.view.ZoomAt(-cmp.Compare(m.Delta, 0), x, y)
			return true
		case partColours:
			p.colours.Scroll(m.Delta)
			return true
		}
	case tui.HoverMsg:
		if part, x, y := at(m.X, m.Y); part == browser.PartDetail {
			p.view.Point(x, y)
		}
	case tui.DragMsg:
		if part, _, _ := at(m.X, m.Y); part == browser.PartDetail {
			p.view.DragTo(m.X, m.Y)
		}
	}
	return false
}

// FooterNote says that a newer picture does not come into view.
func (p *Page) FooterNote(int) string {
	if p.pinned && len(p.renders) > 0 {
		return "f follows the newest"
	}
	return ""
}

// HasTab reports whether there is a picture, or was one.
func (p *Page) HasTab() bool {
	return len(p.renders) > 0 || !p.Filter.Empty() || p.view.Picture() != nil
}
