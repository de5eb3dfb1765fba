package pixels

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	onDisk "github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

const (
	// settle is how long a file must be left alone before it is read: editors write
	// in several steps.
	settle = 60 * time.Millisecond
	// fileMost is the largest picture that is read.
	fileMost = 64 << 20
)

// files are pictures that the user opened; they are drawn again when they are saved.
type files struct {
	source func(path string) (*pxl.Document, error)
	hint   chan struct{}

	mu      sync.Mutex
	watcher *fsnotify.Watcher
	watched map[string]bool // folders
	list    []*file         // in the order they were opened
	lastID  uint64
	closed  bool
}

type file struct {
	path    string
	dirty   bool
	changed *time.Timer
	renders []Render
	whole   bool // they are of a text that could be read to the end
}

func newFiles(load func(string) (*pxl.Document, error)) *files {
	return &files{source: load, hint: make(chan struct{}, 1), watched: map[string]bool{}}
}

// open adds a file. It does not wait: what is wrong with it stands in the list later.
func (f *files) open(path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(one *file) bool { return one.path == path })
	if i < 0 {
		i = len(f.list)
		f.list = append(f.list, &file{path: path})
	}
	f.list[i].dirty = true
	f.poke()
}

func (f *files) poke() { notify.Poke(f.hint) }

// load reads what has changed and returns the renders of all files, and how often
// anything did.
func (f *files) load() ([]Render, uint64) {
	f.mu.Lock()
	var todo []*file
	for _, one := range f.list {
		if one.dirty {
			one.dirty = false
			todo = append(todo, one)
			f.watch(filepath.Dir(one.path))
		}
	}
	f.mu.Unlock()
	for _, one := range todo {
		renders, broken := f.read(one.path)
		f.mu.Lock()
		if broken != "" && one.whole {
			renders = keepPictures(one.renders, renders, broken)
		} else {
			one.whole = broken == ""
		}
		for i := range renders {
			if unchanged(&renders[i], one.renders) {
				continue
			}
			f.lastID++
			renders[i].ID = f.lastID | opened
		}
		one.renders = renders
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Render
	for _, one := range f.list {
		all = append(all, one.renders...)
	}
	return all, f.lastID
}

// unchanged makes r the render of its thing among old if that shows the same. A file
// has many things, and a save mostly changes one of them: only that one is new. Of a
// render with other words it keeps the picture, which is no other version then.
func unchanged(r *Render, old []Render) bool {
	i := slices.IndexFunc(old, func(o Render) bool { return o.Name == r.Name && o.Kind == r.Kind })
	if i < 0 || r.Picture == nil || old[i].Picture == nil || !r.Picture.Same(old[i].Picture) {
		return false
	}
	if r.Failed == old[i].Failed && slices.Equal(r.Notes, old[i].Notes) {
		*r = old[i]
		return true
	}
	r.Picture = old[i].Picture
	return false
}

// opened is set in the IDs of files, so that they differ from those of agents.
const opened = 1 << 62

// keepPictures leaves the last good pictures on screen, with what is wrong now: a file
// is saved in the middle of a thought, and what is looked at must not go away for that.
func keepPictures(old, now []Render, broken string) []Render {
	if len(old) == 0 || old[0].Picture == nil {
		return now
	}
	out := make([]Render, len(old))
	for i, r := range old {
		r.Failed, r.Notes, r.Time = broken, nil, now[0].Time
		out[i] = r
	}
	return out
}

// read draws a file. Broken says what kept all or a part of it from being read; there is
// a render even then.
func (f *files) read(path string) (renders []Render, broken string) {
	now := time.Now()
	failed := func(err error) ([]Render, string) {
		return []Render{{Name: filepath.Base(path), Kind: "file", File: path, Time: now, Failed: err.Error()}}, err.Error()
	}
	if strings.EqualFold(filepath.Ext(path), ".pxl") {
		if f.source == nil {
			return failed(errors.New("this deck cannot draw .pxl files"))
		}
		renders, broken, err := drawFile(path, f.source)
		if err != nil {
			return failed(err)
		}
		for i := range renders {
			renders[i].File, renders[i].Time = path, now
		}
		return renders, broken
	}
	data, err := readFile(path)
	if err != nil {
		return failed(err)
	}
	pic, err := viewer.Decode(fmt.Sprintf("%s %d", path, now.UnixNano()), data)
	if err != nil {
		return failed(err)
	}
	return []Render{{Name: filepath.Base(path), Kind: "file", File: path, Time: now, Picture: pic}}, ""
}

func readFile(path string) ([]byte, error) {
	data, err := onDisk.ReadPlain(path, true, fileMost)
	switch {
	case errors.Is(err, onDisk.ErrNotPlain):
		return nil, fmt.Errorf("open the picture: %s is not a file", path)
	case errors.Is(err, onDisk.ErrTooLarge):
		return nil, fmt.Errorf("open the picture: %s is larger than %s", path, humanize.Bytes(fileMost))
	case err != nil:
		return nil, fmt.Errorf("open the picture: %w", err)
	}
	return data, nil
}

// watch follows a folder: a file that is saved by renaming another over it is a new file,
// which only its folder tells. Without a watcher the pictures stay as they are.
func (f *files) watch(folder string) {
	if f.watched[folder] || f.closed {
		return
	}
	if f.watcher == nil {
		w, err := fsnotify.NewWatcher()
		if err != nil {
			return
		}
		f.watcher = w
		recovery.Go("watch pictures", func() { f.follow(w) })
	}
	f.watched[folder] = f.watcher.Add(folder) == nil
}

func (f *files) follow(w *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if e.Op&^fsnotify.Chmod != 0 {
				f.touched(e.Name)
			}
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
		}
	}
}

// touched reads a file again once it is left alone. A change to another .pxl of the same
// folder counts for all of them, since they may include it.
func (f *files) touched(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.list {
		included := filepath.Dir(one.path) == filepath.Dir(name) && filepath.Ext(one.path) == ".pxl" && filepath.Ext(name) == ".pxl"
		if one.path != name && !included || f.closed {
			continue
		}
		if one.changed != nil {
			one.changed.Stop()
		}
		one.changed = time.AfterFunc(settle, func() {
			defer recovery.Recover("changed picture")
			f.mu.Lock()
			defer f.mu.Unlock()
			one.dirty = true
			f.poke()
		})
	}
}

func (f *files) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, one := range f.list {
		if one.changed != nil {
			one.changed.Stop()
		}
	}
	if f.watcher != nil {
		_ = f.watcher.Close() // nothing can be done about it
	}
}
