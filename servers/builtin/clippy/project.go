package clippy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

const (
	maxPath    = 4096
	maxEntries = 1000   // returned
	maxNames   = 50_000 // read
	maxRoots   = 64     // kept open
)

// projects lists directories of project folders and nothing outside them.
type projects struct {
	rules *roots.Rules

	mu   sync.Mutex
	open map[string]*project // by the spelling a caller gave
}

// project is a project folder: opened once where the system allows it, so that
// it stays the same folder when its path is renamed or a link in the path is
// turned elsewhere.
type project struct {
	root     *os.Root
	resolved string
}

// Entry is one thing in a directory.
type Entry struct {
	Name       string `json:"name"`
	Type       string `json:"type"` // "directory" or "file"
	Size       int64  `json:"size"` // bytes; 0 for directories
	Link       bool   `json:"link,omitempty"`
	Special    bool   `json:"special,omitempty"`
	Unreadable bool   `json:"unreadable,omitempty"`
}

// Listing is a directory of a project.
type Listing struct {
	Path      string  `json:"path"` // relative to the root, with /
	Entries   []Entry `json:"entries"`
	Total     int     `json:"total"`
	Truncated bool    `json:"truncated"`
	AtLeast   bool    `json:"-"` // there were more names than Total
}

// list returns what is in the directory dir of the project at root. The root
// is a choice of the user when chosen is set; otherwise it came from a client.
func (p *projects) list(ctx context.Context, root string, chosen bool, dir string) (Listing, error) {
	switch {
	case dir == "":
		return Listing{}, say("directoryPath is required")
	case strings.ContainsRune(dir, 0) || len(dir) > maxPath:
		return Listing{}, say("directoryPath is invalid")
	}
	pr, err := p.project(root, chosen)
	if err != nil {
		return Listing{}, err
	}
	if !keepsFolders {
		defer func() { _ = pr.root.Close() }() // it was only read
	}
	rel, err := pr.relative(dir)
	if err != nil {
		return Listing{}, err
	}
	return pr.list(ctx, rel, dir)
}

// project opens the folder at spelled, or returns it if it is open already and
// no other folder has taken its place.
func (p *projects) project(spelled string, chosen bool) (*project, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pr := p.open[spelled]; pr != nil && !pr.gone() {
		return pr, nil
	}
	resolved, err := p.rules.Folder(spelled)
	var root *os.Root
	if err == nil {
		root, err = p.rules.Open(resolved)
	}
	switch {
	case err == nil:
	case !errors.As(err, new(*roots.RefusedError)):
		return nil, blame(err, "the project folder cannot be opened")
	case chosen:
		return nil, blame(err, "the folder of clippy.project_root is not allowed; the user can set another in config.toml")
	default:
		return nil, blame(err, "this connection has no project folder; start the agent inside a project")
	}
	pr := &project{root: root, resolved: resolved}
	if !keepsFolders {
		return pr, nil
	}
	if p.open == nil || len(p.open) >= maxRoots {
		p.open = map[string]*project{} // a root closes itself once nobody uses it
	}
	p.open[spelled] = pr
	return pr, nil
}

// gone reports whether another folder stands where this one was.
func (p *project) gone() bool {
	now, err := os.Stat(p.resolved)
	if err != nil {
		return false
	}
	mine, err := p.root.Stat(".")
	return err != nil || !os.SameFile(now, mine)
}

// outside is the same whether or not there is anything outside.
const outside = `the path is outside the project; use one inside it, such as "." for its root`

func errOutside() error { return say(outside) }

// relative turns what a caller gave into a path below the root, uncleaned, since
// a/../b and b differ when a is a link.
func (p *project) relative(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		if !filepath.IsLocal(dir) {
			return "", errOutside()
		}
		return dir, nil
	}
	if rel, ok := roots.Within(p.resolved, dir); ok {
		return rel, nil
	}
	return "", errOutside()
}

// list reads the directory rel; as is how the caller wrote it.
func (p *project) list(ctx context.Context, rel, as string) (Listing, error) {
	info, err := p.root.Stat(rel)
	if err != nil {
		return Listing{}, p.explain(err, as)
	}
	if !info.IsDir() {
		return Listing{}, say("not a directory: %s", Given(as))
	}
	names, more, err := p.names(ctx, rel)
	if err != nil {
		return Listing{}, p.explain(err, as)
	}
	out := Listing{Path: filepath.ToSlash(filepath.Clean(rel)), Total: len(names), AtLeast: more, Entries: []Entry{}}
	slices.SortFunc(names, byKindAndName)
	for len(names) > 0 && len(out.Entries) < maxEntries { // the system is asked about those alone
		if err := ctx.Err(); err != nil {
			return Listing{}, err
		}
		if e, ok := p.inspect(rel, names[0].name); ok {
			out.Entries = append(out.Entries, e)
		} else {
			out.Total--
		}
		names = names[1:]
	}
	out.Truncated = more || len(names) > 0
	out.Path = strings.ToValidUTF8(out.Path, "\ufffd")
	for i := range out.Entries {
		out.Entries[i].Name = strings.ToValidUTF8(out.Entries[i].Name, "\ufffd")
	}
	return out, nil
}

// named is an entry of which no more is known than its folder tells.
type named struct {
	name, folded string
	folder       bool
}

func byKindAndName(a, b named) int {
	switch {
	case a.folder && !b.folder:
		return -1
	case b.folder && !a.folder:
		return 1
	}
	return cmp.Or(cmp.Compare(a.folded, b.folded), cmp.Compare(a.name, b.name))
}

// names reads at most maxNames entries and reports whether there are more.
func (p *project) names(ctx context.Context, rel string) (names []named, more bool, err error) {
	f, err := file.OpenFolder(p.root, rel)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		some, err := f.ReadDir(1024)
		for _, d := range some {
			if len(names) == maxNames {
				return names, true, nil
			}
			n := named{name: d.Name(), folded: strings.ToLower(d.Name()), folder: d.IsDir()}
			if d.Type()&fs.ModeSymlink != 0 {
				info, err := p.root.Stat(entryIn(rel, n.name))
				n.folder = err == nil && info.IsDir()
			}
			names = append(names, n)
		}
		if errors.Is(err, io.EOF) || err == nil && len(some) == 0 {
			return names, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

func entryIn(rel, name string) string { return rel + string(filepath.Separator) + name }

// inspect describes an entry of the directory rel without opening it. It is
// false when the entry has vanished.
func (p *project) inspect(rel, called string) (Entry, bool) {
	e := Entry{Name: called, Type: "file"}
	name := entryIn(rel, called)
	info, err := p.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, false
	case err != nil:
		e.Unreadable = true
		return e, true
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		e.Link = true
		if info, err = p.root.Stat(name); err != nil {
			return e, true
		}
	}
	switch {
	case info.IsDir():
		e.Type = "directory"
	case info.Mode().IsRegular():
		e.Size = info.Size()
	default:
		e.Special = true
	}
	return e, true
}

// explain puts the error of opening a directory into words.
func (p *project) explain(err error, as string) error {
	switch {
	case isEscape(err):
		return blame(err, outside)
	case errors.Is(err, fs.ErrNotExist):
		return blame(err, "directory does not exist: %s", Given(as))
	case errors.Is(err, syscall.ENOTDIR):
		return blame(err, "not a directory: %s", Given(as))
	case errors.Is(err, fs.ErrPermission):
		return blame(err, "permission denied: %s", Given(as))
	}
	return system(err)
}

// isEscape reports whether err is an os.Root's refusal to leave the root. The
// standard library does not export that error.
func isEscape(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Err != nil && pe.Err.Error() == "path escapes from parent"
}
