package drift

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// loadRefs asks git for good baselines, then opens the choice.
func (p *Page) loadRefs() tea.Cmd {
	project, source := p.path, p.opts.Source
	return func() tea.Msg { return refsMsg{source.Refs(context.Background(), project)} }
}

func (p *Page) chooseBaseline(refs []string) tea.Cmd {
	c := &choice{project: sanitize.Line(filepath.Base(p.path)), start: p.start}
	for _, s := range p.project().Snapshots {
		name := "snapshot " + shortID(s.ID)
		if s.MadeBy != "" {
			name += " of " + s.MadeBy
		}
		if s.Pinned {
			name += " pinned"
		}
		c.all = append(c.all, candidate{name: name, baseline: "snapshot:" + s.ID, made: s.CreatedAt})
	}
	for _, r := range refs {
		c.all = append(c.all, candidate{name: "git " + r, baseline: "git:" + r})
	}
	c.Edit.Placeholder = "filter, or type a revision or a folder"
	c.filter()
	return tui.Open(c)
}

// choice is the overlay that picks a baseline.
type choice struct {
	project string
	all     []candidate
	found   []candidate
	start   func(baseline string, force bool) tea.Cmd
	tui.Finder
}

type candidate struct {
	name, baseline string
	made           time.Time // of a snapshot
}

// ID keeps the choice from opening twice.
func (c *choice) ID() string { return "drift.baseline" }

// TextEntry is always true: letters filter.
func (c *choice) TextEntry() bool { return true }

// Actions are moving and taking.
func (c *choice) Actions() []tui.Action {
	out := append([]tui.Action{{ID: "baseline.take", Title: "Use it as the baseline", Hint: "choose", Verb: verb.Open, InText: true, Run: c.take}}, c.Moves("baseline")...)
	return append(out, tui.Action{ID: "baseline.close", Title: "Back", Hint: "back", Verb: verb.Back, InText: true, Run: func() tea.Cmd { return tui.Close(c.ID()) }})
}

func (c *choice) take() tea.Cmd {
	i := c.List.Cursor
	if i < 0 || i >= len(c.found) {
		return nil
	}
	return tea.Sequence(tui.Close(c.ID()), c.start(c.found[i].baseline, false))
}

// Update takes what is typed.
func (c *choice) Update(msg tea.Msg) tea.Cmd {
	return c.Finder.Update(msg, c.filter, c.take)
}

func (c *choice) filter() {
	c.found = c.found[:0]
	for _, x := range c.all {
		if widget.Match(c.Edit.Value(), x.name) > 0 {
			c.found = append(c.found, x)
		}
	}
	if text := strings.TrimSpace(c.Edit.Value()); len(c.found) == 0 && text != "" {
		c.found = typed(text)
	}
	c.List.SetLen(len(c.found))
	c.List.MoveTo(0)
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
	rows := c.Rows(f, inner, h-4, th.Faint.Render("no snapshots and no commits; type a folder"), func(i, w int) string {
		one := c.found[i]
		note := ""
		if !one.made.IsZero() {
			note = f.Ago(one.made)
		}
		return widget.Ends(sanitize.Line(one.name), th.Faint.Render(note), w)
	})
	return widget.Dialog(th, "Compare "+c.project+" with", "", widget.Rows(rows, inner, h-2), f.W, h)
}
