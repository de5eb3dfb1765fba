// Package pencil is what Pencil mode has on the screen beside what every server has: its
// line on the Inbox, and on the Servers page the state of the app and the last picture.
package pencil

import (
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Mode is Pencil mode as the screen sees it. But for Status and Subscribe its
// methods may take a moment.
type Mode interface {
	Status() pencil.Status
	Subscribe() (hint <-chan struct{}, cancel func())
	Toggle()
	Reconnect()
	Dismiss() // takes the sign of the last failure away
	SavePicture(path string) error
	Find() (pencil.Found, []upstream.Candidate, error)
}

// Options are what the part needs.
type Options struct {
	Mode   Mode
	Page   string // ID of the page of servers, which says itself what it says
	Folder string // where pictures are saved unless the user says otherwise
}

// StatusMsg is Pencil mode as it is now.
type StatusMsg struct{ pencil.Status }

// Feed loads the status.
func Feed(m Mode) tui.Feed {
	hint, cancel := m.Subscribe()
	return tui.Feed{Hint: hint, Stop: cancel, Load: func() tea.Msg { return StatusMsg{m.Status()} }}
}

// Part is what Pencil adds to the page of servers.
type Part struct {
	opts   Options
	status pencil.Status
	known  bool // status was loaded once
	absent bool // its program was looked for, and is not installed
}

// absentMsg says whether Pencil's program was looked for and not found.
type absentMsg bool

// New makes it.
func New(o Options) *Part { return &Part{opts: o} }

// AnyKey takes the sign of a failure away: whoever presses a key has seen it.
// What went wrong stays on the page.
func (c *Part) AnyKey() tea.Cmd {
	if !c.status.Broken {
		return nil
	}
	return do(c.opts.Mode.Dismiss)()
}

// Update takes the status.
func (c *Part) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case StatusMsg:
		return c.take(msg.Status)
	case absentMsg:
		c.absent = bool(msg)
	}
	return nil
}

// Look finds out whether Pencil's program is installed.
func (c *Part) Look() tea.Cmd {
	find := c.opts.Mode.Find
	return func() tea.Msg {
		_, _, err := find()
		return absentMsg(err != nil)
	}
}

// Absent reports whether it is known not to be installed.
func (c *Part) Absent() bool { return c.absent }

// take shows a new status, and says in a toast when the mode has changed.
func (c *Part) take(s pencil.Status) tea.Cmd {
	before, known := c.status, c.known
	c.status, c.known = s, true
	switch {
	case len(s.Asked) > len(before.Asked):
		return tui.ToastUnless(tui.Warn, sanitize.Line(s.Asked[len(s.Asked)-1])+" asks to accept what changed in Pencil's tools; see the Servers page", c.opts.Page)
	case !known || before.Mode == s.Mode:
		return nil
	case s.Mode == upstream.On:
		return tui.Toast(tui.Good, "Pencil mode is on: "+humanize.Count(len(s.Tools), "tool")+" offered")
	case s.Mode == upstream.Off && !s.Broken:
		return tui.Toast(tui.Info, "Pencil mode is off")
	}
	return nil
}

// Actions save the last picture, and say where the program was looked for.
func (c *Part) Actions(on func() bool) []tui.Action {
	ours := func(why func() string) func() string {
		return func() string {
			if !on() {
				return "Pencil is not selected"
			}
			return why()
		}
	}
	return []tui.Action{
		{ID: "pencil.save", Title: "Save Pencil's last picture to a file", Acts: true, Enabled: ours(c.whyNoPicture), Run: c.openSave},
		{ID: "pencil.search", Title: "Show where mcpdeck looked for Pencil", Enabled: ours(func() string { return tui.Because(len(c.status.Searched) == 0, "mcpdeck has not looked for it yet") }), Run: c.openSearch},
	}
}

func (c *Part) whyNoPicture() string {
	return tui.Because(c.status.Picture.Type == "", "no call has brought a picture yet")
}

func (c *Part) openSearch() tea.Cmd {
	return tui.Open(searched("Where mcpdeck looked for Pencil", "", c.status.Searched))
}

// searched is a reader of the places where the program was looked for, below a text.
func searched(title, text string, places []upstream.Candidate) *tui.Reader {
	return &tui.Reader{Name: "search", Title: title, Rows: func(f *tui.Frame, w int) (rows []string) {
		th := f.Theme
		if text != "" {
			rows = append(widget.Paragraph(th.Text, "", text, w), "")
		}
		for _, place := range places {
			mark, reason := th.Faint, place.Reason
			if reason == "" {
				mark, reason = th.Good, "taken"
			}
			rows = append(rows, widget.Paragraph(th.Text, "", sanitize.Line(place.Path), w)...)
			rows = append(rows, "  "+mark.Render(reason)+th.Faint.Render("  "+sanitize.Line(place.Source)))
		}
		return rows
	}}
}

// openSave asks where to save the last picture.
func (c *Part) openSave() tea.Cmd {
	mode := c.opts.Mode
	o := &tui.Prompt{Name: "pencil-save", Title: "Save the picture as", Hint: "choose", Wide: true, Acts: true, Take: func(path string) tea.Cmd {
		return tui.Outcome(func() (string, error) { return "saved " + path, mode.SavePicture(path) })
	}}
	o.Text.SetValue(c.pictureName())
	return tui.Open(o)
}

// pictureName is a name for the file of the last picture.
func (c *Part) pictureName() string {
	ext := ".png"
	if _, kind, ok := strings.Cut(c.status.Picture.Type, "/"); ok && len(kind) <= 4 {
		ext = "." + sanitize.Line(kind)
	}
	return filepath.Join(c.opts.Folder, "pencil-"+c.status.Picture.Time.Format("150405")+ext)
}
