// Package place finds the terminal in which an agent's program runs, and brings it to the
// front. It types nothing there.
package place

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/file"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/socket"
)

var (
	paneID   = regexp.MustCompile(`^%\d{1,9}$`)
	windowID = regexp.MustCompile(`^@\d{1,9}$`)
	groupID  = regexp.MustCompile(`^\$\d{1,9}$`)
	number   = regexp.MustCompile(`^\d{1,9}$`)
)

// Of returns where a process runs, as far as the system says it.
func Of(pid int) deck.Place {
	if pid <= 0 {
		return deck.Place{}
	}
	env := process.Variables(pid, "TMUX", "TMUX_PANE", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ZELLIJ_PANE_ID", "STY")
	p := deck.Place{TTY: process.TTY(pid)}
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
type Finder struct {
	Environ []string // the deck's
}

// timeout of a terminal's own command.
const timeout = 3 * time.Second

// pane is a pane of a tmux server.
type pane struct {
	socket                          string
	id, window, group, tty, session string
	index                           string // of its window and in it: "1.0"
}

// Name is what people call a place in tmux: "work:1.0"; "" if it is not in tmux.
func (f Finder) Name(ctx context.Context, p deck.Place) string {
	if pn, ok := f.pane(ctx, p); ok {
		return pn.session + ":" + pn.index
	}
	return ""
}

// Shown reports whether somebody's tmux shows a place, with the keyboard in it. Of a place
// elsewhere that is not known.
func (f Finder) Shown(ctx context.Context, p deck.Place) bool {
	pn, ok := f.pane(ctx, p)
	if !ok {
		return false
	}
	out, err := f.run(ctx, "tmux", "-S", pn.socket, "display-message", "-p", "-t", pn.id, "#{pane_active} #{window_active} #{session_attached}")
	active, attached, _ := strings.Cut(strings.TrimSpace(out), "1 1 ")
	return err == nil && active == "" && attached != "" && attached != "0"
}

// Jump brings the terminal of a session to the front, and returns what the user should
// know. An error says why it could not.
func (f Finder) Jump(ctx context.Context, s deck.Session) (string, error) {
	p := s.Place
	if s.Agent == "codex" { // its sessions run in a process of their own, without a terminal
		pid, err := terminalOf("codex", s.Folder)
		if err != nil {
			return "", err
		}
		p = Of(pid)
	} else if p == (deck.Place{}) {
		p = Of(s.PID)
	}
	if pn, ok := f.pane(ctx, p); ok {
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
	where := strings.TrimPrefix(p.TTY, "/dev/")
	if p.Other != "" {
		where = p.Other
	}
	if where == "" {
		return "", errors.New("where this session runs is not known")
	}
	return "", fmt.Errorf("mcpdeck cannot bring this terminal to the front; it is %s", where)
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

// pane finds the pane of a place among those of the tmux servers that may have it: by its
// ID, else by its terminal.
func (f Finder) pane(ctx context.Context, p deck.Place) (pane, bool) {
	if p.TmuxPane != "" && !paneID.MatchString(p.TmuxPane) || p.TmuxPane == "" && p.TTY == "" {
		return pane{}, false
	}
	sockets := []string{p.TmuxSocket}
	if p.TmuxSocket == "" {
		sockets = []string{f.own(), fmt.Sprintf("/tmp/tmux-%d/default", os.Getuid())}
	}
	for i, path := range sockets {
		if path == "" || slices.Contains(sockets[:i], path) || !ours(path) {
			continue
		}
		for _, pn := range f.panes(ctx, path) {
			if p.TmuxPane != "" && pn.id == p.TmuxPane || p.TmuxPane == "" && pn.tty == p.TTY {
				return pn, true
			}
		}
	}
	return pane{}, false
}

// own is the socket of the tmux server that the deck itself is in; "" if it is in none.
func (f Finder) own() string {
	path, _, _ := strings.Cut(f.env("TMUX"), ",")
	return path
}

func (f Finder) env(name string) string {
	for _, v := range f.Environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// ours tells whether a path is a socket of the user's.
func ours(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && filepath.IsAbs(path) && info.Mode().Type() == fs.ModeSocket && file.OwnedByUser(info)
}

func (f Finder) panes(ctx context.Context, path string) []pane {
	out, err := f.run(ctx, "tmux", "-S", path, "list-panes", "-a", "-F", "#{pane_id}\t#{window_id}\t#{session_id}\t#{pane_tty}\t#{window_index}.#{pane_index}\t#{session_name}")
	if err != nil {
		return nil
	}
	var all []pane
	for l := range strings.Lines(out) {
		v := strings.SplitN(strings.TrimSuffix(l, "\n"), "\t", 6)
		if len(v) == 6 && paneID.MatchString(v[0]) && windowID.MatchString(v[1]) && groupID.MatchString(v[2]) {
			all = append(all, pane{socket: path, id: v[0], window: v[1], group: v[2], tty: v[3], index: v[4], session: v[5]})
		}
	}
	return all
}

// show selects a pane, and switches the deck's own tmux client to it.
func (f Finder) show(ctx context.Context, pn pane) (string, error) {
	for _, command := range [][]string{{"select-window", "-t", pn.window}, {"select-pane", "-t", pn.id}} {
		if _, err := f.run(ctx, append([]string{"tmux", "-S", pn.socket}, command...)...); err != nil {
			return "", err
		}
	}
	name := pn.session + ":" + pn.index
	if pn.socket == f.own() {
		if _, err := f.run(ctx, "tmux", "-S", pn.socket, "switch-client", "-t", pn.group); err == nil {
			return "tmux shows " + name, nil
		}
	}
	return fmt.Sprintf("tmux has selected %s; to see it: tmux attach -t %s", name, strconv.Quote(pn.session)), nil
}

func (f Finder) run(ctx context.Context, line ...string) (string, error) {
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
