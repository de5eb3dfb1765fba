package roots

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
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
//
// Where listed names files, only those of them count. A folder that it names counts with all
// that is in it, unless files in it are named: so does git list another repository. It gets
// the project's folder without links, and may be nil.
func (r *Rules) Files(ctx context.Context, dir string, listed func(ctx context.Context, dir string) []string) ([]string, error) {
	return r.files(ctx, dir, listed, maxFiles)
}

func (r *Rules) files(ctx context.Context, dir string, listed func(context.Context, string) []string, most int) ([]string, error) {
	root, err := r.Open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if listed != nil {
		if names := listed(ctx, filepath.Clean(root.Name())); len(names) > 0 {
			return present(ctx, root, names, most), nil
		}
	}
	return walk(ctx, root, []string{"."}, most), nil
}

// present are the regular files among names, and in folders among them, that Files may list.
func present(ctx context.Context, root *os.Root, names []string, most int) []string {
	folders := map[string]bool{".": true} // whether each is one, and not reached by a link
	var folder func(name string) bool
	folder = func(name string) bool {
		is, known := folders[name]
		if !known {
			is = folder(path.Dir(name)) && !filled(path.Base(name)) && mode(root, name).IsDir()
			folders[name] = is
		}
		return is
	}
	var files, whole []string
	for depth := range maxDepth {
		for _, name := range names {
			if len(files) == most || ctx.Err() != nil {
				return files
			}
			name = strings.TrimSuffix(name, "/")
			if strings.Count(name, "/") != depth || !typed(name) || !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name ||
				!folder(path.Dir(name)) {
				continue
			}
			switch is := mode(root, name); {
			case is.IsRegular():
				files = append(files, name)
			case is.IsDir() && !filled(path.Base(name)):
				whole = append(whole, name)
			}
		}
	}
	if len(files) == most {
		return files
	}
	whole = slices.DeleteFunc(whole, func(name string) bool { return folders[name] })
	return append(files, walk(ctx, root, whole, most-len(files))...)
}

// mode is what a path below root is, no regular file and no folder where nothing is.
func mode(root *os.Root, name string) fs.FileMode {
	info, err := root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode()
}

// walk are the files in folders and in all below them.
func walk(ctx context.Context, root *os.Root, level []string, most int) (files []string) {
	entries := 0
	for depth := 0; len(level) > 0 && depth < maxDepth; depth++ {
		var below []string
		for _, at := range level {
			err := each(root, at, func(d fs.DirEntry) bool {
				entries++
				switch name := path.Join(at, d.Name()); {
				case !typed(d.Name()) || filled(d.Name()): // of a submodule, .git is a file
				case d.IsDir():
					below = append(below, name)
				case d.Type().IsRegular():
					files = append(files, name)
				}
				return ctx.Err() == nil && len(files) < most && entries < maxEntries
			})
			if errors.Is(err, errEnough) {
				return files
			}
		}
		level = below
	}
	return files
}

var errEnough = errors.New("enough was read")

// each calls f for what is in a folder until f returns false. A folder that cannot be read,
// or in whose place is a link by now, has nothing.
func each(root *os.Root, at string, f func(fs.DirEntry) bool) error {
	info, err := root.Lstat(at)
	if err != nil || !info.IsDir() {
		return err
	}
	dir, err := file.OpenFolder(root, filepath.FromSlash(at))
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
