package logicstamp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/gittree"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// keepGit is how many contexts of commits, and of the present beside them, a
// project keeps.
const keepGit = 8

// gitRun is one comparison with a commit. Both sides are analysed at the same
// path, one after the other: inferred types can hold that path, and hashes
// cover it.
type gitRun struct {
	comparer *comparer
	call     Call
	repo     gittree.Repo
	commit   gittree.Commit
	program  stampcli.Program
	a        contract.Analysis
	// nodes replaces the profile's limit on a bundle when above 0.
	nodes int
	// keptOnly makes it fail where something would have to be analysed.
	keptOnly bool
	// dir is the project's folder in our state, tree the one to analyse in.
	dir, tree string
	ignore    string
}

func (ws *workspace) repo(project string) gittree.Repo {
	return gittree.Repo{Project: project, Scratch: filepath.Join(ws.opts.Dir, "git"), Timeout: ws.opts.GitTimeout, Environ: ws.opts.CLI.Environment}
}

// gitSides are both sides of a comparison with a commit.
type gitSides struct{ base, cur *side }

// compareGit compares with a commit.
func (cp *comparer) compareGit(ctx context.Context, call Call, project, ref string, args CompareArgs) (*outcome, error) {
	repo := cp.ws.repo(project)
	commit, err := repo.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	program, err := cp.refresher.cli.Locate(ctx, project)
	if err != nil {
		return nil, err
	}
	a := cp.opts.Defaults
	if e, _, _ := cp.baselines.own(call, project); e != nil {
		a = e.Analysis
	}
	a = args.over(a)
	a.Mode = "none"
	dir := filepath.Join(cp.opts.Dir, "git", hashOf(project))
	run := gitRun{comparer: cp, repo: repo, commit: commit, program: program, a: a, dir: dir, tree: filepath.Join(dir, "tree")}
	both, err := run.share(ctx, call, given(args.ForceRegenerate, false))
	if err != nil {
		return nil, err
	}
	base, cur := both.base, both.cur
	o, err := newOutcome(ctx, call, base, cur, args)
	if err != nil || o.result.Coverage == nil || len(o.result.Coverage.Uncovered) == 0 {
		return o, err
	}
	deep := run
	deep.a, deep.nodes, deep.keptOnly = deepAnalysis(run.a), deepNodes, true
	if under, err := deep.both(ctx, false); err == nil {
		compare.Deepen(o.result, cur.Side, under.base.Side, under.cur.Side)
		return o, nil
	}
	deep.keptOnly = false
	o.later = func(tell func(*compare.Result)) string {
		return cp.deeper.later(project, func(ctx context.Context) error {
			under, err := deep.both(ctx, false)
			if err == nil {
				tell(deepened(base, cur, under.base.Side, under.cur.Side))
			}
			return err
		})
	}
	return o, nil
}

// share makes both sides, once for all who want the same at the same time.
func (g gitRun) share(ctx context.Context, call Call, force bool) (gitSides, error) {
	key := fmt.Sprintf("git\x00%s\x00%s\x00%+v %d %v", g.repo.Project, g.commit.Ref+g.commit.Hash, g.a, g.nodes, force)
	out, _, err := share(ctx, &g.comparer.refresher.flights, key, call, func(ctx context.Context, call Call) (gitSides, error) {
		run := g
		run.call = call
		leave, err := g.comparer.refresher.gate.enter(ctx, g.repo.Project)
		if err != nil {
			return gitSides{}, err
		}
		defer leave()
		return run.both(ctx, force)
	})
	return out, err
}

// both makes both sides. The caller holds the project's turn, if anything may be
// analysed.
func (g gitRun) both(ctx context.Context, force bool) (gitSides, error) {
	if g.keptOnly {
		g.readIgnore()
		base, cur, err := g.sides(ctx, false)
		return gitSides{base, cur}, err
	}
	unlock, err := g.lock(ctx)
	if err != nil {
		return gitSides{}, err
	}
	defer unlock()
	defer g.forget()
	base, cur, err := g.sides(ctx, force)
	return gitSides{base, cur}, err
}

// errNotKept tells that a side would have to be analysed.
var errNotKept = errors.New("no context is kept")

// sides are the commit's and the present's.
func (g *gitRun) sides(ctx context.Context, force bool) (base, cur *side, err error) {
	if base, err = g.baseSide(ctx); err != nil {
		return nil, nil, err
	}
	cur, err = g.presentSide(ctx, force)
	return base, cur, err
}

// lock keeps other processes out of the project's tree, and removes what a
// crash left in it.
func (g *gitRun) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for trees: %w", err)
	}
	l := file.Lock(filepath.Join(g.dir, "lock"))
	if _, err := l.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return nil, err
	}
	g.readIgnore()
	return func() {
		_ = os.RemoveAll(g.tree)
		_ = l.Unlock()
	}, nil
}

const maxIgnore = 1 << 20

// readIgnore reads the project's .stampignore, unless a link leads out of it.
func (g *gitRun) readIgnore() {
	if project, err := file.Root(g.repo.Project); err == nil {
		data, _ := file.Inside(project, ".stampignore", maxIgnore)
		g.ignore = string(data)
		project.Close()
	}
}

func (g *gitRun) empty() error {
	if err := os.RemoveAll(g.tree); err != nil {
		return fmt.Errorf("empty the tree: %w", err)
	}
	if err := os.MkdirAll(g.tree, 0o700); err != nil {
		return fmt.Errorf("make the tree: %w", err)
	}
	if g.ignore == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(g.tree, ".stampignore"), []byte(g.ignore), 0o600)
}

// key names the context of a source state; equal keys mean equal output.
func (g *gitRun) key(state string) string {
	return store.Digest([]byte(state + "\x00" + g.commit.Prefix + "\x00" + g.a.Profile + strconv.Itoa(g.a.Depth) + strconv.FormatBool(g.a.IncludeStyle) + strconv.Itoa(g.nodes) + g.program.Version.String() + "\x00" + g.ignore))[:32]
}

func (g *gitRun) baseSide(ctx context.Context) (*side, error) {
	info := &compare.SideInfo{
		Kind: "git", Ref: g.commit.Ref, Commit: g.commit.Hash, Describe: g.commit.Describe,
		CreatedAt: g.commit.Time, Options: &g.a,
	}
	if !g.commit.Time.IsZero() {
		info.AgeSeconds = int64(g.comparer.opts.Now().Sub(g.commit.Time).Seconds())
	}
	key := g.key(g.commit.Hash)
	if out := g.cached(key); out != nil {
		out.info = info
		info.Tool = out.Context.Tool
		return out, nil
	}
	if g.keptOnly {
		return nil, errNotKept
	}
	if err := g.empty(); err != nil {
		return nil, err
	}
	g.call.stage("read "+g.commit.Describe, 0)
	found, warnings, err := g.repo.Extract(ctx, g.commit, g.tree, g.a.IncludeStyle)
	if err != nil {
		return nil, err
	}
	out, err := g.analyse(ctx, key, found && len(warnings) == 0)
	if err != nil {
		return nil, err
	}
	info.Tool = out.Context.Tool
	out.info, out.warnings = info, warnings
	return out, nil
}

func (g *gitRun) presentSide(ctx context.Context, force bool) (*side, error) {
	names, err := g.repo.Present(ctx, g.a.IncludeStyle)
	if err != nil {
		return nil, err
	}
	// The key is that of what was copied: neither what was edited meanwhile nor
	// what lies outside the project comes under it.
	if err := g.empty(); err != nil {
		return nil, err
	}
	if err := g.repo.Copy(ctx, names, g.tree); err != nil {
		return nil, err
	}
	copied, err := manifest.Take(ctx, g.tree, manifest.Options{Style: g.a.IncludeStyle})
	if err != nil {
		return nil, err
	}
	state := "present"
	for _, f := range slices.Concat(copied.Files, copied.Inputs) {
		state += "\x00" + f.Path + "\x00" + f.SHA256
	}
	key, source := g.key(state), "private"
	out := g.cached(key)
	if out == nil || force {
		if g.keptOnly {
			return nil, errNotKept
		}
		source = "regenerated"
		if out, err = g.analyse(ctx, key, true); err != nil {
			return nil, err
		}
	}
	// Only sources were copied.
	if here, err := g.comparer.ws.takeManifest(ctx, g.repo.Project, g.a.IncludeStyle); err == nil {
		out.Sources.Configs = here.Configs
	}
	out.info = &compare.SideInfo{Source: source, CreatedAt: out.Context.CreatedAt, Tool: out.Context.Tool, Options: &g.a}
	out.freshness = &compare.Freshness{State: fresh}
	return out, nil
}

// cached gives a side that an earlier run left; nil when there is none.
func (g *gitRun) cached(key string) *side {
	dir := filepath.Join(g.dir, key)
	sources, err := manifest.Load(dir)
	if err != nil {
		return nil
	}
	c := g.comparer.ws.contexts.get(dir)
	if c == nil {
		if c, err = contract.Read(dir, contract.Options{Project: g.tree}); err != nil {
			return nil
		}
		g.comparer.ws.contexts.put(dir, c)
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now)
	return g.side(c, sources)
}

func (g *gitRun) side(c *contract.Context, sources *manifest.Manifest) *side {
	out := &side{analysis: g.a}
	out.Context, out.Sources, out.Profile = c, sources, g.a.Profile
	return out
}

// analyse stamps the tree as it stands and keeps the outcome under key.
func (g *gitRun) analyse(ctx context.Context, key string, keep bool) (*side, error) {
	sources, err := manifest.Take(ctx, g.tree, manifest.Options{Style: g.a.IncludeStyle})
	if err != nil {
		return nil, err
	}
	if len(sources.Files) == 0 {
		return g.side(contract.Empty(g.tree, g.program.Version.Tool()), sources), nil
	}
	staging, err := os.MkdirTemp(g.dir, ".staging-")
	if err != nil {
		return nil, fmt.Errorf("make a staging folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(staging) }()
	done, err := g.comparer.refresher.gate.run(ctx)
	if err != nil {
		return nil, err
	}
	g.call.stage("stamp", 0)
	err = g.comparer.refresher.cli.Context(ctx, g.program, g.tree, staging, g.a, g.nodes)
	done()
	switch code := problem.CodeOf(err); {
	case code == problem.NoRoots || code == problem.NoSources:
		return g.side(contract.Empty(g.tree, g.program.Version.Tool()), sources), nil
	case err != nil:
		return nil, err
	}
	c, err := contract.Read(staging, contract.Options{Project: g.tree})
	if err != nil {
		return nil, incompleteRun(err)
	}
	if keep && sources.Save(staging, 0o600) == nil {
		dir := filepath.Join(g.dir, key)
		_ = os.RemoveAll(dir)
		if file.Move(staging, dir) == nil {
			c.Dir = dir
			g.comparer.ws.contexts.put(dir, c)
		}
	}
	return g.side(c, sources), nil
}

// forget removes the contexts used longest ago beyond the limit, and what a
// crash left behind.
func (g *gitRun) forget() {
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		return
	}
	type kept struct {
		name string
		used time.Time
	}
	var list []kept
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || e.Name() == "tree" {
			continue
		}
		list = append(list, kept{e.Name(), info.ModTime()})
	}
	slices.SortFunc(list, func(a, b kept) int { return b.used.Compare(a.used) })
	for i, k := range list {
		if i >= keepGit || k.name[0] == '.' {
			_ = os.RemoveAll(filepath.Join(g.dir, k.name))
		}
	}
}
