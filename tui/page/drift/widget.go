package drift

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widget is the line on the deck's page about the newest comparison. It takes
// no room before there is one.
type Widget struct {
	state logicstamp.State
	page  *Page
}

// NewWidget makes the line. The page must be on the same screen: it loads what
// the line shows.
func NewWidget(p *Page) *Widget { return &Widget{page: p} }

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
			w.page.look(project)
		}
		return tui.Go(w.page.ID())
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

// Line draws the outcome, what breaks, and since when.
func (w *Widget) Line(f *tui.Frame, width int) string {
	project, r := w.newest()
	if r == nil {
		return ""
	}
	th := f.Theme
	parts := []string{th.Muted.Render("Drift  ") + plain.Line(filepath.Base(project)) + " " + statusStyle(th, r).Render("["+strings.ToUpper(string(r.Status))+"]")}
	for _, b := range report.Badges(r) {
		parts[0] += " " + th.Warn.Render("["+b+"]")
	}
	if n := r.Summary.Breaking.Errors; n > 0 {
		parts = append(parts, th.Bad.Render(fmt.Sprintf("%s %d breaking", glyph(th, report.Breaking), n)))
	}
	if r.Status == compare.Failed {
		parts = append(parts, th.Muted.Render(words(string(r.ErrorCode))))
	}
	parts = append(parts, th.Faint.Render("vs "+baselineName(r)))
	if r.Status == compare.Diff {
		parts = append(parts, contractCounts(th, r.Summary.Contracts, width >= roomy))
	}
	left := parts[0]
	right := th.Faint.Render(f.Ago(r.ComparedAt))
	for _, part := range parts[1:] {
		if widget.Width(left)+3+widget.Width(part)+widget.Width(right)+2 > width {
			break
		}
		left += "   " + part
	}
	return widget.Ends(left, right, width)
}

// look shows the newest result of a project.
func (p *Page) look(project string) {
	if p.path != project || p.back != 0 {
		p.path, p.back, p.list.Cursor = project, 0, 0
		p.lay()
	}
}
