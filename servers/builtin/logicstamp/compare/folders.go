package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
)

// byPath maps a context's folders; of two with one path the bundles are joined.
func byPath(c *contract.Context) map[string]*contract.Folder {
	out := map[string]*contract.Folder{}
	for _, f := range c.Folders {
		if old, ok := out[f.Path]; ok {
			joined := *old
			joined.Bundles = slices.Concat(old.Bundles, f.Bundles)
			joined.Tokens += f.Tokens
			out[f.Path] = &joined
			continue
		}
		out[f.Path] = f
	}
	return out
}

// compareFolders walks the union of the folders.
func (c *comparison) compareFolders(opts Options) {
	before, after := byPath(c.base.Context), byPath(c.cur.Context)
	s := &c.result.Summary
	delta := 0
	paths := unionKeys(before, after)
	slices.SortFunc(paths, contract.CompareFolders)
	for _, p := range paths {
		if opts.stopped() {
			break
		}
		b, a := before[p], after[p]
		diff := FolderDiff{Path: p, Changes: c.folderChanges(b, a)}
		s.TotalFolders++
		switch {
		case b == nil:
			diff.Status = FolderAdded
			s.AddedFolders++
		case a == nil:
			diff.Status = FolderRemoved
			s.RemovedFolders++
		case len(diff.Changes) > 0:
			diff.Status = FolderChanged
			s.ChangedFolders++
		default:
			diff.Status = FolderUnchanged
			s.UnchangedFolders++
		}
		if diff.Status == FolderUnchanged {
			if opts.IncludeUnchanged {
				c.result.FolderDiffs = append(c.result.FolderDiffs, diff)
			}
			continue
		}
		delta += folderDelta(b, a, diff.Changes)
		c.result.Status = Diff
		c.result.FolderDiffs = append(c.result.FolderDiffs, diff)
	}
	for _, f := range before {
		s.TokensBefore += f.Tokens
	}
	s.TokenDelta = TokenDelta{GPT4oMini: delta, Claude: int(math.Round(ClaudeFactor * float64(delta)))}
	eb, okB := c.base.Context.Summary.Estimates["claude"]
	ea, okA := c.cur.Context.Summary.Estimates["claude"]
	if okA && okB && c.result.Status == Diff {
		s.TokenDelta.Claude = ea - eb
	}
}

// folderDelta is the change of a folder's estimate, else the sum of its
// changes.
func folderDelta(b, a *contract.Folder, changes []ComponentChange) int {
	if (b == nil || b.HasTokens) && (a == nil || a.HasTokens) {
		d := 0
		if a != nil {
			d += a.Tokens
		}
		if b != nil {
			d -= b.Tokens
		}
		return d
	}
	d := 0
	for _, ch := range changes {
		d += ch.TokenDelta
	}
	return d
}

func bundlesOf(f *contract.Folder) map[string]*contract.Bundle {
	out := map[string]*contract.Bundle{}
	if f == nil {
		return out
	}
	for _, b := range f.Bundles {
		if _, ok := out[b.Root]; !ok {
			out[b.Root] = b
		}
	}
	return out
}

// folderChanges compares the bundles of one folder by the path of their root.
func (c *comparison) folderChanges(b, a *contract.Folder) []ComponentChange {
	before, after := bundlesOf(b), bundlesOf(a)
	roots := unionKeys(before, after)
	names := contract.RootNames(roots)
	changes := []ComponentChange{}
	for _, root := range roots {
		ob, nb := before[root], after[root]
		var change *ComponentChange
		switch {
		case ob == nil:
			change = c.bundleAdded(root, nb)
		case nb == nil:
			change = c.bundleRemoved(root, ob)
		default:
			change = c.bundleChanged(root, ob, nb)
		}
		if change == nil {
			continue
		}
		change.RootComponent, change.EntryID = names[root], root
		if ob != nil {
			change.TokensBefore, change.BundleHashBefore = ob.Tokens, ob.Hash
		}
		if nb != nil {
			change.TokensAfter, change.BundleHashAfter = nb.Tokens, nb.Hash
		}
		change.TokenDelta = change.TokensAfter - change.TokensBefore
		changes = append(changes, *change)
	}
	slices.SortStableFunc(changes, func(x, y ComponentChange) int {
		return cmp.Or(strings.Compare(x.RootComponent, y.RootComponent), strings.Compare(string(x.Type), string(y.Type)), strings.Compare(x.EntryID, y.EntryID))
	})
	return changes
}

func (c *comparison) bundleAdded(root string, b *contract.Bundle) *ComponentChange {
	change := &ComponentChange{Type: BundleAdded, Details: &Details{Reason: "new"}}
	if n := b.RootNode(); n != nil {
		change.SemanticHashAfter = n.Contract.SemanticHash
	}
	here, _ := c.base.exists(root)
	switch from, moved := c.back[root]; {
	case moved:
		change.Details.Reason, change.Details.MovedFrom = "moved", from
	case c.old[root].Contract != nil:
		change.Details.Reason = "became_root"
	case here:
		change.Details.Reason = "revealed"
	}
	return change
}

func (c *comparison) bundleRemoved(root string, b *contract.Bundle) *ComponentChange {
	change := &ComponentChange{Type: BundleRemoved, Details: &Details{Reason: "deleted"}}
	if n := b.RootNode(); n != nil {
		change.SemanticHashBefore = n.Contract.SemanticHash
	}
	here, _ := c.cur.exists(root)
	switch to, moved := c.moves[root]; {
	case moved:
		change.Details.Reason, change.Details.MovedTo = "moved", to
	case c.now[root].Contract != nil:
		change.Details.Reason = "became_dependency"
	case here:
		change.Details.Reason = "hidden"
	}
	return change
}

// bundleChanged compares two bundles of one root; nil when nothing differs.
func (c *comparison) bundleChanged(root string, b, a *contract.Bundle) *ComponentChange {
	if b.Damaged || a.Damaged {
		if b.Hash == a.Hash || !c.sameTool {
			return nil
		}
		return &ComponentChange{Type: HashChanged, Details: &Details{ModifiedFields: []string{"bundleHash"}}}
	}
	change := &ComponentChange{
		SemanticHashBefore: b.RootNode().Contract.SemanticHash, SemanticHashAfter: a.RootNode().Contract.SemanticHash,
	}
	own := c.contracts[root]
	if own != nil && own.Change == Changed && !slices.Equal(own.Details.ModifiedFields, []string{"semanticHash"}) {
		change.Type, change.Details = typeOf(own.Details, own.After.Words), own.Details
		return change
	}
	d := c.innerDetails(b, a)
	if own != nil && own.Change == Changed {
		d.ModifiedFields = append(d.ModifiedFields, "semanticHash")
	}
	if len(d.ModifiedFields)+len(d.ChangedDependencies)+len(d.AddedDependencies)+len(d.RemovedDependencies) == 0 {
		if b.Hash == a.Hash || !c.sameTool || !c.sameShape || !c.samePlace {
			return nil
		}
		d.ModifiedFields = append(d.ModifiedFields, "bundleHash")
	}
	slices.Sort(d.ModifiedFields)
	change.Type, change.Details = HashChanged, d
	return change
}

// innerDetails compares what lies below a root.
func (c *comparison) innerDetails(b, a *contract.Bundle) *Details {
	d := &Details{}
	before, after := nodeSet(b), nodeSet(a)
	for _, id := range unionKeys(before, after) {
		change := c.contracts[id]
		switch {
		case before[id] && after[id]:
			if id != b.Root && change != nil && change.Change == Changed {
				d.ChangedDependencies = append(d.ChangedDependencies, dependencyOf(change))
			}
		case !c.sameShape || !c.sameTool:
		case after[id]:
			d.AddedDependencies = append(d.AddedDependencies, id)
		default:
			d.RemovedDependencies = append(d.RemovedDependencies, id)
		}
	}
	if c.sameShape && c.sameTool {
		if !slices.Equal(b.Edges, a.Edges) {
			d.ModifiedFields = append(d.ModifiedFields, "graph.edges")
		}
		if !slices.Equal(b.Missing, a.Missing) {
			d.ModifiedFields = append(d.ModifiedFields, "meta.missing")
		}
	}
	return d
}

func dependencyOf(change *ContractChange) Dependency {
	dep := Dependency{EntryID: change.EntryID, Type: HashChanged, ModifiedFields: change.Details.ModifiedFields}
	if !slices.Equal(dep.ModifiedFields, []string{"semanticHash"}) {
		dep.Type = typeOf(change.Details, change.After.Words)
	}
	return dep
}

func nodeSet(b *contract.Bundle) map[string]bool {
	out := map[string]bool{}
	for _, n := range b.Nodes {
		out[n.ID] = true
	}
	return out
}
