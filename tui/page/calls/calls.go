// Package calls is the page of tool calls: a live list, a filter, and the details of
// one call.
package calls

import (
	"context"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/arrange"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/match"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "calls"

// Bodies is where the arguments and results of calls are.
type Bodies interface {
	// Body is what a call carried; false when it is not kept any more. It may
	// read from disk.
	Body(ctx context.Context, call uint64) (deck.CallBody, bool)
}

// Earlier is where the calls of earlier runs are.
type Earlier interface {
	// Hint says, on a channel of one slot, that Calls has something.
	Hint() <-chan struct{}
	// Calls are the newest ones; none before they are known.
	// Their IDs are for Body.
	Calls() []deck.Call
	// Body is what one of them carried; false when it is not kept any more. It
	// reads from disk.
	Body(ctx context.Context, id uint64) (deck.CallBody, bool)
}

// Pictures is where the pictures in results are; *host.Host is one.
type Pictures interface {
	Pictures() ([]deck.Picture, uint64)
}

// Options are what the page needs.
type Options struct {
	Bodies   Bodies
	Earlier  Earlier  // nil: earlier runs are not shown
	Pictures Pictures // nil: pictures are not shown
	// Questions are those that wait, also after their call of ask has ended in time;
	// nil: only calls that run are known to wait.
	Questions tui.Questions
	// Commands are those that repeat a call at the moment; nil: none.
	Commands func() []Command
}

// The parts of the page.
const (
	partList   = "list"
	partDetail = "detail"
	partFilter = "filter"
)

// Page is the page of calls.
type Page struct {
	opts   Options
	log    log
	part   string
	list   widget.List
	follow bool      // the cursor stays on the newest, where the calls are sorted by their start
	sort   tui.Order // see sorts
	failed bool      // only those that failed
	raw    bool      // results as they were sent
	filter tui.Filter
	theme  *theme.Theme
	shown  bool
	opened time.Time // the deck

	failures *tui.Failures

	detail detail
	view   viewer.Viewer
	text   widget.Folds // of the detail
	search tui.Search   // in the detail
	w, h   int          // of the page
	areas  tui.Areas    // the list without its frame, and the detail, on the frame on screen
}

// detail is the body of a call, drawn.
type detail struct {
	key     int64
	status  deck.CallStatus
	w       int
	theme   *theme.Theme
	raw     bool // the result as it was sent
	body    deck.CallBody
	kept    bool
	args    widget.Text
	result  widget.Text
	picture *viewer.Picture // the first of the result; nil: none is kept
	loading bool            // a load is on its way
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, part: partList, follow: true, sort: tui.Order{By: byStart}, view: viewer.Viewer{Slot: "calls"}, search: tui.Search{Part: partDetail}}
	p.filter = tui.Filter{Part: partFilter, Fields: match.Fields(), Values: p.values, Narrow: p.narrow}
	p.filter.Edit.Placeholder = "words, tool: agent: server: status: since: >500ms"
	p.list.Cursor = -1
	p.text.Window = &widget.Scroll{}
	return p
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title is "Calls".
func (p *Page) Title() string { return "Calls" }

// Badge is how many failed calls the user has not seen.
func (p *Page) Badge() int { return p.failures.Fresh() }

// BadgeMark is the mark of a call that failed.
func (p *Page) BadgeMark(th *theme.Theme) (string, theme.Style) { return th.Glyph.Fail, th.Bad }

// Narrow shows the calls that failed.
func (p *Page) Narrow() tea.Cmd { return p.Update(tui.FilterCallsMsg{Failed: true}) }

// Part is the part with the focus.
func (p *Page) Part() string { return p.search.PartAt(p.filter.PartAt(p.part)) }

// TextEntry is true while the filter, or what to search for, is being typed.
func (p *Page) TextEntry() bool { return p.part == partFilter || p.search.Typing(p.part) }

// Feed brings the calls of earlier runs, for all pages. They were written down as
// they ended; all lists show them as they began.
func (p *Page) Feed() tui.Feed {
	from := p.opts.Earlier
	if from == nil {
		return tui.Feed{}
	}
	return tui.Feed{Hint: from.Hint(), Load: func() tea.Msg {
		list := slices.Clone(from.Calls())
		if len(list) == 0 {
			return nil
		}
		arrange.Stable(list, func(a, b deck.Call) int { return a.Started.Compare(b.Started) })
		return tui.EarlierMsg{Calls: list}
	}}
}

// Show loads the call under the cursor.
func (p *Page) Show() tea.Cmd {
	p.shown = true
	return p.load()
}

// Hide stops loading.
func (p *Page) Hide() { p.shown = false }

// FooterNote says how many calls there are. Where a call takes the whole page, its rule says
// so, and the keys have the room.
func (p *Page) FooterNote(int) string {
	if p.part == partDetail && shapeOf(p.w, p.h) == one {
		return ""
	}
	n := span.Count(len(p.log.calls), "call")
	if !p.log.filter.empty() {
		return strconv.Itoa(p.log.len()) + " of " + n
	}
	return n
}

// Update takes calls, bodies, and what is typed into the filter or searched for.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if p.search.Update(p.part, msg) {
		return nil
	}
	switch msg := msg.(type) {
	case tui.DeckMsg:
		p.opened = msg.Snapshot.Started
		if len(msg.Calls) == 0 {
			return nil
		}
		return p.change(func() { p.log.take(msg.Calls) })
	case tui.EarlierMsg:
		return p.change(func() { p.log.takeEarlier(msg.Calls) })
	case tui.FailuresMsg:
		p.failures = msg.Failures
	case tui.ThemeMsg:
		p.theme = msg.Theme
		return p.load()
	case tui.SizeMsg:
		p.w, p.h = msg.W, msg.H
		return p.load()
	case tui.ShowCallMsg:
		return p.showCall(p.log.key(msg))
	case tui.FilterCallsMsg:
		p.filter.SetText(msg.Text)
		p.failed, p.follow, p.part = msg.Failed, true, partList
		if msg.Type {
			p.part = partFilter
		}
		return p.narrow()
	case bodyMsg:
		p.detail = detail(msg)
		return p.load()
	case tea.KeyPressMsg, tea.PasteMsg:
		if p.part == partFilter {
			return p.filter.Update(msg)
		}
	case tui.ClickMsg:
		return p.click(msg)
	case tui.WheelMsg:
		return p.wheel(msg)
	}
	return nil
}

// change changes the log and leaves the cursor on its call, or the newest.
func (p *Page) change(log func()) tea.Cmd {
	var key int64
	if c := p.selected(); c != nil {
		key = c.key
	}
	log()
	p.list.SetLen(p.log.rows())
	switch {
	case p.log.order != nil && key == 0:
		p.list.MoveTo(0)
	case p.follows() || key == 0:
		p.list.MoveTo(p.log.rows() - 1)
	default:
		p.list.MoveTo(p.log.row(key))
	}
	return p.load()
}

// narrow filters by what was typed.
func (p *Page) narrow() tea.Cmd {
	return p.change(func() { p.log.narrow(newFilter(p.filter.Text(), p.failed, time.Now())) })
}

func (p *Page) showCall(key int64) tea.Cmd {
	if p.log.byKey(key) == nil {
		return tui.Toast(tui.Info, "that call is no longer stored")
	}
	p.filter.SetText("")
	p.failed = false
	p.log.narrow(filter{})
	p.list.SetLen(p.log.rows())
	p.list.MoveTo(p.log.row(key))
	p.follow = p.log.order == nil && p.list.AtEnd()
	p.part = partDetail
	return p.load()
}

func (p *Page) selected() *call { return p.log.at(p.list.Cursor) }

// moved is called when the cursor was on another row before. It goes on past the
// line between runs, which is no call.
func (p *Page) moved(before int) tea.Cmd {
	if p.list.Cursor == p.log.line() {
		if p.list.Cursor < before {
			p.list.Move(-1)
		} else {
			p.list.Move(1)
		}
	}
	p.follow = p.log.order == nil && p.list.AtEnd()
	return p.load()
}

func (p *Page) why() string {
	if p.selected() == nil {
		return "no call selected"
	}
	return ""
}

// Actions are moving, filtering and copying.
func (p *Page) Actions() []tui.Action {
	to := func(part string) func() tea.Cmd {
		return func() tea.Cmd { p.part = part; p.filter.Leave(); return p.load() }
	}
	out := []tui.Action{
		{ID: "calls.open", Title: "Read the call", Hint: "read", Keys: []string{"enter", "tab", "right", "l"}, Part: partList, Enabled: p.why, Run: to(partDetail)},
		{ID: "calls.close", Title: "Back to the list", Hint: "list", Keys: []string{"esc", "tab", "left", "h", "shift+tab"}, Part: partDetail, Run: to(partList)},
		tui.FoldAction("calls", partDetail, &p.text),
	}
	out = slices.Concat(out, p.search.Actions("calls.detail"), p.filter.Actions("calls.complete"))
	out = append(out, []tui.Action{
		{ID: "calls.filter", Title: "Filter", Hint: "filter", Keys: []string{"/"}, Run: to(partFilter)},
		{ID: "calls.filtered", Title: "Apply the filter", Hint: "keep", Keys: []string{"enter", "down", "tab"}, Part: partFilter, InText: true, Run: to(partList)},
		{ID: "calls.unfilter", Title: "Show all calls", Hint: "show all", Keys: []string{"esc"}, Part: partFilter, InText: true, Run: p.unfilter},
		{ID: "calls.unfilter.list", Title: "Show all calls", Keys: []string{"esc"}, Part: partList, Enabled: nil, Run: p.unfilterOrLeave},
		{ID: "calls.failed", Title: "Only failed calls", Moves: true, Hint: "failed", Keys: []string{"e"}, Run: func() tea.Cmd {
			p.failed = !p.failed
			return p.narrow()
		}},
		{ID: "calls.follow", Title: "Follow the newest", Moves: true, Hint: "follow", Keys: []string{"f"}, Part: partList, Enabled: func() string {
			if p.follows() {
				return "already following"
			}
			return ""
		}, Run: func() tea.Cmd {
			p.follow, p.sort = true, tui.Order{By: byStart}
			return p.reorder()
		}},
		{ID: "calls.copy", Title: "Copy the call: its result, its arguments, a command", Hint: "copy", Keys: []string{"c"}, Enabled: p.why, Run: p.chooseCopy},
		{ID: "calls.look", Title: "Show the picture in the result", Hint: "picture", Keys: []string{"o"}, Enabled: p.whyNoPicture, Run: func() tea.Cmd {
			id := p.selected().ID
			return func() tea.Msg { return tui.LookMsg{Call: id} }
		}},
		{ID: "calls.raw", Title: "Result as text or raw", Moves: true, Keys: []string{"v"}, Run: func() tea.Cmd {
			p.raw = !p.raw
			return p.load()
		}},
		{ID: "calls.next", Title: "Next call", Moves: true, Keys: []string{"J", "n"}, Part: partDetail, Run: p.step(1)},
		{ID: "calls.previous", Title: "Previous call", Moves: true, Keys: []string{"K", "p"}, Part: partDetail, Run: p.step(-1)},
	}...)
	for _, s := range sorts() {
		out = append(out, tui.Action{ID: "calls.sort." + s.Column, Title: "Sort by " + s.Means, Moves: true, Keys: []string{s.Key}, Part: partList, Run: func() tea.Cmd { return p.sortBy(s.Column) }})
	}
	for _, a := range tui.ListActions("calls.list", partList, &p.list) {
		move := a.Run
		a.Run = func() tea.Cmd {
			before := p.list.Cursor
			move()
			return p.moved(before)
		}
		out = append(out, a)
	}
	return append(out, tui.ScrollActions("calls.detail", partDetail, &p.text)...)
}

// step shows a call before or after, in the detail.
func (p *Page) step(d int) func() tea.Cmd {
	return func() tea.Cmd {
		before := p.list.Cursor
		p.list.Move(d)
		return p.moved(before)
	}
}

// look is what the page keeps between runs.
type look struct {
	Filter      string
	Failed, Raw bool
	tui.Order
}

// Kept implements tui.Keeper.
func (p *Page) Kept() string { return tui.Keep(look{p.filter.Text(), p.failed, p.raw, p.sort}) }

// Restore implements tui.Keeper.
func (p *Page) Restore(kept string) {
	var l look
	if tui.Kept(kept, &l) {
		p.filter.SetText(plain.Line(l.Filter))
		p.failed, p.raw = l.Failed, l.Raw
		if tui.SortingBy(sorts(), l.By) != nil {
			p.sort, p.log.order = l.Order, orderOf(l.Order)
		}
		p.log.narrow(newFilter(p.filter.Text(), p.failed, time.Now()))
	}
}

func (p *Page) unfilter() tea.Cmd {
	p.filter.SetText("")
	p.failed, p.part = false, partList
	return p.narrow()
}

// unfilterOrLeave is Esc in the list: it takes the filter away, and without one
// goes to the first page.
func (p *Page) unfilterOrLeave() tea.Cmd {
	if p.log.filter.empty() {
		return tui.Home()
	}
	return p.unfilter()
}

func (p *Page) click(m tui.ClickMsg) tea.Cmd {
	a := p.areas.At(m.X, m.Y)
	switch {
	case a == nil:
		return nil
	case a.Run != nil:
		return a.Run()
	}
	before, focus := p.list.Cursor, p.part == a.Part
	p.search.Keep()
	if p.part = a.Part; a.Part == partDetail {
		p.text.Click(m.Y - a.Y - 1)
		return nil
	}
	if !p.list.Click(m.Y - a.Y) {
		return nil
	}
	if focus && before == p.list.Cursor {
		p.part = partDetail
	}
	return p.moved(before)
}

func (p *Page) wheel(m tui.WheelMsg) tea.Cmd {
	if a := p.areas.At(m.X, m.Y); a != nil && a.Part == partDetail {
		p.text.Scroll(m.Delta)
		return nil
	}
	before := p.list.Cursor
	p.list.Scroll(m.Delta)
	return p.moved(before)
}
