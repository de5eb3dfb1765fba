package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Page is one screen of the deck. The root calls its methods from the update
// loop only.
type Page interface {
	// ID names the page in actions, configuration and state: "ask".
	ID() string
	// Title is what its tab says: "Ask".
	Title() string
	// Badge is how many things on the page want to be seen; 0 shows none.
	Badge() int
	// Actions is the page's part of the table. It is called when the keys are
	// bound, so what varies goes into Enabled.
	Actions() []Action
	// Part names the part of the page that has the focus; actions whose Part is
	// another one do not act. "" when the page has one part.
	Part() string
	// TextEntry reports whether a text field has the focus. While it has, keys go
	// to Update, but for actions that say InText.
	TextEntry() bool
	// Update gets what the root does not keep for itself: messages of feeds and
	// of commands, of any page (ignore what is not yours), and, while the page is
	// shown and nothing is above it, KeyPressMsg that no action took, PasteMsg,
	// ClickMsg and WheelMsg. Text is pasted while TextEntry alone.
	Update(msg tea.Msg) tea.Cmd
	// Render draws the page: f.H rows of f.W cells. What is missing or too much
	// is made good by the root.
	Render(f *Frame) []string
	// Show is called when the page comes on screen, Hide when it leaves it: the
	// place to start and to stop what only matters while it is seen.
	Show() tea.Cmd
	Hide()
}

// What a page may also have.
type (
	// Feeder is a page with data of its own.
	Feeder interface{ Feed() Feed }
	// Titler is a page that sets the terminal's title; "" leaves it to others.
	Titler interface{ WindowTitle() string }
	// Waiter is a page on which things wait for the user: how many, and what for the
	// first of them does.
	Waiter interface {
		Waits() (n int, kind tea.ProgramStatusKind)
	}
	// Marker is a page whose badge counts news. Other badges count what needs the user, and
	// stand in the terminal's title, too.
	Marker interface {
		// BadgeMark is the sign before the number, and the style of both.
		BadgeMark(th *theme.Theme) (mark string, style theme.Style)
	}
	// Optional is a page that has a tab only once it has something to show. Its key opens
	// it all the same.
	Optional interface{ HasTab() bool }
	// FooterStatus is a page that has something for the right end of a footer of w
	// cells; more than half of it is not shown.
	FooterStatus interface{ FooterNote(w int) string }
	// Commander is a page with actions of what comes and goes. They are asked for when
	// the command palette opens, and are only there.
	Commander interface{ Commands() []Action }
	// Legender is a page with signs, which its help explains.
	Legender interface {
		Legend(th *theme.Theme) []Sign
	}
	// Hoverer is a page that wants to hear of the mouse over it, as HoverMsg, while
	// Hovers says so.
	Hoverer interface{ Hovers() bool }
	// Dragger is a page on which the mouse moves something, with ClickMsg and DragMsg:
	// Drags reports whether it does from a cell. Elsewhere dragging marks text.
	Dragger interface{ Drags(x, y int) bool }
	// Newcomer is a page that may have nothing yet but the first steps of a new user, to whom
	// the footer then names the keys of the commands and of the end, too.
	Newcomer interface{ Newcomer() bool }
	// Keyed is a page that wants to hear of every key pressed on the screen, before
	// it does what it does, for what stands there until the user is back.
	Keyed interface{ AnyKey() tea.Cmd }
	// StateSaver is a page that keeps between runs how the user looks at it: filters, order,
	// zoom. LoadState is called before the first frame with what SaveState returned in the last run,
	// "" in the first; what it cannot read it leaves alone.
	StateSaver interface {
		SaveState() string
		LoadState(kept string)
	}
	// Quitter is a page that wants a word before the program ends: an overlay
	// that ends in Quit or Close; nil lets it end.
	Quitter interface{ BeforeQuit() Overlay }
)

// Sign is a mark on a page and what it means.
type Sign struct{ Mark, Means string }

// Frame is what a Render gets to know and says beside its rows.
type Frame struct {
	W, H  int
	Theme *theme.Theme
	Now   time.Time
	Focus bool // nothing is above the page
	// Quotas are how much agents' accounts have used.
	Quotas []snapshot.Quota

	demo    string // the key of the demo; "" where there is none
	wake    time.Duration
	cursor  *tea.Position
	popup   *popup
	gallery *picture.Gallery
	placed  []picture.Placed

	failures *Failures
	sight    *Sight
}

// RedrawAfter asks for another Render after d, because what was drawn depends on
// the time. Without it nothing is drawn again until something happens.
func (f *Frame) RedrawAfter(d time.Duration) {
	if d > 0 && (f.wake == 0 || d < f.wake) {
		f.wake = d
	}
}

// Demo is the key of the demo, or what is typed for it; "" where there is none.
func (f *Frame) Demo() string { return f.demo }

// Example says, on a page that has nothing yet, how to see it with something on it. There
// are no rows where there is no example.
func (f *Frame) Example() []string {
	if f.demo == "" {
		return nil
	}
	return []string{"", f.Theme.Key.Render(f.demo) + f.Theme.Muted.Render(" plays an example")}
}

// Cursor puts the terminal's cursor at a cell of the frame: where text is typed.
func (f *Frame) Cursor(x, y int) { f.cursor = &tea.Position{X: x, Y: y} }

// Sub is a frame of w × h cells for a part of this one. Its wishes are passed on
// by Join.
func (f *Frame) Sub(w, h int) *Frame {
	return &Frame{W: w, H: h, Theme: f.Theme, Now: f.Now, Focus: f.Focus, Quotas: f.Quotas, demo: f.demo, gallery: f.gallery, failures: f.failures, sight: f.sight}
}

// Join passes on what was asked of a Sub drawn at x, y.
func (f *Frame) Join(s *Frame, x, y int) {
	f.RedrawAfter(s.wake)
	if s.cursor != nil {
		f.Cursor(x+s.cursor.X, y+s.cursor.Y)
	}
	if p := s.popup; p != nil {
		p.x, p.y = p.x+x, p.y+y
		f.popup = p
	}
	f.joinPictures(s, x, y)
}

// joinPictures passes on where the pictures of a Sub at x, y are.
func (f *Frame) joinPictures(s *Frame, x, y int) {
	for _, p := range s.placed {
		p.X, p.Y = p.X+x, p.Y+y
		f.placed = append(f.placed, p)
	}
}

// Feed is where data comes from.
type Feed struct {
	// Hint says that Load may have something: a channel of one slot.
	Hint <-chan struct{}
	// Load gets what is new as a message for all pages. It runs off the update
	// loop, never twice at once, at most thirty times a second, once at the start.
	// nil says there is nothing.
	Load func() tea.Msg
	// Every is the least time between two hints that count, for news that can wait: of
	// several, the first and the last do. 0: every hint counts.
	Every time.Duration
	// Stop ends the subscription behind Hint. May be nil.
	Stop func()
}

// Overlay stands above the page: a dialog, a menu. It gets all keys while it is
// the topmost one.
type Overlay interface {
	// ID keeps the same overlay from opening twice.
	ID() string
	// Actions is the overlay's part of the table, asked for when it opens.
	Actions() []Action
	// TextEntry is as a Page's.
	TextEntry() bool
	// Update gets the keys that no action took, PasteMsg, ClickMsg and WheelMsg in
	// cells of the overlay, and all messages that pages get.
	Update(msg tea.Msg) tea.Cmd
	// Render draws the overlay at most f.W × f.H cells large; all rows must be of
	// the same width. It is drawn in the middle.
	Render(f *Frame) []string
}

// ClickMsg is a click of the left button at a cell of the page or overlay.
type ClickMsg struct{ X, Y int }

// DragMsg is the mouse moved to a cell with the left button held down, after a
// ClickMsg.
type DragMsg struct{ X, Y int }

// HoverMsg is the mouse moved to a cell of a Hoverer with no button held down.
type HoverMsg struct{ X, Y int }

// WheelMsg is the wheel turned over a cell: Delta rows down.
type WheelMsg struct{ X, Y, Delta int }

// SizeMsg gives pages how many cells they have, before the first Render at that
// size.
type SizeMsg struct{ W, H int }

// FocusMsg tells pages whether the terminal window has the focus.
type FocusMsg struct{ Focused bool }

// ThemeMsg tells pages that the theme has changed.
type ThemeMsg struct{ Theme *theme.Theme }

// ShowQuestionMsg asks the Inbox to open a question.
type ShowQuestionMsg struct {
	ID      int
	Lasting bool // with the cursor on the first option that allows it for longer than once
}

// ShowSessionMsg asks the page of sessions to show one.
type ShowSessionMsg struct{ Agent, ID string }

// EarlierMsg is the newest calls of earlier runs, as they began. Their IDs are
// not those of this run's calls.
type EarlierMsg struct{ Calls []snapshot.Call }

// FilterCallsMsg asks the page of calls for those that a query asks for.
type FilterCallsMsg struct{ Text string }

// ShowServerMsg asks the page of servers to show one.
type ShowServerMsg struct {
	Name   string
	TurnOn bool // as its key does, once the user has read what it runs
	Lazy   bool // it is turned on as lazy
}

type (
	openMsg  struct{ overlay Overlay }
	closeMsg struct{ id string }
	goMsg    struct {
		page    string
		unasked bool
	}
	toastMsg struct {
		kind  ToastKind
		text  string
		pages []string // which say it themselves
	}
	quitMsg struct{ sure bool }
)

// Open puts an overlay above the page.
func Open(o Overlay) tea.Cmd { return send(openMsg{overlay: o}) }

// Close takes an overlay away.
func Close(id string) tea.Cmd { return send(closeMsg{id: id}) }

// Go shows a page.
func Go(page string) tea.Cmd { return send(goMsg{page: page}) }

// GoUnasked shows a page that the user did not ask for, unless there is an overlay or a text
// field.
func GoUnasked(page string) tea.Cmd { return send(goMsg{page: page, unasked: true}) }

// Toast shows a sentence for a few seconds.
func Toast(kind ToastKind, text string) tea.Cmd { return ToastUnless(kind, text) }

// Outcome does what may take a while and shows what came of it: the error, or what was
// said if anything was.
func Outcome(do func() (said string, err error)) tea.Cmd {
	return func() tea.Msg {
		said, err := do()
		switch {
		case err != nil:
			return Toast(Bad, err.Error())()
		case said != "":
			return Toast(Good, said)()
		}
		return nil
	}
}

// ToastUnless is Toast of what some pages say themselves: it is not shown on
// them.
func ToastUnless(kind ToastKind, text string, pages ...string) tea.Cmd {
	return send(toastMsg{kind: kind, text: text, pages: pages})
}

// Quit ends the program without asking.
func Quit() tea.Cmd { return send(quitMsg{sure: true}) }

// Copy puts text on the clipboard of the user's terminal (OSC 52, so also
// over ssh), and says so; what names it: "the result".
func Copy(text, what string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), Toast(Good, "copied "+what))
}

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Home shows the first page.
func Home() tea.Cmd { return send(goMsg{}) }

// Next is the one that is d places after at, around the end.
func Next[T comparable](all []T, at T, d int) T {
	return all[(max(slices.Index(all, at), 0)+d+len(all))%len(all)]
}
