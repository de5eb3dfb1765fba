package codex

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// Homes returns the folders of Codex's own files: own, which is the usual one, and those
// that those of the user's programs that run were started with.
func Homes(own string, running []process.Running) []string {
	all := []string{own}
	for _, p := range running {
		if p.Name != agent {
			continue
		}
		if dir := process.Variable(p.PID, "CODEX_HOME"); filepath.IsAbs(dir) && !slices.Contains(all, filepath.Clean(dir)) {
			all = append(all, filepath.Clean(dir))
		}
	}
	return all
}

// control is the path of the socket of a folder's daemon.
func control(home string) string {
	return filepath.Join(home, "app-server-control", "app-server-control.sock")
}

// Left implements [approvals.Finder].
func (a *Adapter) Left() bool {
	return slices.ContainsFunc(a.opt.Homes(), func(home string) bool {
		_, err := os.Lstat(control(home))
		return err == nil
	})
}

// dial connects to the daemon of a folder. The path in the folder is a link to a socket
// with a shorter path. Both must lie where only the user can put anything.
func dial(ctx context.Context, home string) (net.Conn, error) {
	path := control(home)
	if err := private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Type() == os.ModeSymlink {
		if !file.OwnedByUser(info) {
			return nil, fmt.Errorf("connect to %s: %w", path, socket.ErrUnsafe)
		}
		to, err := os.Readlink(path)
		if err != nil {
			return nil, err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		if path = to; private(filepath.Dir(path)) != nil {
			return nil, private(filepath.Dir(path))
		}
	}
	return socket.Dial(ctx, path)
}

// private refuses a folder that is not the user's, or that others may look into.
func private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !file.OwnedByUser(info) || file.OpenToOthers(info):
		return fmt.Errorf("the folder %s of a socket is not the user's alone: %w", dir, socket.ErrUnsafe)
	}
	return nil
}

// alive reports whether a process runs; one that is unknown does.
func alive(id int) bool { return id == 0 || pid.Alive(id) }
