// Package logicstamp reports what the components of a TypeScript project promise
// each other and what an edit changed, on top of the stamp CLI: snapshots that are
// true copies, bundles, comparison, search and drift.
package logicstamp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/file"
	"github.com/mcpdeck/mcpdeck/servers/hint"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/pause"
	"github.com/mcpdeck/mcpdeck/servers/roots"
)

// Options configure the service. The zero value of each field has the default
// that its comment names.
type Options struct {
	// Dir is the folder for snapshots, trees of commits and an installed CLI.
	// It must be given.
	Dir string
	// CLI says how the stamp command is found; its InstallDir is set from Dir
	// when empty.
	CLI stampcli.Options
	// Defaults are the analysis options of a call that gives none: llm-chat,
	// header, depth 2, no style.
	Defaults store.Analysis
	// Publish writes contexts into the project after a refresh.
	Publish bool
	// AllowedPaths are the folders whose projects may be read, beside a
	// caller's own root.
	AllowedPaths []string
	// ProjectPath is the configured default project, WorkDir the folder the
	// program was started in; "" for none.
	ProjectPath, WorkDir string
	// Roots say which folders may be read at all; nil: all but the system's.
	Roots *roots.Rules
	// MaxSnapshots is 10, TTL 60 minutes, KeepExpired false.
	MaxSnapshots int
	TTL          time.Duration
	KeepExpired  bool
	// MaxBundleBytes is the largest bundle that is told in one piece, 1,048,576;
	// MaxTokens is for one answer, 100,000.
	MaxBundleBytes, MaxTokens int
	// GitTimeout bounds the reading of one commit's tree: 60 s.
	GitTimeout time.Duration
	// DeepContracts says whether a snapshot with components that no bundle shows
	// is analysed once more, deeper: background (after the answer, the
	// default) or off. DeepTimeout is when that is given up: 10 minutes.
	DeepContracts string
	DeepTimeout   time.Duration
	// MinInterval is the drift monitor's default pause: 2 s.
	MinInterval time.Duration
	// Now is the clock, time.Now when nil.
	Now func() time.Time
	// Pause waits before a context that is being written is read again; nil
	// sleeps.
	Pause func(ctx context.Context, d time.Duration) error
}

func (o *Options) fill() {
	if o.CLI.InstallDir == "" {
		o.CLI.InstallDir = filepath.Join(o.Dir, "cli")
	}
	d := &o.Defaults
	if !slices.Contains(Profiles(), d.Profile) {
		d.Profile = ""
	}
	if !slices.Contains(Modes(), d.Mode) {
		d.Mode = ""
	}
	if d.Depth < 0 || d.Depth > MaxDepth {
		d.Depth = 0
	}
	if !slices.Contains(deepWays(), o.DeepContracts) {
		o.DeepContracts = deepBackground
	}
	d.Profile = cmp.Or(d.Profile, "llm-chat")
	d.Depth = cmp.Or(d.Depth, 2)
	o.MaxBundleBytes = cmp.Or(o.MaxBundleBytes, 1<<20)
	o.MaxTokens = cmp.Or(o.MaxTokens, 100_000)
	o.GitTimeout = cmp.Or(o.GitTimeout, time.Minute)
	o.DeepTimeout = cmp.Or(o.DeepTimeout, 10*time.Minute)
	o.MinInterval = cmp.Or(o.MinInterval, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = pause.For
	}
}

// Problems are sentences about options that cannot be used; the defaults stand
// in for them.
func (o Options) Problems() []string {
	var out []string
	known := func(member, value string, allowed ...string) {
		if value != "" && !slices.Contains(allowed, value) {
			out = append(out, fmt.Sprintf("logicstamp.%s: unknown value %q; use %s. Using the default", member, value, strings.Join(allowed, ", ")))
		}
	}
	known("profile", o.Defaults.Profile, Profiles()...)
	known("mode", o.Defaults.Mode, Modes()...)
	known("deep_contracts", o.DeepContracts, deepWays()...)
	if d := o.Defaults.Depth; d < 0 || d > MaxDepth {
		out = append(out, fmt.Sprintf("logicstamp.depth: %d is not between 1 and %d; using the default", d, MaxDepth))
	}
	return out
}

// MaxDepth is the greatest depth of an analysis.
const MaxDepth = 64

// Profiles are the presets of an analysis.
func Profiles() []string { return []string{"llm-chat", "llm-safe", "ci-strict"} }

// Modes say how much source a context holds.
func Modes() []string { return []string{"header", "full", "none"} }

// Service is the domain behind the tools. It is safe for use by several
// goroutines.
type Service struct {
	opts  Options
	cli   *stampcli.Runner
	store *store.Store
	gate  *gate

	mu       sync.Mutex
	known    map[string]*manifest.Manifest
	duration map[string]time.Duration
	flights  flights
	// baselines are the snapshots to compare with, by session and project.
	baselines map[baselineKey]string
	deeper    deeperRuns
	contexts  contextCache
	results   results
	monitors  map[string]*monitor
	searches  searchCache
	notify    func(r *compare.Result, monitored bool)
	hints     hint.Feed
	// installed hears that the command was installed.
	installed func()
	stop      context.Context
	stopNow   context.CancelFunc
	running   sync.WaitGroup
}

// New opens the store and makes a service. Nothing is started.
func New(opts Options) (*Service, error) {
	opts.fill()
	if err := file.Folder(opts.Dir); err != nil {
		return nil, fmt.Errorf("make the folder for snapshots: %w", err)
	}
	st, err := store.Open(store.Options{
		Dir: filepath.Join(opts.Dir, "snapshots"), TTL: opts.TTL, Max: opts.MaxSnapshots,
		KeepExpired: opts.KeepExpired, Now: opts.Now,
	})
	if err != nil {
		return nil, err
	}
	s := &Service{
		opts: opts, cli: stampcli.New(opts.CLI), store: st, gate: newGate(),
		known: map[string]*manifest.Manifest{}, duration: map[string]time.Duration{}, baselines: map[baselineKey]string{},
		deeper:   deeperRuns{running: map[string]*DeeperRun{}, refused: map[string]string{}},
		flights:  flights{list: map[string]*flight{}},
		monitors: map[string]*monitor{}, results: results{byProject: map[string][]*compare.Result{}},
	}
	s.stop, s.stopNow = context.WithCancel(context.Background())
	return s, nil
}

// Close ends the monitors and every analysis, and waits for them.
func (s *Service) Close() {
	s.mu.Lock()
	s.stopNow()
	s.mu.Unlock()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.monitors {
		m.unpin()
	}
	clear(s.monitors)
}

// beginIn is begin for a call about a project, which it finds.
func (s *Service) beginIn(ctx context.Context, call Call, name string) (project string, bound context.Context, end func(), err error) {
	if project, err = s.project(call, name); err != nil {
		return "", nil, nil, err
	}
	bound, end, err = s.begin(ctx)
	return project, bound, end, err
}

// Limits are the largest answer in tokens and the largest bundle in bytes that is
// told in one piece.
func (s *Service) Limits() (tokens, bundleBytes int) { return s.opts.MaxTokens, s.opts.MaxBundleBytes }

// May tells whether a caller may read a project, by its path without links.
func (s *Service) May(call Call, project string) bool { return s.allowed(call, project) }

// OnInstalled makes fn hear that the stamp command was installed. Set it before
// the first call.
func (s *Service) OnInstalled(fn func()) { s.installed = fn }

// begin ties work to the life of the service: no analysis outlives it. end must
// be called.
func (s *Service) begin(ctx context.Context) (bound context.Context, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop.Err() != nil {
		return nil, nil, problem.New(problem.Cancelled, "try again in a moment", "the server is shutting down")
	}
	s.running.Add(1)
	bound, cancel := context.WithCancel(ctx)
	off := context.AfterFunc(s.stop, cancel)
	return bound, func() {
		off()
		cancel()
		s.running.Done()
	}, nil
}

// Call is who asks and how to tell them that work goes on.
type Call struct {
	// Root is the caller's project folder, Hint the PROJECT_PATH of the
	// caller's environment; "" for none. Without a Root the deck's own folder
	// stands in, unless Refused says why the caller's cannot be a project.
	Root, Hint string
	Refused    *roots.RefusedError
	// Client names the connection, for what must end with it; "" for the user.
	Client string
	// Identity is the same for all connections of one client, Name is what the
	// client is called; "" for the user.
	Identity, Name string
	// Progress is told each stage as it begins and the last known duration of
	// the whole; nil for nobody.
	Progress func(stage string, expected time.Duration)
	// Pause gives the call's place among the deck's work away while it waits for an
	// analysis, and back takes one again; nil: it has none.
	Pause func() (back func(context.Context) error)
}

// pause lets others work while the call waits; see Pause.
func (c Call) pause() (back func(context.Context) error) {
	if c.Pause == nil {
		return func(context.Context) error { return nil }
	}
	return c.Pause()
}

func (c Call) stage(name string, expected time.Duration) {
	if c.Progress != nil {
		c.Progress(name, expected)
	}
}

// project resolves the project of a call: absolute, links resolved, a folder
// the caller may read.
func (s *Service) project(call Call, arg string) (string, error) {
	base := cmp.Or(call.Root, s.opts.ProjectPath, s.opts.WorkDir)
	if call.Refused != nil {
		base = ""
	}
	path := cmp.Or(arg, call.Hint, base)
	switch {
	case filepath.IsAbs(path):
	case call.Refused != nil:
		return "", problem.New(problem.ProjectNotAllowed, "pass the absolute path of a folder that the user allowed with mcpdeck --allow-dir", "%s", call.Refused.NoProject())
	case path == "":
		return "", problem.New(problem.ProjectNotFound, "pass projectPath", "no project was given and the agent has no project folder")
	default:
		path = filepath.Join(base, path)
	}
	full, found, err := s.resolve(call, path)
	if !found && (err == nil || path == base) {
		return "", problem.New(problem.ProjectNotFound, "pass the absolute path of an existing folder", "the project %s does not exist", path)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(full)
	if err != nil || !info.IsDir() {
		return "", problem.New(problem.ProjectNotFound, "pass the absolute path of an existing folder", "the project %s is not a folder", path)
	}
	if _, err := s.opts.Roots.Folder(full); err != nil || !s.allowed(call, full) {
		return "", s.notAllowed(call, path)
	}
	return full, nil
}

// resolve is what a path stands for, links resolved, if the caller may read there; found
// tells whether there is anything. What lies outside is refused in the same words whether
// or not it exists.
func (s *Service) resolve(call Call, path string) (full string, found bool, err error) {
	full, found = destination(path)
	if !s.allowed(call, full) {
		return full, found, s.notAllowed(call, path)
	}
	return full, found, nil
}

// destination is where a path leads, links resolved, also when nothing is there.
func destination(path string) (full string, found bool) {
	const mostLinks = 40
	rest := ""
	for links, at := 0, filepath.Clean(path); ; {
		if full, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(full, rest), rest == ""
		}
		if to, err := os.Readlink(at); err == nil && links < mostLinks {
			links++
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			at = filepath.Clean(to)
			continue
		}
		if at == filepath.Dir(at) {
			return filepath.Join(at, rest), false
		}
		at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
	}
}

// roots are the folders a caller may read below.
func (s *Service) roots(call Call) []string {
	var out []string
	dirs := append(slices.Clone(s.opts.AllowedPaths), call.Root, call.Hint)
	if call.Refused == nil {
		dirs = append(dirs, s.opts.ProjectPath)
		if call.Root == "" {
			dirs = append(dirs, s.opts.WorkDir)
		}
	}
	for _, dir := range dirs {
		if full, err := s.opts.Roots.Folder(dir); err == nil && !slices.Contains(out, full) {
			out = append(out, full)
		}
	}
	return out
}

// allowed tells whether a resolved path lies in a folder the caller may read.
func (s *Service) allowed(call Call, full string) bool {
	for _, root := range s.roots(call) {
		if full == root || strings.HasPrefix(full, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func (s *Service) notAllowed(call Call, path string) error {
	roots := s.roots(call)
	list := "none"
	if len(roots) > 0 {
		list = strings.Join(roots, ", ")
	}
	why := ""
	if call.Refused != nil {
		why = "; " + call.Refused.NoProject()
	}
	return problem.New(problem.ProjectNotAllowed, "use a folder below one of them, or add yours to logicstamp.allowed_paths (or start mcpdeck with --allow-dir)",
		"%s is outside the folders this connection may read (%s)%s", path, list, why)
}

// hashOf names a project in file names and addresses.
func hashOf(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:])[:16]
}

// takeManifest lists the project, hashing only what changed since last time.
func (s *Service) takeManifest(ctx context.Context, project string, style bool) (*manifest.Manifest, error) {
	s.mu.Lock()
	known := s.known[project]
	s.mu.Unlock()
	m, err := manifest.Take(ctx, project, manifest.Options{Style: style, Known: known, Allowed: s.everybodys()})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.known[project] = m
	s.mu.Unlock()
	return m, nil
}
