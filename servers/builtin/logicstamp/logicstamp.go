// Package logicstamp reports what the components of a TypeScript project promise
// each other and what an edit changed, on top of the stamp CLI: snapshots that are
// true copies, bundles, comparison, search and drift.
package logicstamp

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
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
	Defaults contract.Analysis
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
	// DeepContracts reports whether a snapshot with components that no bundle shows
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
	o.CLI.InstallDir = cmp.Or(o.CLI.InstallDir, filepath.Join(o.Dir, "cli"))
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
		o.Pause = process.Pause
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
	opts  *Options
	hints notify.Feed
	life  *lifetime

	access    *access
	workspace *workspace
	baselines *baselines
	refresher *refresher
	deeper    *deepener
	comparer  *comparer
	monitors  *monitors
	searches  searchCache
	// installed hears that the command was installed.
	installed func()
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
	s := &Service{opts: &opts, life: newLifetime(), access: &access{&opts}}
	s.workspace = &workspace{opts: s.opts, access: s.access, store: st, known: map[string]*manifest.Manifest{}}
	s.baselines = &baselines{store: st, byKey: map[baselineKey]string{}}
	s.refresher = &refresher{
		ws: s.workspace, baselines: s.baselines, cli: stampcli.New(opts.CLI), gate: newGate(),
		flights: flights{life: s.life, list: map[string]*flight{}}, duration: map[string]time.Duration{},
	}
	s.deeper = &deepener{
		opts: s.opts, ws: s.workspace, refresher: s.refresher, life: s.life, changed: s.hints.Send,
		running: map[string]*DeeperRun{}, refused: map[string]bool{},
	}
	s.comparer = &comparer{
		opts: s.opts, ws: s.workspace, baselines: s.baselines, refresher: s.refresher, deeper: s.deeper, changed: s.hints.Send,
		results: results{byProject: map[string][]*compare.Result{}},
	}
	s.monitors = &monitors{opts: s.opts, comparer: s.comparer, life: s.life, list: map[string]*monitor{}}
	return s, nil
}

// Close ends the monitors and every analysis, and waits for them.
func (s *Service) Close() {
	s.life.end()
	s.monitors.remove(func(*monitor) bool { return true })
}

// beginIn is begin for a call about a project, which it finds.
func (s *Service) beginIn(ctx context.Context, call Call, name string) (project string, bound context.Context, end func(), err error) {
	if project, err = s.access.project(call, name); err != nil {
		return "", nil, nil, err
	}
	bound, end, err = s.life.begin(ctx)
	return project, bound, end, err
}

// Limits are the largest answer in tokens and the largest bundle in bytes that is
// told in one piece.
func (s *Service) Limits() (tokens, bundleBytes int) { return s.opts.MaxTokens, s.opts.MaxBundleBytes }

// May reports whether a caller may read a project, by its path without links.
func (s *Service) May(call Call, project string) bool { return s.access.allowed(call, project) }

// OnInstalled makes fn hear that the stamp command was installed. Set it before
// the first call.
func (s *Service) OnInstalled(fn func()) { s.installed = fn }

// Monitor starts, stops or tells of a project's drift monitor.
func (s *Service) Monitor(ctx context.Context, call Call, args MonitorArgs) (*MonitorState, error) {
	project, err := s.access.project(call, args.Project)
	if err != nil {
		return nil, err
	}
	m := s.monitors.of(project)
	switch args.Action {
	case "start":
		return s.monitors.start(ctx, call, project, args)
	case "stop":
		s.monitors.remove(func(one *monitor) bool { return one == m })
		out := m.state(project, "stop")
		if m != nil {
			out.Active, out.Message = false, "the monitor has stopped"
		}
		return out, nil
	case "status":
		return m.state(project, "status"), nil
	}
	return nil, problem.New(problem.BadArgument, "pass start, stop or status", "action is %q", args.Action)
}

// ClientGone ends what a connection started, and forgets its baselines.
func (s *Service) ClientGone(client string) {
	if client == "" {
		return
	}
	s.baselines.forget(client)
	s.monitors.remove(func(m *monitor) bool { return m.call.Client == client })
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

// hashOf names a project in file names and addresses.
func hashOf(project string) string { return store.Digest([]byte(project))[:16] }
