package gittree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// place is where a repository lies, every path without links.
type place struct {
	top    string // of the working tree
	own    string // what belongs to this working tree alone: HEAD, the index
	common string // refs and objects
}

// prefix is a folder's slash path below the top, with a slash at its end.
func (p place) prefix(dir string) string {
	rel, err := filepath.Rel(p.top, dir)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

var errNone = errors.New("no repository found")

// refuse refuses a repository that would have other places read.
func refuse(next, format string, args ...any) error {
	return problem.New(problem.GitUnsafe, next, format, args...)
}

const leave = "compare with a snapshot, or open the repository it belongs to"

// find looks for the repository of dir and of the folders above it, as git does.
// What a project says of itself is not believed: a .git file or a link counts
// only where the other end confirms it, as it does for a true working tree and a
// true submodule.
func (r Repo) find(ctx context.Context, dir string) (place, error) {
	for top := dir; ; {
		p, err := r.look(ctx, top)
		if !errors.Is(err, errNone) {
			return p, err
		}
		above := filepath.Dir(top)
		if above == top {
			return place{}, errNone
		}
		top = above
	}
}

func (r Repo) look(ctx context.Context, top string) (place, error) {
	entry := filepath.Join(top, ".git")
	info, err := os.Lstat(entry)
	switch {
	case err != nil:
		return place{}, errNone
	case info.Mode().IsRegular():
		return r.follow(ctx, top, entry)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := filepath.EvalSymlinks(entry)
		if err != nil {
			return place{}, errNone
		}
		if !file.Within(top, to) {
			return place{}, refuse(leave, "%s is a link out of the project", entry)
		}
		if info, err = os.Stat(to); err != nil || !info.IsDir() {
			return place{}, errNone
		}
		entry = to
	case !info.IsDir():
		return place{}, errNone
	}
	if !isRepository(entry) {
		return place{}, errNone
	}
	return plainPlace(top, entry)
}

// plainPlace is a repository with everything in one folder.
func plainPlace(top, dir string) (place, error) {
	if _, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil {
		return place{}, refuse(leave, "%s names another repository as its own (commondir)", dir)
	}
	return place{top: top, own: dir, common: dir}, nil
}

func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	info, objErr := os.Lstat(filepath.Join(dir, "objects"))
	return err == nil && objErr == nil && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0) // a link is refused later, with its reason
}

// follow goes where a .git file leads: inside the project, to a working tree's
// part of a repository that names this project in turn, or to the repository of a
// submodule in that of the project around it.
func (r Repo) follow(ctx context.Context, top, entry string) (place, error) {
	to, err := readPath(entry, "gitdir: ", top)
	if err != nil {
		return place{}, errNone
	}
	if file.Within(top, to) {
		if !isRepository(to) {
			return place{}, errNone
		}
		return plainPlace(top, to)
	}
	if filepath.Base(filepath.Dir(to)) == "worktrees" {
		common := filepath.Dir(filepath.Dir(to))
		back, err := readPath(filepath.Join(to, "gitdir"), "", to)
		shared, commonErr := readPath(filepath.Join(to, "commondir"), "", to)
		if err == nil && commonErr == nil && back == entry && shared == common && isRepository(common) {
			return place{top: top, own: to, common: common}, nil
		}
		return place{}, refuse(leave, "%s points to %s, which does not list this working tree; if it was moved, run `git worktree repair`", entry, to)
	}
	if around, err := r.find(ctx, filepath.Dir(top)); err == nil && isRepository(to) {
		if file.Within(filepath.Join(around.own, "modules"), to) || file.Within(filepath.Join(around.common, "modules"), to) {
			settings, err := r.settings(ctx, to, `^core\.worktree$`)
			if err == nil && len(settings) == 1 && resolved(to, settings[0].value) == top {
				return plainPlace(top, to)
			}
		}
	}
	return place{}, refuse(leave, "%s leads out of the project, to %s", entry, to)
}

// resolved is the path that text means in dir, without links, "" where nothing
// is.
func resolved(dir, text string) string {
	if !filepath.IsAbs(text) {
		text = filepath.Join(dir, text)
	}
	full, err := filepath.EvalSymlinks(text)
	if err != nil {
		return ""
	}
	return full
}

// readPath reads a file that holds a path, which must exist.
func readPath(name, prefix, dir string) (string, error) {
	b, err := file.ReadPlain(name, false, 1<<16)
	if err != nil {
		return "", err
	}
	text, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), prefix)
	if !ok || text == "" {
		return "", errNone
	}
	if text = resolved(dir, text); text == "" {
		return "", errNone
	}
	return text, nil
}

// checkObjects sees that all objects lie in the folder: git follows links in it
// and the paths in its alternates.
func checkObjects(ctx context.Context, objects string) error {
	return filepath.WalkDir(objects, func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil // packed meanwhile
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return refuse("copy the objects into the repository", "%s is not a regular file", p)
		}
		if name := d.Name(); name != "alternates" && name != "http-alternates" {
			return nil
		}
		b, err := file.ReadPlain(p, false, 1<<20)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(b) {
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
				return refuse("make it self-contained with `git repack -a -d`, then remove "+p, "the repository borrows objects from elsewhere (%s)", line)
			}
		}
		return nil
	})
}
