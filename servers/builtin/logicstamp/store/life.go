package store

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// lastUse is when an entry was last used; an error means no such entry.
func (s *Store) lastUse(id string) (time.Time, error) {
	data, err := file.Read(filepath.Join(s.opts.Dir, id+usedSuffix), 1<<10)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(data)))
	if err != nil {
		info, err := os.Stat(filepath.Join(s.opts.Dir, id+usedSuffix))
		if err != nil {
			return time.Time{}, err
		}
		return info.ModTime(), nil
	}
	return at, nil
}

// Touch counts a use, from which the time to live starts anew.
func (s *Store) Touch(e *Entry) {
	name := filepath.Join(s.opts.Dir, e.ID+usedSuffix)
	// A use that a power cut takes ends the entry a little earlier, no more.
	_ = file.Write(name, []byte(s.opts.Now().UTC().Format(time.RFC3339Nano)), file.Options{Fleeting: true})
}

// Expires is when an entry ends if it is not used again; the zero time when it
// is pinned.
func (s *Store) Expires(e *Entry) time.Time {
	if s.Pinned(e.ID) {
		return time.Time{}
	}
	used, err := s.lastUse(e.ID)
	if err != nil {
		return time.Time{}
	}
	return used.Add(s.opts.TTL)
}

// Pin keeps a snapshot from expiring, or lets it expire again.
func (s *Store) Pin(id string, on bool) error {
	if _, err := s.Get(id); err != nil {
		return err
	}
	name := filepath.Join(s.opts.Dir, id+pinSuffix)
	if on {
		return file.Write(name, nil, file.Options{})
	}
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("unpin %s: %w", id, err)
	}
	return nil
}

// Hold pins a snapshot for as long as this process lives.
func (s *Store) Hold(id string) error {
	if _, err := s.Get(id); err != nil {
		return err
	}
	return file.Write(filepath.Join(s.opts.Dir, id+pinSuffix), []byte(strconv.Itoa(os.Getpid())), file.Options{})
}

// Pinned reports whether a snapshot is pinned.
func (s *Store) Pinned(id string) bool {
	data, err := file.Read(filepath.Join(s.opts.Dir, id+pinSuffix), 1<<10)
	if err != nil {
		return false
	}
	holder, err := strconv.Atoi(string(data))
	return err != nil || pid.Alive(holder)
}

// List gives a project's usable entries, newest first; every project's for "".
func (s *Store) List(project string, kind Kind) []*Entry {
	var out []*Entry
	now := s.opts.Now()
	for _, id := range s.ids(kind) {
		e, err := s.load(id)
		if err != nil || (project != "" && e.Project != project) {
			continue
		}
		used, err := s.lastUse(id)
		if err != nil || (kind == Snapshot && now.Sub(used) > s.opts.TTL && !s.Pinned(id)) {
			continue
		}
		out = append(out, e)
	}
	return out
}

// Newest are the project's usable snapshots, newest first, whichever process
// made them, and the newest that is not usable any more, nil for none.
func (s *Store) Newest(project string) (usable []*Entry, past *Entry) {
	for _, id := range s.ids(Snapshot) {
		e, err := s.load(id)
		if err != nil || e.Project != project {
			continue
		}
		if ok, err := s.Get(id); err == nil {
			usable = append(usable, ok)
		} else if past == nil {
			past = e
		}
	}
	return usable, past
}

// Latest is the project's newest kept context of either kind made with these
// options; any options when a is nil.
func (s *Store) Latest(project string, a *contract.Analysis) *Entry {
	var best *Entry
	for _, kind := range []Kind{Snapshot, Private} {
		for _, e := range s.List(project, kind) {
			if a != nil && e.Analysis != *a {
				continue
			}
			if best == nil || best.CreatedAt.Before(e.CreatedAt) {
				best = e
			}
			break
		}
	}
	return best
}

// Clean removes expired snapshots, the least used of this process beyond its
// limit, and private and deep contexts beyond theirs. Those that are held and
// each project's newest go last, pinned ones never.
func (s *Store) Clean(held func(id string) bool) {
	if s.opts.KeepExpired {
		return
	}
	now := s.opts.Now()
	current := map[string]string{}
	for _, id := range s.ids(Snapshot) {
		e, err := s.load(id)
		if err != nil {
			// Half made or lost: its claim goes once nobody can be making it.
			if used, err := s.lastUse(id); err == nil && now.Sub(used) > s.opts.TTL {
				s.remove(id, false)
			}
			continue
		}
		used, err := s.lastUse(id)
		if err == nil && now.Sub(used) > s.opts.TTL && !s.Pinned(id) {
			s.remove(id, false)
			continue
		}
		current[e.Project] = cmp.Or(current[e.Project], id)
	}
	s.limitOwn(func(e *Entry) bool { return current[e.Project] == e.ID || held(e.ID) })
	s.limit(Private, keepPrivate, func(*Entry) bool { return false })
	s.limit(Deep, keepDeep, s.besideSnapshot)
}

// limit removes a kind's entries beyond how many a project keeps, apart from spared ones.
func (s *Store) limit(kind Kind, keep int, spared func(*Entry) bool) {
	perProject := map[string]int{}
	for _, id := range s.ids(kind) {
		e, err := s.load(id)
		if err != nil || spared(e) {
			continue
		}
		if perProject[e.Project]++; perProject[e.Project] > keep {
			s.remove(id, true)
		}
	}
}

// besideSnapshot reports whether some snapshot has the sources of an entry.
func (s *Store) besideSnapshot(e *Entry) bool {
	sources, err := s.Sources(e)
	return err == nil && slices.ContainsFunc(s.List(e.Project, Snapshot), func(snap *Entry) bool {
		then, err := s.Sources(snap)
		return err == nil && then.Since(sources).Empty()
	})
}

// limitOwn removes this process's least recently used snapshots beyond the
// limit.
func (s *Store) limitOwn(last func(*Entry) bool) {
	type use struct {
		id   string
		at   time.Time
		last bool
	}
	s.mu.Lock()
	own := slices.Clone(s.own)
	s.mu.Unlock()
	var list []use
	for _, id := range own {
		at, err := s.lastUse(id)
		e, errLoad := s.load(id)
		if err != nil || errLoad != nil || s.Pinned(id) {
			continue
		}
		list = append(list, use{id, at, last(e)})
	}
	slices.SortFunc(list, func(a, b use) int {
		if a.last != b.last {
			if a.last {
				return 1
			}
			return -1
		}
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return compareIDs(a.id, b.id)
	})
	for _, u := range list[:max(0, len(list)-s.opts.Max)] {
		s.remove(u.id, true)
	}
}

// remove deletes an entry and remembers that it was here.
func (s *Store) remove(id string, crowded bool) {
	used, err := s.lastUse(id)
	if err != nil {
		used = s.opts.Now()
	}
	s.mu.Lock()
	delete(s.entries, id)
	delete(s.sources, id)
	s.gone[id] = gone{used, crowded}
	s.own = slices.DeleteFunc(s.own, func(o string) bool { return o == id })
	s.mu.Unlock()
	dir := filepath.Join(s.opts.Dir, id)
	trash := filepath.Join(s.opts.Dir, fmt.Sprintf("%s%d-old-%s", stagingStart, os.Getpid(), id))
	if file.Move(dir, trash) == nil {
		_ = os.RemoveAll(trash)
	}
	_ = os.Remove(dir + usedSuffix)
	_ = os.Remove(dir + pinSuffix)
}
