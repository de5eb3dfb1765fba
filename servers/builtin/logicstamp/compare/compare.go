package compare

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/outline"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// ClaudeFactor turns the index's estimate into one for Claude; it was measured
// on four projects as 1.033 to 1.048.
const ClaudeFactor = 1.04

// Limits of the lists in a result.
const (
	maxContentOnly = 200
	maxAffects     = 20
)

// Side is one side of a comparison.
type Side struct {
	Context *contract.Context
	// Sources are the files at the moment of the context, nil when unknown.
	Sources *manifest.Manifest
	// Profile is the one the context was made with, "" when unknown.
	Profile string
}

// Options change what is answered.
type Options struct {
	// IncludeUnchanged lists unchanged folders too.
	IncludeUnchanged bool
	// Context ends the comparison, which is then incomplete; nil: nothing does.
	Context context.Context //nolint:containedctx // that of one comparison
}

// stopped reports whether the comparison is to end.
func (o Options) stopped() bool { return o.Context != nil && o.Context.Err() != nil }

// comparison is one run.
type comparison struct {
	opts        Options
	base, cur   Side
	old, now    map[string]contract.Visible
	sameTool    bool
	sameShape   bool
	samePlace   bool
	contracts   map[string]*ContractChange
	moves, back map[string]string
	result      *Result
}

// Compare finds what changed from base to cur. Names, times and warnings about
// how the sides were made are the caller's to fill in.
func Compare(base, cur Side, opts Options) *Result {
	c := &comparison{
		opts: opts, base: base, cur: cur, old: base.Context.Visible(), now: cur.Context.Visible(),
		sameTool:  base.Context.Tool == cur.Context.Tool,
		sameShape: base.Context.Depth() == cur.Context.Depth() && (base.Profile == "llm-safe") == (cur.Profile == "llm-safe"),
		samePlace: base.Context.Project == cur.Context.Project,
		contracts: map[string]*ContractChange{},
		moves:     map[string]string{}, back: map[string]string{},
		result: &Result{Status: Pass, FolderDiffs: []FolderDiff{}, ContractChanges: []ContractChange{}, Warnings: []problem.Warning{}},
	}
	// An empty context has no depth to differ in.
	if len(c.old) == 0 || len(c.now) == 0 {
		c.sameShape = true
	}
	if !c.sameTool {
		c.warn(problem.ToolVersionDiffers, "the baseline was made by %s, the current side by %s; only changes visible in the files are compared", cmp.Or(base.Context.Tool, "an unknown tool"), cmp.Or(cur.Context.Tool, "an unknown tool"))
	}
	c.result.Warnings = append(c.result.Warnings, base.Context.Warnings...)
	c.result.Warnings = append(c.result.Warnings, cur.Context.Warnings...)
	c.findMoves()
	c.compareContracts()
	c.compareFolders(opts)
	c.listContracts()
	c.importers()
	c.cover()
	c.warnSignatures()
	return c.result
}

func (c *comparison) warn(code problem.Code, format string, args ...any) {
	c.result.Warnings = append(c.result.Warnings, problem.Warn(code, format, args...))
}

// unionKeys are the keys of both maps, sorted.
func unionKeys[V, W any](a map[string]V, b map[string]W) []string {
	keys := slices.Collect(maps.Keys(a))
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// exists reports whether a side has a source file; known is false when the side
// has no list of its sources.
func (s Side) exists(p string) (exists, known bool) {
	if s.Sources == nil {
		return false, false
	}
	_, ok := s.Sources.Find(p)
	return ok, true
}

// findMoves pairs contracts whose file is gone with those whose file is new
// and that say the same, where there is exactly one candidate on each side.
func (c *comparison) findMoves() {
	var gone, fresh []string
	for _, p := range unionKeys(c.old, c.now) {
		_, before := c.old[p]
		_, after := c.now[p]
		if before && !after {
			if here, _ := c.cur.exists(p); !here {
				gone = append(gone, p)
			}
		} else if after && !before {
			if here, _ := c.base.exists(p); !here {
				fresh = append(fresh, p)
			}
		}
	}
	match := func(from, to string) bool {
		a, b := c.old[from], c.now[to]
		return (c.sameTool && a.SemanticHash != "" && a.SemanticHash == b.SemanticHash) || (a.FileHash != "" && a.FileHash == b.FileHash)
	}
	forward, backward := map[string][]string{}, map[string][]string{}
	for _, from := range gone {
		if c.opts.stopped() {
			return
		}
		for _, to := range fresh {
			if match(from, to) {
				forward[from] = append(forward[from], to)
				backward[to] = append(backward[to], from)
			}
		}
	}
	for from, tos := range forward {
		if len(tos) == 1 && len(backward[tos[0]]) == 1 {
			c.moves[from], c.back[tos[0]] = tos[0], from
		}
	}
}

// compareContracts finds the change of every contract.
func (c *comparison) compareContracts() {
	for _, p := range unionKeys(c.old, c.now) {
		if c.opts.stopped() {
			break
		}
		before, was := c.old[p]
		after, is := c.now[p]
		switch {
		case was && is:
			c.compareBoth(p, before, after)
		case was:
			c.onlyBefore(p, before)
		default:
			c.onlyAfter(p, after)
		}
	}
	s := &c.result.Summary
	s.ContentOnly = len(c.result.ContentOnly)
	c.result.ContentOnly = c.result.ContentOnly[:min(len(c.result.ContentOnly), maxContentOnly)]
}

func (c *comparison) compareBoth(p string, before, after contract.Visible) {
	if before.Contract == after.Contract {
		return // read from one file
	}
	d := fields(before.Contract, after.Contract)
	sameFile := before.FileHash != "" && before.FileHash == after.FileHash
	if d == nil && c.sameTool && c.samePlace && c.sameShape && before.SemanticHash != after.SemanticHash {
		d = &Details{ModifiedFields: []string{"semanticHash"}}
	}
	if d != nil && !c.sameTool && (sameFile || slices.Equal(d.ModifiedFields, []string{"semanticHash"})) {
		c.result.Summary.ToolOnly++
		return
	}
	var broken []Breaking
	if d != nil {
		broken = breaking(before.Contract, after.Contract, d)
	}
	d, broken = c.addSurface(p, d, broken, before.Contract, after.Contract)
	if d == nil {
		if before.FileHash != after.FileHash && before.FileHash != "" && after.FileHash != "" {
			c.result.ContentOnly = append(c.result.ContentOnly, p)
		}
		return
	}
	change := c.change(p, Changed, before, after)
	change.Details = d
	change.Breaking = broken
}

func (c *comparison) onlyBefore(p string, before contract.Visible) {
	if !before.Root && (!c.sameShape || !c.sameTool) {
		return
	}
	kind, d := Removed, (*Details)(nil)
	here, known := c.cur.exists(p)
	switch to, moved := c.moves[p]; {
	case moved:
		kind, d = Moved, &Details{Reason: "moved", MovedTo: to}
		if c.now[to].Contract != nil {
			if inner := fields(before.Contract, c.now[to].Contract); inner != nil {
				inner.Reason, inner.MovedTo = d.Reason, d.MovedTo
				d = inner
			}
		}
	case known && here:
		kind, d = Hidden, &Details{Reason: "hidden"}
	default:
		d = &Details{Reason: "deleted"}
	}
	change := c.change(p, kind, before, contract.Visible{})
	change.Details = d
	if kind == Moved {
		to := c.now[d.MovedTo]
		change.SemanticHashAfter, change.FileHashAfter, change.After = to.SemanticHash, to.FileHash, to.Contract
	}
	if kind == Removed {
		gone := Breaking{Severity: Error, Kind: "contract_removed", Name: change.Name, Message: "component removed: " + p}
		if f, _ := c.base.Sources.Find(p); f.Outline != nil {
			for _, e := range f.Outline.Exports {
				if decl, ok := f.Outline.Decl(e.Local); ok && (gone.LineBefore == 0 || e.Name == change.Name || e.Name == "default") {
					gone.put(f.Outline, &outline.Outline{}, spanOf(decl), span{})
				}
			}
		}
		change.Breaking = []Breaking{gone}
	}
}

func (c *comparison) onlyAfter(p string, after contract.Visible) {
	if !after.Root && (!c.sameShape || !c.sameTool) {
		return
	}
	if _, moved := c.back[p]; moved {
		return // told once, where it was
	}
	kind, d := Added, &Details{Reason: "new"}
	if here, _ := c.base.exists(p); here {
		kind, d = Revealed, &Details{Reason: "revealed"}
	}
	c.change(p, kind, contract.Visible{}, after).Details = d
}

// change adds a contract change with what both sides say of it.
func (c *comparison) change(p string, kind Change, before, after contract.Visible) *ContractChange {
	change := &ContractChange{EntryID: p, Name: contract.Name(p), Change: kind, Role: "dependency"}
	roots := after.Roots
	if after.Contract == nil {
		roots = before.Roots
	}
	if before.Root || after.Root {
		change.Role = "root"
	}
	if after.Contract != nil && !after.Root {
		change.Role = "dependency"
	}
	if before.Contract != nil {
		change.SemanticHashBefore, change.FileHashBefore = before.SemanticHash, before.FileHash
		change.Kind, change.Before = before.Kind, before.Contract
	}
	if after.Contract != nil {
		change.SemanticHashAfter, change.FileHashAfter = after.SemanticHash, after.FileHash
		change.Kind, change.After = after.Kind, after.Contract
	}
	roots = slices.Clone(roots)
	slices.Sort(roots)
	if len(roots) > maxAffects {
		change.AffectsTotal = len(roots)
		roots = roots[:maxAffects]
	}
	change.Affects = roots
	c.contracts[p] = change
	return change
}

// listContracts puts the contract changes in order and counts them.
func (c *comparison) listContracts() {
	s := &c.result.Summary
	counts := map[Change]*int{
		Added: &s.Contracts.Added, Removed: &s.Contracts.Removed, Changed: &s.Contracts.Changed,
		Moved: &s.Contracts.Moved, Hidden: &s.Contracts.Hidden, Revealed: &s.Contracts.Revealed,
	}
	for _, p := range slices.Sorted(maps.Keys(c.contracts)) {
		change := c.contracts[p]
		*counts[change.Change]++
		if change.Change == Changed && len(c.result.ContractChanges) < maxSources && !c.opts.stopped() {
			change.Lines = c.sourceLines(p)
		}
		for _, b := range change.Breaking {
			if b.Severity == Error {
				s.Breaking.Errors++
			} else {
				s.Breaking.Warnings++
			}
		}
		c.result.ContractChanges = append(c.result.ContractChanges, *change)
	}
}

// warnSignatures says that a pass is not all there is.
func (c *comparison) warnSignatures() {
	list := c.result.Signatures
	if len(list) == 0 {
		return
	}
	var names []string
	for _, s := range list[:min(len(list), 5)] {
		names = append(names, s.EntryID+" "+s.Name)
	}
	c.warn(problem.SignaturesChanged, "%s changed in ways contracts do not record (types of parameters, inline types of props): %s", humanize.Count(len(list), "exported declaration"), strings.Join(names, ", "))
	c.result.Signatures = list[:min(len(list), maxSignatures)]
}

// cover finds the changed files that the comparison could not see.
func (c *comparison) cover() {
	cov := &Coverage{Visible: len(c.now)}
	c.result.Coverage = cov
	if c.cur.Sources == nil {
		cov.Components = max(len(c.now), c.cur.Context.Summary.Components)
		return
	}
	cov.Components = len(c.cur.Sources.Components())
	if c.base.Sources == nil {
		return
	}
	for _, f := range c.cur.Sources.Files {
		was, ok := c.base.Sources.Find(f.Path)
		if !ok || f.FileHash == "" || was.FileHash == f.FileHash {
			continue
		}
		_, before := c.old[f.Path]
		_, after := c.now[f.Path]
		if !before || !after {
			cov.Uncovered = append(cov.Uncovered, f.Path)
		}
	}
	if len(cov.Uncovered) > 0 {
		c.result.Warnings = append(c.result.Warnings, uncovered(cov.Uncovered))
	}
}
