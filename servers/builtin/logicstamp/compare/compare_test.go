package compare_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
)

// world is a made-up project: components with their contracts and what they
// render.
type world struct {
	parts   map[string]map[string]any
	renders map[string][]string
	texts   map[string]string
	depth   int
}

func (w world) clone() world {
	out := world{map[string]map[string]any{}, map[string][]string{}, maps.Clone(w.texts), w.depth}
	for id, c := range w.parts {
		out.parts[id] = maps.Clone(c)
		out.renders[id] = slices.Clone(w.renders[id])
	}
	return out
}

func randomWorld(r *rand.Rand) world {
	w := world{map[string]map[string]any{}, map[string][]string{}, map[string]string{}, 2}
	for range 1 + r.IntN(8) {
		w.grow(r)
	}
	for range r.IntN(6) {
		w.edit(r)
	}
	return w
}

func (w world) grow(r *rand.Rand) {
	id := []string{"", "src/", "src/parts/", "lib/"}[r.IntN(4)] + string(rune('A'+r.IntN(9))) + ".tsx"
	w.parts[id] = map[string]any{
		"props": map[string]any{"x": "number"}, "imports": []string{"react"}, "functions": []string{path.Base(id)},
		"exports": any("default"), "seed": r.IntN(4),
	}
	w.texts[id] = fmt.Sprint(r.IntN(100))
}

// edit changes one thing.
func (w world) edit(r *rand.Rand) {
	ids := slices.Sorted(maps.Keys(w.parts))
	if len(ids) == 0 {
		w.grow(r)
		return
	}
	id := ids[r.IntN(len(ids))]
	c := w.parts[id]
	w.texts[id] += "!"
	switch r.IntN(9) {
	case 0:
		c["props"] = map[string]any{"x": []any{"string", map[string]any{"type": "boolean", "optional": true}}[r.IntN(2)], fmt.Sprint("p", r.IntN(3)): "string"}
	case 1:
		c["imports"] = []string{"react", fmt.Sprint("./m", r.IntN(3))}
	case 2:
		c["exports"] = []any{"named", "default", map[string]any{"named": []string{"a", fmt.Sprint("b", r.IntN(2))}}}[r.IntN(3)]
	case 3:
		w.renders[id] = append(w.renders[id], ids[r.IntN(len(ids))])
	case 4:
		w.renders[id] = nil
	case 5:
		delete(w.parts, id)
		delete(w.renders, id)
		delete(w.texts, id)
	case 6:
		w.grow(r)
	case 7:
		c["functions"] = []string{fmt.Sprint("f", r.IntN(3))}
	}
}

// node is a contract in the words of one of the two vocabularies.
func (w world) node(id string, old bool) map[string]any {
	c := w.parts[id]
	composition, face := "composition", "interface"
	if old {
		composition, face = "version", "logicSignature"
	}
	semantic, _ := json.Marshal([]any{c["props"], c["functions"], c["seed"]})
	return map[string]any{"entryId": id, "contract": map[string]any{
		"kind": "react:component", "entryId": id, "exports": c["exports"],
		composition: map[string]any{"imports": c["imports"], "functions": c["functions"]},
		face:        map[string]any{"props": c["props"]},
		"fileHash":  "uif:" + w.texts[id], "semanticHash": "uif:" + string(semantic),
	}}
}

// context writes the project as the CLI would and reads it back; shuffle mixes
// every order that must not matter.
func (w world) context(t testing.TB, shuffle *rand.Rand, tool string) compare.Side {
	t.Helper()
	used := map[string]bool{}
	for id, list := range w.renders {
		for _, to := range list {
			used[to] = used[to] || to != id
		}
	}
	folders := map[string][]any{}
	for _, id := range slices.Sorted(maps.Keys(w.parts)) {
		if !used[id] {
			folders[path.Dir(id)] = append(folders[path.Dir(id)], w.bundle(id, shuffle, tool == "old@0.4.1"))
		}
	}
	files := map[string][]byte{}
	var list []any
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		mix(shuffle, folders[dir])
		data, err := json.Marshal(folders[dir])
		if err != nil {
			t.Fatal(err)
		}
		files[path.Join(dir, "context.json")] = data
		list = append(list, map[string]any{"path": dir, "contextFile": path.Join(dir, "context.json"), "bundles": len(folders[dir]), "tokenEstimate": len(data) / 4})
	}
	mix(shuffle, list)
	index, err := json.Marshal(map[string]any{"type": "LogicStampIndex", "schemaVersion": "0.2", "folders": list, "meta": map[string]any{"source": tool}})
	if err != nil {
		t.Fatal(err)
	}
	files[contract.IndexFile] = index
	c, err := contract.ReadFrom("w", contract.Options{Project: "/p"}, func(name string, _ int64) ([]byte, error) {
		if data, ok := files[name]; ok {
			return data, nil
		}
		return nil, fs.ErrNotExist
	})
	if err != nil {
		t.Fatal(err)
	}
	sources := &manifest.Manifest{}
	for _, id := range slices.Sorted(maps.Keys(w.parts)) {
		sources.Files = append(sources.Files, manifest.File{Path: id, SHA256: w.texts[id], FileHash: "uif:" + w.texts[id]})
	}
	return compare.Side{Context: c, Sources: sources}
}

func mix(r *rand.Rand, list []any) {
	if r != nil {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
}

func (w world) bundle(root string, shuffle *rand.Rand, old bool) any {
	reached := map[string]int{root: 0}
	front := []string{root}
	for len(front) > 0 {
		id := front[0]
		front = front[1:]
		for _, to := range w.renders[id] {
			if _, seen := reached[to]; !seen && reached[id] < w.depth && w.parts[to] != nil {
				reached[to] = reached[id] + 1
				front = append(front, to)
			}
		}
	}
	var nodes, edges []any
	for _, id := range slices.Sorted(maps.Keys(reached)) {
		nodes = append(nodes, w.node(id, old))
		for _, to := range w.renders[id] {
			if _, ok := reached[to]; ok {
				edges = append(edges, []string{id, to})
			}
		}
	}
	mix(shuffle, nodes)
	mix(shuffle, edges)
	sorted, _ := json.Marshal(slices.Sorted(maps.Keys(reached)))
	return map[string]any{
		"entryId": root, "depth": w.depth, "bundleHash": "uifb:" + string(sorted), "position": fmt.Sprint(len(nodes)),
		"graph": map[string]any{"nodes": nodes, "edges": edges},
	}
}

func essence(t testing.TB, r *compare.Result) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// FuzzCompare holds over made-up projects what is true of every comparison.
func FuzzCompare(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		one := randomWorld(r)
		two := one.clone()
		for range 1 + r.IntN(5) {
			two.edit(r)
		}
		const tool = "logicstamp-context@0.8.8"
		a, b := one.context(t, nil, tool), two.context(t, nil, tool)
		if same := compare.Compare(a, one.context(t, r, tool), compare.Options{}); same.Status != compare.Pass || len(same.ContractChanges) > 0 || same.Summary.TokenDelta != (compare.TokenDelta{}) {
			t.Fatalf("a project differs from itself in another order: %s", essence(t, same))
		}
		forward, back := compare.Compare(a, b, compare.Options{}), compare.Compare(b, a, compare.Options{})
		checkMirror(t, forward, back)
		checkSums(t, forward)
		if again := compare.Compare(a, two.context(t, r, tool), compare.Options{}); essence(t, again) != essence(t, forward) {
			t.Fatalf("the order of what is read changes the result:\n%s\n%s", essence(t, forward), essence(t, again))
		}
		// Another extractor's words for the same sources are no drift.
		if other := compare.Compare(one.context(t, nil, "old@0.4.1"), a, compare.Options{}); other.Status != compare.Pass || len(other.ContractChanges) > 0 {
			t.Fatalf("another vocabulary counts as drift: %s", essence(t, other))
		}
		checkDeeper(t, one, two)
		whole := compare.Compare(a, b, compare.Options{IncludeUnchanged: true})
		if len(whole.FolderDiffs) != whole.Summary.TotalFolders {
			t.Fatalf("%d of %d folders listed", len(whole.FolderDiffs), whole.Summary.TotalFolders)
		}
	})
}

func checkMirror(t *testing.T, ab, ba *compare.Result) {
	t.Helper()
	s, m := ab.Summary, ba.Summary
	mirrored := compare.Contracts{
		Added: m.Contracts.Removed, Removed: m.Contracts.Added, Changed: m.Contracts.Changed,
		Moved: m.Contracts.Moved, Hidden: m.Contracts.Revealed, Revealed: m.Contracts.Hidden,
	}
	if ab.Status != ba.Status || s.AddedFolders != m.RemovedFolders || s.RemovedFolders != m.AddedFolders ||
		s.ChangedFolders != m.ChangedFolders || s.TokenDelta.GPT4oMini != -m.TokenDelta.GPT4oMini || s.Contracts != mirrored {
		t.Fatalf("not a mirror:\n%s\n%s", essence(t, ab), essence(t, ba))
	}
	var there, back []string
	types := map[compare.ChangeType]compare.ChangeType{compare.BundleAdded: compare.BundleRemoved, compare.BundleRemoved: compare.BundleAdded}
	for _, f := range ab.FolderDiffs {
		for _, c := range f.Changes {
			kind := c.Type
			if other, ok := types[kind]; ok {
				kind = other
			}
			there = append(there, fmt.Sprint(c.EntryID, kind, -c.TokenDelta))
		}
	}
	for _, f := range ba.FolderDiffs {
		for _, c := range f.Changes {
			back = append(back, fmt.Sprint(c.EntryID, c.Type, c.TokenDelta))
		}
	}
	slices.Sort(there)
	slices.Sort(back)
	if !slices.Equal(there, back) {
		t.Fatalf("changes are no mirror:\n%q\n%q", there, back)
	}
}

func checkSums(t *testing.T, r *compare.Result) {
	t.Helper()
	s := r.Summary
	if s.UnchangedFolders+s.ChangedFolders+s.AddedFolders+s.RemovedFolders != s.TotalFolders {
		t.Fatalf("folders do not add up: %+v", s)
	}
	if (r.Status == compare.Pass) != (len(r.FolderDiffs) == 0) {
		t.Fatalf("status %s with %d folders", r.Status, len(r.FolderDiffs))
	}
	c := s.Contracts
	if c.Added+c.Removed+c.Changed+c.Moved+c.Hidden+c.Revealed != len(r.ContractChanges) {
		t.Fatalf("contracts do not add up: %+v", s)
	}
	for _, change := range r.ContractChanges {
		if change.Change == compare.Changed && (change.Details == nil || len(change.Details.ModifiedFields) == 0) {
			t.Fatalf("a change that says nothing: %+v", change)
		}
		if strings.Contains(essence(t, r), `"modifiedFields":[]`) {
			t.Fatal("an empty list of fields")
		}
	}
}

// checkDeeper holds that looking deeper hides nothing and keeps the sums.
func checkDeeper(t *testing.T, one, two world) {
	t.Helper()
	const tool = "logicstamp-context@0.8.8"
	one, two = one.clone(), two.clone()
	one.depth, two.depth = 1, 1
	a, b := one.context(t, nil, tool), two.context(t, nil, tool)
	shallow, deep := compare.Compare(a, b, compare.Options{IncludeUnchanged: true}), compare.Compare(a, b, compare.Options{IncludeUnchanged: true})
	one.depth, two.depth = 64, 64
	compare.Deepen(deep, b, one.context(t, nil, tool), two.context(t, nil, tool))
	if len(deep.ContractChanges) < len(shallow.ContractChanges) || len(deep.Coverage.Uncovered) > len(shallow.Coverage.Uncovered) || shallow.Status == compare.Diff && deep.Status == compare.Pass {
		t.Fatalf("deeper shows less:\n%s\n%s", essence(t, shallow), essence(t, deep))
	}
	s := deep.Summary
	if s.UnchangedFolders+s.ChangedFolders+s.AddedFolders+s.RemovedFolders != s.TotalFolders || len(deep.FolderDiffs) != s.TotalFolders {
		t.Fatalf("folders do not add up: %+v", s)
	}
	if s.Contracts.Changed < shallow.Summary.Contracts.Changed || deep.Status == compare.Pass && len(deep.ContractChanges) > 0 {
		t.Fatalf("contracts do not add up: %s", essence(t, deep))
	}
}
