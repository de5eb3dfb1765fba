// Package stampcli finds, identifies, installs and runs the stamp command.
package stampcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// PackageName is the npm package that installs the command; Wanted is the
// version this driver was measured with.
const (
	PackageName = "logicstamp-context"
	Wanted      = "0.8.8"
)

// Options say where the command may be found and how long it may take.
type Options struct {
	// Command is the command with its first arguments; nil: it is searched for in
	// the usual places.
	Command []string
	// AllowProject takes a project's own node_modules/.bin/stamp.
	AllowProject bool
	// InstallDir is the folder Install fills, "" for none.
	InstallDir string
	// Timeout bounds one analysis (15 minutes when 0), ModesTimeout one
	// comparison of modes (30 minutes when 0).
	Timeout, ModesTimeout time.Duration
	// VersionTimeout bounds the question for the version (2 minutes when 0: a
	// machine that reads and builds much needs more than half a minute to start node).
	VersionTimeout time.Duration
	// Environment is the deck's, of which the command gets a few variables; each
	// entry is "NAME=value".
	Environment []string
}

// Runner runs the command. It is safe for use by several goroutines.
type Runner struct {
	opts Options

	mu    sync.Mutex
	known map[string]Program
}

// New makes a runner.
func New(opts Options) *Runner {
	if opts.Timeout <= 0 {
		opts.Timeout = 15 * time.Minute
	}
	if opts.ModesTimeout <= 0 {
		opts.ModesTimeout = 30 * time.Minute
	}
	if opts.VersionTimeout <= 0 {
		opts.VersionTimeout = 2 * time.Minute
	}
	return &Runner{opts: opts, known: map[string]Program{}}
}

// Program is a found and identified command.
type Program struct {
	// Args are the program and the arguments that come before ours.
	Args []string
	// Path is the resolved file of the first of them.
	Path    string
	Version Version
}

// Version is a release number of the command.
type Version struct{ Major, Minor, Patch int }

// String is "X.Y.Z".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Less orders versions.
func (v Version) Less(o Version) bool {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch)) < 0
}

// Newer reports whether the version is above those this driver knows.
func (v Version) Newer() bool { return Version{0, 8, 1 << 30}.Less(v) }

// Tool is the version as contexts name it.
func (v Version) Tool() string { return PackageName + "@" + v.String() }

func notFound(tried string) *problem.Error {
	return problem.New(problem.CLINotFound,
		"run `mcpdeck doctor --fix` or `npm install -g "+PackageName+"` (Node 20 or newer) to install it, or set logicstamp.command; "+
			"listing, reading, searching, the docs and comparing existing contexts work without it",
		"the stamp command was not found (%s)", tried)
}

// Locate finds and identifies the command for a project. Nothing is started
// but `--version`, once per program file.
func (r *Runner) Locate(ctx context.Context, project string) (Program, error) {
	args, tried, err := r.find(project)
	if err != nil {
		return Program{}, err
	}
	if args == nil {
		return Program{}, notFound(tried)
	}
	return r.identify(ctx, args)
}

// find gives the command line of the first place that has the command; nil when
// none has.
func (r *Runner) find(project string) (args []string, tried string, err error) {
	if configured := r.opts.Command; len(configured) > 0 {
		full, err := process.Find(configured[0])
		if err != nil {
			return nil, "configured as " + configured[0], nil
		}
		full, err = filepath.Abs(full)
		if err != nil {
			return nil, "", fmt.Errorf("resolve the stamp command: %w", err)
		}
		return append([]string{full}, configured[1:]...), "", nil
	}
	for _, name := range []string{"stamp", PackageName} {
		if full, err := process.Find(name); err == nil {
			return []string{full}, "", nil
		}
	}
	places := []string{r.opts.InstallDir}
	if r.opts.AllowProject {
		places = append(places, project)
	}
	for _, dir := range places {
		if dir == "" {
			continue
		}
		bin := filepath.Join(dir, "node_modules", ".bin", "stamp")
		if full, err := process.Find(bin); err == nil {
			return []string{full}, "", nil
		}
	}
	return nil, "neither stamp nor " + PackageName + " is on PATH", nil
}

// identify asks a command for its version, once per file and time.
func (r *Runner) identify(ctx context.Context, args []string) (Program, error) {
	p := Program{Args: args, Path: args[0]}
	if full, err := filepath.EvalSymlinks(args[0]); err == nil {
		p.Path = full
	}
	key := strings.Join(args, "\x00") + p.Path
	if info, err := os.Stat(p.Path); err == nil {
		key += info.ModTime().String()
	}
	r.mu.Lock()
	known, ok := r.known[key]
	r.mu.Unlock()
	if ok {
		return known, nil
	}
	out := r.run(ctx, process.Tool, p, "", r.opts.VersionTimeout, []string{"--version"})
	if out.timedOut {
		return p, problem.New(problem.CLITimeout, "try again when the machine is less busy; if it stays, run the command by hand",
			"`%s --version` did not answer within %s", args[0], r.opts.VersionTimeout).Because(out.err)
	}
	if out.err != nil && !out.exited() {
		return p, out.failure(p)
	}
	if e := nodeMissing(out); e != nil {
		return p, e
	}
	v, ok := parseVersion(out.stdout)
	if !ok {
		first, _, _ := strings.Cut(strings.TrimSpace(out.stdout+out.stderr), "\n")
		return p, problem.New(problem.CLIWrong, "set logicstamp.command to the stamp command of "+PackageName,
			"%s is another program; it answered %q to --version", args[0], clip(first, 200))
	}
	if v.Less(Version{0, 1, 0}) {
		return p, tooOld(v, Version{0, 1, 0}, "anything")
	}
	p.Version = v
	r.mu.Lock()
	r.known[key] = p
	r.mu.Unlock()
	return p, nil
}

func tooOld(have, need Version, what string) *problem.Error {
	return problem.New(problem.CLITooOld, "update it with `npm install -g "+PackageName+"@latest`",
		"stamp %s cannot do %s, which needs %s", have, what, need)
}

// parseVersion finds "Version: X.Y.Z" in what --version prints.
func parseVersion(out string) (Version, bool) {
	m := regexp.MustCompile(`Version:\s*v?(\d+)\.(\d+)\.(\d+)`).FindStringSubmatch(out)
	if m == nil {
		return Version{}, false
	}
	var n [3]int
	for i := range n {
		var err error
		if n[i], err = strconv.Atoi(m[i+1]); err != nil {
			return Version{}, false
		}
	}
	return Version{n[0], n[1], n[2]}, true
}

// Context stamps the project into the folder out, which is made. nodes replaces the
// profile's limit on a bundle when above 0.
func (r *Runner) Context(ctx context.Context, p Program, project, out string, a contract.Analysis, nodes int) error {
	args, err := contextArgs(p.Version, out, a, nodes)
	if err != nil {
		return err
	}
	return r.stamp(ctx, p, project, out, r.opts.Timeout, args)
}

func contextArgs(v Version, out string, a contract.Analysis, nodes int) ([]string, error) {
	profile := a.Profile
	if v.Less(Version{0, 3, 0}) {
		// Before 0.3.0 a known profile overrides every other option.
		if profile == "llm-safe" && nodes == 0 {
			nodes = 30
		}
		profile = "none"
	}
	args := []string{
		"context", "--profile", profile, "--include-code", a.Mode, "--depth", strconv.Itoa(a.Depth),
		"--format", "json", "--skip-gitignore", "--quiet", "--out", out,
	}
	if a.IncludeStyle {
		if v.Less(Version{0, 2, 0}) {
			return nil, tooOld(v, Version{0, 2, 0}, "includeStyle")
		}
		args = append(args, "--include-style")
	}
	if nodes > 0 {
		args = append(args, "--max-nodes", strconv.Itoa(nodes))
	}
	return args, nil
}

// ModesFile is the name of what CompareModes writes into its folder, and MaxModes
// more than it ever has.
const (
	ModesFile = "context_compare_modes.json"
	MaxModes  = 16 << 20
)

// CompareModes measures the modes of the project and leaves ModesFile in out.
func (r *Runner) CompareModes(ctx context.Context, p Program, project, out string) error {
	err := r.stamp(ctx, p, project, out, r.opts.ModesTimeout,
		[]string{"context", "--compare-modes", "--stats", "--skip-gitignore", "--quiet", "--out", out})
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, ModesFile)); err != nil {
		return tooOld(p.Version, Version{0, 2, 7}, "compare modes")
	}
	return nil
}

// stamp runs the command and keeps out of the project what it leaves there on
// its own: a first run writes .logicstamp/config.json, which nothing needs.
func (r *Runner) stamp(ctx context.Context, p Program, project, out string, limit time.Duration, args []string) error {
	if err := os.MkdirAll(out, 0o700); err != nil {
		return fmt.Errorf("make the output folder: %w", err)
	}
	own := filepath.Join(project, ".logicstamp")
	_, before := os.Lstat(own)
	res := r.run(ctx, process.Tool, p, project, limit, args)
	if errors.Is(before, os.ErrNotExist) {
		removeOwn(own)
	}
	if res.err != nil {
		return res.failure(p)
	}
	return nil
}

// removeOwn removes a .logicstamp folder that holds nothing but the
// configuration the command has just written.
func removeOwn(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "config.json" {
		return
	}
	if os.Remove(filepath.Join(dir, "config.json")) == nil {
		_ = os.Remove(dir)
	}
}
