package drift

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widget is the note on the deck's page about the newest comparison. It says nothing before
// there is one, and of one that found nothing.
type Widget struct {
	state logicstamp.State
	look  func(project string) // shows the drift of a project
}

// NewWidget makes the note. The page must be on the same screen: it loads what
// the note shows.
func NewWidget(p *Page) *Widget { return &Widget{look: p.look} }

// Server is "": the note is about a project.
func (w *Widget) Server() string { return "" }

// Update takes results.
func (w *Widget) Update(msg tea.Msg) tea.Cmd {
	if s, ok := msg.(stateMsg); ok {
		w.state = s.state
	}
	return nil
}

// Actions lead to the page.
func (w *Widget) Actions() []tui.Action {
	return []tui.Action{{ID: "drift.show", Title: "Show the drift", Keys: []string{"d"}, Run: func() tea.Cmd {
		if project, r := w.newest(); r != nil {
			w.look(project)
		}
		return tui.Go(ID)
	}}}
}

// newest is the comparison made last, of any project.
func (w *Widget) newest() (project string, newest *compare.Result) {
	for _, p := range w.state.Projects {
		if n := len(p.Results); n > 0 && (newest == nil || p.Results[n-1].ComparedAt.After(newest.ComparedAt)) {
			project, newest = p.Path, p.Results[n-1]
		}
	}
	return project, newest
}

// Note is what breaks, else the outcome, and as far as there is room what was not compared.
func (w *Widget) Note(f *tui.Frame, width int) string {
	project, r := w.newest()
	if r == nil || r.Status == compare.Pass && len(report.Badges(r)) == 0 {
		return ""
	}
	th := f.Theme
	outcome := statusStyle(th, r).Render("[" + strings.ToUpper(string(r.Status)) + "]")
	if n := r.Summary.Breaking.Errors; n > 0 {
		outcome = th.Bad.Render(fmt.Sprintf("%s %d breaking", glyph(th, report.Breaking), n))
	}
	note := th.Muted.Render("Drift ") + sanitize.Line(filepath.Base(project)) + " " + outcome
	var more []string
	for _, b := range report.Badges(r) {
		more = append(more, th.Warn.Render("["+b+"]"))
	}
	if r.Status == compare.Failed {
		more = append(more, th.Muted.Render(words(string(r.ErrorCode))))
	}
	for _, m := range more {
		if widget.Width(note)+1+widget.Width(m) > width {
			break
		}
		note += " " + m
	}
	return note
}

// look shows the newest result of a project.
func (p *Page) look(project string) {
	if p.path != project || p.back != 0 {
		p.path, p.back, p.List.Cursor = project, 0, 0
		p.lay()
	}
}
