package servers

import (
	"cmp"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// logView is a window on what a server's programs wrote, and what mcpdeck notes about them.
type logView struct {
	widget.Scroll
	of  string // the program; "" for all
	end bool   // the window stays at the end
}

// moved notes whether the window is at the end.
func (l *logView) moved() {
	_, below := l.Hidden()
	l.end = below == 0
}

// programs are those that the log has lines of, those that are gone among them.
func programs(log []snapshot.LogLine) (names []string) {
	for _, l := range log {
		if l.Child != "" && !slices.Contains(names, l.Child) {
			names = append(names, l.Child)
		}
	}
	slices.Sort(names)
	return names
}

// next leads from the log of all programs to that of each.
func (l *logView) next(log []snapshot.LogLine) {
	l.of, l.end = tui.Next(append([]string{""}, programs(log)...), l.of, 1), true
}

// rows draws the log: of all programs, each line with whose it is.
func (l *logView) rows(f *tui.Frame, log []snapshot.LogLine) []string {
	th := f.Theme
	wide, several := 7, l.of == "" && len(programs(log)) > 1
	for _, line := range log {
		if several {
			wide = max(wide, min(widget.Width(sanitize.Line(line.Child))+1, 16))
		}
	}
	var rows []string
	for _, line := range log {
		if l.of != "" && line.Child != l.of {
			continue
		}
		from, style := line.From, th.Faint
		if from == "link" {
			style = th.Info
		}
		if several {
			from = cmp.Or(line.Child, from)
		}
		rows = append(rows, th.Faint.Render(line.Time.Format("15:04:05"))+" "+style.Render(widget.Fit(sanitize.Line(from), wide))+sanitize.Line(line.Text))
	}
	if len(rows) == 0 {
		rows = append(rows, th.Faint.Render("Messages between mcpdeck and the server appear here."))
	}
	if l.end {
		l.Top = len(rows)
	}
	return rows
}
