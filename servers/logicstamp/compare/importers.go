package compare

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/outline"
)

// maxImporters is how many importers a change lists.
const maxImporters = 50

// hit is a source that imports another, before it is listed.
type hit struct {
	path string
	in   outline.Import
}

// importers finds who imports what changed so that it breaks.
func (c *comparison) importers() {
	any := slices.ContainsFunc(c.result.ContractChanges, func(x ContractChange) bool { return len(x.Breaking) > 0 })
	if c.cur.Sources == nil || !any {
		return
	}
	files := map[string]*outline.Outline{}
	for _, f := range c.cur.Sources.Files {
		if f.Outline != nil {
			files[f.Path] = f.Outline
		}
	}
	sources := newResolver(files, c.old)
	by := map[string][]hit{}
	for _, p := range unionKeys(files, map[string]int{}) {
		for _, in := range files[p].Imports {
			if to := sources.find(p, in.From); to != "" {
				by[to] = append(by[to], hit{p, in})
			}
		}
	}
	for i := range c.result.ContractChanges {
		x := &c.result.ContractChanges[i]
		if len(x.Breaking) == 0 {
			continue
		}
		lost := map[string]bool{}
		for _, b := range x.Breaking {
			if b.Kind == "export_removed" || strings.HasPrefix(b.Kind, "enum_") || b.Kind == "generic_changed" || strings.HasPrefix(b.Kind, "member_") {
				lost[b.Name] = true
			}
		}
		x.Importers = follow(x.EntryID, lost, by, files)
		if len(x.Importers) > maxImporters {
			x.ImportersTotal = len(x.Importers)
			x.Importers = x.Importers[:maxImporters]
		}
	}
}

// follow lists who imports a source, also by way of others that pass it on;
// those who take what is lost come first.
func follow(p string, lost map[string]bool, by map[string][]hit, files map[string]*outline.Outline) []Importer {
	type step struct {
		path string
		lost map[string]bool
		via  string
	}
	var out []Importer
	seen := map[string]bool{p: true}
	for queue := []step{{p, lost, ""}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, h := range by[at.path] {
			one := Importer{EntryID: h.path, Line: h.in.Line, Via: at.via}
			passed := map[string]bool{}
			for _, name := range h.in.Names {
				if at.lost[name] || name == "*" && len(at.lost) > 0 {
					one.Lost = append(one.Lost, name)
				}
			}
			passes := false
			for _, e := range files[h.path].Exports {
				if e.From != h.in.From {
					continue
				}
				passes = true
				switch {
				case e.Name == "*":
					for name := range at.lost {
						passed[name] = true
					}
				case at.lost[e.Local]:
					passed[e.Name] = true
				}
			}
			one.PassesOn = passes
			if !slices.ContainsFunc(out, func(o Importer) bool { return o.EntryID == one.EntryID && o.Line == one.Line }) {
				out = append(out, one)
			}
			if passes && !seen[h.path] && (len(passed) > 0 || len(lost) == 0) {
				seen[h.path] = true
				queue = append(queue, step{h.path, passed, h.path})
			}
		}
	}
	if len(lost) > 0 { // of those that import a barrel only who takes the name
		out = slices.DeleteFunc(out, func(i Importer) bool { return i.Via != "" && len(i.Lost) == 0 })
	}
	slices.SortStableFunc(out, func(a, b Importer) int {
		if d := len(b.Lost) - len(a.Lost); d != 0 {
			return d
		}
		return strings.Compare(a.EntryID, b.EntryID)
	})
	return out
}

// resolver finds the source that an import names.
type resolver struct {
	known map[string]bool
	// ends are sources by the ends of their paths, for names that a bundler maps.
	ends map[string]string
}

func newResolver[V any](files map[string]*outline.Outline, old map[string]V) resolver {
	r := resolver{known: map[string]bool{}, ends: map[string]string{}}
	for p := range files {
		r.known[p] = true
	}
	for p := range old {
		r.known[p] = true // also what is deleted
	}
	for p := range r.known {
		stem := strings.TrimSuffix(strings.TrimSuffix(p, path.Ext(p)), "/index")
		for {
			if was, taken := r.ends[stem]; taken && was != p {
				r.ends[stem] = "" // of two, none
			} else {
				r.ends[stem] = p
			}
			_, rest, more := strings.Cut(stem, "/")
			if !more || !strings.Contains(rest, "/") {
				break
			}
			stem = rest
		}
	}
	return r
}

func (r resolver) find(from, name string) string {
	if strings.HasPrefix(name, ".") {
		return r.file(path.Join(path.Dir(from), name))
	}
	for _, prefix := range []string{"@/", "~/", "src/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			for _, base := range []string{"src/" + rest, rest} {
				if p := r.file(base); p != "" {
					return p
				}
			}
			return r.ends[rest]
		}
	}
	return ""
}

func (r resolver) file(base string) string {
	bare := base
	switch path.Ext(base) {
	case ".js", ".jsx", ".mjs":
		bare = strings.TrimSuffix(base, path.Ext(base))
	}
	for _, p := range []string{base, bare + ".ts", bare + ".tsx", bare + ".d.ts", base + "/index.ts", base + "/index.tsx"} {
		if r.known[p] {
			return p
		}
	}
	return ""
}
