package change

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// Undo takes a change back.
type Undo struct {
	Entry Entry
	Files []Restored
	j     Journal
}

// Restored is what becomes of one file of a change.
type Restored struct {
	Path string
	// Exact says that the file becomes what it was. Otherwise it has changed since, and
	// the change alone is taken out of it.
	Exact    bool
	Now, New []byte // nil: no file
	step     step
}

// Gone reports whether the file is taken away.
func (r Restored) Gone() bool { return r.New == nil }

// ErrChanged says that a file has changed since, where the change was made.
var ErrChanged = errors.New("the file has changed since")

// Plan works out how to take a change back, of all its files or of none.
func (j Journal) Plan(e Entry) (*Undo, error) {
	u := &Undo{Entry: e, j: j}
	for _, f := range e.Files {
		p, err := again(f.Dir, f.Name, f.Shared)
		if err != nil {
			return nil, fmt.Errorf("undo the change of %s: %w", p.Path(), err)
		}
		now, err := p.Read()
		if err != nil {
			return nil, fmt.Errorf("undo the change of %s: %w", p.Path(), err)
		}
		r := Restored{Path: p.Path(), Now: now}
		switch {
		case same(now, f.Before): // it was taken back already
			continue
		case same(now, f.After):
			r.New, r.Exact = f.Before, true
		default:
			if r.New, err = takeOut(f, now); err != nil {
				return nil, fmt.Errorf("undo the change of %s: %w", p.Path(), err)
			}
		}
		r.step = step{p, now, r.New, f.Mode, f.Folders}
		u.Files = append(u.Files, r)
	}
	return u, nil
}

// Exact reports whether every file becomes what it was.
func (u *Undo) Exact() bool {
	return !slices.ContainsFunc(u.Files, func(f Restored) bool { return !f.Exact })
}

// Apply takes the change back. It refuses when a file is no longer what it was when
// the undoing was planned.
func (u *Undo) Apply() error {
	var steps []step
	for _, f := range u.Files {
		now, err := f.step.place.Read()
		if err != nil {
			return fmt.Errorf("read %s again: %w", f.Path, err)
		}
		if !same(now, f.Now) {
			return fmt.Errorf("write %s: it changed meanwhile; try again", f.Path)
		}
		steps = append(steps, f.step)
	}
	if err := all(steps); err != nil {
		return err
	}
	if err := os.Remove(u.j.path(u.Entry.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the record of the change: %w", err)
	}
	return nil
}

// takeOut is a file that has changed since, without the change. What both have
// touched is refused, and so is what its reader could then not read.
func takeOut(f File, now []byte) ([]byte, error) {
	if now == nil || f.Before == nil || f.After == nil {
		return nil, ErrChanged
	}
	out, ok := revert(f.Before, f.After, now)
	if !ok {
		return nil, fmt.Errorf("%w where the change was made", ErrChanged)
	}
	g := clients.JSONC
	if strings.HasSuffix(f.Name, ".toml") {
		g = clients.TOML
	}
	if _, err := g.Decode(now); err == nil {
		if _, err := g.Decode(out); err != nil {
			return nil, fmt.Errorf("%w, and cannot be read without it", ErrChanged)
		}
	}
	return out, nil
}

// Instead is an Undo that gives one file other content than Plan works out; after nil
// takes it away. The entry, which may be the zero one, is forgotten with it.
func (j Journal) Instead(e Entry, p Place, now, after []byte) *Undo {
	r := Restored{Path: p.Path(), Exact: after == nil, Now: now, New: after}
	r.step = step{place: p, from: now, to: after}
	for _, f := range e.Files {
		r.step.mode, r.step.folders = f.Mode, f.Folders
	}
	return &Undo{Entry: e, Files: []Restored{r}, j: j}
}
