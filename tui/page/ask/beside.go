package ask

import (
	"fmt"
	"slices"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// besideFrom is the width from which what else waits stands beside the open
// question, which keeps its place and its lines when more comes.
const besideFrom = widest + 50

// wide draws the open question with the queue beside it.
func (p *Page) wide(f *tui.Frame, it questions.Item) []string {
	sub := f.Sub(widest, f.H)
	rows := widget.Rows(p.one(sub, it), widest, f.H)
	f.Join(sub, 0, 0)
	return widget.Beside(f.Theme, rows, p.queueBox(f, it, widest, f.W-widest))
}

// one draws the open question, or its description alone.
func (p *Page) one(f *tui.Frame, it questions.Item) []string {
	if p.place == partReader {
		return p.renderReader(f, it)
	}
	return p.renderRequest(f, it)
}

// queueBox is what waits, the open question marked. A click opens another one.
func (p *Page) queueBox(f *tui.Frame, it questions.Item, x, w int) []string {
	p.layRows()
	at := slices.Index(p.rows, it.ID)
	p.list.MoveTo(at)
	h := f.H - 1
	rows := p.list.Render(f.Theme, w-4, h, false, func(i, w int) string { return p.listRow(f, i, w) })
	for y := range min(h, len(p.rows)-p.list.Top) {
		id := p.rows[p.list.Top+y]
		if id > 0 && id != it.ID {
			p.areas = append(p.areas, tui.Area{X: x, Y: y + 1, W: w, H: 1, Run: tui.Do(func() { p.openOrShow(id) })})
		}
	}
	return widget.Pane(f.Theme, "Queue", "", false, rows, w, f.H)
}

// position is what kind of prompt this is, and which of the requests; "" when it is the
// only one of an ordinary kind.
func (p *Page) position(th *theme.Theme, it questions.Item, w int) string {
	kind := ""
	if d := it.Request.Prompt; d != nil {
		kind = sanitize.Line(string(d.Kind))
	}
	n := len(p.snap.Items)
	if n < 2 {
		return kind
	}
	i := 1 + slices.IndexFunc(p.snap.Items, func(o questions.Item) bool { return o.ID == it.ID })
	switch {
	case w < sideFrom-2 && kind != "":
		return fmt.Sprintf("%s %s %d/%d", kind, th.Glyph.Dot, i, n)
	case w < sideFrom-2:
		return fmt.Sprintf("%d/%d", i, n)
	case kind != "":
		return fmt.Sprintf("%s, %d of %d", kind, i, n)
	}
	return fmt.Sprintf("request %d of %d", i, n)
}
