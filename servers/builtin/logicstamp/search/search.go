// Package search finds contracts in a context by words and by what they use.
package search

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
)

// Query says what to look for. All filters must hold.
type Query struct {
	Text                                                     string
	Kind, HasProp, UsesHook, UsesComponent, Imports, Exports []string
	FolderPrefix                                             string
	// Role is root, dependency, or any ("").
	Role string
}

// Empty reports whether nothing is asked.
func (q Query) Empty() bool {
	return strings.TrimSpace(q.Text) == "" && q.FolderPrefix == "" && (q.Role == "" || q.Role == "any") &&
		len(q.Kind)+len(q.HasProp)+len(q.UsesHook)+len(q.UsesComponent)+len(q.Imports)+len(q.Exports) == 0
}

// Match is one field that a word was found in.
type Match struct {
	Field string `json:"field"`
	Value string `json:"value"`
}

// Hit is one found contract.
type Hit struct {
	ID      string
	Score   float64
	Visible contract.Visible

	doc    int
	scores [][]best
}

// field is a searched part of a contract.
type field struct {
	name   string
	weight float64
	values func(id string, v contract.Visible) []string
}

func searched() []field {
	return []field{
		{"name", 10, func(id string, _ contract.Visible) []string { return []string{contract.Name(id)} }},
		{"exports", 6, func(_ string, v contract.Visible) []string { return v.Exports.Names }},
		{"props", 5, func(_ string, v contract.Visible) []string { return slices.Sorted(maps.Keys(v.Props)) }},
		{"emits", 5, func(_ string, v contract.Visible) []string { return slices.Sorted(maps.Keys(v.Emits)) }},
		{"functions", 4, func(_ string, v contract.Visible) []string { return v.Functions }},
		{"hooks", 4, func(_ string, v contract.Visible) []string { return v.Hooks }},
		{"components", 4, func(_ string, v contract.Visible) []string { return v.Components }},
		{"state", 3, func(_ string, v contract.Visible) []string { return slices.Sorted(maps.Keys(v.State)) }},
		{"path", 3, func(id string, _ contract.Visible) []string { return []string{id} }},
		{"kind", 2, func(_ string, v contract.Visible) []string { return []string{v.Kind} }},
		{"imports", 2, func(_ string, v contract.Visible) []string { return v.Imports }},
		{"description", 1, func(_ string, v contract.Visible) []string { return []string{v.Description} }},
	}
}

// place is where a word occurs: which contract, which field, which value.
type place struct {
	doc   int32
	field int8
	value string
}

// Index is a context prepared for searching. It is not changed after it was
// made.
type Index struct {
	ids    []string
	all    map[string]contract.Visible
	words  []string
	places map[string][]place
	fields []field
}

// New prepares a context.
func New(c *contract.Context) *Index {
	x := &Index{all: c.Visible(), places: map[string][]place{}, fields: searched()}
	x.ids = slices.Sorted(maps.Keys(x.all))
	for doc, id := range x.ids {
		for f, fd := range x.fields {
			for _, value := range fd.values(id, x.all[id]) {
				for _, w := range Words(value) {
					x.places[w] = append(x.places[w], place{int32(doc), int8(f), value})
				}
			}
		}
	}
	x.words = slices.Sorted(maps.Keys(x.places))
	return x
}

// Words splits a text at spaces, punctuation and changes of case, folds case
// and accents, and also gives each whole identifier.
func Words(text string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		whole := Fold(part)
		out = append(out, whole)
		start := 0
		runes := []rune(part)
		for i := 1; i <= len(runes); i++ {
			if i < len(runes) && !boundary(runes, i) {
				continue
			}
			if w := Fold(string(runes[start:i])); w != whole {
				out = append(out, w)
			}
			start = i
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// boundary reports whether a new word of a camelCase identifier begins at i.
func boundary(r []rune, i int) bool {
	switch {
	case unicode.IsUpper(r[i]) && !unicode.IsUpper(r[i-1]):
		return true
	case unicode.IsUpper(r[i]) && i+1 < len(r) && unicode.IsLower(r[i+1]):
		return true
	}
	return unicode.IsDigit(r[i]) != unicode.IsDigit(r[i-1])
}

// Find gives the contracts that answer a query, best first.
func (x *Index) Find(q Query) []Hit {
	words := queryWords(q.Text)
	scores := make([][]best, len(words))
	for i, w := range words {
		scores[i] = x.score(w)
	}
	var hits []Hit
	for _, need := range []int{len(words), 1} {
		for doc, id := range x.ids {
			got, total := 0, 0.0
			for _, s := range scores {
				if s[doc].score > 0 {
					got++
					total += s[doc].score
				}
			}
			if len(words) > 0 && got < need || !q.holds(id, x.all[id]) {
				continue
			}
			hits = append(hits, Hit{ID: id, Score: math.Round(total*1000) / 1000, Visible: x.all[id], doc: doc, scores: scores})
		}
		if len(hits) > 0 || len(words) == 0 {
			break
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return hits
}

// Matched are the best fields for each word of the query.
func (h Hit) Matched() []Match {
	var out []Match
	for _, s := range h.scores {
		if m := s[h.doc].match; s[h.doc].score > 0 && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// queryWords splits at spaces alone, then into parts; a part that is a whole
// identifier is not asked for twice.
func queryWords(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		parts := Words(w)
		whole := Fold(strings.Join(strings.FieldsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), ""))
		if len(parts) > 1 {
			parts = slices.DeleteFunc(parts, func(p string) bool { return p == whole })
		}
		out = append(out, parts...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type best struct {
	score float64
	match Match
}

// score finds for every contract the best place of a word.
func (x *Index) score(word string) []best {
	found := make([]best, len(x.ids))
	n := 0
	for candidate, quality := range x.candidates(word) {
		for _, p := range x.places[candidate] {
			f := x.fields[p.field]
			b := &found[p.doc]
			if s := f.weight * quality; s > b.score || s == b.score && p.value < b.match.Value {
				if b.score == 0 {
					n++
				}
				*b = best{s, Match{f.name, p.value}}
			}
		}
	}
	rarity := math.Log(1 + float64(len(x.ids))/float64(max(n, 1)))
	for i := range found {
		found[i].score *= rarity
	}
	return found
}

// candidates are the known words that a query word stands for, with how well:
// itself, those it begins, those one typo away.
func (x *Index) candidates(word string) map[string]float64 {
	out := map[string]float64{}
	if len(word) >= 5 {
		for _, w := range x.words {
			if d := len(w) - len(word); d >= -1 && d <= 1 && fuzzy.Slips(word, w) < 2 {
				out[w] = 0.4
			}
		}
	}
	if len(word) >= 2 {
		for i, _ := slices.BinarySearch(x.words, word); i < len(x.words) && strings.HasPrefix(x.words[i], word); i++ {
			out[x.words[i]] = 0.7
		}
	}
	if _, ok := x.places[word]; ok {
		out[word] = 1
	}
	return out
}

// holds reports whether every filter holds.
func (q Query) holds(id string, v contract.Visible) bool {
	switch q.Role {
	case "root":
		if !v.Root {
			return false
		}
	case "dependency":
		if v.Root {
			return false
		}
	}
	dir := path.Dir(id)
	if q.FolderPrefix != "" && dir != q.FolderPrefix && !strings.HasPrefix(dir, q.FolderPrefix+"/") {
		return false
	}
	exports := slices.Clone(v.Exports.Names)
	if v.Exports.Default {
		exports = append(exports, "default")
	}
	imports := slices.Clone(v.Imports)
	for _, i := range v.Imports { // the last part of its path will do
		imports = append(imports, path.Base(i))
	}
	return every(q.Kind, []string{v.Kind}) &&
		every(q.HasProp, slices.Collect(maps.Keys(v.Props))) &&
		every(q.UsesHook, v.Hooks) && every(q.UsesComponent, v.Components) &&
		every(q.Imports, imports) && every(q.Exports, exports)
}

func every(wanted, have []string) bool {
	for _, w := range wanted {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(w, h) }) {
			return false
		}
	}
	return true
}
