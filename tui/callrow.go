package tui

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// CallMark is the mark and the style of how a call stands.
func CallMark(th *theme.Theme, c *servers.Call) (string, theme.Style) {
	switch {
	case c.Waiting && c.Status == servers.Running:
		return th.Glyph.Wait, th.Warn
	case c.Status == servers.Running:
		return th.Glyph.Run, th.Info
	case c.Status == servers.OK:
		return th.Glyph.OK, th.Good
	case c.Status == servers.Cancelled, c.Status == servers.Lost:
		return th.Glyph.Off, th.Muted
	}
	return th.Glyph.Fail, th.Bad
}

// CallRow draws a call as one row of w cells: when, who, what, with which
// arguments, how it went. Of a call that failed it shows the sentence instead of
// the arguments.
func CallRow(f *Frame, c *servers.Call, w int) string {
	th := f.Theme
	mark, style := CallMark(th, c)
	failed := c.Status == servers.ToolError || c.Status == servers.Refused
	var b strings.Builder
	b.WriteString(style.Render(mark) + " ")
	left := w - 2
	if w >= 64 {
		b.WriteString(th.Faint.Render(clock(c.Started, f.Now)) + "  ")
		left -= 10
	}
	right, rw := callEnd(f, c), 0
	if w >= 48 {
		rw = 9
	}
	left -= rw
	agentW, toolW, restW := callColumns(left)
	name := plain.Line(c.AgentName)
	b.WriteString(th.Hue(name).Render(widget.Fit(name, agentW)) + "  ")
	tool := th.Text
	if failed {
		tool = th.Bad
	}
	b.WriteString(tool.Render(widget.Fit(plain.Line(c.Tool), toolW)))
	if restW > 0 {
		what := Question(c)
		if what == "" {
			what = plain.Line(c.Args)
		}
		rest := th.Faint.Render(widget.Cut(what, restW))
		if failed {
			rest = th.Bad.Render(widget.Cut(plain.Line(c.Result), restW))
		}
		b.WriteString("  " + rest)
	}
	return widget.Fit(b.String(), w-rw) + padLeft(right, rw)
}

// Question is what a call of ask asks, of several the first and how many more; ""
// of other calls. The arguments of a call are cut for a list, so they are not
// read as JSON.
func Question(c *servers.Call) string {
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
	s = plain.Line(s)
	if n := strings.Count(rest, key); n > 0 {
		s += " (+" + itoa(n) + ")"
	}
	return s
}

// callColumns shares w cells among agent, tool and the rest: the rest needs
// twelve cells to say anything.
func callColumns(w int) (agent, tool, rest int) {
	agent = min(max(w/4, 6), 16)
	for _, c := range [][2]int{{agent, 28}, {agent, 22}, {8, 16}} {
		if agent, tool = c[0], c[1]; w-agent-2-tool-2 >= 12 {
			return agent, tool, w - agent - 2 - tool - 2
		}
	}
	agent = min(max(w/3, 6), 18)
	return agent, w - agent - 2, 0
}

// callEnd is how long a call took, or runs.
func callEnd(f *Frame, c *servers.Call) string {
	th := f.Theme
	if c.Status == servers.Running {
		if c.Waiting {
			return th.Warn.Render(f.Ago(c.Started))
		}
		return th.Info.Render(f.Ago(c.Started))
	}
	if c.Status == servers.Lost {
		return ""
	}
	return th.Muted.Render(span.Took(c.Duration))
}

// clock is a time of today, or of last night, and else a day, in eight cells.
func clock(t, now time.Time) string {
	if now.Sub(t) > 12*time.Hour && t.YearDay() != now.YearDay() {
		return t.Format("Jan _2  ")
	}
	return t.Format(time.TimeOnly)
}

func padLeft(s string, w int) string {
	if w == 0 {
		return ""
	}
	n := widget.Width(s)
	if n >= w {
		return widget.Fit(s, w)
	}
	return widget.Blank(w-n) + s
}

// CallLegend explains the marks of calls.
func CallLegend(th *theme.Theme) []Sign {
	var out []Sign
	for _, c := range []struct {
		call  servers.Call
		means string
	}{
		{servers.Call{Status: servers.Running}, "running"},
		{servers.Call{Status: servers.Running, Waiting: true}, "waits for you"},
		{servers.Call{Status: servers.OK}, "done"},
		{servers.Call{Status: servers.ToolError}, "failed or refused"},
		{servers.Call{Status: servers.Cancelled}, "cancelled or lost"},
	} {
		mark, style := CallMark(th, &c.call)
		out = append(out, Sign{style.Render(mark), c.means})
	}
	return out
}

// ServerMark is the lamp of a server.
func ServerMark(th *theme.Theme, s servers.Status) (string, theme.Style) {
	switch s {
	case servers.Ready:
		return th.Glyph.On, th.Good
	case servers.Starting:
		return th.Glyph.Half, th.Info
	case servers.Degraded:
		return "!", th.Warn
	case servers.Failed:
		return th.Glyph.Fail, th.Bad
	case servers.NotBuilt:
		return th.Glyph.Dot, th.Faint
	}
	return th.Glyph.Off, th.Faint
}
