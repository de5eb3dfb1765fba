package tui

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// stage is what there is to show, and which of it is on screen.
type stage struct {
	w, h     int
	canvas   *lipgloss.Canvas // for what lies over the page
	theme    *theme.Theme
	snap     *snapshot.Snapshot
	guide    GuideMsg
	pages    []Page
	at       int  // index of the page that is shown
	back     int  // the page before it
	undrawn  bool // the page could not be drawn
	overlays []*openOverlay

	keys   map[string][]string // those of the options that are taken
	tables []table             // of actions, by page
	global table
}

// layout is where the parts of the screen are.
type layout struct {
	rule         bool // a row for messages above the footer
	bodyY, bodyH int
}

func (s *stage) index(page string) int {
	return slices.IndexFunc(s.pages, func(p Page) bool { return p.ID() == page })
}

func (s *stage) page() Page {
	if len(s.pages) == 0 {
		return nil
	}
	return s.pages[s.at]
}

// title is what the terminal's title bar says.
func (s *stage) title() string {
	n := 0
	for _, p := range s.pages {
		if t, ok := p.(Titler); ok {
			if s := t.WindowTitle(); s != "" {
				return s
			}
		}
		if _, news := p.(Marker); !news {
			n += p.Badge()
		}
	}
	name := "mcpdeck"
	if s.snap != nil && s.snap.Name != "" {
		name += " " + s.snap.Name
	}
	if n > 0 {
		name = s.theme.Glyph.Wait + itoa(n) + " " + name
	}
	return strings.TrimSpace(name)
}

func (s *stage) top() *openOverlay {
	if len(s.overlays) == 0 {
		return nil
	}
	return s.overlays[len(s.overlays)-1]
}

// blind reports whether the screen has no room for a page. Nothing can be done
// then but leave: whoever presses a key cannot see what it would act on.
func (s *stage) blind() bool { return s.w < leastW || s.h < leastH }

// place is the page that is shown, with what lies over it.
func (s *stage) place() string {
	at := ""
	if p := s.page(); p != nil {
		at = p.ID()
	}
	if o := s.top(); o != nil {
		at += " " + o.overlay.ID()
	}
	return at
}

// writing reports whether a text field has the focus.
func (s *stage) writing() bool {
	if o := s.top(); o != nil {
		return o.overlay.TextEntry()
	}
	p := s.page()
	return p != nil && p.TextEntry()
}

// leaving reports whether the user is being asked about quitting.
func (s *stage) leaving() bool { return s.top() != nil && s.top().overlay.ID() == quitID }

// keyOf is the first key of an action that does it where the focus is; "" when
// none does.
func (s *stage) keyOf(a *Action) string {
	p := s.page()
	for _, k := range a.Keys {
		if s.does(k, p) == a {
			return k
		}
	}
	return ""
}

// does finds what a key does on the page that is shown.
func (s *stage) does(key string, p Page) *Action {
	if a := s.tables[s.at].find(key, p.Part(), p.TextEntry()); a != nil {
		return a
	}
	return s.global.find(key, "", p.TextEntry())
}

func (s *stage) layout() layout {
	l := layout{rule: s.h >= 18, bodyY: 1}
	l.bodyH = s.h - l.bodyY - 1 - len(s.guideRows())
	if l.rule {
		l.bodyH--
	}
	return l
}

// body draws the page. A page that panics says so in its place, and the others
// go on.
func (s *stage) body(f *Frame) []string {
	p := s.page()
	if p == nil {
		return widget.Rows(nil, f.W, f.H)
	}
	var rows []string
	err := recovery.Call("page "+p.ID(), func() error {
		rows = p.Render(f)
		return nil
	})
	s.undrawn = err != nil
	if err != nil {
		rows = []string{"", "  " + f.Theme.Bad.Render("this page could not be drawn"), "  " + f.Theme.Muted.Render("see the log; the other pages work")}
	}
	return widget.Rows(rows, f.W, f.H)
}

func (s *stage) tooSmall() []string {
	lines := []string{"mcpdeck needs " + itoa(leastW) + "×" + itoa(leastH) + " cells", "this is " + itoa(s.w) + "×" + itoa(s.h)}
	for _, p := range s.pages {
		if n := p.Badge(); n > 0 {
			lines = append(lines, p.Title()+": "+itoa(n)+" waiting")
		}
	}
	if s.leaving() {
		lines = append(lines, "ctrl+c again quits")
	} else {
		lines = append(lines, "ctrl+c quits")
	}
	var rows []string
	for _, l := range lines {
		rows = append(rows, widget.Wrap(l, s.w)...)
	}
	return widget.Rows(rows, s.w, s.h)
}

// beside is the page whose tab is d places after that of the page that is shown.
func (s *stage) beside(d int) int {
	for i := s.at; ; {
		if i = (i + d + len(s.pages)) % len(s.pages); s.hasTab(i) {
			return i
		}
	}
}

// pageKeys are the keys of the pages that have a tab.
func (s *stage) pageKeys() string {
	var keys []string
	for i, p := range s.pages {
		if s.hasTab(i) {
			keys = append(keys, pageKey(p))
		}
	}
	return strings.Join(keys, " ")
}

// guideRows are the rows of what the guide says: two, four where a screen is too narrow for them
// and has the room, or one on a small screen.
func (s *stage) guideRows() []string {
	g := s.guide
	if g.Say == "" {
		return nil
	}
	th := s.theme
	badge := " " + th.Badge.Render(" "+g.Badge+" ") + " "
	room := max(s.w-widget.Width(badge)-1, 1)
	try := th.Info.Render(widget.Cut(cmp.Or(g.Try, g.Idle), room))
	if s.h < 18 && g.Try != "" {
		return []string{widget.Fit(badge+try, s.w)}
	}
	if s.w < 80 && s.h >= 30 {
		text := append(widget.Paragraph(th.Strong, "", g.Say, room), widget.Paragraph(th.Info, "", cmp.Or(g.Try, g.Idle), room)...)
		for i, row := range text {
			text[i] = widget.Fit(badge+row, s.w)
			badge = widget.Blank(widget.Width(badge))
		}
		return widget.Rows(text, s.w, 4)
	}
	first := badge + th.Strong.Render(widget.Cut(g.Say, room))
	about := th.Faint.Render(g.About + " ")
	if widget.Width(first)+widget.Width(about)+2 <= s.w {
		first = widget.Ends(first, about, s.w)
	}
	if s.h < 18 {
		return []string{widget.Fit(first, s.w)}
	}
	under := strings.Repeat(" ", widget.Width(badge))
	return []string{widget.Fit(first, s.w), widget.Fit(under+try, s.w)}
}

// hovers reports whether the page wants to hear of a mouse without a button.
func (s *stage) hovers() bool {
	h, ok := s.page().(Hoverer)
	return ok && s.top() == nil && h.Hovers()
}

// runs reports whether some agent's call is at work.
func (s *stage) runs() bool {
	return s.snap != nil && slices.ContainsFunc(s.snap.Agents, func(a snapshot.Agent) bool {
		return a.Gone.IsZero() && !a.Waiting && len(a.InFlight) > 0
	})
}

// lay puts layers over the rows of the frame. Only the rows that they cover go
// through the canvas: a whole frame of 200×60 takes 6 ms there.
func (s *stage) lay(rows []string, layers []*lipgloss.Layer) {
	from, to := len(rows), 0
	for _, l := range layers {
		from, to = min(from, max(l.GetY(), 0)), max(to, min(l.GetY()+l.Height(), len(rows)))
	}
	if from >= to {
		return
	}
	s.canvas.Resize(s.w, to-from)
	s.canvas.Compose(uv.NewStyledString(strings.Join(rows[from:to], "\n")))
	s.canvas.Compose(lipgloss.NewCompositor(lipgloss.NewLayer("", layers...).Y(-from)))
	for i, row := range strings.Split(s.canvas.Render(), "\n") {
		rows[from+i] = widget.Fit(row, s.w)
	}
}
