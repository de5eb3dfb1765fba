//go:build linux

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
	"golang.org/x/sys/unix"
)

// window is a terminal with the deck in it.
type window struct {
	t   *testing.T
	cmd *exec.Cmd
	tty interface {
		io.ReadWriteCloser
		Fd() uintptr
	}
	done chan struct{} // the program closed its side

	mu  sync.Mutex
	out strings.Builder
	em  *vt.Emulator // of a wide window

	titles titles // that em would print

	consented int // keys pressed in dialogs, less the folders that these were to make
}

// titles leaves out of what a program writes the names that it gives its window: the emulator
// ends one at a byte that is part of a sign such as ✳, and prints the rest.
type titles struct {
	within bool // a title
	held   []byte
}

func (o *titles) dropped(b []byte) (rest []byte) {
	const begins = "\x1b]0;"
	for _, c := range b {
		switch {
		case o.within:
			o.within = c != '\a'
		case c == begins[len(o.held)]:
			if o.held = append(o.held, c); len(o.held) == len(begins) {
				o.within, o.held = true, nil
			}
		default:
			rest, o.held = append(append(rest, o.held...), c), nil
		}
	}
	return rest
}

func (d *driver) window(args ...string) *window {
	d.t.Helper()
	return d.terminal(d.command(append([]string{"--port", "0", "--background", "dark"}, args...)...))
}

// terminal is a terminal with any program in it.
func (d *driver) terminal(cmd *exec.Cmd) *window {
	d.t.Helper()
	w := &window{t: d.t, cmd: cmd, done: make(chan struct{})}
	tty, err := pty.StartWithSize(w.cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		d.t.Fatal(err)
	}
	w.tty = tty
	d.t.Cleanup(func() { d.kill(w.cmd); tty.Close() })
	go w.record()
	return w
}

// record keeps what the program writes.
func (w *window) record() {
	defer close(w.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := w.tty.Read(buf)
		w.mu.Lock()
		w.out.Write(buf[:n])
		if w.em != nil {
			_, _ = w.em.Write(w.titles.dropped(buf[:n])) // it takes all
		}
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (w *window) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// succeeds waits until the program has ended, and well.
func (w *window) succeeds() {
	w.t.Helper()
	if n := w.ended(); n != 0 {
		w.t.Errorf("exit %d: %s", n, w.text())
	}
}

// ended waits for the program and its last words, and returns its exit code.
func (w *window) ended() int {
	w.t.Helper()
	over := make(chan error, 1)
	go func() { over <- w.cmd.Wait() }()
	select {
	case err := <-over:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			w.t.Fatal(err)
		}
	case <-time.After(testwait.Patience):
		w.t.Fatal("the deck does not end")
	}
	select {
	case <-w.done:
	case <-time.After(testwait.Patience):
		w.t.Fatal("the terminal stays open")
	}
	return w.cmd.ProcessState.ExitCode()
}

// restored checks that every mode that was set is reset, and the line
// discipline as before.
func (w *window) restored(before *unix.Termios) {
	w.t.Helper()
	on := map[string]bool{"25": true}
	for _, m := range regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`).FindAllStringSubmatch(w.text(), -1) {
		for mode := range strings.SplitSeq(m[1], ";") {
			on[mode] = m[2] == "h"
		}
	}
	for mode, set := range on {
		if set != (mode == "25") {
			w.t.Errorf("mode %s is left as %v", mode, set)
		}
	}
	after, err := unix.IoctlGetTermios(int(w.tty.Fd()), unix.TCGETS)
	if err != nil {
		w.t.Fatal(err)
	}
	if after.Lflag != before.Lflag || after.Iflag != before.Iflag || after.Oflag != before.Oflag {
		w.t.Errorf("the terminal is in another mode: %+v, before %+v", after, before)
	}
}

// plainTerminal is how a new terminal is set.
func plainTerminal(t *testing.T) *unix.Termios {
	t.Helper()
	p, s, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	defer s.Close()
	m, err := unix.IoctlGetTermios(int(s.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTerminalIsRestored(t *testing.T) {
	t.Parallel()
	send := func(signals ...syscall.Signal) func(*window) {
		return func(w *window) {
			for _, s := range signals {
				if err := w.cmd.Process.Signal(s); err != nil && !strings.Contains(err.Error(), "finished") {
					w.t.Error(err)
				}
			}
		}
	}
	const modes = "\x1b[?2004h" // the renderer sets them after the first frame
	tests := []struct {
		name string
		from string // when it is on the screen, end
		end  func(*window)
		code int
	}{
		{"q", modes, func(w *window) { _, _ = w.tty.Write([]byte("q")) }, 0},
		{"ctrl+c", modes, func(w *window) { _, _ = w.tty.Write([]byte("\x03")) }, 0},
		{"SIGTERM", modes, send(syscall.SIGTERM), 128 + 15},
		{"SIGHUP", modes, send(syscall.SIGHUP), 128 + 1},
		{"SIGINT", modes, send(syscall.SIGINT), 128 + 2},
		{"SIGTERM at the first frame", "\x1b[?1049h", send(syscall.SIGTERM), 128 + 15},
		{"SIGTERM twice", modes, send(syscall.SIGTERM, syscall.SIGTERM), 128 + 15},
		{"SIGHUP, then SIGINT", modes, send(syscall.SIGHUP, syscall.SIGINT), -1}, // whichever is seen first
	}
	before := plainTerminal(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			w := d.window()
			d.until("a screen", func() bool { return strings.Contains(w.text(), tt.from) })
			tt.end(w)
			if code := w.ended(); code != tt.code && tt.code >= 0 {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			w.restored(before)
			if _, err := d.command("doctor").Output(); err != nil {
				t.Errorf("afterwards, doctor: %v", err)
			}
		})
	}
}

// TestTheFirstFrameIsOutAtOnce holds that it does not wait for the renderer,
// which sets the terminal's modes.
func TestTheFirstFrameIsOutAtOnce(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	w := d.window()
	d.until("modes", func() bool { return strings.Contains(w.text(), "\x1b[?2004h") })
	frame, _, _ := strings.Cut(w.text(), "\x1b[?2004h")
	if !strings.HasPrefix(frame, "\x1b[22;2t\x1b[?1049h") || !strings.Contains(frame, "Welcome: three steps") {
		t.Errorf("the first bytes hold no frame: %.300q", frame)
	}
}

// TestDeckEndsWithItsTerminal takes the terminal away.
func TestDeckEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	w := d.window()
	d.until("a screen", func() bool { return strings.Contains(w.text(), "Welcome: three steps") })
	w.tty.Close()
	w.ended()
}

// TestEarlierCallsAreShown kills a deck while a call runs, and looks at the
// page of calls of the next one.
func TestEarlierCallsAreShown(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	deck := d.serve()
	a := d.relay()
	a.Handshake("claude")
	a.note(d, "a.txt", "")
	a.Send(7, "tools/call", `{"name":"ask","arguments":{"questions":[{"question":"Which?","header":"Which","options":[{"label":"a"},{"label":"b"}]}]}}`)
	d.until("a question", func() bool { return d.asked() == 1 })
	journal, err := sql.Open("sqlite", filepath.Join(d.home, ".local/state/mcpdeck/journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	d.until("the question in the journal", func() bool {
		var n int
		return journal.QueryRow("SELECT count(*) FROM calls WHERE status = 'running'").Scan(&n) == nil && n == 1
	})
	d.kill(deck)
	d.kill(a.Cmd)
	w := d.window("--page", "calls")
	d.until("the calls of before", func() bool { return strings.Contains(w.text(), "deck opened") })
	for _, want := range []string{"haunt_desktop", "ask"} { // the rest of the frame
		d.until("the page has "+want, func() bool { return strings.Contains(w.text(), want) })
	}
	d.logged("claude", "ask", "lost", "closed before")
}

// TestAnAgentRingsTheTerminal calls for a sound where no player can be found and
// looks for the bell among what the terminal gets.
func TestAnAgentRingsTheTerminal(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.path = d.home // no players
	w := d.window()
	d.until("the deck", func() bool { return strings.Contains(w.text(), "Welcome: three steps") })
	a := d.relay()
	a.Handshake("claude")
	if failed, said := a.failed("play_system_sound", `{"type":"success"}`); failed || !strings.Contains(said, "Rang the terminal bell") {
		t.Fatalf("the tool says %s", said)
	}
	titles := regexp.MustCompile(`\x1b[\]P_][^\x07\x1b]*(\x07|\x1b\\)`) // a bell ends some of them
	d.until("a bell", func() bool { return strings.Contains(titles.ReplaceAllString(w.text(), ""), "\a") })
}

// TestAQuestionIsShownAsItWasAsked asks in decomposed letters, keycaps and families
// of a terminal that does not say how it measures, and in a draft of 300 KB goes on
// typing.
func TestAQuestionIsShownAsItWasAsked(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	w := d.window("--page", "inbox")
	a := d.relay()
	a.Handshake("claude")
	const asked = "Vie\u0323\u0302t cafe\u0301 1\ufe0f\u20e3 👨‍👩‍👧‍👦 שָׁ?"
	d.until("the deck", func() bool { // which has seen the agent, or has not yet
		return strings.Contains(w.text(), "Welcome: three steps") || strings.Contains(w.text(), "Nothing needs you")
	})
	a.Send(7, "tools/call", `{"name":"ask","arguments":{"questions":[{"question":"`+asked+`","header":"Which","options":[{"label":"a"},{"label":"b"}]}]}}`)
	sequences := regexp.MustCompile(`\x1b\[[0-9;:?]*[a-zA-Z]`)
	shown := func(text string) bool {
		return strings.Contains(strings.ReplaceAll(sequences.ReplaceAllString(w.text(), ""), " ", ""), strings.ReplaceAll(text, " ", ""))
	}
	d.until("the question, mark by mark", func() bool { return shown(asked) })
	w.keyed("3", func() bool { return shown("shift+enter") || shown("your answer") })
	fmt.Fprint(w.tty, "\x1b[200~"+strings.Repeat("word ", 60_000)+"\x1b[201~")
	d.until("what was pasted", func() bool { return shown("word word word") })
	for i := range 5 {
		fmt.Fprintf(w.tty, "z%d", i)
	}
	w.wide()
	w.shows(d, "z0z1z2z3z4")
}

// TestAnAnswerToAShellHasArrived holds that the deck does not take a command that ends with the
// answer for an asker that left without it.
func TestAnAnswerToAShellHasArrived(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"the deck", "itself"} { // as where the deck comes right after the command
		t.Run("served by "+by, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			w := d.window("--page", "inbox")
			w.wide()
			w.shows(d, "Inbox")
			if by == "itself" {
				if err := os.Remove(filepath.Join(d.home, ".local", "state", "mcpdeck", "run", "deck.sock")); err != nil {
					t.Fatal(err)
				}
			}
			question := d.command("call", "ask", `questions=[{"id":"db","question":"Which database?","options":[{"label":"SQLite"},{"label":"Postgres"}]}]`)
			if err := question.Start(); err != nil {
				t.Fatal(err)
			}
			defer d.kill(question)
			w.shows(d, "Which database?")
			w.keyed("1", func() bool { return strings.Contains(w.screen(), "Nothing needs you") })
			d.until("what became of the answer", func() bool {
				b, _ := os.ReadFile(filepath.Join(d.home, ".local", "state", "mcpdeck", "history.jsonl")) // there may be none yet
				if strings.Contains(string(b), `"delivery":"not taken"`) {
					t.Fatalf("the deck does not know that the command has its answer: %s", b)
				}
				return strings.Contains(string(b), `"delivery":"delivered"`)
			})
		})
	}
}
