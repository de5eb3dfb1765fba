package pixelsrc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	onDisk "github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// Limits of files and folders.
const (
	maxScanFiles = 10000
	maxScanDepth = 32
)

// folder is one that a caller's paths may lie in: its path without links, and the
// rules that decide each time it is opened.
type folder struct {
	dir   string
	rules *roots.Rules
	users bool // the user named a file in it; that needs no rules
}

func (f folder) open() (*os.Root, error) {
	if f.users {
		return onDisk.Root(f.dir)
	}
	return f.rules.Open(f.dir)
}

// folders are those of a caller, the project first.
type folders []folder

// rootsOf lists the folders open to a caller.
func (s *Server) rootsOf(who Caller) folders {
	var list folders
	for _, dir := range append([]string{who.Root}, s.options.AllowDirs...) {
		if resolved, err := s.options.Roots.Folder(dir); err == nil {
			if f := (folder{dir: resolved, rules: s.options.Roots}); !slices.Contains(list, f) {
				list = append(list, f)
			}
		}
	}
	return list
}

// errHidden stands for what is outside the roots and for what does not exist, so
// that an answer does not tell which of the two it was.
var errHidden = errors.New("no such file in the project folder or an allowed directory (the user can add one with --allow-dir)")

// place is a path inside a root.
type place struct {
	root folder
	rel  string // with slashes, relative to root
}

// locate finds the roots that a path as given may mean.
func (r folders) locate(given string) (list []place) {
	if given == "" || strings.ContainsRune(given, 0) {
		return nil
	}
	if !filepath.IsAbs(given) {
		for _, root := range r {
			if filepath.IsLocal(given) {
				list = append(list, place{root, filepath.ToSlash(filepath.Clean(given))})
			}
		}
		return list
	}
	for _, root := range r {
		if rel, ok := roots.Within(root.dir, given); ok {
			list = append(list, place{root, filepath.ToSlash(rel)})
		}
	}
	return list
}

// file is a file that passed the policy.
type file struct {
	place
	data []byte
}

// read reads a regular file of one of some extensions, at most limit bytes.
func (r folders) read(given string, limit int, extensions ...string) (file, error) {
	if !slices.Contains(extensions, strings.ToLower(filepath.Ext(given))) {
		return file{}, fmt.Errorf("only %s files are read", strings.Join(extensions, " and "))
	}
	for _, p := range r.locate(given) {
		data, err := p.read(limit)
		if err == nil {
			return file{p, data}, nil
		}
		if !errors.Is(err, errHidden) {
			return file{}, err
		}
	}
	return file{}, errHidden
}

// read opens a file below its root, links resolved but never out of it.
func (p place) read(limit int) ([]byte, error) {
	root, err := p.root.open()
	if err != nil {
		return nil, errHidden
	}
	defer closeRoot(root)
	data, err := onDisk.Inside(root, filepath.FromSlash(p.rel), int64(limit))
	switch {
	case err == nil:
		return data, nil
	case errors.Is(err, onDisk.ErrNotPlain):
		return nil, errors.New("it is not a regular file")
	case errors.Is(err, onDisk.ErrTooLarge):
		return nil, errors.New("it is larger than the limit of " + humanize.Bytes(limit))
	case errors.Is(err, fs.ErrPermission):
		return nil, errors.New("permission denied")
	}
	return nil, errHidden
}

// sourceExtensions are the extensions of sources.
func sourceExtensions() []string { return []string{".pxl", ".jsonl"} }

// beside reads a source that another one refers to: relative to the folder of
// the referring file, within its root. The path must have no ".." out of the
// root and no absolute form.
func (p place) beside(ref string) ([]byte, error) {
	if ref == "" || strings.ContainsRune(ref, 0) || path.IsAbs(ref) || filepath.IsAbs(ref) {
		return nil, fs.ErrNotExist
	}
	rel := path.Join(path.Dir(p.rel), filepath.ToSlash(ref))
	if !filepath.IsLocal(rel) {
		return nil, fs.ErrNotExist
	}
	if !slices.Contains(sourceExtensions(), strings.ToLower(path.Ext(rel))) {
		return nil, fs.ErrNotExist
	}
	data, err := place{p.root, rel}.read(pxl.MaxSource)
	if errors.Is(err, errHidden) {
		return nil, fs.ErrNotExist
	}
	return data, err
}

// scanned is what a walk over a folder found.
type scanned struct {
	files   []place
	skipped int
}

// scan lists the sources in a folder, sorted by path; links are not followed.
func (p place) scan(recursive bool) (out scanned, err error) {
	root, err := p.root.open()
	if err != nil {
		return out, errHidden
	}
	defer closeRoot(root)
	base := strings.Count(p.rel, "/")
	err = fs.WalkDir(onDisk.FS(root), p.rel, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if name == p.rel {
				return err
			}
			return nil
		case d.IsDir():
			if name != p.rel && (!recursive || strings.Count(name, "/")-base >= maxScanDepth || d.Name() == ".git" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && slices.Contains(sourceExtensions(), strings.ToLower(path.Ext(name))):
			if len(out.files) >= maxScanFiles {
				out.skipped++
				return nil
			}
			out.files = append(out.files, place{p.root, name})
		}
		return nil
	})
	if err != nil {
		return out, errHidden
	}
	return out, nil
}

func closeRoot(r *os.Root) { _ = r.Close() } // it was only read from

// isDir reports whether a place is a folder.
func (p place) isDir() bool {
	root, err := p.root.open()
	if err != nil {
		return false
	}
	defer closeRoot(root)
	info, err := root.Stat(filepath.FromSlash(p.rel))
	return err == nil && info.IsDir()
}

// project finds the folder that holds pxl.toml, from the folder of a file
// upwards to its root, and the text of it.
func (p place) project() (dir string, text []byte, ok bool) {
	for dir = path.Dir(p.rel); ; dir = path.Dir(dir) {
		if data, err := (place{p.root, path.Join(dir, "pxl.toml")}).read(64 << 10); err == nil {
			return dir, data, true
		}
		if dir == "." || dir == "/" {
			return "", nil, false
		}
	}
}
