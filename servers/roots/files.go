package roots

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The most that Files looks at.
const (
	maxFiles   = 20_000
	maxEntries = 100_000
	maxDepth   = 16
)

// Files lists the regular files of a project by their paths below it, with /, those that lie
// less deep first. It follows no link and looks into no folder that version control or a
// package manager fills. What is too much, or not read when ctx ends, is left out, and so
// is a name that cannot be typed.
func (r *Rules) Files(ctx context.Context, dir string) ([]string, error) {
	return r.files(ctx, dir, maxFiles)
}

func (r *Rules) files(ctx context.Context, dir string, most int) ([]string, error) {
	root, err := r.Open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []string
	entries := 0
	for level, depth := []string{"."}, 0; len(level) > 0 && depth < maxDepth; depth++ {
		var below []string
		for _, at := range level {
			err := each(root, at, func(d fs.DirEntry) bool {
				entries++
				switch name := path.Join(at, d.Name()); {
				case !typed(d.Name()):
				case d.IsDir() && !filled(d.Name()):
					below = append(below, name)
				case d.Type().IsRegular():
					files = append(files, name)
				}
				return ctx.Err() == nil && len(files) < most && entries < maxEntries
			})
			if errors.Is(err, errEnough) {
				return files, nil
			}
		}
		level = below
	}
	return files, nil
}

var errEnough = errors.New("enough was read")

// each calls f for what is in a folder until f returns false. A folder that cannot be read,
// or in whose place is a link by now, has nothing.
func each(root *os.Root, at string, f func(fs.DirEntry) bool) error {
	info, err := root.Lstat(at)
	if err != nil || !info.IsDir() {
		return err
	}
	dir, err := root.Open(at)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		some, err := dir.ReadDir(256)
		for _, d := range some {
			if !f(d) {
				return errEnough
			}
		}
		if err != nil || len(some) == 0 {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// filled tells whether a folder has files that nobody wrote.
func filled(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", "node_modules", ".venv", "__pycache__":
		return true
	}
	return false
}

// typed tells whether a name can stand in a text.
func typed(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
