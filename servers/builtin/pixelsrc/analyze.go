package pixelsrc

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

// TokenCount is how much of a corpus a token makes.
type TokenCount struct {
	Token      string  `json:"token"`
	Count      int     `json:"count"`
	Percentage float64 `json:"percentage"`
	Sprites    int     `json:"sprites"`
}

// PairCount is how often two tokens are used together.
type PairCount struct {
	Pair  [2]string `json:"pair"`
	Count int       `json:"count"`
}

// SizeCount is how many sprites have a size.
type SizeCount struct {
	Size  [2]int `json:"size"`
	Count int    `json:"count"`
}

type family struct {
	Prefix string   `json:"prefix"`
	Tokens []string `json:"tokens"`
	Total  int      `json:"total_count"`
}

type failedFile struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Corpus is what sources are made of.
type Corpus struct {
	Files         int          `json:"files_analyzed"`
	Failed        int          `json:"files_failed"`
	FailedFiles   []failedFile `json:"failed_files,omitempty"`
	Skipped       int          `json:"files_skipped,omitempty"`
	Sprites       int          `json:"total_sprites"`
	Palettes      int          `json:"total_palettes"`
	Compositions  int          `json:"total_compositions"`
	Animations    int          `json:"total_animations"`
	Variants      int          `json:"total_variants"`
	Particles     int          `json:"total_particles"`
	Transforms    int          `json:"total_transforms"`
	StateRules    int          `json:"total_state_rules"`
	Imports       int          `json:"total_imports"`
	ParseWarnings int          `json:"parse_warnings"`
	Unique        int          `json:"unique_tokens"`
	Occurrences   int          `json:"total_token_occurrences"`
	PaletteSize   float64      `json:"avg_palette_size"`
	Top           []TokenCount `json:"top_tokens"`
	Pairs         []PairCount  `json:"co_occurrence"`
	Dimensions    []SizeCount  `json:"dimensions"`
	Families      []family     `json:"token_families"`

	tokens  map[string]*TokenCount
	pairs   map[[2]string]int
	sizes   map[[2]int]int
	entries int
	ctx     context.Context //nolint:containedctx // that of one call
}

func newCorpus(ctx context.Context) *Corpus {
	return &Corpus{ctx: ctx, tokens: map[string]*TokenCount{}, pairs: map[[2]string]int{}, sizes: map[[2]int]int{}}
}

// Analyze counts what a source is made of.
func Analyze(ctx context.Context, src *Source) *Corpus {
	k := newCorpus(ctx)
	if !k.add(src) {
		k.Files, k.Failed = 0, 1
		k.FailedFiles = []failedFile{{src.path, "it has no readable object"}}
	}
	return k.finish()
}

// AnalyzePath counts what a file is made of, or all sources in a folder.
func (s *Server) AnalyzePath(ctx context.Context, who Caller, given string, recursive bool) (*Corpus, error) {
	for _, p := range s.rootsOf(who).locate(given) {
		if p.isDir() {
			return s.analyzeFolder(ctx, p, recursive)
		}
	}
	src, err := s.Open(ctx, who, given)
	switch {
	case err == nil:
		return Analyze(ctx, src), nil
	case who.Refused != nil:
		return nil, Failf("Path not found: '%s': %s.", given, who.noProject())
	}
	return nil, Failf("Path not found: '%s' is not a .pxl file, a .jsonl file or a folder inside the project folder or an allowed directory.", given)
}

func (s *Server) analyzeFolder(ctx context.Context, dir place, recursive bool) (*Corpus, error) {
	found, err := dir.scan(recursive)
	if err != nil {
		return nil, Failf("Path not found: %v.", err)
	}
	k := newCorpus(ctx)
	k.Skipped = found.skipped
	for _, p := range found.files {
		if ctx.Err() != nil {
			return nil, Failf("Analysing the folder timed out; analyse a smaller one.")
		}
		data, err := p.read(pxl.MaxSource)
		if err != nil {
			k.fail(p.rel, err.Error())
			continue
		}
		src := &Source{Text: string(data), path: p.rel, at: &p}
		s.parse(ctx, src, src.at)
		if !k.add(src) {
			k.fail(p.rel, "it has no readable object")
		}
	}
	return k.finish(), nil
}

func (k *Corpus) fail(path, why string) {
	k.Failed++
	if len(k.FailedFiles) < 100 {
		k.FailedFiles = append(k.FailedFiles, failedFile{path, why})
	}
}

// add counts a source; false when it is not blank and nothing in it can be read.
func (k *Corpus) add(src *Source) bool {
	if strings.TrimSpace(src.Text) != "" && len(src.Objects()) == 0 {
		return false
	}
	k.Files++
	k.ParseWarnings += len(src.Diagnostics())
	totals := map[pxl.Kind]*int{
		pxl.KindSprite: &k.Sprites, pxl.KindPalette: &k.Palettes, pxl.KindComposition: &k.Compositions,
		pxl.KindAnimation: &k.Animations, pxl.KindVariant: &k.Variants, pxl.KindParticle: &k.Particles,
		pxl.KindTransform: &k.Transforms, pxl.KindStateRules: &k.StateRules, pxl.KindImport: &k.Imports,
	}
	for _, o := range src.Objects() {
		if k.ctx.Err() != nil {
			break
		}
		if n := totals[o.Kind]; n != nil {
			*n++
		}
		switch {
		case o.Palette != nil:
			for _, e := range o.Palette.Colors {
				if !strings.HasPrefix(e.Token, "--") {
					k.entries++
				}
			}
		case o.Sprite != nil:
			k.sprite(src, o.Sprite)
		}
	}
	return true
}

func (k *Corpus) sprite(src *Source, sp *pxl.Sprite) {
	if sp.Size != nil {
		k.sizes[*sp.Size]++
	}
	regions, err := src.Regions(sp.Name)
	if err != nil {
		return
	}
	var names []string
	for _, r := range regions {
		t := pxl.Bare(r.Token)
		if k.tokens[t] == nil {
			k.tokens[t] = &TokenCount{Token: t}
		}
		k.tokens[t].Count += r.Visible
		k.Occurrences += r.Visible
		names = append(names, t)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for i, a := range names {
		k.tokens[a].Sprites++
		if len(k.pairs) >= 1<<16 {
			continue
		}
		for _, b := range names[i+1:] {
			if len(k.pairs) < 1<<16 {
				k.pairs[[2]string{a, b}]++
			}
		}
	}
}

// maxFamily is how many tokens of a family are named, those with most pixels first.
const maxFamily = 50

// finish sorts what was counted.
func (k *Corpus) finish() *Corpus {
	k.Unique = len(k.tokens)
	if k.Palettes > 0 {
		k.PaletteSize = math.Round(100*float64(k.entries)/float64(k.Palettes)) / 100
	}
	k.Top, k.Pairs, k.Dimensions, k.Families = []TokenCount{}, []PairCount{}, []SizeCount{}, []family{}
	for _, t := range k.tokens {
		t.Percentage = percent(t.Count, k.Occurrences)
		k.Top = append(k.Top, *t)
	}
	slices.SortFunc(k.Top, func(a, b TokenCount) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Token, b.Token)) })
	k.Families = families(k.Top)
	k.Top = k.Top[:min(len(k.Top), 20)]
	for p, n := range k.pairs {
		k.Pairs = append(k.Pairs, PairCount{p, n})
	}
	slices.SortFunc(k.Pairs, func(a, b PairCount) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Pair[0], b.Pair[0]), cmp.Compare(a.Pair[1], b.Pair[1]))
	})
	k.Pairs = k.Pairs[:min(len(k.Pairs), 10)]
	for s, n := range k.sizes {
		k.Dimensions = append(k.Dimensions, SizeCount{s, n})
	}
	slices.SortFunc(k.Dimensions, func(a, b SizeCount) int {
		return cmp.Or(b.Count-a.Count, a.Size[0]-b.Size[0], a.Size[1]-b.Size[1])
	})
	k.Dimensions = k.Dimensions[:min(len(k.Dimensions), 10)]
	return k
}

// families groups tokens that share what stands before their first underscore.
func families(tokens []TokenCount) []family {
	by := map[string]*family{}
	for _, t := range tokens {
		prefix, _, _ := strings.Cut(t.Token, "_")
		if prefix = strings.TrimRight(prefix, "0123456789"); prefix == "" {
			continue
		}
		f := by[prefix]
		if f == nil {
			f = &family{Prefix: prefix}
			by[prefix] = f
		}
		f.Tokens = append(f.Tokens, t.Token)
		f.Total += t.Count
	}
	list := []family{}
	for _, f := range by {
		if len(f.Tokens) > 1 {
			f.Tokens = f.Tokens[:min(len(f.Tokens), maxFamily)]
			list = append(list, *f)
		}
	}
	slices.SortFunc(list, func(a, b family) int { return cmp.Or(b.Total-a.Total, cmp.Compare(a.Prefix, b.Prefix)) })
	return list[:min(len(list), 10)]
}
