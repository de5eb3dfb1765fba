// Package change edits several of the user's files at once, all or none of them, and
// undoes such a change byte for byte.
package change

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Kept is how many changes can be undone.
const Kept = 50

// Edit is what one file becomes; nil stands for no file.
type Edit struct {
	Place         Place
	Before, After []byte
}

// EditOf is an edit of a file of the user's own, given by its path, that takes it away, until
// After is set.
func EditOf(path string) (Edit, error) {
	p, err := OfUser(path)
	if err != nil {
		return Edit{}, fmt.Errorf("find %s: %w", path, err)
	}
	b, err := p.Read()
	if err != nil {
		return Edit{}, fmt.Errorf("read %s: %w", path, err)
	}
	return Edit{Place: p, Before: b}, nil
}

// Same reports whether there is nothing to change.
func (e Edit) Same() bool { return same(e.Before, e.After) }

func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// Journal keeps what was changed in a folder of its own, which is private: files hold
// secrets.
type Journal struct{ Dir string }

// Entry is one change.
type Entry struct {
	ID    string    `json:"-"`
	What  string    `json:"what"` // the command, as "setup cursor"
	When  time.Time `json:"when"`
	Files []File    `json:"files"`
}

// File is one file of a change.
type File struct {
	Dir     string      `json:"dir"`
	Name    string      `json:"name"` // below Dir
	Shared  bool        `json:"shared,omitempty"`
	Before  []byte      `json:"before"` // nil: there was no file
	After   []byte      `json:"after"`  // nil: there is none
	Mode    fs.FileMode `json:"mode,omitempty"`
	Folders []string    `json:"folders,omitempty"` // that were made for it, outermost first
}

// Path is the file's.
func (f File) Path() string { return filepath.Join(f.Dir, f.Name) }

func (f File) place() Place { return Place{f.Dir, f.Name, f.Shared} }

// Apply makes the edits, all of them or none, and keeps what Plan needs to take them
// back. It refuses when a file is no longer what its edit was made from. With instead,
// an entry that the edits were made on top of, undoing the new entry undoes both.
func (j Journal) Apply(what string, edits []Edit, instead *Entry) (Entry, error) {
	e := Entry{What: what, When: time.Now().UTC().Truncate(time.Second)}
	for _, d := range edits {
		if d.Same() {
			continue
		}
		now, mode, err := d.Place.look()
		if err != nil {
			return e, fmt.Errorf("read %s again: %w", d.Place.Path(), err)
		}
		if !same(now, d.Before) {
			return e, fmt.Errorf("write %s: it changed meanwhile; try again", d.Place.Path())
		}
		e.Files = append(e.Files, File{
			Dir: d.Place.dir, Name: d.Place.name, Shared: d.Place.shared,
			Before: d.Before, After: d.After, Mode: mode, Folders: d.Place.missingFolders(),
		})
	}
	steps := make([]step, len(e.Files))
	for i, f := range e.Files {
		steps[i] = step{f.place(), f.Before, f.After, f.Mode, f.Folders}
	}
	if instead != nil {
		e.under(*instead)
	}
	if err := j.record(&e); err != nil {
		return e, err
	}
	if err := all(steps); err != nil {
		_ = os.Remove(j.path(e.ID)) // nothing was changed
		return e, err
	}
	if instead != nil {
		_ = os.Remove(j.path(instead.ID)) // the new one undoes it, too
	}
	j.sweep()
	return e, nil
}

// under has the entry go back to what was there before another.
func (e *Entry) under(older Entry) {
	for _, o := range older.Files {
		f := e.File(o.Path())
		switch {
		case f == nil:
			e.Files = append(e.Files, o)
		case same(f.Before, o.After):
			f.Before, f.Mode, f.Folders = o.Before, o.Mode, append(slices.Clone(o.Folders), f.Folders...)
		}
	}
}

// File is the one with a path, nil if there is none.
func (e *Entry) File(path string) *File {
	for i := range e.Files {
		if e.Files[i].Path() == path {
			return &e.Files[i]
		}
	}
	return nil
}

// step is a file that goes from one content to another.
type step struct {
	place    Place
	from, to []byte
	mode     fs.FileMode
	folders  []string // that go with the file when it is taken away
}

// all makes the steps, or none of them.
func all(steps []step) error {
	for i, s := range steps {
		err := s.place.put(s.to, s.mode, s.folders)
		if err == nil {
			continue
		}
		err = fmt.Errorf("write %s: %w", s.place.Path(), err)
		for _, done := range slices.Backward(steps[:i]) {
			if back := done.place.put(done.from, done.mode, done.folders); back != nil {
				err = fmt.Errorf("%w; and %s could not be put back: %w", err, done.place.Path(), back)
			}
		}
		return err
	}
	return nil
}

const suffix = ".json"

func (j Journal) path(id string) string { return filepath.Join(j.Dir, id+suffix) }

// record writes a new entry under the next number.
func (j Journal) record(e *Entry) error {
	b, err := json.Marshal(e)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(j.Dir), 0o700)
	}
	if err == nil {
		err = file.Private(j.Dir)
	}
	next := 1
	if ids := j.ids(); len(ids) > 0 {
		next = ids[len(ids)-1] + 1
	}
	for err == nil {
		e.ID = strconv.Itoa(next)
		if err = file.Write(j.path(e.ID), b, file.Options{New: true}); err == nil {
			return nil
		}
		if next++; errors.Is(err, fs.ErrExist) { // another command was faster
			err = nil
		}
	}
	return fmt.Errorf("record the change for undo: %w", err)
}

// ids are the numbers of the entries, ascending.
func (j Journal) ids() []int {
	entries, _ := os.ReadDir(j.Dir) // none: nothing was changed yet
	var out []int
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if n, err := strconv.Atoi(name); ok && err == nil && n > 0 && strconv.Itoa(n) == name {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// Entries are the changes that can be undone, the newest first.
func (j Journal) Entries() ([]Entry, error) {
	var out []Entry
	for _, id := range slices.Backward(j.ids()) {
		e, err := j.Entry(strconv.Itoa(id))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// ErrNone says that there is no such change to undo.
var ErrNone = errors.New("no such change to undo")

// Entry reads one.
func (j Journal) Entry(id string) (Entry, error) {
	if n, err := strconv.Atoi(id); err != nil || !slices.Contains(j.ids(), n) {
		return Entry{}, ErrNone
	}
	e := Entry{ID: id}
	b, err := file.Read(j.path(id), 4*sizeLimit)
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read the record of change %s: %w", id, err)
	}
	return e, nil
}

// sweep forgets the oldest changes.
func (j Journal) sweep() {
	ids := j.ids()
	for _, id := range ids[:max(0, len(ids)-Kept)] {
		_ = os.Remove(j.path(strconv.Itoa(id)))
	}
}
