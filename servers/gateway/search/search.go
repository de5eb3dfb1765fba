// Package search finds tools by what an agent wants to do: it ranks them with BM25 over
// the words of their definitions, and knows common words that mean the same.
package search

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Tool is one that can be found.
type Tool struct {
	Server     string          // that has it
	Name       string          // that agents call it by
	Definition json.RawMessage // as it is listed
}

// Index is a set of tools, ready to be searched. It never changes, and any goroutine
// may use it.
type Index struct {
	tools    []Tool
	postings map[string][]posting // by stem
	words    stemmer
}

// posting says how much of a tool a word is.
type posting struct {
	tool   int
	weight float64 // how often it occurs, by where that is and how long the text is
}

// field is a part of a definition.
type field int

const (
	name field = iota
	title
	lead // the first sentence of the description
	rest // of the description
	params
	server
	fields
)

// boost is what a word counts in a field, and length how much a long text takes from
// that: nothing for 0, in proportion for 1.
func (f field) weight() (boost, length float64) {
	of := [fields][2]float64{name: {3, 0.5}, title: {1.5, 0.5}, lead: {1.5, 0.5}, rest: {0.5, 0.75}, params: {0.4, 0.75}, server: {1.5, 0}}[f]
	return of[0], of[1]
}

const (
	saturation = 2.0 // a word that occurs often counts at most this and one more
	likeness   = 0.4 // of a word that means the same
)

// New makes an index.
func New(tools []Tool) *Index {
	x := &Index{tools: tools, postings: map[string][]posting{}, words: newStemmer()}
	counts := make([][fields]map[string]float64, len(tools))
	lengths := make([][fields]float64, len(tools))
	var sums [fields]float64
	for i, t := range tools {
		for f, text := range textsOf(t) {
			of := map[string]float64{}
			for _, w := range x.words.stems(text) {
				of[w]++
				lengths[i][f]++
				sums[f]++
			}
			counts[i][f] = of
		}
	}
	for i := range tools {
		total := map[string]float64{}
		for f, of := range counts[i] {
			boost, length := field(f).weight()
			mean := max(sums[f]/float64(len(tools)), 1)
			share := boost / (1 - length + length*lengths[i][f]/mean)
			for w, times := range of {
				total[w] += times * share
			}
		}
		for w, weight := range total {
			x.postings[w] = append(x.postings[w], posting{i, weight})
		}
	}
	return x
}

// Find returns the tools that fit a query best, the best first and at most n: of one
// server, unless that is "".
func (x *Index) Find(query, server string, n int) []Tool {
	terms := x.words.terms(query)
	scores, fits := make([]float64, len(x.tools)), make([]float64, len(x.tools))
	for _, same := range terms {
		best := map[int]float64{}
		for _, w := range same {
			for _, p := range x.postings[w.stem] {
				best[p.tool] = max(best[p.tool], w.share*x.rarity(w.stem)*p.weight*(saturation+1)/(p.weight+saturation))
			}
		}
		for i, s := range best {
			scores[i] += s
			fits[i]++
		}
	}
	var order []int
	for i := range scores {
		scores[i] *= fits[i] // of what is wanted, more is better than much
		if scores[i] > 0 && (server == "" || x.tools[i].Server == server) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var out []Tool
	for _, i := range order[:min(n, len(order))] {
		out = append(out, x.tools[i])
	}
	return out
}

// rarity is how much a word tells one tool from the others.
func (x *Index) rarity(stem string) float64 {
	n := float64(len(x.postings[stem]))
	return math.Log(1 + (float64(len(x.tools))-n+0.5)/(n+0.5))
}

// textsOf are the texts of a tool by field.
func textsOf(t Tool) [fields]string {
	o, _ := rawjson.SplitObject(t.Definition) // something else has no texts
	annotations, _ := rawjson.SplitObject(o.Get("annotations"))
	about := strings.TrimSpace(o.Str("description"))
	end := len(about)
	for _, stop := range []string{". ", "\n"} {
		if i := strings.Index(about, stop); i > 0 {
			end = min(end, i)
		}
	}
	var b strings.Builder
	parameters(&b, o.Get("inputSchema"), 3)
	return [fields]string{
		name: t.Name, title: cmp.Or(o.Str("title"), annotations.Str("title")), lead: about[:end], rest: about[end:], params: b.String(), server: t.Server,
	}
}

// parameters collects the names and descriptions of a schema's parameters, and of what
// these hold.
func parameters(b *strings.Builder, schema json.RawMessage, depth int) {
	o, err := rawjson.SplitObject(schema)
	if err != nil || depth == 0 {
		return
	}
	properties, _ := rawjson.SplitObject(o.Get("properties"))
	for _, p := range properties {
		of, _ := rawjson.SplitObject(p.Value)
		b.WriteString(p.Key + " " + of.Str("description") + " ")
		parameters(b, p.Value, depth-1)
	}
	parameters(b, o.Get("items"), depth-1)
}
