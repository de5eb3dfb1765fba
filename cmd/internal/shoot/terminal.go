package main

import (
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// patience is how long anything may take that is waited for.
const patience = time.Minute

// terminal is a program in an emulated terminal.
type terminal struct {
	cols, rows int
	cmd        *exec.Cmd
	tty        *os.File
	over       chan struct{} // closed when the program has closed the terminal

	mu      sync.Mutex // guards what follows
	em      *vt.Emulator
	changed time.Time // when the program wrote last
}

// start starts a program in a terminal with no more of this one's environment than it needs.
func start(cols, rows int, dir string, environ []string, program string, args ...string) (*terminal, error) {
	t := &terminal{cols: cols, rows: rows, cmd: exec.Command(program, args...), over: make(chan struct{}), em: vt.NewEmulator(cols, rows), changed: time.Now()}
	t.cmd.Dir, t.cmd.Env = dir, append(environ, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC")
	tty, err := pty.StartWithSize(t.cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	t.tty = tty
	// It measures text as the program lays it out: in grapheme clusters.
	t.em.RegisterCsiHandler(ansi.Command('?', '$', 'p'), func(p ansi.Params) bool {
		mode, _, _ := p.Param(0, 0)
		state := 0
		if mode == 2027 {
			state = 1
		}
		_, _ = fmt.Fprintf(tty, "\x1b[?%d;%d$y", mode, state) // a program that has ended needs no answer
		return true
	})
	go func() { _, _ = io.Copy(tty, t.em) }() // its answers to queries
	go t.read()
	return t, nil
}

func (t *terminal) read() {
	defer close(t.over)
	b := make([]byte, 64<<10)
	for {
		n, err := t.tty.Read(b)
		t.mu.Lock()
		_, _ = t.em.Write(b[:n]) // it takes all
		t.changed = time.Now()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text is what is on the screen.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.em.String()
}

// waits waits until a text is on the screen.
func (t *terminal) waits(text string) error { return t.waitsFor(text, patience) }

func (t *terminal) waitsFor(text string, d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(t.text(), text) {
			return nil
		}
		select {
		case <-t.over:
			return fmt.Errorf("the program ended while %q was waited for:\n%s", text, t.text())
		default:
		}
	}
	return fmt.Errorf("%q is not on the screen:\n%s", text, t.text())
}

// settles waits until nothing has been written for a moment.
func (t *terminal) settles() {
	const quiet, most = 250 * time.Millisecond, 3 * time.Second
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		t.mu.Lock()
		still := time.Since(t.changed) >= quiet
		t.mu.Unlock()
		if still {
			return
		}
	}
}

// presses presses keys: names with spaces between them, or characters.
func (t *terminal) presses(keys string) error {
	named := map[string]string{
		"enter": "\r", "tab": "\t", "esc": "\x1b", "space": " ", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	}
	for key := range strings.FieldsSeq(keys) {
		text, ok := named[key]
		rest, ctrl := strings.CutPrefix(key, "ctrl+")
		alt, isAlt := strings.CutPrefix(key, "alt+")
		switch {
		case ok:
		case ctrl && len(rest) == 1:
			text = string(rest[0] & 0x1f)
		case isAlt:
			text = "\x1b" + alt
		default:
			text = key
		}
		if _, err := io.WriteString(t.tty, text); err != nil {
			return fmt.Errorf("press %s: %w", key, err)
		}
		time.Sleep(60 * time.Millisecond) // as a user does
	}
	return nil
}

// picture draws the screen.
func (t *terminal) picture(p *painter) *image.RGBA {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.screen(t.em, t.cols, t.rows)
}

// end ends the program in good order, for it has files to remove.
func (t *terminal) end() error {
	_ = t.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-t.over:
	case <-time.After(patience):
		_ = t.cmd.Process.Kill()
	}
	err := t.cmd.Wait()
	t.tty.Close()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil // it was interrupted
	}
	return err
}
