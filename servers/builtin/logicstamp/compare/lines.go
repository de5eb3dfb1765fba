package compare

import (
	"maps"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/outline"
	"github.com/mcpdeck/mcpdeck/servers/support/diff"
)

const (
	maxSources = 200 // contracts of which a result has the lines that changed
	maxLines   = 600 // of a source that are compared
	around     = 2   // lines beside one that changed
)

// SourceLine is a line of a source that differs, or stands beside one that does. Old and New
// are its numbers; 0 on the side that lacks it.
type SourceLine struct {
	Old, New int
	Text     string
}

// sourceLines are those of a source's declarations that differ.
func (c *comparison) sourceLines(p string) []SourceLine {
	if c.base.Sources == nil || c.cur.Sources == nil {
		return nil
	}
	was, _ := c.base.Sources.Find(p)
	is, _ := c.cur.Sources.Find(p)
	if was.Outline == nil || is.Outline == nil {
		return nil
	}
	numbers := func(o *outline.Outline) []int {
		all := slices.Sorted(maps.Keys(o.Lines))
		return all[:min(len(all), maxLines)]
	}
	a, b := numbers(was.Outline), numbers(is.Outline)
	steps := diff.Steps(a, b, func(x, y int) bool { return was.Outline.Lines[x] == is.Outline.Lines[y] })
	differs := func(s diff.Step) bool { return s.Old < 0 || s.New < 0 }
	var out []SourceLine
	for i, s := range steps {
		if !slices.ContainsFunc(steps[max(i-around, 0):min(i+around+1, len(steps))], differs) {
			continue
		}
		var line SourceLine
		if s.New >= 0 {
			line.New = b[s.New]
			line.Text = is.Outline.Lines[line.New]
		}
		if s.Old >= 0 {
			line.Old = a[s.Old]
			line.Text = was.Outline.Lines[line.Old]
		}
		out = append(out, line)
	}
	return out
}
