package gittree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// checkOwner sees that the repository is the user's own, as git does: another could have
// put it above the project, or in it. What the user or the system has told git to take for
// safe is.
func (r Repo) checkOwner(ctx context.Context, p place, owned func(fs.FileInfo) bool) error {
	for _, path := range []string{p.top, filepath.Join(p.top, ".git"), p.own, p.common} {
		if info, err := os.Lstat(path); err == nil && owned(info) {
			continue
		}
		if isSafe(r.safe(ctx), p.top) {
			return nil
		}
		return refuse("compare with a snapshot, have the repository belong to you, or tell git that you trust it: git config --global --add safe.directory "+p.top, "%s belongs to another user", path)
	}
	return nil
}

// owned reports whether a file belongs to the user, as git sees it: for an administrator who
// came by sudo, also to who that was.
func (r Repo) owned(info fs.FileInfo) bool {
	if file.OwnedByUser(info) {
		return true
	}
	return os.Geteuid() == 0 && r.sudoer(info)
}

// sudoer reports whether a file belongs to the user who became administrator by sudo.
func (r Repo) sudoer(info fs.FileInfo) bool {
	for _, v := range r.Environ {
		if text, is := strings.CutPrefix(v, "SUDO_UID="); is {
			uid, err := strconv.ParseUint(text, 10, 31)
			return err == nil && file.OwnedBy(info, int(uid))
		}
	}
	return false
}

// safe are the values of safe.directory in the settings of the system and of the user, with
// their paths written out. A repository does not say of itself that it is safe.
func (r Repo) safe(ctx context.Context) []string {
	out, err := r.run(ctx, resolveTime, process.Command{
		Args: []string{"config", "-z", "--type=path", "--get-all", "safe.directory"}, Extra: []string{noRepository, "GIT_CONFIG_NOSYSTEM=0"},
	}, nil)
	if err != nil {
		return nil // not set
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

// isSafe reports whether a list of safe folders has one: * has all, a path that ends with /*
// what is below it, and an empty one takes back what came before.
func isSafe(list []string, top string) (safe bool) {
	for _, dir := range list {
		above, below := strings.CutSuffix(dir, "/*")
		switch {
		case dir == "":
			safe = false
		case dir == "*", below && above == "":
			safe = true
		case below:
			real := resolved("", above)
			safe = safe || real != "" && real != top && file.Within(real, top)
		case filepath.IsAbs(dir):
			safe = safe || resolved("", dir) == top
		}
	}
	return safe
}
