package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

var (
	paneID   = regexp.MustCompile(`^%\d{1,9}$`)
	windowID = regexp.MustCompile(`^@\d{1,9}$`)
	groupID  = regexp.MustCompile(`^\$\d{1,9}$`)
)

// pane is a pane of a tmux server.
type pane struct {
	socket                     string
	id, window, group, session string
	index                      string // of its window and in it: "1.0"
}

// pane finds the pane that a process runs in, on the server at the socket that the process
// names, or on the usual ones if it names none. Which pane it is the system says, not the
// process.
func (f *Finder) pane(ctx context.Context, pid int, named string) (pane, error) {
	above := socket.Ancestors(pid)
	if len(above) == 0 {
		return pane{}, errors.New("its process is not known")
	}
	sockets := []string{named}
	if named == "" {
		sockets = []string{f.own()}
		for _, dir := range f.folders() {
			sockets = append(sockets, filepath.Join(dir, "default"))
		}
	}
	var refused error
	for i, path := range sockets {
		if path == "" || slices.Contains(sockets[:i], path) {
			continue
		}
		err := f.check(ctx, path, above)
		if err == nil {
			pn, ok := f.among(ctx, path, above)
			if ok {
				return pn, nil
			}
			err = errors.New("it has no pane with this session")
		}
		if refused == nil {
			refused = err
		}
	}
	return pane{}, cmp.Or(refused, errors.New("it is in no tmux"))
}

// check tells why the deck may not be a client of the server at path, which can have a client
// write, read and run anything. It may be if the socket is the user's own, the server is tmux
// itself beside the deck, and the session runs in it: the ids of its process and those above
// that are given.
func (f *Finder) check(ctx context.Context, path string, above []int) error {
	if path != f.own() && !slices.ContainsFunc(f.folders(), func(dir string) bool { return lies(path, dir) }) {
		return errors.New("its socket is not in tmux's own folder")
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSocket {
		return errors.New("there is no socket")
	}
	c, err := socket.Dial(ctx, path)
	if err != nil {
		return err
	}
	defer c.Close()
	peer, err := socket.PeerOf(c.(*net.UnixConn))
	switch {
	case err != nil:
		return err
	case peer.PID <= 0 || socket.Machine(peer.PID) != "":
		return errors.New("the program at its socket runs in a container")
	case !isTmux(peer.PID):
		return errors.New("the program at its socket is not tmux")
	case !slices.Contains(above, peer.PID):
		return errors.New("the session does not run in it")
	}
	return nil
}

// isTmux reports whether a process runs the tmux that the deck would run, or one that the
// system has.
func isTmux(pid int) bool {
	path, info := process.Executable(pid)
	if info == nil || filepath.Base(path) != "tmux" {
		return false
	}
	if file.OwnedBySystem(info) {
		return true
	}
	here, err := process.Find("tmux")
	if err != nil {
		return false
	}
	same, err := os.Stat(here)
	return err == nil && os.SameFile(info, same)
}

// folders are those in which tmux keeps the user's sockets.
func (f *Finder) folders() []string {
	name := "tmux-" + strconv.Itoa(os.Getuid())
	all := []string{"/tmp/" + name}
	if dir := f.env("TMUX_TMPDIR"); filepath.IsAbs(dir) {
		all = append(all, filepath.Join(dir, name))
	}
	return all
}

// lies reports whether path is in dir itself, and dir is one that nobody else writes in.
func lies(path, dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !file.OwnedByUser(info) || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	above, err := os.Stat(filepath.Dir(path))
	return err == nil && filepath.IsAbs(path) && os.SameFile(above, info)
}

// own is the socket of the tmux server that the deck itself is in; "" if it is in none.
func (f *Finder) own() string {
	path, _, _ := strings.Cut(f.env("TMUX"), ",")
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// among finds the pane of a server whose process is one of those given.
func (f *Finder) among(ctx context.Context, path string, above []int) (pane, bool) {
	out, err := f.run(ctx, "tmux", "-S", path, "list-panes", "-a", "-F", "#{pane_id}\t#{window_id}\t#{session_id}\t#{pane_pid}\t#{window_index}.#{pane_index}\t#{session_name}")
	if err != nil {
		return pane{}, false
	}
	for l := range strings.Lines(out) {
		v := strings.SplitN(strings.TrimSuffix(l, "\n"), "\t", 6)
		if len(v) != 6 || !paneID.MatchString(v[0]) || !windowID.MatchString(v[1]) || !groupID.MatchString(v[2]) {
			continue
		}
		if pid, err := strconv.Atoi(v[3]); err == nil && slices.Contains(above, pid) {
			return pane{socket: path, id: v[0], window: v[1], group: v[2], index: v[4], session: v[5]}, true
		}
	}
	return pane{}, false
}

// show selects a pane, and switches the deck's own tmux client to it.
func (f *Finder) show(ctx context.Context, pn pane) (string, error) {
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
