package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// PartSearch is the part of a page in which the text to search for is typed.
const PartSearch = "search"

// Search finds a text in the rows of a window, as less does: / begins, n and N go on.
// The zero Search has nothing to find.
type Search struct {
	Part string // of the page, with the text; "" in an overlay, which has no parts

	edit   widget.Editor
	typing bool
	window widget.Window // that was drawn last
	rows   []string      // as they were searched
	hits   []int         // those with the text
	at     int           // index of the hit that is shown
}

// Typing reports whether the text to find is being typed while a part has the focus.
func (s *Search) Typing(part string) bool { return s.typing && part == s.Part }

// PartAt is the part whose keys act while one has the focus: PartSearch while typing.
func (s *Search) PartAt(part string) string {
	if s.Typing(part) {
		return PartSearch
	}
	return part
}

// on reports whether something is searched for.
func (s *Search) on() bool { return s.typing || !s.edit.Empty() }

// Stop forgets the text.
func (s *Search) Stop() {
	s.edit.SetValue("")
	s.typing, s.hits = false, nil
}

// Keep ends the typing.
func (s *Search) Keep() {
	if s.typing = false; s.edit.Empty() {
		s.Stop()
	}
}

// Actions are searching in a window that has the focus. They come before actions that
// have the same keys while nothing is searched for. In an overlay, typing is its own.
// What is to be done after any of them follows.
func (s *Search) Actions(id string, after ...func()) []Action {
	part, typing := s.Part, PartSearch
	if part == "" {
		typing = ""
	}
	typed := func() string {
		if s.typing {
			return ""
		}
		return "no text is being typed"
	}
	found := func() string { return Because(len(s.hits) == 0, "nothing was found") }
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd {
			for _, f := range append([]func(){f}, after...) {
				f()
			}
			return nil
		}
	}
	step := func(d int) func() tea.Cmd { return do(func() { s.show(s.at + d) }) }
	return []Action{
		{ID: id + ".find", Title: "Find text", Hint: "filter", Verb: verb.Filter, Part: part, Run: do(func() { s.typing = true })},
		{ID: id + ".next", Title: "Next match", Hint: "next", Verb: verb.FindNext, Part: part, Enabled: found, Moves: true, Run: step(1)},
		{ID: id + ".previous", Title: "Previous match", Verb: verb.FindPrevious, Part: part, Enabled: found, Moves: true, Run: step(-1)},
		{ID: id + ".found", Title: "Keep matches", Hint: "next", Verb: verb.Open, Part: typing, InText: true, Enabled: typed, Run: do(s.Keep)},
		{ID: id + ".unfind", Title: "Cancel", Hint: "back", Verb: verb.Back, Part: typing, InText: true, Enabled: typed, Run: do(s.Stop)},
	}
}

// Update takes what is typed and pasted while Typing, and reports whether it did. When
// another part has the focus, the typing ends.
func (s *Search) Update(part string, msg tea.Msg) bool {
	switch {
	case part != s.Part:
		s.Keep()
		return false
	case !s.typing:
		return false
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if s.edit.Key(msg) {
			s.look()
		}
	case tea.PasteMsg:
		s.edit.Insert(msg.Content)
		s.look()
	default:
		return false
	}
	return true
}

// look finds the rows anew and shows the first from where the user is.
func (s *Search) look() {
	s.find()
	s.show(max(slices.IndexFunc(s.hits, func(row int) bool { return row >= s.window.At(0) }), 0))
}

func (s *Search) find() {
	s.hits = nil
	for i, row := range s.rows {
		if len(widget.Find(row, s.edit.Value())) > 0 {
			s.hits = append(s.hits, i)
		}
	}
}

// show shows hit i, around the ends.
func (s *Search) show(i int) {
	if n := len(s.hits); n > 0 {
		s.at = (i + n) % n
		s.window.Show(s.hits[s.at])
	}
}

// Render draws a window's part of rows as w × h cells at x, y of the frame: the
// places marked, and what is searched for below.
func (s *Search) Render(f *Frame, window widget.Window, rows []string, x, y, w, h int) []string {
	th := f.Theme
	s.window = window
	if s.on() {
		h--
	}
	if !slices.Equal(s.rows, rows) {
		s.rows = rows
		s.find()
		s.at = min(s.at, max(len(s.hits)-1, 0))
	}
	out := window.Render(th, rows, w, h)
	if !s.on() {
		return out
	}
	text := s.edit.Value()
	for i, row := range out {
		style := th.Match.Render
		if len(s.hits) > 0 && s.window.At(i) == s.hits[s.at] {
			style = th.Badge.Render
		}
		out[i] = widget.Restyle(row, widget.Find(row, text), style)
	}
	place := ""
	switch {
	case len(s.hits) > 0:
		place = th.Muted.Render(Place(s.at, len(s.hits)))
	case text != "":
		place = th.Warn.Render("not found")
	}
	line, cx, _ := s.edit.Render(th, max(w-2-widget.Width(place)-1, 1), 1, s.typing)
	if s.typing {
		f.Cursor(x+2+cx, y+h)
	}
	return append(widget.Rows(out, w, h), widget.Ends(th.Key.Render("/")+" "+line[0], place, w))
}
