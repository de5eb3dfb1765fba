package compare

import (
	"maps"
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
	if c.cur.Sources == nil || c.base.Sources == nil || !any {
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
		if c.opts.stopped() {
			return
		}
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
		x.Importers = follow(x.EntryID, c.given(x), by, files)
		if len(x.Importers) > maxImporters {
			x.ImportersTotal = len(x.Importers)
			x.Importers = x.Importers[:maxImporters]
		}
	}
}

// given are the names that a source gives or gave to others, and whether they
// break.
func (c *comparison) given(x *ContractChange) map[string]bool {
	out := map[string]bool{}
	gone := slices.ContainsFunc(x.Breaking, func(b Breaking) bool { return b.Kind == "contract_removed" })
	for _, side := range []Side{c.base, c.cur} {
		f, _ := side.Sources.Find(x.EntryID)
		if f.Outline == nil {
			continue
		}
		for _, e := range f.Outline.Exports {
			out[e.Name] = gone
		}
	}
	for _, b := range x.Breaking {
		if b.Kind == "export_removed" || strings.HasPrefix(b.Kind, "enum_") || b.Kind == "generic_changed" || strings.HasPrefix(b.Kind, "member_") {
			out[b.Name] = true
		}
	}
	return out
}

// follow lists who imports a source, also by way of others that pass its names
// on; those who take what breaks come first. given are the names, and whether
// they break.
func follow(p string, given map[string]bool, by map[string][]hit, files map[string]*outline.Outline) []Importer {
	type step struct {
		path  string
		given map[string]bool
		via   string
	}
	var out []Importer
	seen := map[string]bool{p: true}
	for queue := []step{{p, given, ""}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, h := range by[at.path] {
			one := Importer{EntryID: h.path, Line: h.in.Line, Via: at.via}
			takes := at.via == ""
			for _, name := range h.in.Names {
				broken, named := at.given[name]
				if name == "*" {
					named, broken = true, slices.Contains(slices.Collect(maps.Values(at.given)), true)
				}
				takes = takes || named
				if broken {
					one.Lost = append(one.Lost, name)
				}
			}
			passed := passedOn(files[h.path], h.in.From, at.given)
			one.PassesOn = len(passed) > 0
			again := slices.ContainsFunc(out, func(o Importer) bool { return o.EntryID == one.EntryID && o.Line == one.Line })
			if takes && !again {
				out = append(out, one)
			}
			if one.PassesOn && !seen[h.path] {
				seen[h.path] = true
				queue = append(queue, step{h.path, passed, h.path})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Importer) int {
		if d := len(b.Lost) - len(a.Lost); d != 0 {
			return d
		}
		return strings.Compare(a.EntryID, b.EntryID)
	})
	return out
}

// passedOn are the names, as others see them, that a source exports from
// another.
func passedOn(o *outline.Outline, from string, given map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, e := range o.Exports {
		if e.From != from {
			continue
		}
		if e.Name == "*" {
			for name, broken := range given {
				if name != "default" {
					out[name] = broken
				}
			}
		} else if broken, ok := given[e.Local]; ok {
			out[e.Name] = broken
		}
	}
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
