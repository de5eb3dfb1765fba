package logicstamp

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/search"
)

// SearchArgs are the arguments of Search.
type SearchArgs struct {
	search.Query
	SnapshotID, Project string
	// From is how many hits to leave out, Limit how many to tell: 20 when 0.
	From, Limit int
}

// Found is the result of Search.
type Found struct {
	Origin
	Total    int             `json:"total"`
	Hits     []FoundContract `json:"hits"`
	Coverage HiddenCoverage  `json:"coverage"`
}

// FoundContract is one found contract and where to read it.
type FoundContract struct {
	EntryID       string         `json:"entryId"`
	Name          string         `json:"name"`
	Kind          string         `json:"kind,omitempty"`
	Role          string         `json:"role"`
	Score         float64        `json:"score"`
	Matched       []search.Match `json:"matched,omitempty"`
	BundlePath    string         `json:"bundlePath,omitempty"`
	RootComponent string         `json:"rootComponent,omitempty"`
	UsedBy        []string       `json:"usedBy,omitempty"`
	Props         []string       `json:"props,omitempty"`
	SemanticHash  string         `json:"semanticHash,omitempty"`
}

// searchCache keeps the index of the context searched last.
type searchCache struct {
	mu    sync.Mutex
	of    *contract.Context
	index *search.Index
}

func (sc *searchCache) get(c *contract.Context) *search.Index {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.of != c {
		sc.of, sc.index = c, search.New(c)
	}
	return sc.index
}

// Search finds contracts by words and by what they use.
func (s *Service) Search(ctx context.Context, call Call, args SearchArgs) (*Found, error) {
	args.FolderPrefix = cleanPrefix(args.FolderPrefix)
	if args.Empty() {
		return nil, problem.New(problem.BadArgument, "pass query or at least one of kind, folderPrefix, hasProp, usesHook, usesComponent, imports, exports, role", "nothing to search for")
	}
	if args.SnapshotID == "" && args.Project == "" {
		if project, err := s.access.project(call, ""); err == nil {
			if e, _, _ := s.baselines.own(call, project); e != nil {
				args.SnapshotID = e.ID
			}
		}
	}
	src, err := s.workspace.source(ctx, call, args.SnapshotID, args.Project)
	if err != nil {
		return nil, err
	}
	if err := src.context.NeedBundles(); err != nil {
		return nil, err
	}
	hits := s.searches.get(src.context).Find(args.Query)
	out := &Found{src.Origin, len(hits), []FoundContract{}, hiddenOf(src.context, src.sources)}
	bundles := src.context.Bundles()
	from := min(max(args.From, 0), len(hits))
	for _, h := range hits[from:min(from+cmp.Or(args.Limit, 20), len(hits))] {
		out.Hits = append(out.Hits, foundContract(h, bundles))
	}
	return out, nil
}

func foundContract(h search.Hit, bundles map[string]*contract.Bundle) FoundContract {
	f := FoundContract{
		EntryID: h.ID, Name: contract.Name(h.ID), Kind: h.Visible.Kind, Role: "dependency", Score: h.Score, Matched: h.Matched(),
		Props: slices.Sorted(maps.Keys(h.Visible.Props)), SemanticHash: h.Visible.SemanticHash,
	}
	root := h.ID
	if h.Visible.Root {
		f.Role = "root"
	} else {
		used := slices.Sorted(slices.Values(h.Visible.Roots))
		f.UsedBy = used[:min(len(used), 10)]
		root = nearestRoot(h.ID, used, bundles)
	}
	if b := bundles[root]; b != nil {
		f.BundlePath, f.RootComponent = b.File, contract.Name(root)
	}
	return f
}

// nearestRoot is the root that reaches a contract over the fewest edges.
func nearestRoot(id string, roots []string, bundles map[string]*contract.Bundle) string {
	best, least := "", -1
	for _, root := range roots {
		b := bundles[root]
		if b == nil {
			continue
		}
		if d := hops(b, id); least < 0 || d < least {
			best, least = root, d
		}
	}
	return best
}

// hops counts the edges from a bundle's root to one of its nodes; unreachable
// ones are far away.
func hops(b *contract.Bundle, id string) int {
	seen := map[string]bool{b.Root: true}
	front := []string{b.Root}
	for d := 0; len(front) > 0; d++ {
		var next []string
		for _, at := range front {
			if at == id {
				return d
			}
			for _, e := range b.Edges {
				if e[0] == at && !seen[e[1]] {
					seen[e[1]] = true
					next = append(next, e[1])
				}
			}
		}
		front = next
	}
	return 1 << 20
}
