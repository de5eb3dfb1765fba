package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/theme"
)

// Model is the whole screen.
type Model struct {
	opts     Options
	theme    *theme.Theme
	pages    []Page
	tables   []table // by page
	global   table
	keys     map[string][]string // those of the options that are taken
	problems []KeyProblem        // with the others
	at       int                 // index of the page that is shown
	back     int                 // the page before it

	overlays []*raised
	toasts   toasts
	pictures *pictures
	snap     *deck.Snapshot
	apart    int // sessions of agents that have no connection to the deck
	pump     *pump
	ticks    *ticks // nil where the renderer has its own

	w, h     int
	allKeys  bool      // the footer shows them
	clusters bool      // the terminal measures text in grapheme clusters
	focused  bool      // the terminal window
	lastKey  time.Time // for pages that nobody asked for
	settled  time.Time // until when actions that must be seen are not done
	undrawn  bool      // the page could not be drawn
	frame    tea.View
	canvas   *lipgloss.Canvas // for what lies over the page
	targets  Areas            // tabs and hints of the frame on screen
	said     Areas            // toasts of the frame on screen
	hiding   bool             // a toast of it lies over something
	dirty    bool             // the frame is not what it should be
	wasDirty bool             // before the message at hand
	composed time.Time
	first    tea.Cmd // of what the pages were told from the start
}

// New makes the screen. It loads no data but one snapshot, so that the first
// frame shows something.
func New(o Options) *Model {
	m := &Model{opts: o, pages: o.Pages, focused: true, dirty: true, canvas: lipgloss.NewCanvas(0, 0)}
	m.opts.Theme.Dark = o.Background != "light" // also until the terminal answers, and when it never does
	m.theme = theme.New(m.opts.Theme)
	m.bind()
	m.pictures = newPictures(o.Pictures)
	feeds := []Feed{m.pictures.feed()}
	if o.Deck != nil {
		m.snap = o.Deck.Snapshot()
		feeds = append(feeds, deckFeed(o.Deck))
	}
	for _, p := range m.pages {
		if f, ok := p.(Feeder); ok {
			feeds = append(feeds, f.Feed())
		}
	}
	m.pump = newPump(append(feeds, o.Feeds...))
	start := o.Start
	if o.Store != nil {
		start = cmp.Or(start, o.Store.Get("page"))
	}
	m.at = max(m.index(start), 0)
	m.back = m.at
	return m
}

// asksTheme tells whether the terminal says if it is light or dark.
func (m *Model) asksTheme() bool {
	return m.opts.Background != "dark" && m.opts.Background != "light"
}

func (m *Model) index(page string) int {
	return slices.IndexFunc(m.pages, func(p Page) bool { return p.ID() == page })
}

func (m *Model) page() Page {
	if len(m.pages) == 0 {
		return nil
	}
	return m.pages[m.at]
}

// Init starts the pump.
func (m *Model) Init() tea.Cmd {
	m.pump.start()
	if m.first == nil {
		m.first = m.introduce()
	}
	cmds := []tea.Cmd{m.first, m.pump.data, m.pump.clock}
	if m.asksTheme() {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if m.opts.Settings != nil {
		cmds = append(cmds, m.awaitSettings)
	}
	if p := m.page(); p != nil {
		cmds = append(cmds, p.Show())
	}
	return guard(tea.Batch(append(cmds, m.movedTabs())...))
}

// movedTabs says once, after an update, that other pages have other digits.
func (m *Model) movedTabs() tea.Cmd {
	s := m.opts.Store
	if s == nil {
		return nil
	}
	var tabs []string
	said := "pages have moved:"
	for i, p := range m.pages {
		tabs = append(tabs, p.ID())
		said += fmt.Sprintf(" %d %s", i+1, p.Title())
	}
	now, before := strings.Join(tabs, " "), s.Get("tabs")
	if now == before {
		return nil
	}
	keep := func() tea.Msg {
		_ = s.Put("tabs", now) // else it is said again
		return nil
	}
	if before == "" && s.Get("page") == "" { // the first run
		return keep
	}
	return tea.Batch(keep, Toast(Info, said))
}

// introduce tells the pages what there is to know from the start.
func (m *Model) introduce() tea.Cmd {
	var cmds []tea.Cmd
	if m.w > 0 {
		cmds = append(cmds, m.sized())
	}
	for _, p := range m.pages {
		cmds = append(cmds, m.tell(p, ThemeMsg{Theme: m.theme}))
		if m.snap != nil {
			cmds = append(cmds, m.tell(p, DeckMsg{Snapshot: m.snap}))
		}
	}
	return guard(tea.Batch(cmds...))
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, guard(m.update(msg)) }

func (m *Model) update(msg tea.Msg) tea.Cmd {
	m.wasDirty, m.dirty = m.dirty, true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.composed = time.Time{}
		return tea.Batch(m.windowPictures(), m.sized())
	case tea.KeyPressMsg:
		m.composed = time.Time{}
		return tea.Batch(m.anyKey(), m.key(msg))
	case tea.KeyReleaseMsg:
		m.unchanged()
		return nil
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseMsg:
		return m.mouse(msg)
	case batchMsg:
		return tea.Batch(m.batch(msg), m.pump.data)
	case settingsMsg:
		return m.set(msg)
	case redrawMsg:
		m.composed = time.Time{}
		cmd, changed := m.pictures.due(time.Now())
		if changed {
			cmd = tea.Batch(cmd, m.picturesChanged())
		}
		return tea.Batch(cmd, m.pump.clock)
	}
	if cmd, ok := m.terminalPictures(msg); ok {
		return cmd
	}
	if cmd, ok := m.terminal(msg); ok {
		return cmd
	}
	if cmd, ok := m.requested(msg); ok {
		return cmd
	}
	return m.broadcast(msg)
}

// sized tells the pages how many cells they have.
func (m *Model) sized() tea.Cmd { return m.broadcast(SizeMsg{W: m.w, H: m.layout().bodyH}) }

// unchanged says that the message at hand changes nothing on the screen.
func (m *Model) unchanged() { m.dirty = m.wasDirty }

// terminal handles what the terminal says about itself.
func (m *Model) terminal(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.FocusMsg:
		m.focused = true
		m.seenAgain()
		cmd := m.broadcast(FocusMsg{Focused: true})
		if m.asksTheme() { // it may have changed while the user was away
			cmd = tea.Batch(cmd, tea.RequestBackgroundColor)
		}
		return cmd, true
	case uv.DarkColorSchemeEvent, uv.LightColorSchemeEvent:
		if m.asksTheme() {
			return tea.RequestBackgroundColor, true
		}
		return nil, true
	case tea.BlurMsg:
		m.focused = false
		return m.broadcast(FocusMsg{}), true
	case tea.BackgroundColorMsg:
		if !m.asksTheme() || m.opts.Theme.Dark == msg.IsDark() {
			return nil, true
		}
		m.opts.Theme.Dark = msg.IsDark()
		return m.retheme(), true
	case tea.ModeReportMsg:
		if msg.Mode != ansi.ModeUnicodeCore {
			return nil, false
		}
		switch msg.Value { // those at which the renderer changes over, too
		case ansi.ModeReset, ansi.ModeSet, ansi.ModePermanentlySet:
			m.clusters = true
		default:
		}
		return nil, true
	case tea.ColorProfileMsg:
		m.opts.Theme.Depth = depth(msg.Profile)
		return m.retheme(), true
	}
	return nil, false
}

// requested does what pages and overlays ask of the root.
func (m *Model) requested(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case openMsg:
		m.open(msg.overlay)
		return nil, true
	case closeMsg:
		m.close(msg.id)
		return nil, true
	case goMsg:
		switch {
		case msg.unasked && !m.undisturbed(msg.always):
			return nil, true
		case msg.page == "":
			return m.show(0), true
		}
		return m.show(m.index(msg.page)), true
	case toastMsg:
		if p := m.page(); p == nil || !slices.Contains(msg.pages, p.ID()) {
			m.toasts.add(msg.kind, msg.text, msg.pages...)
		}
		return nil, true
	case quitMsg:
		if msg.sure {
			return m.leave(), true
		}
		return m.quit(), true
	}
	return nil, false
}

// undisturbed tells whether another page may come on screen by itself.
func (m *Model) undisturbed(anywhere bool) bool {
	if m.top() != nil || m.page() == nil || m.page().TextEntry() {
		return false
	}
	return anywhere || m.at == 0 && time.Since(m.lastKey) >= IdleAfter
}

func depth(p colorprofile.Profile) theme.Depth {
	switch {
	case p <= colorprofile.ASCII:
		return theme.NoColor
	case p == colorprofile.ANSI:
		return theme.Basic
	}
	return theme.Full
}

func (m *Model) retheme() tea.Cmd {
	m.theme = theme.New(m.opts.Theme)
	return m.broadcast(ThemeMsg{Theme: m.theme})
}

func (m *Model) batch(b batchMsg) tea.Cmd {
	var cmds []tea.Cmd
	if s, ok := b.msgs[0].(picturesSendMsg); ok && len(b.msgs) == 1 && !s.redraw {
		m.unchanged()
	}
	for _, msg := range b.msgs {
		if s, ok := msg.(SessionsMsg); ok {
			m.apart = s.apart()
		}
		if d, ok := msg.(DeckMsg); ok {
			before := m.layout()
			if m.snap = d.Snapshot; m.layout() != before {
				cmds = append(cmds, m.sized())
			}
		}
		if cmd, ok := m.terminalPictures(msg); ok {
			cmds = append(cmds, cmd)
			continue
		}
		cmds = append(cmds, m.broadcast(msg))
	}
	return tea.Batch(cmds...)
}

// broadcast gives a message to all pages and overlays; those it is not for
// ignore it.
func (m *Model) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.pages {
		cmds = append(cmds, m.tell(p, msg))
	}
	for _, o := range m.overlays {
		cmds = append(cmds, m.tell(o.overlay, msg))
	}
	return tea.Batch(cmds...)
}

// show brings a page on screen; a number that none has is ignored.
func (m *Model) show(i int) tea.Cmd {
	if i < 0 || i >= len(m.pages) || i == m.at {
		return nil
	}
	m.pages[m.at].Hide()
	m.toasts.leave(m.pages[i].ID())
	m.back, m.at = m.at, i
	cmds := []tea.Cmd{m.pages[i].Show()}
	if s := m.opts.Store; s != nil {
		id := m.pages[i].ID()
		cmds = append(cmds, func() tea.Msg {
			_ = s.Put("page", id) // forgetting the page is not worth a word
			return nil
		})
	}
	return tea.Batch(cmds...)
}

// anyKey tells the pages that want to know that the user is there.
func (m *Model) anyKey() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.pages {
		if k, ok := p.(Keyed); ok {
			cmds = append(cmds, k.AnyKey())
		}
	}
	return tea.Batch(cmds...)
}

// key gives a key to the topmost overlay, else to the page: first to their
// actions, then to the root's, then to Update.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	now := time.Now()
	defer func() { m.lastKey = now }()
	names := keyNames(k)
	if m.blind() {
		return m.blindKey(names)
	}
	if o := m.top(); o != nil {
		if o.undrawn {
			if slices.Contains(names, "ctrl+c") || slices.Contains(names, "esc") {
				m.close(o.overlay.ID())
			}
			return nil
		}
		if a := lookup(names, o.table, "", o.overlay.TextEntry()); a != nil {
			if a.Sight && m.uncover(now) {
				return nil
			}
			return m.run(a)
		}
		if slices.Contains(names, "ctrl+c") {
			if o.overlay.ID() == quitID {
				return tea.Quit
			}
			m.close(o.overlay.ID())
			return nil
		}
		return m.tell(o.overlay, k)
	}
	p := m.page()
	if p == nil {
		return tea.Quit
	}
	text := p.TextEntry() && !m.undrawn
	if a := lookup(names, m.tables[m.at], p.Part(), text); a != nil && !m.undrawn {
		if a.Sight && (now.Before(m.settled) || m.uncover(now)) {
			return nil
		}
		return m.run(a)
	}
	if a := lookup(names, m.global, "", text); a != nil {
		return m.run(a)
	}
	if m.undrawn {
		return nil
	}
	return m.tell(p, k)
}

func lookup(names []string, t table, part string, text bool) *Action {
	for _, n := range names {
		if a := t.find(n, part, text); a != nil {
			return a
		}
	}
	return nil
}

// run does an action, or says why it cannot be done.
func (m *Model) run(a *Action) tea.Cmd {
	if why := a.why(m.opts.Watch); why != "" {
		m.toasts.add(Info, a.Title+": "+why)
		return nil
	}
	if a.Run == nil {
		return nil
	}
	return m.try(a.ID, a.Run)
}

// maxPaste is the longest text that is taken at once, in bytes: a text field keeps
// several times as much.
const maxPaste = 1 << 20

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.blind() || m.top() == nil && m.undrawn {
		return nil
	}
	if len(msg.Content) > maxPaste {
		// A copy, so that the rest can go.
		msg.Content = strings.Clone(strings.ToValidUTF8(msg.Content[:maxPaste], ""))
		m.toasts.add(Warn, fmt.Sprintf("your paste was cut to %d MB", maxPaste>>20))
	}
	if o := m.top(); o != nil {
		return m.tell(o.overlay, msg)
	}
	if p := m.page(); p != nil {
		return m.tell(p, msg)
	}
	return nil
}

// quit asks those who want a word, then ends.
func (m *Model) quit() tea.Cmd {
	for _, p := range m.pages {
		if q, ok := p.(Quitter); ok {
			if o := q.BeforeQuit(); o != nil {
				m.open(o)
				return nil
			}
		}
	}
	n := 0
	if m.snap != nil {
		for _, a := range m.snap.Agents {
			if a.Gone.IsZero() {
				n++
			}
		}
	}
	if n == 0 {
		return m.leave()
	}
	m.open(m.confirmQuit(n))
	return nil
}

// title is what the terminal's title bar says.
func (m *Model) title() string {
	n := 0
	for _, p := range m.pages {
		if t, ok := p.(Titler); ok {
			if s := t.WindowTitle(); s != "" {
				return s
			}
		}
		n += p.Badge()
	}
	name := "mcpdeck"
	if m.snap != nil && m.snap.Name != "" {
		name += " " + m.snap.Name
	}
	if n > 0 {
		name = "(" + itoa(n) + ") " + name
	}
	return strings.TrimSpace(name)
}
