package claude

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sweepEvery is how often files of no living process are looked at that no event tells of.
const sweepEvery = time.Minute

// sessionFiles are Claude Code's files about its processes, of which it leaves those behind
// that were killed. Such a file is read again only when it has changed.
type sessionFiles struct {
	config string             // folder of Claude Code's files
	known  map[string]session // of living processes, by the names of their files
	stale  map[string]stamp   // the other files, as they were read
	listed time.Time          // when the folder was last changed, as of the last listing
	swept  time.Time

	reads, stats int // how many files were read or looked at, for tests
}

// stamp tells a file from what it becomes when it is written.
type stamp struct {
	size int64
	mod  time.Time
}

func stampOf(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

func newSessionFiles(config string) *sessionFiles {
	return &sessionFiles{config: config, known: map[string]session{}, stale: map[string]stamp{}}
}

// due returns the names of the files to read that no event has told of: those of living
// processes, and new ones. Files that were left behind are looked at now and then; with all,
// now.
func (f *sessionFiles) due(now time.Time, all bool) []string {
	names := slices.Collect(maps.Keys(f.known))
	dir := filepath.Join(f.config, "sessions")
	changed := stampOf(dir).mod
	if all || now.Sub(f.swept) >= sweepEvery {
		f.swept = now
		for name, was := range f.stale {
			f.stats++
			if stampOf(filepath.Join(dir, name)) != was {
				names = append(names, name)
			}
		}
	} else if changed.Equal(f.listed) {
		return names
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return names
	}
	f.listed = changed
	for _, e := range entries {
		_, known := f.known[e.Name()]
		if _, stale := f.stale[e.Name()]; !known && !stale {
			names = append(names, e.Name())
		}
	}
	return names
}

// read takes in what a file says, if its process lives.
func (f *sessionFiles) read(name string) {
	delete(f.known, name)
	delete(f.stale, name)
	path := filepath.Join(f.config, "sessions", name)
	was := stampOf(path)
	if was == (stamp{}) {
		return
	}
	f.reads++
	if s, ok := f.session(name); ok {
		f.known[name] = s
		return
	}
	f.stale[name] = was
}

func (f *sessionFiles) session(name string) (session, bool) {
	digits, ok := strings.CutSuffix(name, ".json")
	pid, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return session{}, false
	}
	config, err := filepath.EvalSymlinks(f.config)
	if err != nil {
		return session{}, false
	}
	s, ok := readSession(config, pid)
	return s, ok && s.alive() && (s.Started != "" || s.Status != "")
}
