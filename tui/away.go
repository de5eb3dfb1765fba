package tui

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Remote is a list of sessions that has those of other machines, too.
type Remote interface {
	// Away are the machines that have not been linked for a while.
	Away() []snapshot.Away
}

// AboveAway draws a page by draw, and below it which machines are away and why, for as long as they are.
func AboveAway(f *Frame, all []snapshot.Away, draw func() []string) []string {
	below := awayRows(f, all)
	h := f.H
	f.H -= len(below)
	rows := widget.Rows(draw(), f.W, f.H)
	f.H = h
	return append(rows, below...)
}

// awayRows are whole texts, or else a row each, or all in one.
func awayRows(f *Frame, all []snapshot.Away) (rows []string) {
	most := max(f.H/7, 1)
	if len(all) == 0 || f.H < 4 {
		return nil
	}
	mark, w := " "+f.Theme.Warn.Render("!")+" ", f.W-4
	row := func(text string) string { return widget.Fit(mark+f.Theme.Muted.Render(widget.Cut(text, w)), f.W) }
	var texts, names []string
	for i := range all {
		a := &all[i]
		text := sanitize.Line(a.String())
		if a.Why != "" {
			text += ": " + sanitize.Line(a.Why)
		}
		texts, names = append(texts, text), append(names, sanitize.Line(a.Machine))
	}
	if len(all) > most {
		return []string{row(humanize.Count(len(all), "machine") + " are away: " + strings.Join(names, ", "))}
	}
	for _, text := range texts {
		lines := widget.Wrap(text, w)
		if len(lines) > most/len(all) {
			lines = []string{text}
		}
		for i, line := range lines {
			if i == 0 {
				rows = append(rows, row(line))
			} else {
				rows = append(rows, widget.Fit("   "+f.Theme.Muted.Render(line), f.W))
			}
		}
	}
	return rows
}
