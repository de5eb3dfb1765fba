package compare

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Deepen compares what a result could not see with contexts of the same two
// moments that reach deeper. What they show is taken out of the uncovered files;
// a contract that changed makes the result a diff, with an entry for the
// nearest root that cur shows.
func Deepen(r *Result, cur, deepBase, deepCur Side) {
	if r.Coverage == nil || len(r.Coverage.Uncovered) == 0 {
		return
	}
	deep := Compare(deepBase, deepCur, Options{})
	changes := map[string]ContractChange{}
	for _, c := range deep.ContractChanges {
		changes[c.EntryID] = c
	}
	before, after := deepBase.Context.Visible(), deepCur.Context.Visible()
	var left []string
	for _, p := range r.Coverage.Uncovered {
		_, was := before[p]
		_, is := after[p]
		change, changed := changes[p]
		switch {
		case !was || !is:
			left = append(left, p)
		case changed && change.Change == Changed:
			r.addDeep(change, cur.Context)
		default:
			r.ContentOnly = append(r.ContentOnly, p)
			r.Summary.ContentOnly++
		}
	}
	slices.Sort(r.ContentOnly)
	r.ContentOnly = r.ContentOnly[:min(len(r.ContentOnly), maxContentOnly)]
	r.Coverage.Uncovered = left
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w problem.Warning) bool { return w.Code == problem.UncoveredChanges })
	if n := len(left); n > 0 {
		r.Warnings = append(r.Warnings, uncovered(left))
	}
	slices.SortStableFunc(r.ContractChanges, func(a, b ContractChange) int { return strings.Compare(a.EntryID, b.EntryID) })
}

func uncovered(paths []string) problem.Warning {
	n := len(paths)
	return problem.Warn(problem.UncoveredChanges, "not compared, being beyond the depth or in a cycle: %s: %s", humanize.Count(n, "changed file"), strings.Join(paths[:min(n, 5)], ", "))
}

// addDeep adds a contract change that only the deeper context shows.
func (r *Result) addDeep(change ContractChange, cur *contract.Context) {
	// What is visible on one side only was told as hidden or revealed.
	r.ContractChanges = slices.DeleteFunc(r.ContractChanges, func(c ContractChange) bool {
		if c.EntryID != change.EntryID {
			return false
		}
		switch c.Change {
		case Hidden:
			r.Summary.Contracts.Hidden--
		case Revealed:
			r.Summary.Contracts.Revealed--
		default:
		}
		return true
	})
	r.ContractChanges = append(r.ContractChanges, change)
	r.Status = Diff
	r.Summary.Contracts.Changed++
	for _, b := range change.Breaking {
		if b.Severity == Error {
			r.Summary.Breaking.Errors++
		} else {
			r.Summary.Breaking.Warnings++
		}
	}
	bundles := cur.Bundles()
	for _, root := range change.Affects {
		if b := bundles[root]; b != nil {
			r.addThrough(b, dependencyOf(&change))
			return
		}
	}
}

// addThrough tells that a root changed through a dependency.
func (r *Result) addThrough(b *contract.Bundle, dep Dependency) {
	folder := r.folder(b.Folder)
	for i := range folder.Changes {
		if c := &folder.Changes[i]; c.EntryID == b.Root {
			if c.Details == nil {
				c.Details = &Details{}
			}
			c.Details.ChangedDependencies = append(c.Details.ChangedDependencies, dep)
			return
		}
	}
	name := contract.Name(b.Root)
	if slices.ContainsFunc(folder.Changes, func(c ComponentChange) bool { return c.RootComponent == name }) {
		name = path.Base(b.Root)
	}
	c := ComponentChange{
		RootComponent: name, EntryID: b.Root, Type: HashChanged, BundleHashBefore: b.Hash, BundleHashAfter: b.Hash,
		TokensBefore: b.Tokens, TokensAfter: b.Tokens, Details: &Details{ChangedDependencies: []Dependency{dep}},
	}
	if n := b.RootNode(); n != nil {
		c.SemanticHashBefore, c.SemanticHashAfter = n.Contract.SemanticHash, n.Contract.SemanticHash
	}
	folder.Changes = append(folder.Changes, c)
	slices.SortStableFunc(folder.Changes, func(x, y ComponentChange) int { return strings.Compare(x.RootComponent, y.RootComponent) })
}

// folder finds a folder's entry, or makes it one that changed.
func (r *Result) folder(p string) *FolderDiff {
	at := slices.IndexFunc(r.FolderDiffs, func(f FolderDiff) bool { return f.Path == p })
	if at < 0 {
		r.FolderDiffs = append(r.FolderDiffs, FolderDiff{Path: p, Status: FolderUnchanged})
		slices.SortFunc(r.FolderDiffs, func(a, b FolderDiff) int { return contract.CompareFolders(a.Path, b.Path) })
		at = slices.IndexFunc(r.FolderDiffs, func(f FolderDiff) bool { return f.Path == p })
	}
	f := &r.FolderDiffs[at]
	if f.Status == FolderUnchanged {
		f.Status = FolderChanged
		r.Summary.UnchangedFolders--
		r.Summary.ChangedFolders++
	}
	return f
}
