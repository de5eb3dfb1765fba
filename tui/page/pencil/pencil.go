// Package pencil is the page of Pencil mode, and its line on the Deck page: whether
// agents have Pencil's tools, what they cost, the calls, the last picture, and the
// messages between the deck and Pencil's own server.
package pencil

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/pencil"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "pencil"

// Mode is Pencil mode as the screen sees it. But for Status and Subscribe its
// methods may take a moment.
type Mode interface {
	Status() pencil.Status
	Subscribe() (hint <-chan struct{}, cancel func())
	Toggle()
	Reconnect()
	Dismiss() // takes the sign of the last failure away
	Accept(shown []catalogue.Held) (int, error)
	SavePicture(path string) error
}

// Options are what the page needs.
type Options struct {
	Mode   Mode
	Folder string // where pictures are saved unless the user says otherwise
}

// StatusMsg is Pencil mode as it is now.
type StatusMsg struct{ pencil.Status }

// The parts of the page.
const (
	partTools = "tools"
	partCalls = "calls"
	partLog   = "log"
)

// Page is the page of Pencil mode.
type Page struct {
	errorSaid bool // the head of the frame on screen says why Pencil is not there
	opts      Options
	status    pencil.Status
	known     bool // status was loaded once
	part      string
	tools     widget.List
	calls     widget.List
	log       widget.Scroll
	end       bool // the log stays at its end
	items     []item
	areas     tui.Areas
}

// item is a row of the list of tools: an offered tool, a held one, or one that
// was left out.
type item struct {
	tool *catalogue.Tool
	held *catalogue.Held
	note *catalogue.Note
}

// New makes the page.
func New(o Options) *Page { return &Page{opts: o, part: partTools, end: true} }

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Pencil".
func (p *Page) Title() string { return "Pencil" }

// Badge is how many tools are held for the user to look at.
func (p *Page) Badge() int { return len(p.status.Held) }

// Part is the pane with the focus.
func (p *Page) Part() string { return p.part }

// TextEntry is false.
func (p *Page) TextEntry() bool { return false }

// Show does nothing.
func (p *Page) Show() tea.Cmd { return nil }

// Hide does nothing.
func (p *Page) Hide() {}

// Feed loads the status.
func (p *Page) Feed() tui.Feed {
	hint, cancel := p.opts.Mode.Subscribe()
	return tui.Feed{Hint: hint, Stop: cancel, Load: func() tea.Msg { return StatusMsg{p.opts.Mode.Status()} }}
}

// FooterNote is how calls went.
func (p *Page) FooterNote(int) string {
	s := p.status
	if s.OK+s.Failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d calls, %d failed", s.OK+s.Failed, s.Failed)
}

// AnyKey takes the sign of a failure away: whoever presses a key has seen it.
// What went wrong stays on this page.
func (p *Page) AnyKey() tea.Cmd {
	if !p.status.Broken {
		return nil
	}
	return do(p.opts.Mode.Dismiss)()
}

// Update takes the status, clicks and the wheel.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case StatusMsg:
		return p.take(msg.Status)
	case tui.ClickMsg:
		return p.click(msg)
	case tui.WheelMsg:
		p.wheel(msg)
	}
	return nil
}

// take shows a new status, and says in a toast when the mode has changed.
func (p *Page) take(s pencil.Status) tea.Cmd {
	before, known := p.status, p.known
	p.status, p.known = s, true
	p.items = p.items[:0]
	for i := range s.Held {
		p.items = append(p.items, item{held: &s.Held[i]})
	}
	for i := range s.Tools {
		p.items = append(p.items, item{tool: &s.Tools[i]})
	}
	for i := range s.Notes {
		if !slices.ContainsFunc(s.Held, func(h catalogue.Held) bool { return h.Tool == s.Notes[i].Tool }) {
			p.items = append(p.items, item{note: &s.Notes[i]})
		}
	}
	p.tools.SetLen(len(p.items))
	p.calls.SetLen(len(s.Calls))
	switch {
	case len(s.Asked) > len(before.Asked):
		return tui.ToastUnless(tui.Warn, plain.Line(s.Asked[len(s.Asked)-1])+" asks to accept Pencil's held tools; see the Pencil page", ID)
	case !known || before.Mode == s.Mode:
		return nil
	case s.Mode == card.On:
		return tui.Toast(tui.Good, fmt.Sprintf("Pencil mode is on: %d tools offered", len(s.Tools)))
	case s.Mode == card.Off && !s.Broken:
		return tui.Toast(tui.Info, "Pencil mode is off")
	}
	return nil
}

// Actions are the mode, moving about, and what the rows allow.
func (p *Page) Actions() []tui.Action {
	next := func(d int) func() tea.Cmd {
		return func() tea.Cmd { p.next(d); return nil }
	}
	out := append(modeActions(p.opts.Mode, func() pencil.Status { return p.status }, "r"), []tui.Action{
		{ID: "pencil.tool", Title: "Show the tool", Hint: "details", Keys: []string{"enter"}, Part: partTools, Enabled: p.whyNoTool, Run: p.openTool},
		{ID: "pencil.call", Title: "Show the call", Hint: "details", Keys: []string{"enter"}, Part: partCalls, Enabled: p.whyNoCall, Run: p.openCall},
		{ID: "pencil.accept", Title: "Accept new and changed tools", Hint: "accept", Keys: []string{"a"}, Acts: true, Enabled: p.whyNoAccept, Run: p.confirmAccept},
		{ID: "pencil.next", Title: "Next pane", Hint: "next pane", Keys: []string{"tab", "right", "l"}, Run: next(1)},
		{ID: "pencil.previous", Title: "Previous pane", Keys: []string{"shift+tab", "left", "h"}, Hidden: true, Run: next(-1)},
		{ID: "pencil.save", Title: "Save the last picture to a file", Hint: "save picture", Keys: []string{"s"}, Acts: true, Enabled: p.whyNoPicture, Run: p.openSave},
		{ID: "pencil.instructions", Title: "Show the instructions for agents", Keys: []string{"i"}, Enabled: func() string {
			if p.status.Instructions == "" {
				return "Pencil's server has not been asked yet"
			}
			return ""
		}, Run: p.openInstructions},
		{ID: "pencil.search", Title: "Show where mcpdeck looked for Pencil", Keys: []string{"w"}, Enabled: func() string {
			if len(p.status.Searched) == 0 {
				return "mcpdeck has not looked for it yet"
			}
			return ""
		}, Run: p.openSearch},
	}...)
	out = append(out, tui.ListActions("pencil.tools", partTools, &p.tools)...)
	out = append(out, tui.ListActions("pencil.calls", partCalls, &p.calls)...)
	return append(out, tui.ScrollActions("pencil.log", partLog, &p.log, func() {
		_, below := p.log.Hidden()
		p.end = below == 0
	})...)
}

func parts() []string { return []string{partTools, partCalls, partLog} }

func (p *Page) next(d int) {
	p.part = tui.Next(parts(), p.part, d)
}

// click gives the focus; a click on the row under the cursor opens it.
func (p *Page) click(c tui.ClickMsg) tea.Cmd {
	a := p.areas.At(c.X, c.Y)
	if a == nil {
		return nil
	}
	focus := p.part == a.Part
	p.part = a.Part
	list, open := &p.tools, p.openTool
	switch a.Part {
	case partLog:
		return nil
	case partCalls:
		list, open = &p.calls, p.openCall
	}
	before := list.Cursor
	if list.Click(c.Y-a.Y) && focus && list.Cursor == before {
		return open()
	}
	return nil
}

func (p *Page) wheel(m tui.WheelMsg) {
	a := p.areas.At(m.X, m.Y)
	switch {
	case a == nil:
	case a.Part == partTools:
		p.tools.Scroll(m.Delta)
	case a.Part == partCalls:
		p.calls.Scroll(m.Delta)
	default:
		p.log.Move(m.Delta)
		_, below := p.log.Hidden()
		p.end = below == 0
	}
}

func (p *Page) item() *item {
	if i := p.tools.Cursor; i >= 0 && i < len(p.items) {
		return &p.items[i]
	}
	return nil
}

// call is the one under the cursor; the newest stands first.
func (p *Page) call() *card.CallFact {
	if i := p.calls.Cursor; i >= 0 && i < len(p.status.Calls) {
		return &p.status.Calls[len(p.status.Calls)-1-i]
	}
	return nil
}

func (p *Page) whyNoTool() string {
	if p.item() == nil {
		return "no tools yet"
	}
	return ""
}

func (p *Page) whyNoCall() string {
	if p.call() == nil {
		return "no calls yet"
	}
	return ""
}

func (p *Page) whyNoAccept() string {
	if len(p.status.Held) == 0 {
		return "no tool is held"
	}
	return ""
}

func (p *Page) whyNoPicture() string {
	if p.status.Picture.Type == "" {
		return "no call has brought a picture yet"
	}
	return ""
}

// pictureName is a name for the file of the last picture.
func (p *Page) pictureName() string {
	ext := ".png"
	if _, kind, ok := strings.Cut(p.status.Picture.Type, "/"); ok && len(kind) <= 4 {
		ext = "." + plain.Line(kind)
	}
	return filepath.Join(p.opts.Folder, "pencil-"+p.status.Picture.Time.Format("150405")+ext)
}
