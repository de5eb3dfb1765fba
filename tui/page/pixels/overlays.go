package pixels

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// details shows where a picture is from, and all diagnostics.
func details(r *Render, size string) tui.Overlay {
	return &tui.Reader{Name: "pixels.notes", Title: r.Name, Rows: func(f *tui.Frame, w int) []string {
		var rows []string
		for _, fact := range [][2]string{{"Kind", r.Kind}, {"Size", size}, {"From", cmp.Or(r.Agent, "a file of yours")}, {"File", r.File}, {"Drawn", f.Since(r.Time)}} {
			if fact[1] != "" {
				rows = append(rows, f.Theme.Faint.Render(widget.Fit(fact[0], 8))+widget.Cut(sanitize.Line(fact[1]), w-8))
			}
		}
		for _, note := range append([]string{r.Failed}, r.Notes...) {
			if note != "" {
				rows = append(append(rows, ""), widget.Wrap(sanitize.Text(note), w)...)
			}
		}
		return rows
	}}
}

// capabilities shows what the terminal was asked, what it answered, and what follows.
func capabilities() tui.Overlay {
	return &tui.Reader{Name: "pixels.capabilities", Title: "Pictures in this terminal", Rows: func(f *tui.Frame, w int) []string {
		th, caps := f.Theme, f.PictureCaps()
		rows := []string{"shown as " + th.Strong.Render(caps.Mode.String()) + th.Muted.Render(", in text "+caps.Cells.String()), ""}
		for _, why := range caps.Reasons {
			for i, line := range widget.Wrap(sanitize.Text(why), w-2) {
				mark := "  "
				if i == 0 {
					mark = th.Glyph.Dot + " "
				}
				rows = append(rows, mark+line)
			}
		}
		rows = append(rows, "", th.Title.Render("Terminal queries and answers"))
		wide := w >= 64
		for _, fact := range caps.Facts {
			line := th.Muted.Render(widget.Fit(fact.Asked, 23)) + " " + sanitize.Line(fact.Answer)
			if wide {
				line = widget.Ends(line, th.Faint.Render(fact.Meaning), w)
			}
			rows = append(rows, widget.Cut(line, w))
		}
		rows = append(rows, "")
		rows = append(rows, widget.Paragraph(th.Faint, "", ":mode tries another protocol; ui.pictures in the configuration sets one. "+
			"Inside tmux, pictures need: set -g allow-passthrough on", w)...)
		return rows
	}}
}

// opener asks for a file.
func opener() *tui.Prompt {
	return &tui.Prompt{Name: "pixels.open", Title: "Open a picture", Hint: "open", Label: "A .pxl, PNG, GIF or JPEG file:", Take: func(path string) tea.Cmd {
		return func() tea.Msg { return OpenMsg{Path: path} }
	}}
}
