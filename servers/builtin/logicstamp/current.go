package logicstamp

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/watch"
)

// side is one side of a comparison with what is known about it.
type side struct {
	compare.Side
	info      *compare.SideInfo
	analysis  contract.Analysis
	freshness *compare.Freshness
	warnings  []problem.Warning
	published bool
}

// candidate is a context that may stand for the present.
type candidate struct {
	context   *contract.Context
	entry     *store.Entry
	freshness *compare.Freshness
}

// current decides what stands for the present of a project: a context that is
// fresh, else a new analysis, else the newest there is. want are the options
// the other side has; force is the caller's choice, nil for none.
func (cp *comparer) current(ctx context.Context, call Call, project string, want contract.Analysis, force, publish *bool) (*side, error) {
	if given(force, false) {
		return cp.regenerate(ctx, call, project, want, true, publish)
	}
	now, err := cp.ws.takeSources(ctx, project, want.IncludeStyle)
	if err != nil {
		return nil, err
	}
	var watched []problem.Warning
	if w := watch.Look(project); w.Active {
		dir, err := cp.ws.watchDir(call, project, w)
		if err != nil {
			return nil, err
		}
		c, _, sources, f, err := cp.ws.awaitFresh(ctx, dir, project, want.IncludeStyle)
		if err == nil && f.State == fresh {
			return cp.present(candidate{context: c, freshness: f}, sources, "watch"), nil
		}
		watched = append(watched, problem.Warn(problem.WatchStale, "stamp watches the project, but its context is older than the sources"))
	}
	own, kept, err := cp.ws.candidates(ctx, project, want, now)
	if err != nil {
		return nil, err
	}
	for _, c := range orderFresh(own, kept, want) {
		if c.freshness.State == fresh {
			return cp.present(*c, now, sourceOf(*c)), nil
		}
	}
	if own == nil && kept == nil {
		_, err := contract.Read(project, contract.Options{Project: project, Side: "current"})
		return nil, err
	}
	var failed error
	if force == nil {
		out, err := cp.regenerate(ctx, call, project, want, false, new(false))
		if err == nil {
			out.warnings = append(watched, out.warnings...)
			return out, nil
		}
		if !noUsableCLI(err) {
			return nil, err
		}
		failed = err
	}
	best := kept
	if best == nil {
		best = own
	}
	out := cp.present(*best, now, sourceOf(*best))
	out.warnings = append(out.warnings, append([]problem.Warning{problem.Warn(problem.StaleContext, "the current side is older than the sources (%s); pass forceRegenerate: true to analyse them", describeFreshness(best.freshness))}, watched...)...)
	if failed != nil {
		p := problem.Of(failed)
		out.warnings = append(out.warnings, problem.Warn(p.Code, "%s", p.Text))
	}
	return out, nil
}

// orderFresh puts first what was made with the options of the other side.
func orderFresh(own, kept *candidate, want contract.Analysis) []*candidate {
	var out []*candidate
	if own != nil && own.context.Depth() == want.Depth {
		out = append(out, own)
	}
	if kept != nil {
		out = append(out, kept)
	}
	if own != nil && own.context.Depth() != want.Depth {
		out = append(out, own)
	}
	return out
}

func sourceOf(c candidate) string {
	if c.entry != nil {
		return "private"
	}
	return "disk"
}

func describeFreshness(f *compare.Freshness) string {
	all := append(append(append([]string(nil), f.ChangedFiles...), f.NewFiles...), f.DeletedFiles...)
	return strings.Join(all[:min(len(all), 5)], ", ")
}

// noUsableCLI reports whether an analysis failed for want of a command.
func noUsableCLI(err error) bool {
	switch problem.CodeOf(err) {
	case problem.CLINotFound, problem.NodeNotFound, problem.CLIWrong, problem.CLITooOld:
		return true
	default:
		return false
	}
}

// candidates are the project's own context and the newest kept one; of kept
// ones a fresh one with the wanted options comes first.
func (ws *workspace) candidates(ctx context.Context, project string, want contract.Analysis, now *manifest.Manifest) (own, kept *candidate, err error) {
	c, damage := ws.diskContext(project, project, "current")
	if damage == nil {
		own = &candidate{context: c, freshness: ws.diskFreshness(c, project, now)}
	}
	if w := watch.Look(project); w.Active && tornBy(damage) {
		// The watch may be writing it just then.
		if c, _, err := ws.readSettled(ctx, project, project); err == nil {
			own, damage = &candidate{context: c, freshness: ws.diskFreshness(c, project, now)}, nil
		}
	}
	for _, a := range []*contract.Analysis{&want, nil} {
		e := ws.store.Latest(project, a)
		if e == nil {
			continue
		}
		then, err := ws.store.Sources(e)
		if err != nil || ws.store.Verify(e) != nil {
			continue
		}
		c, err := ws.entryContext(e, "current")
		if err != nil {
			continue
		}
		f := freshnessOf(now.Since(then))
		if kept == nil || (kept.freshness.State != fresh && f.State == fresh) {
			kept = &candidate{context: c, entry: e, freshness: f}
		}
	}
	// A damaged context in the project matters only where nothing else is left.
	if kept == nil && damage != nil && problem.CodeOf(damage) != problem.ContextMissing {
		return nil, nil, damage
	}
	return own, kept, nil
}

// tornBy reports whether a context that is being written can fail so.
func tornBy(err error) bool {
	code := problem.CodeOf(err)
	return err != nil && (code == problem.ContextIncomplete || code == problem.BadJSON)
}

// present makes a side of a context that exists.
func (cp *comparer) present(c candidate, now *manifest.Manifest, source string) *side {
	out := &side{freshness: c.freshness, warnings: leftOut(now)}
	out.Context, out.Sources = c.context, now
	out.analysis = contract.Analysis{Depth: c.context.Depth(), IncludeStyle: c.context.HasStyle()}
	out.info = &compare.SideInfo{Source: source, CreatedAt: c.context.CreatedAt, Tool: c.context.Tool}
	if c.entry == nil && c.freshness.State != fresh {
		// A stale side is compared as of its own moment.
		out.Sources, _ = analysed(c.context, nil, now)
	}
	if c.entry != nil {
		out.analysis, out.Profile = c.entry.Analysis, c.entry.Profile
		out.info.CreatedAt = c.entry.CreatedAt
		if then, err := cp.ws.store.Sources(c.entry); err == nil && c.freshness.State != fresh {
			out.Sources = then
		}
	}
	out.info.Options = &out.analysis
	return out
}

// regenerate analyses the present into a private context; unless force, one that
// says the same will do.
func (cp *comparer) regenerate(ctx context.Context, call Call, project string, a contract.Analysis, force bool, publish *bool) (*side, error) {
	made, err := cp.refresher.analyse(ctx, call, project, a, force)
	if err != nil {
		return nil, err
	}
	c := made.context
	if c == nil {
		if c, err = cp.ws.entryContext(made.entry, "current"); err != nil {
			return nil, err
		}
	}
	out := &side{freshness: freshnessOf(manifest.Changes{Changed: made.doubt}), analysis: a, warnings: made.warnings}
	out.Context, out.Sources, out.Profile = c, made.sources, a.Profile
	out.info = &compare.SideInfo{Source: "regenerated", CreatedAt: made.entry.CreatedAt, Tool: c.Tool, Options: &a}
	if made.inc.Reused {
		out.info.Source = "private"
	}
	if given(publish, cp.opts.Publish) && !watch.Look(project).Active {
		warnings, _, err := cp.refresher.publish(ctx, call, made.entry, c, made.sources)
		if err != nil {
			return nil, err
		}
		out.warnings, out.published = slices.Concat(out.warnings, warnings), true
	}
	cp.baselines.cleanStore()
	return out, nil
}
