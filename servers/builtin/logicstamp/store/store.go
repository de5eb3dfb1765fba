// Package store keeps contexts as true, immutable copies with the hashes of the
// sources they describe.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// Kind tells what an entry is for.
type Kind string

// A Snapshot is asked for and named by its id; a Private entry is a context
// made to answer one comparison and kept so that the next need not make it; a
// Deep one stands beside a snapshot or private context of the same sources and
// shows what lies below its depth.
const (
	Snapshot Kind = "snapshot"
	Private  Kind = "private"
	Deep     Kind = "deep"
)

// start is how the ids of a kind begin.
func (k Kind) start() string {
	switch k {
	case Private:
		return "ctx_"
	case Deep:
		return "deep_"
	default:
		return "snap_"
	}
}

const (
	metaFile     = "snapshot.json"
	usedSuffix   = ".used"
	pinSuffix    = ".pin"
	stagingStart = ".staging-"
	maxFile      = 1 << 30
	// keepPrivate is how many private contexts a project keeps, keepDeep how many
	// deep ones of sources that no snapshot has.
	keepPrivate = 3
	keepDeep    = 2
)

// Options say where entries live and how long.
type Options struct {
	// Dir is the store's folder, which is made with mode 0700.
	Dir string
	// TTL counts from the last use; 0 means 60 minutes.
	TTL time.Duration
	// Max is how many snapshots one process keeps; 0 means 10.
	Max int
	// KeepExpired deletes nothing; expired snapshots are still refused.
	KeepExpired bool
	// Now is the clock, time.Now when nil.
	Now func() time.Time
}

// Meta describes an entry; it is written once.
type Meta struct {
	ID        string    `json:"id"`
	Kind      Kind      `json:"kind"`
	CreatedAt time.Time `json:"createdAt"`
	Project   string    `json:"projectPath"`
	contract.Analysis
	Tool string `json:"tool"`
	Pid  int    `json:"pid"`
	// Owner is the same for all sessions of the client that asked for it, ""
	// for the user; MadeBy is that client's name.
	Owner  string `json:"owner,omitempty"`
	MadeBy string `json:"madeBy,omitempty"`
	// Files are the SHA-256 of every file by its slash path.
	Files map[string]string `json:"files"`
}

// Entry is one kept context.
type Entry struct {
	Meta
	// Dir holds the index and the folder files.
	Dir string
}

// gone is what is remembered of a removed entry.
type gone struct {
	used    time.Time
	crowded bool // removed to make room
}

// Store is a folder of entries. It is safe for use by several goroutines and
// processes.
type Store struct {
	opts Options

	mu      sync.Mutex
	entries map[string]*Entry
	own     []string
	gone    map[string]gone
	sources map[string]*manifest.Manifest
}

// Open makes the store's folder and removes what dead processes left half done.
func Open(opts Options) (*Store, error) {
	if opts.TTL <= 0 {
		opts.TTL = time.Hour
	}
	if opts.Max <= 0 {
		opts.Max = 10
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if err := file.Folder(opts.Dir); err != nil {
		return nil, fmt.Errorf("make the snapshot store: %w", err)
	}
	s := &Store{
		opts: opts, entries: map[string]*Entry{}, gone: map[string]gone{},
		sources: map[string]*manifest.Manifest{},
	}
	s.removeDeadStaging()
	return s, nil
}

// Staging makes an empty folder to build an entry in. Remove it when the entry
// is not sealed.
func (s *Store) Staging() (string, error) {
	if err := file.Folder(s.opts.Dir); err != nil { // it may have been deleted
		return "", fmt.Errorf("make the snapshot store: %w", err)
	}
	dir, err := os.MkdirTemp(s.opts.Dir, stagingStart+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return "", fmt.Errorf("make a staging folder: %w", err)
	}
	return dir, nil
}

func (s *Store) removeDeadStaging() {
	found, _ := filepath.Glob(filepath.Join(s.opts.Dir, stagingStart+"*"))
	for _, dir := range found {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), stagingStart), "-")
		n, err := strconv.Atoi(maker)
		if err == nil && n != os.Getpid() && !pid.Alive(n) {
			_ = os.RemoveAll(dir)
		}
	}
}

// Seal turns the context in dir, of which only the named files are taken, into
// an entry. Files that say the same as in previous are shared with it. Meta's
// id, time, process and hashes are filled in.
func (s *Store) Seal(dir string, names []string, meta Meta, sources *manifest.Manifest, previous *Entry) (*Entry, error) {
	staging, err := s.Staging()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(staging) }()
	meta.Files = map[string]string{}
	for _, name := range names {
		sum, err := take(filepath.Join(dir, filepath.FromSlash(name)), filepath.Join(staging, filepath.FromSlash(name)), previous, name)
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", name, err)
		}
		meta.Files[name] = sum
	}
	return s.finish(staging, meta, sources)
}

// Again makes a new snapshot for an owner with the contents of an old entry.
func (s *Store) Again(old *Entry, sources *manifest.Manifest, owner, madeBy string) (*Entry, error) {
	names := make([]string, 0, len(old.Files))
	for name := range old.Files {
		names = append(names, name)
	}
	meta := old.Meta
	meta.Kind, meta.Owner, meta.MadeBy = Snapshot, owner, madeBy
	return s.Seal(old.Dir, names, meta, sources, old)
}

// take brings a file into the entry being built: a link to the previous
// entry's file if both say the same, else a copy.
func take(from, to string, previous *Entry, name string) (sum string, err error) {
	data, err := file.Read(from, maxFile)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	if previous != nil && previous.Files[name] != "" {
		old := filepath.Join(previous.Dir, filepath.FromSlash(name))
		was, err := file.Read(old, maxFile)
		if err == nil && Digest(was) == previous.Files[name] && SameBut(was, data) && os.Link(old, to) == nil {
			return previous.Files[name], nil
		}
	}
	if err := os.WriteFile(to, data, 0o400); err != nil {
		return "", err
	}
	return Digest(data), nil
}

// SameBut reports whether two folder files differ in their times alone.
func SameBut(a, b []byte) bool {
	stamp := regexp.MustCompile(`"createdAt":\s*"[^"]*"`)
	return string(stamp.ReplaceAll(a, nil)) == string(stamp.ReplaceAll(b, nil))
}

// Digest is the SHA-256 of data in hexadecimal digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// finish writes the entry's own files, claims an id and moves it into place.
func (s *Store) finish(staging string, meta Meta, sources *manifest.Manifest) (*Entry, error) {
	now := s.opts.Now()
	meta.CreatedAt, meta.Pid = now.UTC(), os.Getpid()
	id, err := s.claim(meta.Kind, now)
	if err != nil {
		return nil, err
	}
	meta.ID = id
	data, err := json.Marshal(meta)
	if err == nil {
		err = os.WriteFile(filepath.Join(staging, metaFile), data, 0o400)
	}
	if err == nil {
		err = sources.Save(staging, 0o400)
	}
	if err != nil {
		return nil, fmt.Errorf("describe the snapshot: %w", err)
	}
	// What a power cut takes of the many files inside, Verify notices.
	e := &Entry{Meta: meta, Dir: filepath.Join(s.opts.Dir, id)}
	if err := file.Move(staging, e.Dir); err != nil {
		_ = os.Remove(e.Dir + usedSuffix)
		return nil, fmt.Errorf("put the snapshot in place: %w", err)
	}
	s.mu.Lock()
	s.entries[id], s.sources[id] = e, sources
	if meta.Kind == Snapshot {
		s.own = append(s.own, id)
	}
	s.mu.Unlock()
	return e, nil
}

// claim reserves an id that no process has.
func (s *Store) claim(kind Kind, now time.Time) (string, error) {
	base := kind.start() + strconv.FormatInt(now.UnixMilli(), 10)
	for n := range 10_000 {
		id := base
		if n > 0 {
			id += "_" + strconv.Itoa(n)
		}
		f, err := os.OpenFile(filepath.Join(s.opts.Dir, id+usedSuffix), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("reserve a snapshot id: %w", err)
		}
		_, err = f.WriteString(now.UTC().Format(time.RFC3339Nano))
		f.Close()
		return id, err
	}
	return "", errors.New("reserve a snapshot id: too many in one millisecond")
}

const refreshHint = "call logicstamp_refresh_snapshot; to see drift since a commit use baseline git:HEAD"

// Get gives the snapshot of an id that may still be used.
func (s *Store) Get(id string) (*Entry, error) {
	if !regexp.MustCompile(`^snap_\d{1,20}(_\d{1,5})?$`).MatchString(id) {
		return nil, unknown(id)
	}
	s.mu.Lock()
	_, known := s.entries[id]
	left, wasHere := s.gone[id]
	s.mu.Unlock()
	switch {
	case wasHere && left.crowded:
		return nil, problem.New(problem.SnapshotExpired, refreshHint, "the snapshot %s was removed: only the %d most recently used and pinned ones are kept", id, s.opts.Max)
	case wasHere:
		return nil, s.expired(id, left.used)
	}
	used, err := s.lastUse(id)
	if err != nil && !known {
		return nil, unknown(id)
	}
	e, err := s.load(id)
	if err != nil {
		return nil, problem.New(problem.SnapshotLost, refreshHint, "the snapshot %s is known but its folder is missing", id).Because(err)
	}
	if !used.IsZero() && s.opts.Now().Sub(used) > s.opts.TTL && !s.Pinned(id) {
		return nil, s.expired(id, used)
	}
	return e, nil
}

func unknown(id string) error {
	return problem.New(problem.SnapshotUnknown, refreshHint, "no snapshot with id %q", id)
}

func (s *Store) expired(id string, used time.Time) error {
	return problem.New(problem.SnapshotExpired, refreshHint, "the snapshot %s expired: it was last used at %s and the limit is %s",
		id, used.UTC().Format(time.RFC3339), s.opts.TTL)
}

// load reads an entry's description, once per process.
func (s *Store) load(id string) (*Entry, error) {
	dir := filepath.Join(s.opts.Dir, id)
	s.mu.Lock()
	e := s.entries[id]
	s.mu.Unlock()
	if e != nil {
		_, err := os.Stat(filepath.Join(dir, metaFile))
		return e, err
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	data, err := file.Read(filepath.Join(dir, metaFile), maxFile)
	if err != nil {
		return nil, err
	}
	e = &Entry{Dir: dir}
	if err := json.Unmarshal(data, &e.Meta); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.entries[id] = e
	s.mu.Unlock()
	return e, nil
}

// Sources is the manifest an entry was made with.
func (s *Store) Sources(e *Entry) (*manifest.Manifest, error) {
	s.mu.Lock()
	m := s.sources[e.ID]
	s.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := manifest.Load(e.Dir)
	if err != nil {
		return nil, fmt.Errorf("read the source list of %s: %w", e.ID, err)
	}
	s.mu.Lock()
	s.sources[e.ID] = m
	s.mu.Unlock()
	return m, nil
}

// Verify reports whether every file of an entry still has the bytes it was sealed
// with.
func (s *Store) Verify(e *Entry) error {
	for name, want := range e.Files {
		data, err := file.Read(filepath.Join(e.Dir, filepath.FromSlash(name)), maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			return problem.New(problem.SnapshotLost, refreshHint, "the file %s of the snapshot %s is gone", name, e.ID)
		}
		if err != nil {
			return fmt.Errorf("verify the snapshot %s: %w", e.ID, err)
		}
		if Digest(data) != want {
			return problem.New(problem.SnapshotCorrupt, refreshHint, "the file %s of the snapshot %s was changed after it was made", name, e.ID)
		}
	}
	return nil
}

// ids are all entries on disk, newest first.
func (s *Store) ids(kind Kind) []string {
	found, _ := filepath.Glob(filepath.Join(s.opts.Dir, kind.start()+"*"+usedSuffix))
	out := make([]string, 0, len(found))
	for _, f := range found {
		out = append(out, strings.TrimSuffix(filepath.Base(f), usedSuffix))
	}
	slices.SortFunc(out, func(a, b string) int { return compareIDs(b, a) })
	return out
}

// compareIDs orders ids by their time and number.
func compareIDs(a, b string) int {
	na, nb := numbers(a), numbers(b)
	return slices.Compare(na, nb)
}

func numbers(id string) []int64 {
	var out []int64
	for _, part := range strings.Split(id, "_")[1:] {
		n, _ := strconv.ParseInt(part, 10, 64)
		out = append(out, n)
	}
	return out
}
