package picture

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Ask is what the user and the environment say before the terminal has been asked.
type Ask struct {
	// Mode overrides the choice unless it is Auto.
	Mode Mode
	// Depth is how many colours the renderer writes.
	Depth Depth
	// Env looks up a variable of the terminal's environment; "" when unset.
	Env func(string) string
	// NarrowBlocks is whether ▀ and its like measure one cell here. They measure two
	// under some East Asian settings, which leaves letters.
	NarrowBlocks bool
}

// Fact is a line of the capability page.
type Fact struct {
	// Asked names the question, Answer is the terminal's own, Meaning what follows.
	Asked, Answer, Meaning string
}

// Caps is what a terminal can show, and why.
type Caps struct {
	// Name and Version are the terminal's; "" and 0 when it is not known.
	Name    string
	Version float64
	// Mode is the choice; Cells the mode to fall back on, always one of text.
	Mode, Cells Mode
	Depth       Depth
	// Tmux says that commands must be wrapped for tmux, Slow that bytes count.
	Tmux, Slow bool
	// CellW and CellH are a cell's size in device pixels, 10 by 20 when not known.
	CellW, CellH int
	// Registers is the number of sixel colours; MaxW and MaxH the largest sixel picture,
	// 0 when not known.
	Registers, MaxW, MaxH int
	// Facts are the questions and answers, Reasons the way to the choice.
	Facts   []Fact
	Reasons []string
	// Done says that no more answers are awaited.
	Done bool
}

// Probe collects a terminal's answers. Nothing but text may be sent before they are in.
type Probe struct {
	ask     Ask
	mux     string // "tmux", "zellij", "screen" or ""
	ssh     bool
	mute    bool // never ask
	name    string
	kitty   string
	da1     []int
	answers map[string]string

	cellW, cellH          int
	windowW, windowH      int
	cols, rows            int
	registers, maxW, maxH int
	expired               bool
}

// NewProbe starts from what is known without asking.
func NewProbe(a Ask) *Probe {
	if a.Env == nil {
		a.Env = func(string) string { return "" }
	}
	p := &Probe{ask: a, answers: map[string]string{}}
	term := a.Env("TERM")
	switch {
	case a.Env("TMUX") != "" || strings.HasPrefix(term, "tmux"):
		p.mux = "tmux"
	case a.Env("ZELLIJ") != "":
		p.mux = "zellij"
	case a.Env("STY") != "" || strings.HasPrefix(term, "screen"):
		p.mux = "screen"
	}
	p.ssh = a.Env("SSH_CONNECTION") != "" || a.Env("SSH_TTY") != ""
	p.mute = term == "dumb" || term == "linux" || a.Env("TERM_PROGRAM") == "Apple_Terminal" || p.mux == "screen"
	return p
}

const kittyQuery = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"

// Queries returns what to write to the terminal, in one go and after the first frame is
// on the alternate screen, so that a terminal that prints what it does not know is painted
// over. It is "" for a terminal that must not be asked.
func (p *Probe) Queries() string {
	if p.mute {
		return ""
	}
	// The device attributes come last: when they are answered the others have been.
	q := "\x1b[>q" + kittyQuery
	if p.mux == "tmux" {
		q = "\x1b[>q" + ansi.TmuxPassthrough("\x1b[>q") + ansi.TmuxPassthrough(kittyQuery)
	}
	return q + "\x1b[16t\x1b[14t\x1b[?2;1;0S\x1b[?1;1;0S\x1b[c"
}

// Patience is how long to wait for the answers.
func (p *Probe) Patience() time.Duration {
	switch {
	case p.mute:
		return 0
	case p.ssh:
		return 1500 * time.Millisecond
	case p.mux != "":
		return 300 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// Version takes the answer to XTVERSION. Inside tmux there are two: tmux's own and, when
// it lets commands through, the outer terminal's.
func (p *Probe) Version(name string) {
	switch low := strings.ToLower(name); {
	case strings.HasPrefix(low, "tmux"):
		p.mux = "tmux"
		p.answers["multiplexer"] = name
	case strings.HasPrefix(low, "zellij"):
		p.mux = "zellij"
		p.answers["multiplexer"] = name
	default:
		p.name = name
	}
}

// Kitty takes the payload of the answer to the kitty query: OK or an error.
func (p *Probe) Kitty(payload string) {
	if payload == "" {
		payload = "(empty)"
	}
	p.kitty = payload
}

// CellSize takes a cell's size in device pixels.
func (p *Probe) CellSize(w, h int) {
	if w > 0 && h > 0 {
		p.cellW, p.cellH = w, h
	}
}

// WindowPixels takes the window's size in device pixels, Window in cells.
func (p *Probe) WindowPixels(w, h int) { p.windowW, p.windowH = w, h }

// Window takes the window's size in cells.
func (p *Probe) Window(cols, rows int) { p.cols, p.rows = cols, rows }

// Attributes takes the primary device attributes.
func (p *Probe) Attributes(list []int) { p.da1 = append([]int{}, list...) }

// CSI takes a sequence the input reader did not know: the answers about sixels look like
// ESC [ ? 2 ; 0 ; 1000 ; 680 S. Others are ignored.
func (p *Probe) CSI(sequence string) {
	body, ok := strings.CutPrefix(sequence, "\x1b[?")
	if !ok || !strings.HasSuffix(body, "S") {
		return
	}
	var n []int
	for part := range strings.SplitSeq(strings.TrimSuffix(body, "S"), ";") {
		v, err := strconv.Atoi(part)
		if err != nil || v < 0 || v > 1<<20 {
			return
		}
		n = append(n, v)
	}
	switch {
	case len(n) == 3 && n[0] == 1 && n[1] == 0:
		p.registers = n[2]
	case len(n) == 4 && n[0] == 2 && n[1] == 0:
		p.maxW, p.maxH = n[2], n[3]
	}
}

// Expire ends the wait.
func (p *Probe) Expire() { p.expired = true }

func (p *Probe) done() bool {
	if p.mute || p.expired {
		return true
	}
	if p.mux == "tmux" {
		// tmux answers for itself at once; what it passes on comes after.
		return p.da1 != nil && p.kitty != "" && p.name != ""
	}
	return p.da1 != nil
}

// Caps decides with the answers so far. Until they are in, the mode is text.
func (p *Probe) Caps() Caps {
	c := Caps{
		Depth: p.ask.Depth, CellW: 10, CellH: 20, Registers: 256, Tmux: p.mux == "tmux", Slow: p.ssh,
		MaxW: p.maxW, MaxH: p.maxH, Done: p.done(),
	}
	t, version, why, known := p.terminal()
	if known {
		c.Name, c.Version = t.name, version
		c.say("the terminal is %s, from %s", t.name, why)
	} else {
		c.say("the terminal is not one known by name")
	}
	p.measure(&c)
	p.cells(&c, t, known)
	c.Mode = c.Cells
	switch {
	case p.ask.Mode != Auto:
		p.override(&c)
	case !c.Done:
		c.say("not all answers are in yet: %s meanwhile", c.Cells)
	default:
		p.pixels(&c, t)
	}
	c.Facts = p.facts()
	return c
}

func (c *Caps) say(format string, args ...any) {
	c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...))
}

func (p *Probe) terminal() (t terminal, version float64, why string, known bool) {
	if p.name != "" {
		t, version, known = byAnswer(p.name)
		return t, version, "its own answer " + strconv.Quote(p.name), known
	}
	if p.mux != "" {
		return terminal{}, 0, "", false // variables leak into multiplexers
	}
	return byEnv(p.ask.Env)
}

func (p *Probe) measure(c *Caps) {
	switch {
	case p.cellW > 0:
		c.CellW, c.CellH = p.cellW, p.cellH
	case p.windowW > 0 && p.cols > 0 && p.windowH > 0 && p.rows > 0:
		c.CellW, c.CellH = max(p.windowW/p.cols, 1), max(p.windowH/p.rows, 1)
	}
	if p.registers > 1 {
		c.Registers = min(p.registers, 1024)
	}
}

// cells chooses the text mode.
func (p *Probe) cells(c *Caps, t terminal, known bool) {
	switch {
	case !p.ask.NarrowBlocks:
		c.Cells = ModeLetters
		c.say("block characters are two cells wide in this locale: letters")
	case c.Depth == NoColor:
		c.Cells = ModeLetters
		c.say("no colours: letters")
	case !known:
		c.Cells = ModeBlock
		c.say("Block Elements are in every modern font")
	case c.Version >= t.octants:
		c.Cells = ModeBest
		c.say("%s draws octants itself", t.name)
	case c.Version >= t.sextants:
		c.Cells = ModeSextant
		c.say("%s draws sextants itself", t.name)
	default:
		c.Cells = modeOf(t.plain)
		c.say("%s cannot be trusted with finer glyphs than %s", t.name, c.Cells)
	}
}

func (p *Probe) override(c *Caps) {
	m := p.ask.Mode
	switch {
	case m == ModeKitty && c.Depth >= Colors16:
		c.say("the setting asks for kitty pictures, but their ids need 256 colours: %s", c.Cells)
		return
	case m.Pixels() && !c.Done:
		c.say("the setting asks for %s; %s until the terminal has answered", m, c.Cells)
		return
	case !m.Pixels():
		c.Cells = m
	}
	c.Mode = m
	c.say("the setting asks for %s", m)
}

// pixels chooses a mode that sends pixels, where there is one.
func (p *Probe) pixels(c *Caps, t terminal) {
	sixel := slices.Contains(p.da1, 4)
	named := p.name != ""
	switch {
	case c.Depth == NoColor:
		c.say("no colours are wanted, so no pictures either")
	case p.kitty == "OK" && named && t.name != "" && c.Version >= t.placeholders:
		if c.Depth >= Colors16 {
			c.say("kitty placeholders need 256 colours, the renderer writes %s", c.Depth)
			return
		}
		c.Mode = ModeKitty
		c.say("it answered the kitty query and draws placeholders")
	case p.mux == "tmux":
		c.say("tmux lets no pictures through (allow-passthrough on would): text")
	case p.mux != "":
		c.say("%s keeps pictures from the terminal: text", p.mux)
	case t.iterm && (named || sixel):
		c.Mode = ModeITerm2
		c.say("%s shows inline files", t.name)
	case sixel && p.cellKnown():
		c.Mode = ModeSixel
		c.say("its attributes say sixels")
	case sixel:
		c.say("its attributes say sixels, but the size of a cell is not known: text")
	case p.kitty == "OK":
		c.say("it answered the kitty query, but is not known to draw placeholders: text (the setting placement is there to be tried)")
	default:
		c.say("it can show text only")
	}
}

func (p *Probe) cellKnown() bool {
	return p.cellW > 0 || p.windowW > 0 && p.cols > 0
}

func (p *Probe) facts() []Fact {
	answer := func(s string) string {
		switch {
		case s != "":
			return s
		case p.mute:
			return "not asked"
		case p.done():
			return "no answer"
		}
		return "waiting"
	}
	pair := func(w, h int) string {
		if w <= 0 || h <= 0 {
			return ""
		}
		return fmt.Sprintf("%d by %d", w, h)
	}
	number := func(n int) string {
		if n <= 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	attributes := ""
	if p.da1 != nil {
		attributes = strings.Trim(fmt.Sprint(p.da1), "[]")
		if slices.Contains(p.da1, 4) {
			attributes += " (sixels)"
		}
	}
	return []Fact{
		{"name and version", answer(p.name), "which glyphs and protocols to trust"},
		{"multiplexer", cmpOr(p.answers["multiplexer"], cmpOr(p.mux, "none")), "whether pictures come through"},
		{"kitty pictures", answer(p.kitty), "OK: understands the protocol"},
		{"cell size in pixels", answer(pair(p.cellW, p.cellH)), "exact scale"},
		{"window in pixels", answer(pair(p.windowW, p.windowH)), "cell size where that has no answer"},
		{"sixel colours", answer(number(p.registers)), "palette size"},
		{"largest sixel picture", answer(pair(p.maxW, p.maxH)), "larger ones are cut"},
		{"attributes", answer(attributes), "4: sixels; ends the wait"},
		{"colours", p.ask.Depth.String(), "what the renderer writes"},
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// SetDepth changes how many colours the renderer writes.
func (p *Probe) SetDepth(d Depth) { p.ask.Depth = d }

// SetMode changes the override.
func (p *Probe) SetMode(m Mode) { p.ask.Mode = m }
