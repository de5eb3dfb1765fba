// Package calls is the page of tool calls: a live list, a filter, and the details of
// one call.
package calls

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "calls"

// Bodies is where the arguments and results of calls are.
type Bodies interface {
	// Body is what a call carried; false when it is not kept any more. It may
	// read from disk.
	Body(ctx context.Context, call uint64) (snapshot.CallBody, bool)
}

// Earlier is where the calls of earlier runs are.
type Earlier interface {
	// Hint says, on a channel of one slot, that Calls has something.
	Hint() <-chan struct{}
	// Calls are the newest ones; none before they are known.
	// Their IDs are for Body.
	Calls() []snapshot.Call
	// Body is what one of them carried; false when it is not kept any more. It
	// reads from disk.
	Body(ctx context.Context, id uint64) (snapshot.CallBody, bool)
}

// Pictures is where the pictures in results are; *router.Host is one.
type Pictures interface {
	Pictures() ([]snapshot.Picture, uint64)
}

// Options are what the page needs.
type Options struct {
	Bodies   Bodies
	Earlier  Earlier  // nil: earlier runs are not shown
	Pictures Pictures // nil: pictures are not shown
	Afar     Afar     // nil: no other machines are shown
	// Questions are those that wait, also after their call of ask has ended in time;
	// nil: only calls that run are known to wait.
	Questions tui.Questions
	// Commands are those that repeat a call at the moment; nil: none.
	Commands func() []Command
	// Cancel ends a running call, and reports whether it ran; nil: no call can be.
	Cancel func(id uint64) bool
	// Repeat calls a tool once more with the arguments of a call; nil: no call can be.
	Repeat func(tool string, b snapshot.CallBody) error
}

// Page is the page of calls.
type Page struct {
	browser.Browser
	opts   Options
	log    log
	follow bool // the cursor stays on the newest, where the calls are sorted by their start
	failed bool // only those that failed
	raw    bool // results as they were sent
	theme  *theme.Theme
	shown  bool
	opened time.Time // the deck
	watch  Watch     // nil while the page is hidden

	failures *tui.Failures

	detail detail
	view   viewer.Viewer
	w, h   int // of the page
}

// detail is the body of a call, drawn.
type detail struct {
	key     key
	status  snapshot.CallStatus
	w       int
	theme   *theme.Theme
	raw     bool // the result as it was sent
	body    snapshot.CallBody
	err     error // why it is not there
	args    widget.Text
	result  widget.Text
	picture *viewer.Picture // the first of the result; nil: none is kept
	loading bool            // a load is on its way
}

// New makes the page.
func New(o Options) *Page {
	p := &Page{opts: o, follow: true, view: viewer.Viewer{Slot: "calls"}}
	onLine := func(i int) bool { return i == p.log.line() }
	p.Browser = browser.New(browser.Options{ID: ID, Skip: onLine, Moved: p.moved, Focused: p.load}, tui.Filter{Fields: query.Fields(), Values: p.values, Narrow: p.narrow})
	p.List.Close = true
	p.Filter.Edit.Placeholder = "words, tool: agent: server: status: since: >500ms"
	p.Order = tui.Order{By: byStart}
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
		slices.SortStableFunc(list, func(a, b snapshot.Call) int { return a.Started.Compare(b.Started) })
		return tui.EarlierMsg{Calls: list}
	}}
}

// Show loads the call under the cursor: the newest failed one, if there is one that the user
// has not seen.
func (p *Page) Show() tea.Cmd {
	p.shown = true
	if id := p.failures.Newest(); id > 0 && p.Focus == browser.PartList {
		if c := p.log.byID(id); c != nil && (p.log.filter.empty() || p.log.lets(c)) {
			p.List.MoveTo(p.log.row(c.key))
			p.follow = p.log.order == nil && p.List.AtEnd()
		}
	}
	return tea.Batch(p.load(), p.watchFar())
}

// Hide stops loading.
func (p *Page) Hide() {
	p.shown = false
	p.unwatchFar()
}

// Update takes calls, bodies, and what is typed into the filter or searched for.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if cmd, taken := p.Browser.Update(msg); taken {
		return cmd
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
	case farMsg:
		return p.takeFar(msg)
	case tui.FailuresMsg:
		p.failures = msg.Failures
	case tui.ThemeMsg:
		p.theme = msg.Theme
		return p.load()
	case tui.SizeMsg:
		p.w, p.h = msg.W, msg.H
		return p.load()
	case tui.FilterCallsMsg:
		p.Filter.SetText(msg.Text)
		p.failed, p.follow, p.Focus = false, true, browser.PartList
		return p.narrow()
	case bodyMsg:
		p.detail = detail(msg)
		return p.load()
	}
	return nil
}

// change changes the log and leaves the cursor on its call, or the newest.
func (p *Page) change(log func()) tea.Cmd {
	var at key
	if c := p.selected(); c != nil {
		at = c.key
	}
	log()
	p.List.SetLen(p.log.rows())
	switch {
	case p.log.order != nil && at == (key{}):
		p.List.MoveTo(0)
	case p.follows() || at == (key{}):
		p.List.MoveTo(p.log.rows() - 1)
	default:
		p.List.MoveTo(p.log.row(at))
	}
	return p.load()
}

// narrow filters by what was typed.
func (p *Page) narrow() tea.Cmd {
	return p.change(func() { p.log.narrow(newFilter(p.Filter.Text(), p.failed, time.Now())) })
}

func (p *Page) selected() *call { return p.log.at(p.List.Cursor) }

// moved follows the cursor.
func (p *Page) moved(bool) tea.Cmd {
	p.follow = p.log.order == nil && p.List.AtEnd()
	return tea.Batch(p.load(), p.olderFar())
}

func (p *Page) why() string {
	return tui.Because(p.selected() == nil, "no call selected")
}

// Actions are moving, filtering and copying.
func (p *Page) Actions() []tui.Action {
	step := func(d int) func() tea.Cmd {
		return func() tea.Cmd { return p.Move(func() { p.List.Move(d) }) }
	}
	out := slices.Concat(p.FocusActions("Read the call", p.why), []tui.Action{tui.FoldAction("calls", browser.PartDetail, &p.Detail)},
		p.SearchActions(), p.FilterActions("Show all calls", nil, p.unfilter))
	out = append(out, []tui.Action{
		{ID: "calls.unfilter.list", Title: "Show all calls", Verb: verb.Back, Part: browser.PartList, Run: p.unfilterOrLeave},
		{ID: "calls.failed", Title: "Only failed calls", Moves: true, Run: func() tea.Cmd {
			p.failed = !p.failed
			return p.narrow()
		}},
		{ID: "calls.follow", Title: "Follow the newest", Moves: true, Hint: "follow", Verb: verb.Follow, Part: browser.PartList, Enabled: func() string { return tui.Because(p.follows(), "already following") }, Run: func() tea.Cmd {
			p.follow, p.Order = true, tui.Order{By: byStart}
			return p.reorder()
		}},
		{ID: "calls.copy", Title: "Copy the call: its result, its arguments, a command", Hint: "copy", Verb: verb.Copy, Enabled: p.why, Run: p.chooseCopy},
		{ID: "calls.look", Title: "Show the picture in the result", Hint: "open", Verb: verb.Open, Part: browser.PartDetail, Enabled: p.whyNoPicture, Run: func() tea.Cmd {
			id := p.selected().ID
			return func() tea.Msg { return tui.LookMsg{Call: id} }
		}},
		{ID: "calls.again", Title: "Call the tool again with the same arguments", Hint: "again", Verb: verb.Again, Acts: true, Enabled: p.whyNoRepeat, Run: p.askRepeat},
		{ID: "calls.cancel", Title: "Cancel the running call", Hint: "stop", Verb: verb.Stop, Acts: true, Enabled: p.whyNoCancel, Run: p.cancel},
		{ID: "calls.raw", Title: "Result as text or raw", Hint: "view", Moves: true, Verb: verb.View, Run: func() tea.Cmd {
			p.raw = !p.raw
			return p.load()
		}},
		{ID: "calls.next", Title: "Next call", Moves: true, Verb: verb.Right, Run: step(1)},
		{ID: "calls.previous", Title: "Previous call", Moves: true, Verb: verb.Left, Run: step(-1)},
	}...)
	return slices.Concat(out, browser.SortActions(ID, browser.PartList, sorts(), &p.Order, p.sortBy), p.MoveActions(), p.ScrollActions())
}

// look is what the page keeps between runs.
type look struct {
	Raw bool
	tui.Order
}

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string {
	return tui.EncodeState(look{p.raw, p.Order})
}

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l look
	if tui.DecodeState(kept, &l) {
		p.raw = l.Raw
		if tui.SortingBy(sorts(), l.By) != nil {
			p.Order, p.log.order = l.Order, orderOf(l.Order)
		}
		p.log.narrow(p.log.filter)
	}
}

func (p *Page) unfilter() tea.Cmd {
	p.Filter.SetText("")
	p.failed, p.Focus = false, browser.PartList
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
