package deck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// offered is how much the servers offer agents.
func (p *Page) offered(w int) string {
	tools, bytes := 0, 0
	for _, s := range p.snap.Servers {
		tools += s.Tools
		bytes += s.Context
	}
	out := strconv.Itoa(tools) + " tools"
	if w < 60 {
		return out
	}
	return out + " ≈ " + snapshot.AboutTokens(bytes) + " tokens an agent"
}

// fact is a part of the line about what there is. Where there is room for more than its
// text, more draws what fits into w cells, the text included.
type fact struct {
	text string
	more func(w int) string
	note bool // of a widget: it has little more to say, and says that first
}

// inventory is one line about what there is: how many servers are on, what they offer, and
// by name those of which there is more to say, what is wrong first. All are named before
// any says why.
func (p *Page) inventory(f *tui.Frame) string {
	th := f.Theme
	facts := p.facts(f)
	dot := th.Faint.Render(" " + th.Glyph.Dot + " ")
	left := f.W - 4 + 3
	for i := range facts {
		left -= widget.Width(facts[i].text) + 3
	}
	texts := make([]string, len(facts))
	for _, note := range []bool{true, false} {
		for i, one := range facts {
			if one.note != note {
				continue
			}
			texts[i] = one.text
			if had := widget.Width(one.text); one.more != nil && left > 0 {
				texts[i] = one.more(had + left)
				left -= widget.Width(texts[i]) - had
			}
		}
	}
	row := th.Border.Render(th.Glyph.Frame.Top) + " " + widget.Cut(strings.Join(texts, dot), f.W-4) + " "
	return row + th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, f.W-1-widget.Width(row))) + " "
}

func (p *Page) facts(f *tui.Frame) []fact {
	th := f.Theme
	said := map[string]bool{}
	var notes []fact
	for _, w := range p.opts.Widgets {
		if note := w.Note(f, 0); note != "" {
			notes = append(notes, fact{note, func(width int) string { return w.Note(f, width) }, true})
			said[w.Server()] = true
		}
	}
	on, of := 0, map[snapshot.Status][]fact{}
	var off []string
	var lacks []fact
	for i := range p.snap.Servers {
		s := &p.snap.Servers[i]
		if s.IsOn() {
			on++
		}
		name, status := sanitize.Line(s.Title), s.State.Status
		switch {
		case said[s.Name]:
		case status == snapshot.Off:
			off = append(off, name)
		case s.State.Lacks != "":
			lacks = append(lacks, fact{text: th.Muted.Render(name + ": " + sanitize.Line(s.State.Lacks))})
		case status != snapshot.Ready:
			mark, style := tui.ServerMark(th, status)
			text := style.Render(mark) + " " + th.Muted.Render(name)
			of[status] = append(of[status], fact{text: text, more: func(w int) string {
				const least = 12 // cells of a reason that say anything
				if room := w - widget.Width(text) - 1; room >= least {
					return text + " " + widget.Cut(p.stateText(th, s, room), room)
				}
				return text
			}})
		case s.State.Held > 0:
			of[status] = append(of[status], fact{text: th.Muted.Render(name+": ") + th.Warn.Render(strconv.Itoa(s.State.Held)+" held")})
		}
	}
	cards := fact{text: th.Muted.Render(strconv.Itoa(on) + " on")}
	if f.W >= 60 {
		offers := func(w int) string {
			return th.Muted.Render(humanize.Count(on, "card")+" on") + th.Faint.Render(" "+th.Glyph.Dot+" ") + th.Muted.Render(p.offered(w))
		}
		cards = fact{text: offers(0), more: func(w int) string {
			if full := offers(f.W); widget.Width(full) <= w {
				return full
			}
			return offers(0)
		}}
	}
	// Notes come first: the end of the line is cut where it is too long.
	all := append(notes, cards)
	all = slices.Concat(all, of[snapshot.Failed], of[snapshot.Degraded], of[snapshot.Ready], of[snapshot.Starting])
	if len(off) > 0 {
		all = append(all, fact{text: th.Faint.Render(strings.Join(off, ", ") + " off")})
	}
	return append(all, lacks...)
}
