package tui

import (
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers"
	"github.com/mcpdeck/mcpdeck/servers/plain"
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
	case c.Status == servers.Cancelled:
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
		b.WriteString(th.Faint.Render(c.Started.Format(time.TimeOnly)) + "  ")
		left -= 10
	}
	right, rw := callEnd(f, c), 0
	if w >= 48 {
		rw = 9
	}
	agent := min(max(w/7, 6), 18)
	name := plain.Line(c.AgentName)
	b.WriteString(th.Hue(name).Render(widget.Fit(name, agent)) + "  ")
	left -= agent + 2 + rw
	tool := min(max(left*2/5, 14), 30)
	toolStyle := th.Text
	if failed {
		toolStyle = th.Bad
	}
	b.WriteString(toolStyle.Render(widget.Fit(plain.Line(c.Tool), min(tool, left))))
	left -= tool + 2
	if left > 4 {
		if failed {
			b.WriteString("  " + th.Bad.Render(widget.Fit(plain.Line(c.Result), left)))
		} else {
			b.WriteString("  " + th.Faint.Render(widget.Fit(plain.Line(c.Args), left)))
		}
	}
	return widget.Fit(b.String(), w-rw) + padLeft(right, rw)
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
	return th.Muted.Render(Took(c.Duration))
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
