package tui

import (
	"math/rand/v2"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// askAfter is how long after the first frame the terminal is asked what it can
// show: the frame must be on the alternate screen by then, since pictures belong
// to one screen, and a terminal may print what it does not know.
const askAfter = 50 * time.Millisecond

// pictures shows the pages' pictures in the way the terminal can.
type pictures struct {
	gallery *picture.Gallery
	probe   *picture.Probe
	ask     picture.Ask

	first, expires time.Time
	asked, waited  bool
}

// PicturesMsg tells pages what pictures the terminal can show, whenever that changes.
type PicturesMsg struct{ Caps picture.Caps }

type (
	picturesSendMsg struct {
		bytes  string
		redraw bool
	}
	pictureModeMsg struct{ mode picture.Mode }
)

func newPictures(mode picture.Mode) *pictures {
	p := &pictures{ask: picture.Ask{Mode: mode, NarrowBlocks: ansi.StringWidth("▀") == 1}}
	p.probe = picture.NewProbe(p.ask)
	p.gallery = picture.NewGallery(p.probe.Caps(), uint8(rand.IntN(255)+1))
	return p
}

// feed draws what takes long off the update loop.
func (p *pictures) feed() Feed {
	return Feed{Hint: p.gallery.Hint(), Load: func() tea.Msg {
		redraw, bytes := p.gallery.Load()
		if !redraw && bytes == "" {
			return nil
		}
		return picturesSendMsg{bytes, redraw}
	}}
}

// restart begins the questions again, because the environment is other than thought.
func (p *pictures) restart() {
	p.probe = picture.NewProbe(p.ask)
	p.asked, p.waited = false, false
}

// wake is how long until due has something to do, from a frame that is composed now.
func (p *pictures) wake(now time.Time) time.Duration {
	switch {
	case p.first.IsZero():
		p.first = now
		return askAfter
	case !p.asked:
		return max(p.first.Add(askAfter).Sub(now), time.Millisecond)
	case !p.waited && !p.probe.Caps().Done:
		return max(p.expires.Sub(now), time.Millisecond)
	}
	return 0
}

// due asks, and stops waiting, when it is time.
func (p *pictures) due(now time.Time) (tea.Cmd, bool) {
	switch {
	case p.first.IsZero() || now.Before(p.first.Add(askAfter)):
		return nil, false
	case !p.asked:
		p.asked, p.expires = true, now.Add(p.probe.Patience())
		if q := p.probe.Queries(); q != "" {
			return tea.Raw(q), false
		}
		return nil, true
	case !p.waited && !now.Before(p.expires):
		p.waited = true
		p.probe.Expire()
		return nil, true
	}
	return nil, false
}

// answer takes what the terminal says, and reports whether it was about pictures.
func (p *pictures) answer(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.EnvMsg:
		p.ask.Env = msg.Getenv
		p.restart()
	case tea.ColorProfileMsg:
		p.ask.Depth = pictureDepth(msg.Profile)
		p.probe.SetDepth(p.ask.Depth) // may come late: the answers so far stay
	case tea.TerminalVersionMsg:
		p.probe.Version(msg.Name)
	case uv.KittyGraphicsEvent:
		p.probe.Kitty(string(msg.Payload))
	case uv.CellSizeEvent:
		p.probe.CellSize(msg.Width, msg.Height)
	case uv.PixelSizeEvent:
		p.probe.WindowPixels(msg.Width, msg.Height)
	case uv.PrimaryDeviceAttributesEvent:
		p.probe.Attributes(msg)
	case uv.UnknownCsiEvent:
		p.probe.CSI(string(msg))
	default:
		return false
	}
	return true
}

func pictureDepth(p colorprofile.Profile) picture.Depth {
	switch {
	case p <= colorprofile.ASCII:
		return picture.NoColor
	case p == colorprofile.ANSI:
		return picture.Colors16
	case p == colorprofile.ANSI256:
		return picture.Colors256
	}
	return picture.TrueColor
}

// seenAgain sends pictures again that tmux has dropped while its window was hidden.
func (p *pictures) seenAgain() {
	if c := p.gallery.Caps(); c.Tmux && c.Mode.Pixels() {
		p.gallery.Forget()
	}
}

// terminalPictures handles the messages that are about pictures.
func (m *Model) terminalPictures(msg tea.Msg) (tea.Cmd, bool) {
	p := m.pictures
	switch msg := msg.(type) {
	case picturesSendMsg:
		if msg.bytes == "" {
			return nil, true
		}
		return tea.Raw(msg.bytes), true
	case tea.RawMsg: // comes back after it was written
		m.unchanged()
		return nil, true
	case tea.ResumeMsg:
		p.gallery.Forget()
		return nil, true
	case pictureModeMsg:
		p.ask.Mode = msg.mode
		p.probe.SetMode(msg.mode)
		return m.picturesChanged(), true
	}
	if !p.answer(msg) {
		return nil, false
	}
	if _, ok := msg.(tea.ColorProfileMsg); ok {
		return m.picturesChanged(), false // of interest to others too
	}
	return m.picturesChanged(), true
}

func (m *Model) picturesChanged() tea.Cmd {
	caps := m.pictures.probe.Caps()
	m.pictures.gallery.SetCaps(caps)
	return m.broadcast(PicturesMsg{Caps: caps})
}

// windowPictures notes the size of the window: with another font it has cells of
// another size, so those are asked for again.
func (m *Model) windowPictures() tea.Cmd {
	m.pictures.probe.Window(m.w, m.h)
	if m.pictures.asked && m.pictures.gallery.Caps().Mode.Pixels() {
		return tea.Batch(m.picturesChanged(), tea.Raw("\x1b[16t\x1b[14t"))
	}
	return nil
}

// end takes the terminal's memory of pictures back and ends the program.
func (p *pictures) end() tea.Cmd {
	if bytes := p.gallery.Close(); bytes != "" {
		// Raw bytes leave at the next tick of the renderer, Quit would overtake them.
		tick := tea.Tick(2*time.Second/fps, func(time.Time) tea.Msg { return nil })
		return tea.Sequence(tea.Raw(bytes), tick, tea.Quit)
	}
	return tea.Quit
}

// SetPictureMode asks for another way to show pictures until the program ends.
func SetPictureMode(mode picture.Mode) tea.Cmd { return send(pictureModeMsg{mode}) }

// Picture is the rows of a picture whose upper left cell is at x, y of the frame.
func (f *Frame) Picture(x, y int, s picture.Spec) []string {
	g := f.pictures()
	f.placed = append(f.placed, picture.Placed{Slot: s.Slot, X: x, Y: y, Cols: s.Cols, Rows: s.Rows})
	return g.Lines(s)
}

// PictureBytes is how many bytes the picture of a slot takes to send.
func (f *Frame) PictureBytes(slot string) int { return f.pictures().Bytes(slot) }

// PictureRoom is the room that a box of cells has for a picture.
func (f *Frame) PictureRoom(cols, rows int) picture.Room { return f.pictures().Room(cols, rows) }

// PictureCaps is what the terminal can show.
func (f *Frame) PictureCaps() picture.Caps { return f.pictures().Caps() }

// pictures is the screen's gallery, or one of its own for a frame that is not
// part of a screen.
func (f *Frame) pictures() *picture.Gallery {
	if f.gallery == nil {
		f.gallery = picture.NewGallery(picture.Caps{Mode: picture.ModeHalf, Cells: picture.ModeHalf, CellW: 10, CellH: 20}, 1)
	}
	return f.gallery
}
