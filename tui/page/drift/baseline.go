package drift

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// loadRefs asks git for good baselines, then opens the choice.
func (p *Page) loadRefs() tea.Cmd {
	project, source := p.path, p.opts.Source
	return func() tea.Msg { return refsMsg{source.Refs(context.Background(), project)} }
}

func (p *Page) chooseBaseline(refs []string) tea.Cmd {
	c := &choice{p: p}
	for _, s := range p.project().Snapshots {
		name := "snapshot " + shortID(s.ID)
		if s.MadeBy != "" {
			name += " of " + s.MadeBy
		}
		if s.Pinned {
			name += " pinned"
		}
		c.all = append(c.all, candidate{name: name, baseline: "snapshot:" + s.ID, snapshot: true, at: len(c.all)})
	}
	for _, r := range refs {
		c.all = append(c.all, candidate{name: "git " + r, baseline: "git:" + r})
	}
	c.edit.Placeholder = "filter, or type a revision or a folder"
	c.filter()
	return tui.Open(c)
}

// choice is the overlay that picks a baseline.
type choice struct {
	p     *Page
	all   []candidate
	found []candidate
	edit  widget.Editor
	list  widget.List
	y     int
}

type candidate struct {
	name, baseline string
	snapshot       bool
	at             int // of the snapshot, for its age
}

// ID keeps the choice from opening twice.
func (c *choice) ID() string { return "drift.baseline" }

// TextEntry is always true: letters filter.
func (c *choice) TextEntry() bool { return true }

// Actions are moving and taking.
func (c *choice) Actions() []tui.Action {
	move := func(d int) func() tea.Cmd { return do(func() { c.list.Move(d) }) }
	return []tui.Action{
		{ID: "baseline.take", Title: "Compare with it", Hint: "compare", Keys: []string{"enter"}, InText: true, Run: c.take},
		{ID: "baseline.up", Title: "Up", Hint: "move", Label: "up/down", Keys: []string{"up", "ctrl+p"}, InText: true, Run: move(-1)},
		{ID: "baseline.down", Title: "Down", Keys: []string{"down", "ctrl+n"}, InText: true, Run: move(1)},
		{ID: "baseline.close", Title: "Back", Hint: "back", Keys: []string{"esc", "ctrl+c"}, InText: true, Run: func() tea.Cmd { return tui.Close(c.ID()) }},
	}
}

func (c *choice) take() tea.Cmd {
	i := c.list.Cursor
	if i < 0 || i >= len(c.found) {
		return nil
	}
	return tea.Sequence(tui.Close(c.ID()), c.p.start(c.found[i].baseline, false))
}

// Update takes what is typed.
func (c *choice) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if c.edit.Key(msg) {
			c.filter()
		}
	case tea.PasteMsg:
		c.edit.Insert(msg.Content)
		c.filter()
	case tui.WheelMsg:
		c.list.Scroll(msg.Delta)
	case tui.ClickMsg:
		if c.list.Click(msg.Y - c.y) {
			return c.take()
		}
	}
	return nil
}

func (c *choice) filter() {
	c.found = c.found[:0]
	for _, x := range c.all {
		if widget.Match(c.edit.Value(), x.name) > 0 {
			c.found = append(c.found, x)
		}
	}
	if text := strings.TrimSpace(c.edit.Value()); len(c.found) == 0 && text != "" {
		c.found = typed(text)
	}
	c.list.SetLen(len(c.found))
	c.list.MoveTo(0)
}

// typed is what a text that names none of the candidates can mean, the likelier
// first.
func typed(text string) []candidate {
	if strings.HasPrefix(text, "git:") || strings.HasPrefix(text, "snapshot") || text == "disk" {
		return []candidate{{name: text, baseline: text}}
	}
	revision, folder := candidate{name: "git " + text, baseline: "git:" + text}, candidate{name: "folder " + text, baseline: text}
	if strings.HasPrefix(text, ".") || filepath.IsAbs(text) {
		return []candidate{folder, revision}
	}
	return []candidate{revision, folder}
}

// Render draws the field and what fits it.
func (c *choice) Render(f *tui.Frame) []string {
	th := f.Theme
	h := min(f.H, max(len(c.all), len(c.found))+5, 20)
	inner := min(f.W, 64) - 6
	edit, x, _ := c.edit.Render(th, inner-2, 1, true)
	rows := []string{th.Key.Render("> ") + edit[0], th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, inner))}
	c.y = 1 + len(rows)
	if len(c.found) == 0 {
		rows = append(rows, th.Faint.Render("no snapshot and no commit; type a folder"))
	} else {
		snapshots := c.p.project().Snapshots
		rows = append(rows, c.list.Render(th, inner, max(h-4, 1), true, func(i, w int) string {
			one := c.found[i]
			note := ""
			if one.snapshot && one.at < len(snapshots) {
				note = f.Ago(snapshots[one.at].CreatedAt)
			}
			return widget.Ends(plain.Line(one.name), th.Faint.Render(note), w)
		})...)
	}
	f.Cursor(3+2+x, 1)
	title := fmt.Sprintf("Compare %s with", plain.Line(filepath.Base(c.p.path)))
	return widget.Dialog(th, title, "", widget.Rows(rows, inner, h-2), f.W, h)
}
