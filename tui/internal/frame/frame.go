// Package frame runs a screen in a terminal emulator under virtual time and
// compares what a user would see with golden files. Tests only.
package frame

import (
	"context"
	"flag"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// The emulator is not a tty, so Bubble Tea writes bare line feeds; the emulator
// must go to the first column at each (LNM).
const lineFeedMode = "\x1b[20h"

// update is -update of the test binaries that import this package.
var update = flag.Bool("update", false, "write golden files")

// Size is the emulated terminal.
type Size struct {
	W, H int
	// CodePoints is a terminal that does not say that it measures text in grapheme
	// clusters. The emulator does all the same: look at Raw.
	CodePoints bool
}

// Screen is a program that runs in the emulator.
type Screen struct {
	t    *testing.T
	prog *tea.Program
	done chan error

	pressed time.Time // when a key was, last

	mu  sync.Mutex
	em  *vt.Emulator
	raw strings.Builder
}

// Write gets what the program draws.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Write(p)
	return s.em.Write(p)
}

type doMsg func()

// All times on screens are of one zone. Tests run side by side, and read it at any time.
func init() { time.Local = time.UTC } //nolint:gochecknoinits // nothing runs yet that reads it

// Run starts a model on a terminal of the size, with colours as far as the profile
// goes, gives it a second, and calls test. All time in there is virtual: the model is
// made inside its bubble, as one must be that makes channels, and goroutines that it
// starts must end with the program or by t.Cleanup.
func Run(t *testing.T, size Size, colors colorprofile.Profile, model func() tea.Model, test func(s *Screen)) {
	t.Helper()
	// The runtime's goroutine for signals starts with the first Notify and must
	// not belong to the bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	synctest.Test(t, func(t *testing.T) {
		s := &Screen{t: t, em: vt.NewEmulator(size.W, size.H), done: make(chan error, 1)}
		_, _ = s.em.WriteString(lineFeedMode)
		go func() { _, _ = io.Copy(io.Discard, s.em) }() // its answers to queries
		ctx, cancel := context.WithCancel(t.Context())
		m := model()
		s.prog = tea.NewProgram(m,
			tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(s),
			tea.WithColorProfile(colors), tea.WithWindowSize(size.W, size.H),
			tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignals(),
			tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
				if do, ok := msg.(doMsg); ok {
					do()
					return nil
				}
				return msg
			}),
		)
		go func() {
			_, err := s.prog.Run()
			s.done <- err
		}()
		if !size.CodePoints { // without an input nobody asks the emulator
			s.prog.Send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
		}
		s.prog.Send(tea.KeyboardEnhancementsMsg{Flags: ansi.KittyDisambiguateEscapeCodes | ansi.KittyReportEventTypes})
		s.Wait(time.Second)
		test(s)
		s.prog.Quit()
		if err := <-s.done; err != nil {
			t.Errorf("the program ended with %v", err)
		}
		cancel()
		if c, ok := m.(interface{ Close() }); ok {
			c.Close()
		}
		_ = s.em.Close()
		time.Sleep(15 * time.Minute) // timers of commands that the program left behind
		synctest.Wait()
	})
}

// Wait lets d of virtual time pass.
func (s *Screen) Wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// readFor is as long as a user takes to read what has come on the screen: less than a
// second, but longer than what a key decides has to be there.
const readFor = 900 * time.Millisecond

// Keys presses keys, by name ("ctrl+p", "enter", "j"), and lets go of each. Before each
// there is time to read what the last one has brought.
func (s *Screen) Keys(names ...string) {
	for _, n := range names {
		s.Wait(readFor - min(time.Since(s.pressed), readFor))
		s.Quick(n)
	}
}

// Quick presses keys as Keys does, but faster than anybody reads.
func (s *Screen) Quick(names ...string) {
	for _, n := range names {
		k := Key(n)
		s.prog.Send(k)
		s.prog.Send(tea.KeyReleaseMsg(k))
		s.pressed = time.Now()
		s.Wait(50 * time.Millisecond)
	}
}

// Hold holds a key down for ten seconds: it repeats after delay at a rate. A terminal with
// event types marks the repeats and tells the end.
func (s *Screen) Hold(name string, types bool, delay time.Duration, hz float64) {
	k := tea.Key(Key(name))
	s.Send(tea.KeyPressMsg(k))
	start := time.Now()
	for s.Wait(delay); time.Since(start) < 10*time.Second; s.Wait(time.Duration(float64(time.Second) / hz)) {
		again := k
		again.IsRepeat = types
		s.Send(tea.KeyPressMsg(again))
	}
	if types {
		s.Send(tea.KeyReleaseMsg(k))
	}
}

// EventTypes has the terminal say whether it tells presses from repeats and releases.
func (s *Screen) EventTypes(told bool) {
	flags := 0
	if told {
		flags = 3
	}
	s.Send(tea.KeyboardEnhancementsMsg{Flags: flags})
}

// Type presses a key for each character.
func (s *Screen) Type(text string) {
	for _, r := range text {
		s.prog.Send(tea.KeyPressMsg(tea.Key{Text: string(r), Code: r}))
	}
	s.Wait(50 * time.Millisecond)
}

// Send gives the program a message: a paste, a click.
func (s *Screen) Send(msgs ...tea.Msg) {
	for _, m := range msgs {
		s.prog.Send(m)
	}
	s.Wait(50 * time.Millisecond)
}

// Now gives the program a message, and lets no time pass.
func (s *Screen) Now(msg tea.Msg) {
	s.prog.Send(msg)
	synctest.Wait()
}

// Do runs f in the program's update loop, where it may look at and change what
// belongs to the model.
func (s *Screen) Do(f func()) {
	s.prog.Send(doMsg(f))
	s.Wait(time.Millisecond)
}

// Click clicks at a cell of the screen.
func (s *Screen) Click(x, y int) {
	s.Send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}, tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// ClickAll clicks twice at every third cell of each row of a screen. Before each row, it presses keys that open
// what is clicked, and after it goes back.
func (s *Screen) ClickAll(size Size, keys ...string) {
	for y := range size.H {
		s.Keys(keys...)
		for x := y % 3; x < size.W; x += 3 { // no target is narrower
			s.Click(x, y)
			s.Click(x, y)
		}
		s.Keys("esc", "esc")
	}
}

// ClickOn clicks at the first place of a text on the screen.
func (s *Screen) ClickOn(text string) {
	s.t.Helper()
	screen := s.Text()
	for y, row := range strings.Split(screen, "\n") {
		if before, _, found := strings.Cut(row, text); found {
			s.Click(ansi.StringWidth(before), y)
			return
		}
	}
	s.t.Errorf("the screen lacks %q to click on:\n%s", text, screen)
}

// Drag moves the mouse from a cell to another one with the left button held down.
func (s *Screen) Drag(x, y, toX, toY int) {
	s.Send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	s.Send(tea.MouseMotionMsg{X: toX, Y: toY, Button: tea.MouseLeft})
	s.Send(tea.MouseReleaseMsg{X: toX, Y: toY, Button: tea.MouseLeft})
}

// Resize makes the terminal another size.
func (s *Screen) Resize(w, h int) {
	s.mu.Lock()
	s.em.Resize(w, h)
	s.mu.Unlock()
	s.Send(tea.WindowSizeMsg{Width: w, Height: h})
	s.Wait(time.Second)
}

// Text is what is on the screen, without trailing spaces.
func (s *Screen) Text() string {
	s.Wait(100 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for y := range s.em.Height() {
		var row strings.Builder
		for x := 0; x < s.em.Width(); {
			c := s.em.CellAt(x, y)
			if c == nil || c.Width == 0 {
				row.WriteByte(' ')
				x++
				continue
			}
			row.WriteString(c.Content)
			x += max(c.Width, 1)
		}
		text := row.String()
		if y == 0 {
			text = bracketed(s.em, text)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return b.String()
}

// bracketed is the first row with brackets for the blanks at the ends of what is in reverse
// video there: the tab of the page that is shown.
func bracketed(em *vt.Emulator, row string) string {
	from, to := -1, -1
	for x := range em.Width() {
		if c := em.CellAt(x, 0); c != nil && c.Style.Attrs&uv.AttrReverse != 0 {
			if from < 0 {
				from = x
			}
			to = x
		}
	}
	cells := []rune(row)
	if from < 0 || to >= len(cells) || cells[from] != ' ' || cells[to] != ' ' {
		return row
	}
	cells[from], cells[to] = '[', ']'
	return string(cells)
}

// Cell is what a cell holds: its character with all marks, the number of its colour when
// that is one of the 256, else -1, and whether it is struck through.
type Cell struct {
	Content    string
	Foreground int
	Struck     bool
}

// Cells are all cells of the screen, row by row.
func (s *Screen) Cells() []Cell {
	s.Wait(100 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Cell
	for y := range s.em.Height() {
		for x := range s.em.Width() {
			c := Cell{Foreground: -1}
			if at := s.em.CellAt(x, y); at != nil {
				c.Content, c.Struck = at.Content, at.Style.Attrs&uv.AttrStrikethrough != 0
				switch fg := at.Style.Fg.(type) {
				case ansi.IndexedColor:
					c.Foreground = int(fg)
				case ansi.BasicColor:
					c.Foreground = int(fg)
				}
			}
			out = append(out, c)
		}
	}
	return out
}

// Raw is every byte the program wrote.
func (s *Screen) Raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// Ended reports whether the program has ended.
func (s *Screen) Ended() bool {
	select {
	case err := <-s.done:
		s.done <- err
		return true
	default:
		return false
	}
}

// Golden compares the screen with testdata/NAME.txt; go test -update writes it.
func (s *Screen) Golden(name string) {
	s.t.Helper()
	Compare(s.t, name, s.Text())
}

// Has fails the test for each text that is not on the screen.
func (s *Screen) Has(texts ...string) {
	s.t.Helper()
	screen := s.Text()
	for _, w := range texts {
		if !strings.Contains(screen, w) {
			s.t.Errorf("the screen lacks %q:\n%s", w, screen)
		}
	}
}

// Lacks fails the test for each text that is on the screen.
func (s *Screen) Lacks(texts ...string) {
	s.t.Helper()
	screen := s.Text()
	for _, w := range texts {
		if strings.Contains(screen, w) {
			s.t.Errorf("the screen has %q:\n%s", w, screen)
		}
	}
}

// Compare compares text with testdata/NAME.txt.
func Compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; go test -update accepts this:\n%s\nwant:\n%s", path, got, want)
	}
}

// Key makes a key press from its name.
func Key(name string) tea.KeyPressMsg {
	var k tea.Key
	rest := name
	for _, m := range []struct {
		prefix string
		mod    tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if r, ok := strings.CutPrefix(rest, m.prefix); ok && r != "" {
			k.Mod |= m.mod
			rest = r
		}
	}
	if code, ok := named()[rest]; ok {
		k.Code = code
		if rest == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return tea.KeyPressMsg(k)
	}
	r := []rune(rest)
	k.Code = r[0]
	if k.Mod == 0 {
		k.Text = rest
	}
	return tea.KeyPressMsg(k)
}

func named() map[string]rune {
	return map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "space": tea.KeySpace,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f1": tea.KeyF1,
	}
}
