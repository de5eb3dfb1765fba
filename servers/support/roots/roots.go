// Package roots decides which folders may be a project root, inside which an agent's
// paths must stay.
package roots

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Rules decide. The nil pointer knows the system's folders alone. They may be
// used from any goroutine.
type Rules struct {
	homes  []string
	places []place

	mu    sync.Mutex // guards what follows
	taken time.Time
	found []found
}

// found is a place that there is.
type found struct {
	place
	info     os.FileInfo
	resolved string
}

// fresh is for how long the places are what they were: looking at all of them
// takes longer than drawing a small picture.
const fresh = 2 * time.Second

// there returns the places that there are.
func (r *Rules) there() []found {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.taken.IsZero() && time.Since(r.taken) < fresh {
		return r.found
	}
	r.taken, r.found = time.Now(), nil
	for _, p := range r.places {
		if info, err := os.Stat(p.path); err == nil {
			r.found = append(r.found, found{p, info, resolve(p.path)})
		}
	}
	return r.found
}

// Options are what the rules need to know of the user.
type Options struct {
	// Homes are the user's home folders: that of HOME first, then that of the user
	// database, which may be another one. Empty ones do not count.
	Homes []string
	// State are the folders of the deck's own.
	State []string
}

// RefusedError says why a folder is no root.
type RefusedError struct{ Dir, Why string }

func (e *RefusedError) Error() string { return fmt.Sprintf("%s cannot be a project: %s", e.Dir, e.Why) }

// NoProject tells those whose folder it is what that means for them.
func (e *RefusedError) NoProject() string {
	return fmt.Sprintf("this connection has no project: %s cannot be one: %s; start the agent in a project's folder", e.Dir, e.Why)
}

// HoldsState is why a folder is refused that lies in the deck's own or around it.
const HoldsState = "it contains mcpdeck's own files"

// New makes rules.
func New(o Options) *Rules {
	r := &Rules{}
	for _, h := range o.Homes {
		if filepath.IsAbs(h) {
			r.homes = append(r.homes, filepath.Clean(h))
		}
	}
	for _, s := range o.State {
		if filepath.IsAbs(s) {
			r.places = append(r.places, place{filepath.Clean(s), tree, HoldsState})
		}
	}
	for _, h := range r.homes {
		r.places = append(r.places, secrets(h)...)
	}
	r.places = append(r.places, system(r.homes)...)
	return r
}

// Folder decides about a folder, however its path is spelled, and returns its
// path with all links resolved. The error is a *RefusedError, or says why the
// folder cannot be used.
func (r *Rules) Folder(dir string) (resolved string, err error) {
	resolved, _, err = r.folder(dir)
	return resolved, err
}

// Open is Folder, and opens the folder that was decided about, whatever has its
// path by then.
func (r *Rules) Open(dir string) (*os.Root, error) {
	resolved, info, err := r.folder(dir)
	if err != nil {
		return nil, err
	}
	root, err := file.Root(resolved)
	if err != nil {
		return nil, err
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(now, info) {
		_ = root.Close() // nothing was read
		return nil, &RefusedError{dir, "it was replaced by another folder"}
	}
	return root, nil
}

func (r *Rules) folder(dir string) (resolved string, info os.FileInfo, err error) {
	if r == nil {
		r = New(Options{})
	}
	if !filepath.IsAbs(dir) {
		return "", nil, &RefusedError{dir, "its path is not absolute"}
	}
	given, err := os.Stat(dir)
	if err != nil {
		return "", nil, err
	}
	if resolved, err = filepath.EvalSymlinks(dir); err != nil {
		return "", nil, err
	}
	if info, err = os.Stat(resolved); err != nil {
		return "", nil, err
	}
	switch {
	case !info.IsDir():
		return "", nil, &RefusedError{dir, "it is not a folder"}
	case !os.SameFile(given, info): // a link of /proc into another process's view
		return "", nil, &RefusedError{dir, "its path resolves to another folder"}
	}
	if why := r.refuse(resolved, info); why != "" {
		return "", nil, &RefusedError{dir, why}
	}
	return resolved, info, nil
}

// step is a folder on the way up from another.
type step struct {
	path string
	info os.FileInfo
}

// above lists a folder and all those it lies in, from the inside out.
func above(dir string) []step {
	var out []step
	for {
		if info, err := os.Stat(dir); err == nil {
			out = append(out, step{dir, info})
		}
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}

// refuse says why a folder is no root, "" if it may be one. Folders are compared
// as the file system knows them, since a path has many spellings: other case, a
// bind mount, another link.
func (r *Rules) refuse(dir string, info os.FileInfo) string {
	if dir == filepath.Dir(dir) {
		return "it is the root of a file system"
	}
	for _, h := range r.homes {
		h = resolve(h)
		for _, s := range above(h) {
			switch {
			case !os.SameFile(s.info, info):
			case s.path == h:
				return "it is your home folder"
			default:
				return "it contains your home folder"
			}
		}
	}
	if pseudo(dir) {
		return isSystem
	}
	return r.placed(dir)
}

const (
	isSystem  = "it is a system folder"
	isSecrets = "it contains secrets"
)

// placed compares a folder with the known places.
func (r *Rules) placed(dir string) string {
	up := above(dir)
	verdict, nearest := "", len(up) // of the system's places
	for _, p := range r.there() {
		depth := slices.IndexFunc(up, func(s step) bool { return s.path == p.resolved || os.SameFile(s.info, p.info) })
		switch {
		case p.kind != free && under(dir, p.resolved): // dir holds it
			return p.why
		case depth < 0 || p.kind == top && depth > 0:
		case p.kind != free && p.why != isSystem:
			return p.why
		case depth < nearest: // /var is the system's, /var/www is not
			verdict, nearest = p.why, depth
		}
	}
	return verdict
}

// under tells whether a resolved path lies in a folder.
func under(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// resolve is a path without links, or as it is when it leads nowhere.
func resolve(path string) string {
	if full, err := filepath.EvalSymlinks(path); err == nil {
		return full
	}
	return path
}

// Within returns the path below root that an absolute path stands for, however
// it is spelled; false when it lies elsewhere. Of what it names only the folders
// up to the root need exist, and below the root no link is resolved: open the
// result through an [os.Root].
func Within(root, path string) (rel string, ok bool) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", false
	}
	path = filepath.Clean(path)
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	want, err := os.Stat(root)
	if err != nil {
		return "", false
	}
	for _, s := range above(path) {
		if os.SameFile(s.info, want) {
			rel, err := filepath.Rel(s.path, path)
			return rel, err == nil && filepath.IsLocal(rel)
		}
	}
	return "", false
}
