package pixelsrc

import (
	"cmp"
	"fmt"
	"image/color"
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// maxSearched is how many files of a project are searched for a palette.
const maxSearched = 200

// elsewhere looks for a palette in the other files of the project, and suggests
// to import it.
func (s *suggester) elsewhere(p *json5.Node, sprite string) bool {
	if s.src.at == nil || p.Text == "" || strings.HasPrefix(p.Text, "@") {
		return false
	}
	root, err := s.src.at.sourceRoot()
	if err != nil {
		return false
	}
	found, err := place{s.src.at.root, root}.scan(true)
	if err != nil {
		return false
	}
	for _, f := range found.files[:min(len(found.files), maxSearched)] {
		data, err := f.read(pxl.MaxSource)
		if err != nil || f.rel == s.src.at.rel || !strings.Contains(string(data), p.Text) {
			continue
		}
		nodes, _ := json5.Parse(string(data))
		if !slices.ContainsFunc(nodes, func(n json5.Node) bool { return word(&n, "type") == "palette" && word(&n, "name") == p.Text }) {
			continue
		}
		from := strings.TrimPrefix(strings.TrimSuffix(f.rel, path.Ext(f.rel)), root+"/")
		text := `{"type": "import", "from": ` + quote(from) + `, "palettes": [` + quote(p.Text) + `]}`
		edits := []edit{}
		if !s.added[text] {
			s.added[text] = true
			edits = append(edits, edit{0, 0, text + "\n"})
		}
		s.add(Suggestion{
			Type: "add_explicit_import", Line: s.line(p.Pos), Sprite: sprite,
			Message:    fmt.Sprintf("palette %q is defined in %s; import it", p.Text, f.rel),
			Fix:        Fix{Action: "add_import", ImportJSON: text},
			Confidence: 0.8, edits: edits,
		})
		return true
	}
	return false
}

// palette lists the tokens of the palette that a sprite refers to, and the
// object in the text that holds its colours, nil when it is elsewhere.
func (s *suggester) palette(p *json5.Node) (tokens []string, home *json5.Node, ok bool) {
	if p.Kind == json5.Object {
		for _, k := range p.Keys {
			tokens = append(tokens, k.Name)
		}
		return tokens, p, true
	}
	if strings.HasPrefix(p.Text, "@") {
		b, ok := pxl.Builtin(p.Text[1:])
		if !ok {
			return nil, nil, false
		}
		return paletteTokens(b), nil, true
	}
	ob, ok := s.src.Find(pxl.KindPalette, p.Text)
	if !ok {
		return nil, nil, false
	}
	for i := range s.nodes {
		if n := &s.nodes[i]; word(n, "type") == "palette" && word(n, "name") == p.Text {
			home = n.Get("colors")
		}
	}
	return paletteTokens(ob.Palette), home, true
}

// paletteTokens lists what a palette defines, ramps included.
func paletteTokens(p *pxl.Palette) (tokens []string) {
	for _, e := range p.Colors {
		tokens = append(tokens, e.Token)
	}
	for _, r := range p.Ramps {
		tokens = append(tokens, r.Name)
		dark := (r.Steps - 1) / 2
		for k := 1; k <= dark; k++ {
			tokens = append(tokens, fmt.Sprintf("%s_%d", pxl.Bare(r.Name), k))
		}
		for k := 1; k <= r.Steps-1-dark; k++ {
			tokens = append(tokens, fmt.Sprintf("%s+%d", pxl.Bare(r.Name), k))
		}
	}
	return tokens
}

func (s *suggester) paletteNames() (names []string) {
	for _, o := range s.src.AllObjects() {
		if o.Kind == pxl.KindPalette {
			names = append(names, o.Name)
		}
	}
	return append(names, PaletteNames()...)
}

// tokens finds regions whose token the palette lacks.
func (s *suggester) tokens(regions *json5.Node, sp *pxl.Sprite, tokens []string, home *json5.Node) {
	known := map[string]bool{}
	var candidates []string
	for _, t := range tokens {
		b := pxl.Bare(t)
		if !known[b] && b != "_" && !strings.HasPrefix(t, "--") {
			candidates = append(candidates, b)
		}
		known[b] = true
	}
	if regions == nil || regions.Kind != json5.Object {
		return
	}
	used := map[string]bool{}
	for _, k := range regions.Keys {
		used[pxl.Bare(k.Name)] = true
	}
	done := map[string]bool{}
	for i, k := range regions.Keys {
		name := pxl.Bare(k.Name)
		if known[name] || done[name] || name == "_" {
			continue
		}
		done[name] = true
		g := Suggestion{Type: "missing_token", Line: s.line(k.Pos), Sprite: sp.Name}
		if to, tied, ok := nearestToken(name, candidates, used); ok {
			g.Message = fmt.Sprintf("no token %q in the palette; did you mean %q?", name, to)
			g.Fix = Fix{Action: "replace_token", From: k.Name, To: to}
			g.Confidence = sure(name, to, tied)
			// Not where two regions of one name would stand in the sprite, nor where
			// another region refers to this one by its name.
			if !used[to] && !mentions(regions, name) {
				used[to] = true
				g.edits = []edit{{k.Pos, s.keyEnd(k.Pos, regions.Items[i].Pos), quote(to)}}
			}
		} else {
			value := suggestedColour(name, home)
			g.Message = fmt.Sprintf("no token %q in the palette; add it", name)
			g.Fix = Fix{Action: "add_to_palette", Token: name, Color: value}
			g.Confidence = 0.3
			if home != nil && home.Kind == json5.Object {
				if id := fmt.Sprint(home.Pos, name); !s.added[id] {
					s.added[id] = true
					sep := ", "
					if len(home.Items) == 0 {
						sep = ""
					}
					g.edits = []edit{{home.Pos + 1, home.Pos + 1, quote(name) + ": " + quote(value) + sep}}
				} else {
					g.edits = []edit{} // an earlier one adds it
				}
			}
		}
		s.add(g)
	}
}

// mentions reports whether a string below a node names a token.
func mentions(n *json5.Node, token string) bool {
	if n.Kind == json5.String {
		return strings.Contains(n.Text, token)
	}
	return slices.ContainsFunc(n.Items, func(v json5.Node) bool { return mentions(&v, token) })
}

// nearestToken finds the token that a misspelt one may mean. On ties the one
// with the longer common beginning, then one that is not in use, then the first
// in the alphabet.
func nearestToken(name string, candidates []string, used map[string]bool) (to string, tied, ok bool) {
	type hit struct {
		name         string
		d, common    int
		alreadyInUse int
	}
	var hits []hit
	for _, c := range candidates {
		d := distance(name, c)
		if d > reach(name, c) {
			continue
		}
		h := hit{name: c, d: d}
		for h.common < min(len(c), len(name)) && c[h.common] == name[h.common] {
			h.common++
		}
		if used[c] {
			h.alreadyInUse = 1
		}
		hits = append(hits, h)
	}
	if len(hits) == 0 {
		return "", false, false
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(a.d-b.d, b.common-a.common, a.alreadyInUse-b.alreadyInUse, cmp.Compare(a.name, b.name))
	})
	return hits[0].name, len(hits) > 1 && hits[1].d == hits[0].d, true
}

// suggestedColour guesses a colour for a token from its name.
func suggestedColour(name string, home *json5.Node) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	for _, w := range []string{name, words[max(len(words)-1, 0):][0]} {
		if c, ok := colour.Named(w); ok {
			return colour.Hex(c)
		}
	}
	if len(words) < 2 || home == nil {
		return "#FF00FF"
	}
	last := words[len(words)-1]
	stem := strings.TrimRight(strings.TrimSuffix(name, last), "_-")
	by := map[string]float64{"shadow": -30, "dark": -30, "sh": -30, "highlight": 30, "light": 30, "hi": 30}[strings.ToLower(last)]
	for i, k := range home.Keys {
		if by != 0 && pxl.Bare(k.Name) == stem {
			if c, err := colour.Parse(home.Items[i].Text); err == nil {
				return colour.Hex(shaded(c, by))
			}
		}
	}
	return "#FF00FF"
}

// shaded is a colour made darker (negative) or lighter by some percent.
func shaded(c color.NRGBA, percent float64) color.NRGBA {
	h, s, l := colour.ToHSL(c)
	if percent < 0 {
		l *= 1 + percent/100
	} else {
		l += (100 - l) * percent / 100
	}
	return colour.FromHSL(h, s, l, c.A)
}
