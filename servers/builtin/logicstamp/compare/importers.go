package compare

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/outline"
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
	sources := newResolver(files, c.old, c.cur.Sources.Configs)
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
		names, all := c.given(x)
		x.Importers = follow(x.EntryID, names, all, by, files)
		if len(x.Importers) > maxImporters {
			x.ImportersTotal = len(x.Importers)
			x.Importers = x.Importers[:maxImporters]
		}
	}
}

// given are the names that a source gives or gave to others, and whether they
// break; all tells that whatever is taken of it breaks.
func (c *comparison) given(x *ContractChange) (names map[string]bool, all bool) {
	names = map[string]bool{}
	var sides []*outline.Outline
	for _, side := range []Side{c.base, c.cur} {
		f, _ := side.Sources.Find(x.EntryID)
		if f.Outline == nil {
			continue
		}
		sides = append(sides, f.Outline)
		for _, e := range f.Outline.Exports {
			names[e.Key()] = false
		}
	}
	for _, b := range x.Breaking {
		for _, name := range brokenNames(b, sides) {
			_, known := names[name]
			all = all || !known // which it is, is not told
			names[name] = true
		}
	}
	return names, all || slices.ContainsFunc(x.Breaking, func(b Breaking) bool { return b.Kind == "contract_removed" })
}

// brokenNames are the exports that break with an entry.
func brokenNames(b Breaking, sides []*outline.Outline) (out []string) {
	switch b.Kind {
	case "export_removed", "enum_member_removed", "union_member_removed", "generic_changed", "member_removed", "member_changed":
		return strings.Split(b.Name, ", ")
	case "function_removed", "variable_removed":
		for _, o := range sides {
			for _, e := range o.Exports {
				if e.From == "" && e.Local == b.Name {
					out = append(out, e.Key())
				}
			}
		}
		return out
	}
	// Of a component: its own name, and that of the type which has the prop.
	var others []string
	for _, o := range sides {
		for _, e := range o.Exports {
			d, ok := o.Decl(e.Local)
			_, has := members(d)[b.Name]
			value := d.Kind == "function" || d.Kind == "const" || d.Kind == "class"
			if ok && e.From == "" && (has || value && (e.Name == "default" || pascal(d.Name))) {
				out = append(out, e.Key())
			}
			others = append(others, e.Key())
		}
	}
	if out == nil {
		return others
	}
	return out
}

// pascal reports whether a name is written as components are, "Knob" and not
// "KNOB" or "knob".
func pascal(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(first) && (strings.ContainsFunc(name, unicode.IsLower) || utf8.RuneCountInString(name) == 1)
}

// follow lists who imports of a source what breaks, also by way of others that
// pass its names on. given are the names, and whether they break; with all,
// whoever imports it at all is listed.
func follow(p string, given map[string]bool, all bool, by map[string][]hit, files map[string]*outline.Outline) []Importer {
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
			for _, name := range h.in.Names {
				if breaks(at.given, name) || all && at.via == "" {
					one.Lost = append(one.Lost, name)
				}
			}
			passed := passedOn(files[h.path], h.in.From, at.given)
			one.PassesOn = len(passed) > 0
			again := slices.ContainsFunc(out, func(o Importer) bool { return o.EntryID == one.EntryID && o.Line == one.Line })
			if (len(one.Lost) > 0 || all && at.via == "") && !again {
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

// breaks reports whether a name that is taken breaks: itself, any where all are
// taken, or one that must have come from a source that is passed on no more.
func breaks(given map[string]bool, name string) bool {
	broken, named := given[name]
	if named {
		return broken
	}
	for key, broken := range given {
		if broken && (name == "*" || name != "default" && strings.HasPrefix(key, "* from ")) {
			return true
		}
	}
	return false
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
	// configs are what the projects' own configuration says, by folder.
	configs map[string]manifest.Config
}

func newResolver[V any](files map[string]*outline.Outline, old map[string]V, configs []manifest.Config) resolver {
	r := resolver{known: map[string]bool{}, ends: map[string]string{}, configs: map[string]manifest.Config{}}
	for _, c := range configs {
		r.configs[c.Dir] = c
	}
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
	for dir := path.Dir(from); len(r.configs) > 0; dir = path.Dir(dir) {
		if c, ok := r.configs[dir]; ok {
			for _, place := range mapped(c, name) {
				if p := r.file(place); p != "" {
					return p
				}
			}
		}
		if dir == "." {
			break
		}
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

// mapped are the places that a configuration gives a name, those of the most
// exact pattern first.
func mapped(c manifest.Config, name string) (out []string) {
	best, rest := "", ""
	for pattern := range c.Paths {
		head, tail, wild := strings.Cut(pattern, "*")
		switch {
		case pattern == name:
			return c.Paths[pattern]
		case wild && len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail) && (best == "" || len(head) > strings.IndexByte(best, '*')):
			best, rest = pattern, name[len(head):len(name)-len(tail)]
		}
	}
	for _, place := range c.Paths[best] {
		out = append(out, strings.Replace(place, "*", rest, 1))
	}
	if c.BaseURL != "" {
		out = append(out, path.Join(c.BaseURL, name))
	}
	return out
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
