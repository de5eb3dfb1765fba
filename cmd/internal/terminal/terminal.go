// Package terminal runs a program in an emulated terminal, for the programs that measure
// the deck and make pictures of it.
package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// Terminal is a program in an emulated terminal.
type Terminal struct {
	Started time.Time

	cmd     *exec.Cmd
	tty     *os.File
	changed chan struct{} // one slot
	over    chan struct{} // closed when the program has closed the terminal

	mu    sync.Mutex // guards what follows
	emu   *vt.Emulator
	wrote time.Time // when the program wrote last
}

// Start starts a command in a terminal, with these variables beside those that say what
// the terminal is.
func Start(cmd *exec.Cmd, cols, rows int, environ ...string) (*Terminal, error) {
	cmd.Env = append(environ, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC")
	t := &Terminal{
		Started: time.Now(), cmd: cmd, changed: make(chan struct{}, 1), over: make(chan struct{}),
		emu: vt.NewEmulator(cols, rows), wrote: time.Now(),
	}
	var err error
	t.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols), X: uint16(cols * 8), Y: uint16(rows * 16)})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	// It measures text as the program lays it out: in grapheme clusters.
	t.emu.RegisterCsiHandler(ansi.Command('?', '$', 'p'), func(p ansi.Params) bool {
		mode, _, _ := p.Param(0, 0)
		state := 0
		if mode == 2027 {
			state = 1
		}
		_, _ = fmt.Fprintf(t.tty, "\x1b[?%d;%d$y", mode, state) // a program that has ended needs no answer
		return true
	})
	go func() { _, _ = io.Copy(t.tty, t.emu) }() // its answers to queries
	go t.read()
	return t, nil
}

func (t *Terminal) read() {
	defer close(t.over)
	b := make([]byte, 64<<10)
	for {
		n, err := t.tty.Read(b)
		t.mu.Lock()
		_, _ = t.emu.Write(b[:n]) // it takes all
		t.wrote = time.Now()
		t.mu.Unlock()
		notify.Poke(t.changed)
		if err != nil {
			return
		}
	}
}

// PID is the program's.
func (t *Terminal) PID() int { return t.cmd.Process.Pid }

// Look calls f with the screen, which does not change meanwhile.
func (t *Terminal) Look(f func(*vt.Emulator)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t.emu)
}

// Text is what is on the screen.
func (t *Terminal) Text() (text string) {
	t.Look(func(e *vt.Emulator) { text = e.String() })
	return text
}

// Until waits for the screen to satisfy ok and returns when it did. One goroutine at a
// time may wait.
func (t *Terminal) Until(limit time.Duration, ok func(text string) bool) (time.Time, error) {
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		if ok(t.Text()) {
			return time.Now(), nil
		}
		select {
		case <-t.changed:
		case <-t.over:
			return time.Time{}, fmt.Errorf("the program ended:\n%s", t.Text())
		case <-end.C:
			return time.Time{}, fmt.Errorf("the screen did not change in %v:\n%s", limit, t.Text())
		}
	}
}

// Settle waits until nothing has been written for a moment, three seconds at most.
func (t *Terminal) Settle() {
	const quiet, most = 250 * time.Millisecond, 3 * time.Second
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		t.mu.Lock()
		still := time.Since(t.wrote) >= quiet
		t.mu.Unlock()
		if still {
			return
		}
	}
}

// Type sends bytes as a keyboard does.
func (t *Terminal) Type(text string) error {
	_, err := t.tty.WriteString(text)
	return err
}

// Press presses keys as a user does: names with spaces between them, or characters.
func (t *Terminal) Press(keys string) error {
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
		if err := t.Type(text); err != nil {
			return fmt.Errorf("press %s: %w", key, err)
		}
		time.Sleep(60 * time.Millisecond)
	}
	return nil
}

// End ends the program in good order, for it has files to remove, or after the limit in
// any.
func (t *Terminal) End(limit time.Duration) error {
	_ = t.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-t.over:
	case <-time.After(limit):
		_ = t.cmd.Process.Kill()
	}
	err := t.cmd.Wait()
	t.tty.Close()
	<-t.over
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil // it was interrupted
	}
	return err
}
