package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Ask is what the user and the environment tell before the terminal is queried.
type Ask struct {
	// Mode overrides the detected mode unless it is Auto.
	Mode Mode
	// Depth is the colour depth the renderer writes.
	Depth Depth
	// Env returns a variable of the terminal's environment, or "" if it is unset.
	Env func(string) string
	// NarrowBlocks reports whether block characters such as ▀ are one cell wide. Under some
	// East Asian settings they are two cells wide, which leaves only letters.
	NarrowBlocks bool
}

// Fact is a row of the capability page.
type Fact struct {
	// Asked is the query, Answer the terminal's reply, and Meaning what follows from it.
	Asked, Answer, Meaning string
}

// Caps describes what a terminal can show, and why.
type Caps struct {
	// Name and Version identify the terminal; "" and 0 if unknown.
	Name    string
	Version float64
	// Mode is the selected mode, and Cells the text mode to fall back on.
	Mode, Cells Mode
	Depth       Depth
	// Tmux is set if commands must be wrapped for tmux, and Slow if the number of bytes matters.
	Tmux, Slow bool
	// CellW and CellH are the size of a cell in device pixels, 10 by 20 if unknown.
	CellW, CellH int
	// Registers is the number of sixel colours. MaxW and MaxH are the size of the largest
	// sixel picture, 0 if unknown.
	Registers, MaxW, MaxH int
	// Facts are the queries and replies, and Reasons the steps that led to Mode.
	Facts   []Fact
	Reasons []string
	// Done is set when no more replies are expected.
	Done bool
}

// Probe collects a terminal's replies. Send only text until they have arrived.
type Probe struct {
	ask     Ask
	mux     string // "tmux", "zellij", "screen" or ""
	ssh     bool
	mute    bool // send no queries
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

// NewProbe returns a probe that starts from what is known without querying the terminal.
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

// Queries returns the bytes to write to the terminal, all at once, after the first frame is
// on the alternate screen. A terminal that prints unknown sequences is then painted over.
// Queries returns "" for a terminal that must not be queried.
func (p *Probe) Queries() string {
	if p.mute {
		return ""
	}
	// Device attributes come last: once they are reported, all other queries were handled.
	q := "\x1b[>q"
	if p.mux == "tmux" {
		q += ansi.TmuxPassthrough("\x1b[>q")
	}
	for _, one := range protocols() {
		ask, through := one.query()
		if through && p.mux == "tmux" {
			ask = ansi.TmuxPassthrough(ask)
		}
		q += ask
	}
	return q + "\x1b[16t\x1b[14t\x1b[c"
}

// Patience returns how long to wait for the replies.
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

// Version records the reply to XTVERSION. Inside tmux there are two: tmux's own and, if
// passthrough is allowed, the outer terminal's.
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

// CellSize records the size of a cell in device pixels.
func (p *Probe) CellSize(w, h int) {
	if w > 0 && h > 0 {
		p.cellW, p.cellH = w, h
	}
}

// WindowPixels records the size of the window in device pixels. Window does so in cells.
func (p *Probe) WindowPixels(w, h int) { p.windowW, p.windowH = w, h }

// Window records the size of the window in cells.
func (p *Probe) Window(cols, rows int) { p.cols, p.rows = cols, rows }

// Attributes records the primary device attributes.
func (p *Probe) Attributes(list []int) { p.da1 = append([]int{}, list...) }

// CSI records a sequence that the input reader did not recognize.
func (p *Probe) CSI(sequence string) {
	for _, one := range protocols() {
		one.answer(p, sequence)
	}
}

// Expire ends the wait.
func (p *Probe) Expire() { p.expired = true }

func (p *Probe) done() bool {
	if p.mute || p.expired {
		return true
	}
	if p.mux == "tmux" {
		// tmux replies for itself at once; what it passes through arrives later.
		return p.da1 != nil && p.kitty != "" && p.name != ""
	}
	return p.da1 != nil
}

// Caps returns the decision based on the replies so far. Until all are in, it is a text mode.
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
		c.say("the terminal is unknown")
	}
	p.measure(&c)
	p.cells(&c, t, known)
	c.Mode = c.Cells
	switch {
	case p.ask.Mode != Auto:
		p.override(&c)
	case !c.Done:
		c.say("waiting for answers: %s meanwhile", c.Cells)
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

// cells selects the text mode.
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
		c.say("%s is not known to draw finer glyphs than %s", t.name, c.Cells)
	}
}

func (p *Probe) override(c *Caps) {
	m := p.ask.Mode
	switch {
	case refused(m, c.Depth) != "":
		c.say("the setting asks for %s pictures, but %s: %s", m, refused(m, c.Depth), c.Cells)
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

func refused(m Mode, d Depth) string {
	if one, ok := wayOf(m).(protocol); ok {
		return one.refused(d)
	}
	return ""
}

// pixels selects a mode that sends pixels, if there is one.
func (p *Probe) pixels(c *Caps, t terminal) {
	if c.Depth == NoColor {
		c.say("colours are off, so pictures are too")
		return
	}
	why := "it can only show text"
	for _, one := range protocols() {
		v := one.detect(p, t, *c)
		if v.use {
			c.Mode = one.mode()
		}
		if v.use || v.stop {
			c.say("%s", v.why)
			return
		}
		if v.why != "" {
			why = v.why
		}
	}
	switch p.mux {
	case "":
		c.say("%s", why)
	case "tmux":
		c.say("tmux blocks pictures (turn allow-passthrough on to let them through): text")
	default:
		c.say("%s does not pass pictures to the terminal: text", p.mux)
	}
}

func (p *Probe) cellKnown() bool {
	return p.cellW > 0 || p.windowW > 0 && p.cols > 0
}

// said formats a reply for the list of facts.
func (p *Probe) said(answer string) string {
	switch {
	case answer != "":
		return answer
	case p.mute:
		return "not asked"
	case p.done():
		return "no answer"
	}
	return "waiting"
}

// saidSize is like said, for a size; 0 by 0 means no reply.
func (p *Probe) saidSize(w, h int) string {
	if w <= 0 || h <= 0 {
		return p.said("")
	}
	return fmt.Sprintf("%d by %d", w, h)
}

func (p *Probe) facts() []Fact {
	attributes := ""
	if p.da1 != nil {
		attributes = strings.Trim(fmt.Sprint(p.da1), "[]")
		if slices.Contains(p.da1, sixelAttribute) {
			attributes += " (sixels)"
		}
	}
	out := []Fact{
		{"name and version", p.said(p.name), "which glyphs and protocols to use"},
		{"multiplexer", cmp.Or(p.answers["multiplexer"], p.mux, "none"), "whether pictures pass through"},
		{"cell size in pixels", p.saidSize(p.cellW, p.cellH), "exact scale"},
		{"window in pixels", p.saidSize(p.windowW, p.windowH), "cell size if the previous query has no answer"},
	}
	for _, one := range protocols() {
		out = append(out, one.facts(p)...)
	}
	return append(out,
		Fact{"attributes", p.said(attributes), "4: sixels; ends the wait"},
		Fact{"colours", p.ask.Depth.String(), "what the renderer writes"},
	)
}

// SetDepth changes the colour depth the renderer writes.
func (p *Probe) SetDepth(d Depth) { p.ask.Depth = d }

// SetMode changes the mode override.
func (p *Probe) SetMode(m Mode) { p.ask.Mode = m }
