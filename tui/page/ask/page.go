// Package ask is the page on which the user answers what agents ask.
package ask

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "ask"

// Focus says when a new request may bring the page on screen by itself.
type Focus string

// The settings of Focus. With FocusIdle it happens only from the first page,
// when no key was pressed for three seconds.
const (
	FocusIdle   Focus = "idle"
	FocusNever  Focus = "never"
	FocusAlways Focus = "always"
)

// Options are the user's settings.
type Options struct {
	Focus  Focus // "": FocusIdle
	Notify Notify
	Editor process.Command // to edit text with; no program: none
	Watch  bool            // nothing can be changed: no text field opens
	Gate   Gate            // for shells that answer; nil: none may
	// Jump shows the terminal in which an agent asks, and returns what the user should
	// know. It may take a while; nil: nothing can.
	Jump func(questions.Request) (string, error)
	// LooksAt reports whether the user looks at the terminal in which an agent's own program
	// asks. It may take a while; nil: that is not known.
	LooksAt func(questions.Request) bool
	// Files returns the paths of the files in a folder, the agent's that asks. It may take a
	// while; nil: none are offered.
	Files func(folder string) []string
}

// SettingsMsg replaces the options that may change while the page is in use.
type SettingsMsg struct {
	Focus  Focus
	Notify Notify
}

// The parts of the page.
const (
	partList    = "list"
	partRequest = "request"
	partReview  = "review"
	partBlank   = "blank" // a question for a text, whose field is closed
	partText    = "text"
	partHistory = "history"
	partReader  = "reader"

	partPrompt   = "prompt"   // a permission, or a plan
	partTerminal = "terminal" // what only the agent's terminal can answer
	partSettled  = "settled"  // how the prompt was settled that was open
)

// Page is the page. Make one with [New].
type Page struct {
	answer
	field
	questionView
	formView
	queue *questions.Queue
	opt   Options
	snap  *questions.Snapshot
	shown bool // the page is on screen

	place        string // partList, partRequest, partHistory, partReader, partSettled or partGroup
	id           int    // of the open request
	digests      tui.Digests
	unasked      time.Time // when the page was asked on screen by itself
	openedItself bool      // it came by itself, and goes when all is answered
	lastKey      time.Time
	message      string // about the last key; one line

	list       widget.List
	rows       []int // ids behind the list's rows; 0 is a heading
	areas      tui.Areas
	reader     widget.Scroll
	search     tui.Search // in the reader
	review     widget.List
	past       history
	settled    settled // at partSettled
	given      given
	group      group // at partGroup
	permission permission
	gate       userauth.State // as it was last
	alerts     alerts
	notices    int // notices already shown
	seen       map[int]bool
	waiting    int // requests that waited and were not snoozed when the feed last told of them
}

// New returns the page for a queue.
func New(q *questions.Queue, opt Options) *Page {
	opt.Focus = cmp.Or(opt.Focus, FocusIdle)
	return &Page{queue: q, opt: opt, snap: q.Pending(), place: partList, field: field{editor: widget.Editor{Multi: true}}, search: tui.Search{Part: partReader}, seen: map[int]bool{}, alerts: alerts{looksAt: opt.LooksAt}}
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title implements tui.Page.
func (p *Page) Title() string { return "Ask" }

// Badge is how many requests wait.
func (p *Page) Badge() int { return p.snap.Waiting }

// Part implements tui.Page.
func (p *Page) Part() string {
	it, open := p.current()
	switch {
	case p.searching():
		return tui.PartSearch
	case p.completing():
		return tui.PartCompletion
	case p.place == partGroup:
		return partGroup
	case !open && p.place != partHistory && p.place != partSettled:
		return partList
	case p.blank():
		return partBlank
	case p.onForm():
		return partForm + "." + p.form.Part()
	case p.place == partRequest && it.Request.InTerminal():
		return partTerminal
	case p.TextEntry() && p.place != partSettled:
		return partText
	case p.deciding() != nil:
		return partPrompt
	case p.place == partRequest && p.draft.Tab >= len(p.questions()):
		return partReview
	}
	return p.place
}

// TextEntry implements tui.Page.
func (p *Page) TextEntry() bool {
	switch p.place {
	case partSettled:
		return !p.settled.own() // what is typed was meant for what has gone
	case partHistory:
		return p.past.searching
	case partReader:
		return p.searching()
	case partRequest:
		_, open := p.current()
		return open && !p.closed() && (p.draft.Field != questions.NoField || p.blank() || p.onForm() && p.form.TextEntry())
	}
	return false
}

// searching reports whether the text to find in the reader is being typed.
func (p *Page) searching() bool {
	_, open := p.current()
	return open && p.search.Typing(p.place)
}

// blank reports whether a question for a text is open with its field closed. What
// is typed then is meant as the answer, not as commands.
func (p *Page) blank() bool {
	if p.place != partRequest || p.draft.Field != questions.NoField || p.closed() {
		return false
	}
	it, open := p.current()
	q, _, ok := p.at()
	return open && ok && len(q.Options) == 0 && q.Kind != questions.Form && it.State != questions.Sending
}

// Feed loads the queue.
func (p *Page) Feed() tui.Feed {
	hints, stop := p.queue.Hints()
	var last uint64
	first := true
	return tui.Feed{Hint: hints, Stop: stop, Load: func() tea.Msg {
		s := p.queue.Pending()
		if !first && s.Version == last {
			return nil
		}
		first, last = false, s.Version
		return snapshotMsg{s}
	}}
}

// WindowTitle says who asks what.
func (p *Page) WindowTitle() string {
	n := p.snap.Waiting
	if n == 0 {
		return ""
	}
	for _, it := range p.snap.Items {
		if it.Waits() {
			q := it.Request.Questions[0]
			what := label(q, 0)
			if q.Header == "" && !p.opt.Notify.Private {
				what = widget.Unmarked(sanitize.Bare(q.Question))
			}
			if d := it.Request.Prompt; d != nil && d.Kind == questions.Permission {
				what = sanitize.Line(d.Tool) // what it would do may be private
			}
			return fmt.Sprintf("(%d) mcpdeck: %s asks: %s", n, sanitize.Cut(sanitize.Line(it.Request.Client()), 40), sanitize.Cut(what, 60))
		}
	}
	return ""
}

// Waits returns how many requests wait, and whether the first is for a
// permission.
func (p *Page) Waits() (int, tea.ProgramStatusKind) {
	for _, it := range p.snap.Items {
		if d := it.Request.Prompt; it.Waits() && d != nil && d.Kind == questions.Permission {
			return p.snap.Waiting, tea.ProgramStatusKindPermission
		} else if it.Waits() {
			break
		}
	}
	return p.snap.Waiting, tea.ProgramStatusKindQuestion
}

// Show implements tui.Page: the first request that waits is opened, since the
// user came to answer.
func (p *Page) Show() tea.Cmd {
	p.shown = true
	if time.Since(p.unasked) < time.Second {
		p.openedItself = true
	}
	p.unasked = time.Time{}
	if p.place == partHistory && p.snap.Waiting > 0 {
		p.place, p.past.searching = partList, false // left open the last time
	}
	if p.id == 0 && p.place == partList {
		p.openFirst()
	}
	p.queue.Show(p.id)
	return nil
}

// Hide implements tui.Page.
func (p *Page) Hide() {
	p.shown, p.openedItself = false, false
	if p.place == partSettled {
		p.place = partList
	}
	p.queue.Show(0)
}

// Update takes what no action did.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if p.searching() && p.search.Update(p.place, msg) {
		return nil
	}
	p.files.Update(msg)
	switch msg := msg.(type) {
	case snapshotMsg:
		return p.take(msg.snap)
	case gateMsg:
		return p.takeGate(msg.State)
	case tui.FocusMsg:
		p.alerts.focus(msg.Focused)
	case SettingsMsg:
		p.opt.Focus, p.opt.Notify = cmp.Or(msg.Focus, FocusIdle), msg.Notify
	case alertMsg:
		return p.alerts.due(msg, p.snap, p.opt.Notify, p.shown)
	case permissionsMsg:
		return p.alerts.still(msg, p.snap, p.opt.Notify)
	case unseenMsg:
		return p.alerts.arrived(msg.items, p.opt.Notify)
	case commandMsg:
		return p.alerts.ran(msg)
	case tui.ShowQuestionMsg:
		p.open(msg.ID)
		if msg.Lasting {
			p.toLasting()
		}
	case tui.SightMsg:
		p.permission.sight = msg.Sight
	case tui.RestMsg:
		return p.rested()
	case settledMsg:
		return p.settledSeen(msg)
	case editedMsg:
		return p.edited(msg)
	case tea.KeyPressMsg:
		p.lastKey = time.Now()
		return p.key(msg)
	case tea.PasteMsg:
		return p.paste(msg.Content)
	case tui.ClickMsg:
		return p.click(msg.X, msg.Y)
	case tui.WheelMsg:
		p.wheel(msg.Y, msg.Delta)
	}
	return nil
}

// current is the open request.
func (p *Page) current() (questions.Item, bool) { return p.snap.Item(p.id) }

// open puts a request on screen with its draft.
func (p *Page) open(id int) {
	it, ok := p.snap.Item(id)
	if !ok {
		return
	}
	p.id, p.place, p.answer = id, partRequest, answer{draft: it.Draft.Clone()}
	p.message, p.questionView = "", questionView{scroll: scrolls{follow: true}}
	p.answer.turn(it.Request.Questions, p.draft.Tab)
	p.files.From(p.filesOf(&it.Request))
	switch {
	case p.closed():
		p.draft.Field = questions.NoField
	case p.draft.Field != questions.NoField:
		p.restore()
	}
	p.openForm()
	if p.shown {
		p.queue.Show(id)
		p.refresh()
	}
	if p.draft.Field == questions.NoField && it.State != questions.Sending {
		p.enterText()
	}
}

func (p *Page) openFirst() {
	if all := due(p.snap); len(all) > 0 {
		p.open(all[0].ID)
		return
	}
	p.toList()
}

// toList leaves the open request, which stays with its draft.
func (p *Page) toList() {
	p.id, p.place, p.message = 0, partList, ""
	p.queue.Show(0)
	p.refresh()
}

// refresh sees at once what this page did to the queue.
func (p *Page) refresh() { p.snap = p.queue.Pending() }

// keep hands the draft to the queue, which makes it safe. A request that has ended
// meanwhile stays until the feed tells of it.
func (p *Page) keep() {
	p.queue.SetDraft(p.id, p.draft)
	if s := p.queue.Pending(); slices.ContainsFunc(s.Items, func(it questions.Item) bool { return it.ID == p.id }) {
		p.snap = s
	}
}

// FooterNote is how many answers were not delivered, where the list does not show
// them.
func (p *Page) FooterNote(int) string {
	switch n := len(p.snap.Kept); {
	case n == 0 || p.place == partList:
		return ""
	case n == 1:
		return "1 answer not delivered"
	default:
		return fmt.Sprintf("%d answers not delivered", n)
	}
}
