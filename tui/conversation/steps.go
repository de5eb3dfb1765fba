package conversation

import (
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Steps draws the last steps of a session in at most h rows of at most w cells, the newest
// below, with the time of day of each.
func Steps(f *tui.Frame, s *snapshot.Session, w, h int) []string { return steps(f, s, w, h, true) }

// steps are those of Steps; without a clock, each with its age.
func steps(f *tui.Frame, s *snapshot.Session, w, h int, clock bool) []string {
	all := record(s).Steps
	all = all[max(len(all)-max(h, 0), 0):]
	tool, what, end := 0, 0, 0
	ends := make([]string, len(all))
	for i := range all {
		ends[i] = stepTime(f, s, &all[i], w, clock)
		tool = max(tool, widget.Width(sanitize.Line(all[i].Tool)))
		what = max(what, widget.Width(subject(&all[i])))
		end = max(end, widget.Width(ends[i]))
	}
	mark, gap := 2, 2
	if clock {
		mark = 9
	}
	tool = min(tool, max(w/3, 8))
	what = max(min(what, w-mark-tool-gap-gap-end), 0)
	rows := make([]string, len(all))
	for i := range all {
		rows[i] = stepRow(f, &all[i], []int{tool, what, end}, ends[i], clock)
	}
	return rows
}

func stepRow(f *tui.Frame, st *snapshot.Step, cells []int, end string, clock bool) string {
	th := f.Theme
	row, when := "  ", th.Faint
	if st.Running {
		row, when = th.Accent.Render(th.Glyph.Run)+" ", th.Accent
	}
	if clock {
		at := "     "
		if !st.Began.IsZero() {
			at = st.Began.Local().Format("15:04")
		}
		row += th.Faint.Render(at) + "  "
	}
	tool, what := sanitize.Line(st.Tool), sanitize.Line(st.Subject)
	row += th.Muted.Render(widget.Fit(tool, cells[0])) + "  "
	style, came := th.Muted, outcome(st)
	if st.Failed {
		style = th.Bad
	}
	if came != "" {
		came = "  " + came
	}
	what = widget.Cut(what, max(cells[1]-widget.Width(came), cells[1]/2))
	text := th.Text.Render(what) + style.Render(came)
	return row + widget.Fit(text, cells[1]) + "  " + when.Render(widget.PadLeft(end, cells[2]))
}

// subject is what a step was about, and what came of it.
func subject(st *snapshot.Step) string {
	text := sanitize.Line(st.Subject)
	if came := outcome(st); came != "" {
		text += "  " + came
	}
	return text
}

// outcome is what came of a step: "+22 −9", "1 failed".
func outcome(st *snapshot.Step) string {
	text := sanitize.Line(st.Outcome)
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		text = strings.ReplaceAll(text, "-", "−")
	}
	return text
}

// stepTime is for how long a step has run, or how old it is; where its time of day stands
// before it, how long it took.
func stepTime(f *tui.Frame, s *snapshot.Session, st *snapshot.Step, w int, clock bool) string {
	const roomy = 72
	switch {
	case st.Running && s.State.Waits():
		return "waits"
	case st.Running && st.Began.IsZero():
		return "running"
	case st.Running && w >= roomy && !clock:
		return "running " + f.Ago(st.Began)
	case st.Running:
		return f.Ago(st.Began)
	case !clock && !st.Began.IsZero():
		return f.Ago(st.Began)
	case !clock || st.Took <= 0:
		return ""
	case st.Took < time.Second:
		return "<1 s"
	}
	text, _ := humanize.Age(st.Took)
	return text
}
