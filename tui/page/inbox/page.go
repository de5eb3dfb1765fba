// Package inbox is the first page: what needs the user, ready to be answered, who is done, who
// works on what, and what was answered today.
package inbox

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/reply"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ID is the page's name.
const ID = "inbox"

// Options are what the page needs, and the user's settings.
type Options struct {
	Follow bool // a new request brings the page on screen
	Notify Notify
	Editor process.Command // to edit text with; no program: none
	Watch  bool            // nothing can be changed: no text field opens
	Gate   Gate            // for shells that answer; nil: none may
	// Jump shows the terminal in which an agent asks, and returns what the user should
	// know. It may take a while; nil: nothing can.
	Jump func(questions.Request) (string, error)
	// JumpTo does so for a session.
	JumpTo func(snapshot.Session) (string, error)
	// LooksAt reports whether the user looks at the terminal in which an agent's own program
	// asks. It may take a while; nil: that is not known.
	LooksAt func(questions.Request) bool
	// Files returns the paths of the files in a folder, the agent's that asks. It may take a
	// while; nil: none are offered.
	Files func(folder string) []string
	// Reply is where the next prompt of a session is typed; nil: nowhere.
	Reply *reply.Line
	// Rules are the user's rules, and RulesFor is what of agents' prompts they may allow; nil: none, and nothing.
	Rules    *book.Store
	RulesFor book.Allowed
	// Grants are what agents were allowed in their own files; nil: they are not shown.
	Grants Grants
	// Read notes that the user has looked at a session that is done; may be nil.
	Read func(agent, id string)
	// CallsPage is the ID of the page that shows calls; "" when there is none.
	CallsPage string
	// Home is the user's folder, which is written as ~.
	Home    string
	Widgets []Widget
	Setup   tui.Setup // connects agents; nil: that is left to mcpdeck setup
}

// SettingsMsg replaces the options that may change while the page is in use.
type SettingsMsg struct {
	Follow bool
	Notify Notify
}

// What the pane shows, and the parts of the page.
const (
	partList    = "list"
	partRequest = "request"
	partReview  = "review"
	partText    = "text"
	partHistory = "history"
	partReader  = "reader"
	partSession = "session"
	partRecord  = "record"
	partWelcome = "welcome" // nobody is connected

	partPrompt  = "prompt"  // a permission, or a plan
	partSettled = "settled" // how the request was settled that was there
)

// Page is the page. Make one with [New].
type Page struct {
	pane
	list    requestList
	past    history
	rules   rulebook
	grants  grants
	denials denials
	welcome welcome
	pairing pairing
	alerts  alerts
	notices int                 // notices already shown
	heard   *questions.Snapshot // what the feed said last, nil at first; the page may know of more
	reading reading
	fresh   int // the newest request that came while the page was not shown
	deck    *snapshot.Snapshot
	all     []snapshot.Session
	away    []snapshot.Away
	theme   *theme.Theme
	split   bool // the pane stands beside the list, and the conversation beside that
	takes   int  // rows of the pane
	origin  box  // of the pane
}

// New returns the page for a queue.
func New(q *questions.Queue, opt Options) *Page {
	if opt.Watch {
		opt.Setup = nil
	}
	return &Page{
		pane:   pane{answer: answer{queue: q, opt: &opt, snap: q.Pending(), field: field{editor: widget.Editor{Multi: true}}}, search: tui.Search{Part: partReader}},
		alerts: alerts{looksAt: opt.LooksAt}, welcome: welcome{from: opt.Setup}, pairing: pairing{gate: opt.Gate}, rules: rulebook{from: opt.Rules, may: opt.RulesFor, home: opt.Home}, grants: grants{from: opt.Grants}, past: history{home: opt.Home}, reading: reading{focused: true}, deck: &snapshot.Snapshot{}, theme: theme.New(theme.Options{}),
	}
}

// ID implements tui.Page.
func (p *Page) ID() string { return ID }

// Title implements tui.Page.
func (p *Page) Title() string { return "Inbox" }

// Badge is how many need the user.
func (p *Page) Badge() int { return p.list.count(needsYou) }

// Part implements tui.Page.
func (p *Page) Part() string {
	_, open := p.current()
	switch {
	case p.past.view != "":
		return p.past.view
	case p.searching():
		return tui.PartSearch
	case p.completing():
		return tui.PartCompletion
	case p.Newcomer():
		return partWelcome
	case !p.opened:
		return partList
	case p.opt.Reply.Editing(replying(&p.pane)):
		return reply.Part
	case p.place == partRequest && open && p.onForm():
		return partForm + "." + p.form.Part()
	case p.place == partRequest && p.draft.Field != questions.NoField:
		return partText
	case p.deciding() != nil:
		return partPrompt
	case p.place == partRequest && p.draft.Tab >= len(p.questions()):
		return partReview
	}
	return cmp.Or(p.place, partList)
}

// TextEntry implements tui.Page.
func (p *Page) TextEntry() bool {
	_, open := p.current()
	switch {
	case p.past.view != "":
		return p.past.searching && p.past.view == partHistory
	case !p.opened:
		return false
	case p.opt.Reply.Editing(replying(&p.pane)):
		return true
	case p.place == partSettled:
		return !p.settled.own() // what is typed was meant for what has gone
	case p.place == partReader:
		return p.searching()
	}
	return p.place == partRequest && open && !p.closed() && (p.draft.Field != questions.NoField || p.onForm() && p.form.TextEntry())
}

// searching reports whether the text to find in the reader is being typed.
func (p *pane) searching() bool { return p.opened && p.search.Typing(p.place) }

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

// Show implements tui.Page: the newest request that came meanwhile is selected.
func (p *Page) Show() tea.Cmd {
	p.shown = true
	if p.snap.Waiting > 0 {
		p.past.view = "" // left open the last time
	}
	p.lay(time.Now())
	if it, ok := p.snap.Item(p.fresh); ok && it.Due() && !p.opened && p.list.to(p.fresh) {
		p.list.moved, p.list.lastKey = true, time.Now()
		p.showSelected()
	}
	p.fresh = 0
	if it, ok := p.current(); ok && it.State != questions.Snoozed {
		p.queue.Show(p.id)
	}
	return p.welcome.look(len(p.all) > 0 && p.welcome.clients != nil)
}

// Hide implements tui.Page.
func (p *Page) Hide() {
	p.shown = false
	p.opt.Reply.Close()
	if p.place == partSettled {
		p.next()
	}
	p.queue.Show(0)
}

// Update takes what no action did.
func (p *Page) Update(msg tea.Msg) (cmd tea.Cmd) {
	defer func() {
		seen := p.session
		if !p.shown || p.past.view != "" || !p.list.moved && !p.opened { // under the cursor by itself, or not at all
			seen = nil
		}
		cmd = tea.Batch(cmd, p.reading.look(msg, seen, p.opened, p.opt))
	}()
	if p.searching() && p.search.Update(p.place, msg) || p.opt.Reply.Update(msg, replying(&p.pane)) {
		return nil
	}
	p.files.Update(msg)
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case snapshotMsg:
		return p.take(msg.snap)
	case rulesMsg:
		return p.rules.take(msg)
	case lastingMsg:
		return takeLasting(p, msg)
	case grantedMsg:
		return p.grants.take(msg)
	case exactMsg:
		return msg.take()
	case gateMsg:
		return p.pairing.take(msg.State)
	case tui.FocusMsg:
		p.alerts.focus(msg.Focused)
		p.reading.focused = msg.Focused
	case SettingsMsg:
		p.opt.Follow, p.opt.Notify = msg.Follow, msg.Notify
	case alertMsg:
		return p.alerts.due(msg, p.snap, p.all, p.opt.Notify, p.shown)
	case permissionsMsg:
		return p.alerts.still(msg, p.snap, p.opt.Notify)
	case unseenMsg:
		return p.alerts.arrived(msg.items, p.opt.Notify)
	case commandMsg:
		return p.alerts.ran(msg)
	case tui.SightMsg:
		p.permission.sight = msg.Sight
	case editedMsg:
		return p.edited(msg)
	case welcomeMsg:
		return p.welcome.take(msg)
	case tui.WheelMsg:
		p.wheel(msg)
	case tui.ClickMsg:
		return p.clicked(msg.X, msg.Y)
	case tea.KeyPressMsg:
		return p.typed(msg)
	case tea.PasteMsg:
		if p.past.view != "" {
			p.past.edit.Insert(msg.Content)
			p.past.search(p.past.edit.Value())
			return nil
		}
		return p.paste(msg.Content)
	case tui.SessionsMsg:
		p.all, p.away = msg.Sessions, msg.Away
		p.lay(time.Now())
		cmds = append(cmds, p.alerts.turns.follow(p.all))
	case doneMsg:
		return p.alerts.done(p.all, p.opt.Notify)
	default:
		p.told(msg)
	}
	for _, w := range p.opt.Widgets {
		cmds = append(cmds, w.Update(msg))
	}
	return tea.Batch(cmds...)
}

// told takes what the rest of the deck tells.
func (p *Page) told(msg tea.Msg) {
	switch msg := msg.(type) {
	case tui.ShowQuestionMsg:
		p.lay(time.Now())
		if p.list.to(msg.ID) {
			p.list.moved, p.list.lastKey = true, time.Now()
			p.showSelected()
			p.enter()
			if msg.Lasting {
				p.toLasting()
			}
		}
	case settledMsg: // elsewhere
		if p.place == partSettled && !p.settled.own() && p.settled.record.ID == msg.id {
			p.next()
		}
	case tui.RestMsg:
		if p.place == partSettled && p.settled.own() {
			p.next()
		}
	case tui.DeckMsg:
		p.deck = msg.Snapshot
		p.lay(time.Now())
	case tui.ThemeMsg:
		p.theme = msg.Theme
	}
}

// typed is a key that no action took: text.
func (p *Page) typed(k tea.KeyPressMsg) tea.Cmd {
	p.list.lastKey = time.Now()
	if p.past.view != "" {
		p.past.edit.Key(k)
		p.past.search(p.past.edit.Value())
		return nil
	}
	if p.place == partSettled || !p.opened {
		return nil
	}
	return p.key(k)
}

// AnyKey implements tui.Keyed: the cursor stays where it is while keys are pressed.
func (p *Page) AnyKey() tea.Cmd {
	p.list.lastKey = time.Now()
	if !p.shown {
		return nil
	}
	return func() tea.Msg { return lookMsg{} } // the key has done it then
}

// world is what the list is made of.
func (p *Page) world(now time.Time) world {
	w := world{snap: p.snap, sessions: p.all, calls: p.deck.Calls, now: now, stays: p.opened || p.place == partSettled}
	if it, ok := p.current(); ok && !it.Draft.Empty() {
		w.stays = true
	}
	return w
}

// lay brings the list up to date, and the pane with it.
func (p *Page) lay(now time.Time) {
	p.list.lay(p.world(now))
	p.welcome.follow(p)
	p.showSelected()
}

// showSelected shows in the pane what is under the cursor.
func (p *Page) showSelected() {
	r := p.list.under()
	if p.place == partSettled || p.place == partGroup || p.opened && p.id != 0 && p.place != "" {
		if r == nil || !r.open() || r.item.ID == p.id || p.place == partSettled || p.place == partGroup {
			return
		}
	}
	p.session, p.record = nil, questions.Record{}
	switch {
	case r == nil:
		p.leave("")
	case r.session != nil:
		if p.place != partSession {
			p.talk = widget.Scroll{}
		}
		p.leave(partSession)
		p.session = r.session
	case r.section == answeredToday:
		p.leave(partRecord)
		p.record = r.record
	case !r.settled.IsZero() || r.item.State == questions.Sending:
		p.leave(partRecord)
		p.record = *record(p.snap, r.item.ID)
		p.record.Request = r.item.Request
	case r.item.ID != p.id || p.place == "" || p.place == partRecord || p.place == partSession:
		p.open(r.item.ID)
	}
}

// leave shows something else than a request in the pane.
func (p *Page) leave(place string) {
	if p.id != 0 && p.shown {
		p.queue.Show(0)
	}
	p.id, p.place, p.form, p.message = 0, place, nil, ""
	if place == "" {
		p.opened = false
	}
}

// moveRow moves the cursor of the list.
func (p *Page) moveRow(d int) {
	p.list.lastKey = time.Now()
	if p.place == partSettled {
		p.place = ""
	}
	p.list.move(d)
	p.file = 0
	p.showSelected()
}

// enter opens what is selected.
func (p *Page) enter() {
	if r := p.list.under(); p.place == "" || p.place == partSettled || r != nil && r.section == needsYou && r.session == nil && p.place == partRecord {
		return // it is settled
	}
	p.opened = true
	if p.place == partRequest {
		p.queue.Show(p.id)
		p.refresh()
		p.openForm()
		p.enterText()
	}
}

// back leaves the pane, which keeps every draft.
func (p *Page) back() {
	switch p.place {
	case partReader:
		p.place = partRequest
		return
	case partGroup:
		p.leaveGroup()
		return
	case partSettled:
		p.place = ""
	}
	p.opened, p.message = false, ""
	p.list.moved, p.list.lastKey = true, time.Now()
	p.lay(time.Now())
}

// next goes on to the next request that waits, after one was settled.
func (p *Page) next() {
	p.place, p.id = "", 0
	p.list.lay(p.world(time.Now()))
	if !p.list.next() {
		p.opened = false
	}
	p.showSelected()
	if p.opened && p.place == partRequest {
		p.enter()
	}
}

// sessionOf is the session of which a request is, nil if that is not known.
func sessionOf(all []snapshot.Session, r *questions.Request) *snapshot.Session {
	if i := slices.IndexFunc(all, func(s snapshot.Session) bool { return r.Of(&s) }); i >= 0 {
		return &all[i]
	}
	return nil
}
