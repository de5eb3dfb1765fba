package tui

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// CallMark is the mark and the style of how a call stands; that of a running one
// turns, and that of a failed one is red until the user has seen it.
func CallMark(f *Frame, c *snapshot.Call) (string, theme.Style) {
	th := f.Theme
	switch {
	case c.Waiting && c.Status == snapshot.Running:
		return th.Glyph.Wait, th.Warn
	case c.Status == snapshot.Running:
		return Spin, th.Info
	case c.Status == snapshot.OK:
		return th.Glyph.OK, th.Good
	case c.Status == snapshot.Cancelled, c.Status == snapshot.Lost:
		return th.Glyph.Off, th.Muted
	}
	return th.Glyph.Fail, f.Failed(c, th.Muted)
}

// Failed is the style of what is said of a failed call: red, and another one once the user
// has seen it.
func (f *Frame) Failed(c *snapshot.Call, seen theme.Style) theme.Style {
	if f.fresh(c) {
		return f.Theme.Bad
	}
	return seen
}

// CallRow draws a call as one row of w cells: who, what, with what, how it went, and when.
// Of a call that failed it shows the sentence instead of what it was about, of one that
// tells how far it is a bar. What went well bears no mark, and one without an agent's name
// has no column for it.
func CallRow(f *Frame, c *snapshot.Call, w int) string {
	th := f.Theme
	mark, style := CallMark(f, c)
	if c.Status == snapshot.OK {
		mark = " "
	}
	failed := c.Status.Failed()
	var b strings.Builder
	b.WriteString(style.Render(mark) + " ")
	left := w - 2
	right, rw := callEnd(f, c), callEndW(w)
	if rw > tookW {
		right = widget.PadLeft(right, tookW) + "  " + th.Faint.Render(clock(c.Started, f.Now))
	}
	left -= rw
	agentW, toolW := callColumns(left)
	name := sanitize.Line(c.AgentName)
	if name != "" {
		b.WriteString(th.Text.Render(widget.Fit(name, agentW)) + "  ")
		left -= agentW + 2
	}
	toolStyle, restStyle, what := th.Text, th.Muted, CallSubject(c)
	if failed {
		toolStyle, restStyle, what = f.Failed(c, th.Text), f.Failed(c, th.Muted), sanitize.Line(c.Result)
	}
	tool := widget.Cut(sanitize.Line(c.Tool), left)
	toolW = max(toolW, widget.Width(tool))
	b.WriteString(toolStyle.Render(widget.Fit(tool, toolW)))
	if restW := left - toolW - 2; restW >= leastRest {
		if bar := Progress(th, c); bar != "" && widget.Width(bar) <= restW {
			b.WriteString("  " + bar)
		} else {
			rest := restStyle.Render(what)
			if !failed && Question(c) != "" {
				rest = widget.Spans(th, restStyle, what)
			}
			if place := sanitize.Line(c.Place()); place != "" {
				rest = th.Text.Render(place) + "  " + rest
			}
			b.WriteString("  " + widget.Cut(rest, restW))
		}
	}
	return widget.Fit(b.String(), w-rw) + widget.PadLeft(right, rw)
}

// LatestCalls draws the newest calls into w × h cells below a heading, nothing where there are
// none or too few rows.
func LatestCalls(f *Frame, deck *snapshot.Snapshot, w, h int) []string {
	if h < 3 || len(deck.Calls) == 0 {
		return widget.Rows(nil, w, h)
	}
	rows := []string{widget.Heading(f.Theme, "Latest calls", f.Theme.Muted.Render(humanize.Count(int(deck.Total), "call")), false, w)}
	for i := range slices.Backward(deck.Calls) {
		if len(rows) < h {
			rows = append(rows, " "+CallRow(f, &deck.Calls[i], w-2)+" ")
		}
	}
	return widget.Rows(rows, w, h)
}

// CallHead names a column of calls: "agent", "tool", "duration" and "start" are those of
// CallRow.
type CallHead string

// CallHeads draws the names of the columns of CallRow as a row of w cells, wide enough for
// all of them. The one that the calls are sorted by stands out, and an arrow says which
// way.
func CallHeads(th *theme.Theme, by CallHead, arrow string, w int) string {
	head := func(name CallHead, before, text, behind string) string {
		if name == by {
			return th.Accent.Render(before + text + behind)
		}
		return th.Faint.Render(text)
	}
	rw := callEndW(w)
	agentW, toolW := callColumns(w - 2 - rw)
	right := widget.PadLeft(head("duration", arrow, "Duration", ""), tookW)
	if rw > tookW {
		right += "  " + widget.PadLeft(head("start", arrow, "Start", ""), clockW)
	}
	left := "  " + widget.Fit(head("agent", "", "Agent", arrow), agentW) + "  " + widget.Fit(head("tool", "", "Tool", arrow), toolW) + "  " + th.Faint.Render("What")
	return widget.Fit(left, w-rw) + right
}

// Progress is how far a running call is, as a bar and in figures; "" where that is not
// known.
func Progress(th *theme.Theme, c *snapshot.Call) string {
	if c.Status != snapshot.Running || c.Total <= 0 {
		return ""
	}
	const cells = 8
	done := min(max(c.Done, 0), c.Total)
	full := int(done / c.Total * cells)
	text := fmt.Sprintf("%d %%", int(done/c.Total*100))
	if c.Total <= 100 && done == math.Trunc(done) && c.Total == math.Trunc(c.Total) && c.Total != 100 {
		text = fmt.Sprintf("%d of %d", int(done), int(c.Total))
	}
	return th.Info.Render(widget.Repeat(th.Glyph.Focus.Top, full)) + th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, cells-full)) + th.Muted.Render(" "+text)
}

// leastRest is how many cells of the arguments say anything.
const leastRest = 6

// Question is what a call of ask asks, of several the first and how many more; ""
// of other calls. The arguments of a call are cut for a list, so they are not
// read as JSON.
func Question(c *snapshot.Call) string {
	if c.Server != "ask" {
		return ""
	}
	const key = `"question":`
	_, rest, found := strings.Cut(c.Args, key)
	rest = strings.TrimLeft(rest, " ")
	if !found || !strings.HasPrefix(rest, `"`) {
		return ""
	}
	end := 1
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	text := strings.TrimSuffix(rest[1:min(end, len(rest))], "…")
	var s string
	if json.Unmarshal([]byte(`"`+text+`"`), &s) != nil {
		s = text
	}
	s = sanitize.Line(s)
	if n := strings.Count(rest, key); n > 0 {
		s += " (+" + itoa(n) + ")"
	}
	return s
}

// callColumns is how wide agent and tool are of w cells; the rest has what they
// leave. Where cells are few, a long name of a tool takes what it needs from the
// rest of its own row, so that not every row loses the reason of a failure to it.
func callColumns(w int) (agent, tool int) {
	agent = min(max(w/6, 9), 12)
	for _, c := range []struct{ agent, tool, rest int }{{agent, 28, 40}, {agent, 20, 12}, {8, 16, 12}} {
		if w-c.agent-2-c.tool-2 >= c.rest {
			return c.agent, c.tool
		}
	}
	return min(max(w/3, 6), 11), 1
}

// callEnd is how long a call took, or runs.
func callEnd(f *Frame, c *snapshot.Call) string {
	th := f.Theme
	if c.Status == snapshot.Running {
		if c.Waiting {
			return th.Warn.Render(f.Ago(c.Started))
		}
		return th.Info.Render(f.Ago(c.Started))
	}
	if c.Status == snapshot.Lost {
		return ""
	}
	return th.Muted.Render(humanize.Took(c.Duration))
}

// tookW is how wide the longest callEnd is, "59 m 59 s", with a gap; clockW how wide clock
// is.
const tookW, clockW = 10, 6

// callEndW is how much of w cells both take.
func callEndW(w int) int {
	switch {
	case w < 48:
		return 0
	case w < 64:
		return tookW
	}
	return tookW + 2 + clockW
}

// clock is a time of today, or of last night, and else a day.
func clock(t, now time.Time) string {
	if now.Sub(t) > 12*time.Hour && t.YearDay() != now.YearDay() {
		return t.Format("Jan _2")
	}
	return t.Format(" 15:04")
}

// CallLegend explains the marks of calls.
func CallLegend(th *theme.Theme) []Sign {
	var out []Sign
	for _, c := range []struct {
		call  snapshot.Call
		means string
	}{
		{snapshot.Call{Status: snapshot.Running}, "running"},
		{snapshot.Call{Status: snapshot.Running, Waiting: true}, "needs you"},
		{snapshot.Call{Status: snapshot.OK}, "done"},
		{snapshot.Call{Status: snapshot.ToolError}, "failed or refused"},
		{snapshot.Call{Status: snapshot.Cancelled}, "cancelled or lost"},
	} {
		mark, style := CallMark(&Frame{Theme: th}, &c.call)
		out = append(out, Sign{style.Render(mark), c.means})
	}
	return out
}

// ServerMark is the lamp of a server.
func ServerMark(th *theme.Theme, s snapshot.Status) (string, theme.Style) {
	switch s {
	case snapshot.Ready:
		return th.Glyph.On, th.Good
	case snapshot.Starting:
		return th.Glyph.On, th.Info
	case snapshot.Degraded:
		return "!", th.Warn
	case snapshot.Failed:
		return th.Glyph.Fail, th.Bad
	default:
		return th.Glyph.Off, th.Faint
	}
}

// ServerLegend explains the lamps of servers.
func ServerLegend(th *theme.Theme) []Sign {
	var out []Sign
	for _, s := range []struct {
		of    snapshot.Status
		means string
	}{{snapshot.Ready, "on"}, {snapshot.Degraded, "a problem, or changes to accept"}, {snapshot.Failed, "failed"}} {
		mark, style := ServerMark(th, s.of)
		out = append(out, Sign{Mark: style.Render(mark), Means: s.means})
	}
	return out
}
