// Package terminal finds the terminal in which an agent's program runs, and brings it to the
// front. It types nothing there.
package terminal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

var number = regexp.MustCompile(`^\d{1,9}$`)

// Of returns where a process runs, as far as the system says it.
func Of(pid int) snapshot.Place {
	if pid <= 0 {
		return snapshot.Place{}
	}
	env := process.Variables(pid, "TMUX", "TMUX_PANE", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ZELLIJ_PANE_ID", "STY")
	p := snapshot.Place{TTY: process.TTY(pid)}
	if path, _, _ := strings.Cut(env["TMUX"], ","); paneID.MatchString(env["TMUX_PANE"]) && filepath.IsAbs(path) {
		p.TmuxSocket, p.TmuxPane = path, env["TMUX_PANE"]
		return p
	}
	for _, other := range [][2]string{{"KITTY_WINDOW_ID", "kitty "}, {"WEZTERM_PANE", "wezterm "}, {"ZELLIJ_PANE_ID", "zellij "}} {
		if id := env[other[0]]; number.MatchString(id) {
			p.Other = other[1] + id
			return p
		}
	}
	if _, name, ok := strings.Cut(env["STY"], "."); ok {
		p.Other = "screen " + name
	}
	return p
}

// Finder brings terminals to the front. It is used by a deck that may be in tmux itself.
// Its methods are safe for concurrent use.
type Finder struct {
	Environ []string // the deck's

	mu    sync.Mutex
	asked string // the session in doubt that Jump was last told of
	when  time.Time
}

const (
	timeout = 3 * time.Second  // of a terminal's own command
	twice   = 10 * time.Second // in which the second request follows the first
)

// Name is what people call the place of a session in tmux: "work:1.0"; "" if it is not in
// tmux. Of a session in doubt nothing is asked.
func (f *Finder) Name(ctx context.Context, s snapshot.Session) string {
	if !f.certain(s) {
		return ""
	}
	pn, err := f.pane(ctx, s.PID, s.Place.TmuxSocket)
	if err != nil {
		return ""
	}
	return pn.session + ":" + pn.index
}

// Shown reports whether somebody's tmux shows a session, with the keyboard in it. Of a
// session elsewhere or in doubt that is not known.
func (f *Finder) Shown(ctx context.Context, s snapshot.Session) bool {
	if !f.certain(s) {
		return false
	}
	pn, err := f.pane(ctx, s.PID, s.Place.TmuxSocket)
	if err != nil {
		return false
	}
	out, err := f.run(ctx, "tmux", "-S", pn.socket, "display-message", "-p", "-t", pn.id, "#{pane_active} #{window_active} #{session_attached}")
	active, attached, _ := strings.Cut(strings.TrimSpace(out), "1 1 ")
	return err == nil && active == "" && attached != "" && attached != "0"
}

// certain reports whether something may be done about a session that no key was pressed
// for.
func (f *Finder) certain(s snapshot.Session) bool { return s.Verified && f.doubt(s.PID) == "" }

// doubt says what of a process is not as it is of the user's own programs; "" if nothing
// is.
func (f *Finder) doubt(pid int) string {
	if pid <= 0 {
		return "its process is not known"
	}
	if socket.Machine(pid) != "" {
		return "it runs in a container"
	}
	names := []string{"HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"}
	theirs := process.Variables(pid, names...)
	for _, name := range names {
		if theirs[name] != f.env(name) {
			return "it runs with another " + name
		}
	}
	return ""
}

// insists reports whether the user asks for a session once more.
func (f *Finder) insists(s snapshot.Session) bool {
	key := s.Agent + " " + s.ID
	f.mu.Lock()
	defer f.mu.Unlock()
	again := f.asked == key && time.Since(f.when) < twice
	if f.asked, f.when = key, time.Now(); again {
		f.asked = ""
	}
	return again
}

// Jump brings the terminal of a session to the front, and returns what the user should
// know. An error says why it could not. To a session in doubt it goes when it is called
// for that a second time.
func (f *Finder) Jump(ctx context.Context, s snapshot.Session) (string, error) {
	p, pid := s.Place, s.PID
	if c, _ := clients.Find(s.Agent); c.Daemon {
		var err error
		if pid, err = terminalOf(s.Agent, s.Folder); err != nil {
			return "", err
		}
		p = Of(pid)
	} else if p == (snapshot.Place{}) {
		p = Of(pid)
	}
	if why := f.doubt(pid); pid > 0 && why != "" && !f.insists(s) {
		return "", fmt.Errorf("%s: ask once more to go to its terminal all the same", why)
	}
	pn, refused := f.pane(ctx, pid, p.TmuxSocket)
	if refused == nil {
		return f.show(ctx, pn)
	}
	if kind, id, _ := strings.Cut(p.Other, " "); number.MatchString(id) {
		command := map[string][]string{
			"kitty":   {"kitty", "@", "focus-window", "--match", "id:" + id},
			"wezterm": {"wezterm", "cli", "activate-pane", "--pane-id", id},
		}[kind]
		if len(command) > 0 {
			if _, err := f.run(ctx, command...); err == nil {
				return kind + " shows it", nil
			}
		}
	}
	return "", unreachable(p, refused)
}

// unreachable says where a place is that cannot be shown; refused is why its tmux was not
// asked, if it has one.
func unreachable(p snapshot.Place, refused error) error {
	where := cmp.Or(p.Other, strings.TrimPrefix(p.TTY, "/dev/"))
	switch {
	case p.TmuxSocket != "":
		return fmt.Errorf("mcpdeck does not use the tmux that this session names: %w", refused)
	case where == "":
		return errors.New("where this session runs is not known")
	}
	return fmt.Errorf("mcpdeck cannot bring this terminal to the front; it is %s", where)
}

// terminalOf finds the one process of a program that works in a folder and has a terminal.
func terminalOf(program, folder string) (pid int, err error) {
	var found []string
	for _, p := range process.All() {
		if tty := process.TTY(p.PID); p.Name == program && tty != "" && socket.Folder(p.PID) == folder {
			pid = p.PID
			found = append(found, strings.TrimPrefix(tty, "/dev/"))
		}
	}
	switch slices.Sort(found); {
	case len(found) == 0:
		return 0, fmt.Errorf("no terminal with %s works in this session's folder", program)
	case len(slices.Compact(found)) > 1:
		return 0, fmt.Errorf("more than one terminal with %s works in this session's folder: %s", program, strings.Join(found, ", "))
	}
	return pid, nil
}

func (f *Finder) env(name string) string {
	value, _ := process.Lookup(f.Environ, name) // "" for none
	return value
}

func (f *Finder) run(ctx context.Context, line ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	path, err := process.Find(line[0])
	if err != nil {
		return "", err
	}
	line = append([]string{path}, line[1:]...)
	c := process.Of(line, process.Terminal, f.Environ)
	var out, fault bytes.Buffer
	if err := process.Run(ctx, c, process.Streams{Out: &out, Err: &fault}); err != nil {
		if text := strings.TrimSpace(fault.String()); text != "" {
			err = errors.New(text)
		}
		return "", fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return out.String(), nil
}
