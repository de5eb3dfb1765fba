package tui

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
)

// Model is the whole screen.
type Model struct {
	stage
	opts     Options
	problems []KeyProblem // with keys of the options

	toasts   toasts
	pictures *pictures
	failures *Failures
	quotas   []snapshot.Quota
	spent    string // today, by all sessions; "" if that is not known
	pump     *pump
	ticks    *ticks // nil where the renderer has its own

	clusters bool      // the terminal measures text in grapheme clusters
	focused  bool      // the terminal window
	bars     bool      // the terminal shows progress
	lastKey  time.Time // for pages that nobody asked for
	presses  presses
	guiding  bool // a key is pressed for the user, who watches
	sight    *Sight
	frame    tea.View
	spins    spins // of the frame
	targets  Areas // tabs and hints of the frame on screen
	sel      selection
	dirty    bool // the frame is not what it should be
	wasDirty bool // before the message at hand
	composed time.Time
	first    tea.Cmd // of what the pages were told from the start

	saved saved
}

// New makes the screen. It loads no data but one snapshot, so that the first
// frame shows something.
func New(o Options) *Model {
	m := &Model{stage: stage{pages: o.Pages, canvas: lipgloss.NewCanvas(0, 0)}, saved: saved{store: o.Store}, opts: o, focused: true, bars: showsBars(o.Environ), dirty: true, failures: &Failures{calls: map[uint64]failure{}}, sight: &Sight{shown: map[string]*subject{}}}
	m.presses.rest = o.KeyRest
	m.opts.Theme.Dark = o.Background != "light" // also until the terminal answers, and when it never does
	m.opts.pickTheme()
	m.theme = theme.New(m.opts.Theme)
	m.bind()
	m.pictures = newPictures(o.Pictures)
	feeds := []Feed{m.pictures.feed()}
	if o.Deck != nil {
		m.snap = o.Deck.Snapshot()
		m.toasts.warn(m.snap)
		feeds = append(feeds, deckFeed(o.Deck))
	}
	for _, p := range m.pages {
		if f, ok := p.(Feeder); ok {
			feeds = append(feeds, f.Feed())
		}
	}
	if o.Guide != nil {
		feeds = append(feeds, o.Guide.Feed())
	}
	m.pump = newPump(append(feeds, o.Feeds...))
	start := o.Start
	if o.Store != nil {
		start = cmp.Or(start, o.Store.Get("page"))
	}
	m.restore()
	m.at = max(m.index(start), 0)
	m.back = m.at
	if p := m.page(); o.Guide != nil && p != nil {
		o.Guide.Shown(p.ID())
	}
	return m
}

// Init starts the pump.
func (m *Model) Init() tea.Cmd {
	m.pump.start()
	if m.first == nil {
		m.first = m.introduce()
	}
	cmds := []tea.Cmd{m.first, m.pump.data, m.pump.clock, sizeAgain()}
	if m.opts.asksTheme() {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	if m.opts.Settings != nil {
		cmds = append(cmds, m.awaitSettings)
	}
	if p := m.page(); p != nil {
		cmds = append(cmds, p.Show())
	}
	return guard(tea.Batch(append(cmds, m.saved.movedKeys(m.pages))...))
}

// sizeAgain asks once more for the size of the terminal. Of a change between the program's
// first look at it and the moment from which it is told of changes, it would never know.
func sizeAgain() tea.Cmd {
	const until = 200 * time.Millisecond // whoever is told of changes starts beside this
	return tea.Tick(until, func(time.Time) tea.Msg { return tea.RequestWindowSize() })
}

// introduce tells the pages what there is to know from the start.
func (m *Model) introduce() tea.Cmd {
	var cmds []tea.Cmd
	if m.w > 0 {
		cmds = append(cmds, m.sized())
	}
	for _, p := range m.pages {
		cmds = append(cmds, m.tell(p, ThemeMsg{Theme: m.theme}), m.tell(p, FailuresMsg{m.failures}), m.tell(p, SightMsg{m.sight}))
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
		m.sel = selection{}
		m.w, m.h = msg.Width, msg.Height
		m.composed = time.Time{}
		return tea.Batch(m.windowPictures(), m.sized())
	case tea.KeyPressMsg:
		m.composed = time.Time{}
		if marked := m.sel.on; marked {
			if m.sel = (selection{}); msg.Code == tea.KeyEscape {
				return nil
			}
		}
		if m.opts.Guide != nil {
			m.opts.Guide.Pressed()
		}
		return tea.Batch(m.anyKey(), m.pressKey(msg), m.saved.keepSoon(m.keeps()))
	case tea.KeyReleaseMsg:
		return m.let(msg.Key())
	case restMsg:
		return m.rest(msg)
	case tea.KeyboardEnhancementsMsg:
		m.presses.types = msg.SupportsEventTypes()
		m.unchanged()
		return nil
	case tea.PasteMsg:
		return tea.Batch(m.paste(msg), m.saved.keepSoon(m.keeps()))
	case tea.MouseMsg:
		return tea.Batch(m.mouse(msg), m.saved.keepSoon(m.keeps()))
	case batchMsg:
		return tea.Batch(m.batch(msg), m.pump.data)
	case settingsMsg:
		return m.set(msg)
	case keepMsg:
		m.unchanged()
		return m.saved.keep(m.keeps())
	case redrawMsg:
		now := time.Now()
		m.composed, m.spins.turns = time.Time{}, true
		cmd, changed := m.pictures.due(now)
		if changed {
			cmd = tea.Batch(cmd, m.picturesChanged())
		} else if m.spins.due.IsZero() || now.Before(m.spins.due) {
			m.unchanged()
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
		case msg.unasked && (m.top() != nil || m.page() == nil || m.page().TextEntry()):
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

func (m *Model) batch(b batchMsg) tea.Cmd {
	var cmds []tea.Cmd
	if s, ok := b.msgs[0].(picturesSendMsg); ok && len(b.msgs) == 1 && !s.redraw {
		m.unchanged()
	}
	for _, msg := range b.msgs {
		if s, ok := msg.(SessionsMsg); ok {
			m.spent, m.quotas = s.spentToday(), s.Quotas
		}
		if d, ok := msg.(DeckMsg); ok {
			m.failures.take(d.Calls)
			m.snap = d.Snapshot
			m.toasts.warn(m.snap)
		}
		if g, ok := msg.(GuideMsg); ok {
			cmds = append(cmds, m.guided(g))
			continue
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
	for _, w := range m.opts.Widgets {
		cmds = append(cmds, guard(w.Update(msg)))
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
	m.back, m.at, m.failures.at = m.at, i, 0
	if m.opts.Guide != nil {
		m.opts.Guide.Shown(m.pages[i].ID())
	}
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
