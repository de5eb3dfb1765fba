package pixelsrc

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// Suggestion is a change that would mend a source.
type Suggestion struct {
	Type       string  `json:"type"`
	Line       int     `json:"line"`
	Sprite     string  `json:"sprite,omitempty"`
	Message    string  `json:"message"`
	Fix        Fix     `json:"fix"`
	Confidence float64 `json:"confidence"`
	edits      []edit
}

// Fix says what to do; Action decides which other fields count.
type Fix struct {
	Action     string          `json:"action"`
	From       string          `json:"from,omitempty"`
	To         string          `json:"to,omitempty"`
	Token      string          `json:"token,omitempty"`
	Color      string          `json:"suggested_color,omitempty"`
	IncludeRef string          `json:"include_ref,omitempty"`
	ImportJSON string          `json:"import_json,omitempty"`
	Pointer    string          `json:"pointer,omitempty"`
	Value      json.RawMessage `json:"value,omitempty"`
}

// edit replaces a piece of the text.
type edit struct {
	from, to int32
	text     string
}

// suggester walks over a source and gathers what could be mended.
type suggester struct {
	src     *Source
	nodes   []json5.Node
	list    []Suggestion
	added   map[string]bool // palette and token that an edit adds already
	sprites int
}

// Suggestions lists what could be mended, by line, with the number of sprites
// seen and of pieces that could not be read.
func (src *Source) Suggestions(ctx context.Context) (list []Suggestion, sprites, unread int) {
	nodes, errs := json5.Parse(src.Text)
	s := &suggester{src: src, nodes: nodes, list: []Suggestion{}, added: map[string]bool{}}
	for i := range nodes {
		if ctx.Err() != nil {
			break
		}
		s.object(&nodes[i])
	}
	slices.SortStableFunc(s.list, func(a, b Suggestion) int { return a.Line - b.Line })
	return s.list, s.sprites, len(errs)
}

func (s *suggester) line(pos int32) int {
	return s.src.LineOf(pos)
}

func (s *suggester) add(g Suggestion) { s.list = append(s.list, g) }

func (s *suggester) object(n *json5.Node) {
	kind := word(n, "type")
	if t := n.Get("type"); t != nil && t.Kind == json5.String && kind != "state_rules" {
		kinds := []string{}
		for _, k := range pxl.Kinds() {
			kinds = append(kinds, string(k))
		}
		if !slices.Contains(kinds, kind) {
			before := len(s.list)
			s.value("unknown_type", "type", t, "/type", kinds, 3)
			for i := range s.list[before:] {
				// It would take the place of another object.
				if g := &s.list[before+i]; s.defined(g.Fix.To, word(n, "name"), n) {
					g.edits = nil
				}
			}
			return
		}
	}
	s.fields(n, "", topKeys(kind))
	switch kind {
	case "palette":
		s.colours(n.Get("colors"), "/colors")
	case "variant":
		s.reference(n.Get("base"), "/base", pxl.KindSprite, pxl.KindVariant)
		s.colours(n.Get("palette"), "/palette")
	case "sprite":
		s.sprites++
		s.sprite(n)
	case "composition":
		s.composition(n)
	case "animation":
		s.animation(n)
	}
}

// fields finds misspelt keys.
func (s *suggester) fields(n *json5.Node, pointer string, known []string) {
	taken := map[string]bool{} // by an earlier misspelling
	for i, k := range n.Keys {
		if slices.Contains(known, k.Name) {
			continue
		}
		near := NearNames(k.Name, known, reach(k.Name, k.Name))
		near = slices.DeleteFunc(near, func(c string) bool { return n.Get(c) != nil })
		if len(near) == 0 {
			continue
		}
		g := Suggestion{
			Type: "unknown_field", Line: s.line(k.Pos), Sprite: spriteName(s.topOf(n)),
			Message:    fmt.Sprintf("unknown field %q; did you mean %q?", k.Name, near[0]),
			Fix:        Fix{Action: "rename_field", Pointer: pointer + "/" + escape(k.Name), From: k.Name, To: near[0]},
			Confidence: sure(k.Name, near[0], len(near) > 1 && distance(k.Name, near[1]) == distance(k.Name, near[0])),
		}
		if !taken[near[0]] && !overrides(n, near[0]) {
			g.edits = []edit{{k.Pos, s.keyEnd(k.Pos, n.Items[i].Pos), quote(near[0])}}
		}
		taken[near[0]] = true
		s.add(g)
	}
}

// overrides reports whether a key would take the place of a shape that is drawn.
func overrides(n *json5.Node, key string) bool {
	return slices.Contains(pxl.ShapeKeys(), key) && slices.ContainsFunc(n.Keys, func(k json5.Key) bool {
		return slices.Contains(pxl.ShapeKeys(), k.Name)
	})
}

// defined reports whether another object of a kind has the name.
func (s *suggester) defined(kind, name string, but *json5.Node) bool {
	return slices.ContainsFunc(s.nodes, func(o json5.Node) bool {
		return o.Pos != but.Pos && word(&o, "type") == kind && word(&o, "name") == name
	})
}

// topOf is the object of the stream that a node lies in.
func (s *suggester) topOf(n *json5.Node) *json5.Node {
	for i := range s.nodes {
		if s.nodes[i].Pos <= n.Pos && n.End <= s.nodes[i].End {
			return &s.nodes[i]
		}
	}
	return n
}

func spriteName(n *json5.Node) string {
	if word(n, "type") == "sprite" {
		return word(n, "name")
	}
	return ""
}

// keyEnd is where a key ends, at the latest before its value.
func (s *suggester) keyEnd(from, value int32) int32 {
	text := s.src.Text
	if q := text[from]; q == '"' || q == '\'' {
		for i := from + 1; i < value; i++ {
			switch text[i] {
			case '\\':
				i++
			case q:
				return i + 1
			}
		}
	}
	for i := from; i < value; i++ {
		if strings.IndexByte(" \t\r\n:/", text[i]) >= 0 {
			return i
		}
	}
	return value
}

// sure is the confidence of replacing one name by another.
func sure(from, to string, tied bool) float64 {
	n := max(utf8.RuneCountInString(from), utf8.RuneCountInString(to), 1)
	v := math.Round((1-float64(distance(from, to))/float64(n))*100) / 100
	if tied {
		v = math.Round(v*80) / 100
	}
	return v
}

// value suggests the nearest of some words for a string.
func (s *suggester) value(kind, what string, v *json5.Node, pointer string, words []string, within int) {
	near := NearNames(v.Text, words, within)
	if len(near) == 0 {
		return
	}
	s.replace(kind, fmt.Sprintf("unknown %s %q; did you mean %q?", what, v.Text, near[0]), v, pointer, near[0],
		sure(v.Text, near[0], len(near) > 1 && distance(v.Text, near[1]) == distance(v.Text, near[0])))
}

func (s *suggester) replace(kind, message string, v *json5.Node, pointer, to string, confidence float64) {
	s.add(Suggestion{
		Type: kind, Line: s.line(v.Pos), Sprite: spriteName(s.topOf(v)), Message: message,
		Fix:        Fix{Action: "replace_value", Pointer: pointer, From: v.Text, To: to},
		Confidence: confidence, edits: []edit{{v.Pos, v.End, quote(to)}},
	})
}

// reference checks a string that names an object of some kinds.
func (s *suggester) reference(v *json5.Node, pointer string, kinds ...pxl.Kind) {
	if v == nil || v.Kind != json5.String {
		return
	}
	var names []string
	for _, o := range s.src.AllObjects() {
		if slices.Contains(kinds, o.Kind) {
			if o.Name == v.Text {
				return
			}
			names = append(names, o.Name)
		}
	}
	self := word(s.topOf(v), "name")
	names = slices.DeleteFunc(names, func(n string) bool { return n == self })
	s.value("unknown_reference", "name", v, pointer, names, 3)
}

// members are the members of the object under a key, with their JSON pointers.
func members(n *json5.Node, key string) iter.Seq2[string, *json5.Node] {
	return func(yield func(string, *json5.Node) bool) {
		m := n.Get(key)
		for i := 0; m != nil && m.Kind == json5.Object && i < len(m.Items); i++ {
			if !yield("/"+key+"/"+escape(m.Keys[i].Name), &m.Items[i]) {
				return
			}
		}
	}
}

// elements are the elements of the list under a key, with their JSON pointers.
func elements(n *json5.Node, key string) iter.Seq2[string, *json5.Node] {
	return func(yield func(string, *json5.Node) bool) {
		l := n.Get(key)
		for i := 0; l != nil && i < len(l.Items); i++ {
			if !yield(fmt.Sprintf("/%s/%d", key, i), &l.Items[i]) {
				return
			}
		}
	}
}

func (s *suggester) composition(n *json5.Node) {
	picture := []pxl.Kind{pxl.KindSprite, pxl.KindVariant, pxl.KindComposition}
	s.reference(n.Get("base"), "/base", picture...)
	for pointer, v := range members(n, "sprites") {
		s.reference(v, pointer, picture...)
	}
	for pointer, v := range elements(n, "layers") {
		if v.Kind == json5.Object {
			s.fields(v, pointer, layerKeys())
			s.reference(v.Get("sprite"), pointer+"/sprite", picture...)
		}
	}
}

func (s *suggester) animation(n *json5.Node) {
	picture := []pxl.Kind{pxl.KindSprite, pxl.KindVariant, pxl.KindComposition}
	for pointer, v := range elements(n, "frames") {
		s.reference(v, pointer, picture...)
	}
	for pointer, v := range members(n, "keyframes") {
		if v.Kind == json5.Object {
			s.reference(v.Get("sprite"), pointer+"/sprite", picture...)
		}
	}
	s.reference(n.Get("sprite"), "/sprite", picture...)
	s.reference(n.Get("source"), "/source", pxl.KindAnimation)
}

// colours finds colour strings that a small change mends.
func (s *suggester) colours(m *json5.Node, pointer string) {
	if m == nil || m.Kind != json5.Object {
		return
	}
	for i, k := range m.Keys {
		v := &m.Items[i]
		if v.Kind != json5.String || strings.HasPrefix(k.Name, "--") || strings.Contains(v.Text, "var(") {
			continue
		}
		if _, err := colour.Parse(v.Text); err == nil {
			continue
		}
		at := pointer + "/" + escape(k.Name)
		trimmed := strings.TrimSpace(v.Text)
		if _, err := colour.Parse("#" + strings.TrimPrefix(trimmed, "0x")); err == nil {
			to := "#" + strings.TrimPrefix(trimmed, "0x")
			s.replace("invalid_color", fmt.Sprintf("invalid colour %q: a hex colour starts with #", v.Text), v, at, to, 0.95)
			continue
		}
		if _, err := colour.Parse(trimmed); err == nil {
			s.replace("invalid_color", fmt.Sprintf("invalid colour %q: it contains white space", v.Text), v, at, trimmed, 0.95)
			continue
		}
		s.value("invalid_color", "colour", v, at, colour.Names(), 2)
	}
}

func (s *suggester) sprite(n *json5.Node) {
	ob := s.parsed(n)
	if ob == nil {
		return
	}
	sp := ob.Sprite
	s.reference(n.Get("source"), "/source", pxl.KindSprite, pxl.KindVariant)
	if sp.Size == nil && sp.Source == "" && len(sp.Regions) > 0 {
		s.size(n, sp)
	}
	for pointer, v := range members(n, "regions") {
		s.region(v, pointer)
	}
	p := n.Get("palette")
	if p == nil {
		return
	}
	if p.Kind == json5.Object {
		s.colours(p, "/palette")
	}
	if strings.HasPrefix(p.Text, "@include:") {
		s.include(p, sp.Name)
		return
	}
	tokens, home, ok := s.palette(p)
	if !ok && s.elsewhere(p, sp.Name) {
		return
	}
	if !ok {
		s.value("missing_palette", "palette", p, "/palette", s.paletteNames(), 3)
		return
	}
	s.tokens(n.Get("regions"), sp, tokens, home)
}

// region looks for misspelt keys of a region and its parts.
func (s *suggester) region(n *json5.Node, pointer string) {
	if n.Kind != json5.Object {
		return
	}
	s.fields(n, pointer, pxl.RegionKeys())
	for i, k := range n.Keys {
		v := &n.Items[i]
		switch k.Name {
		case "union", "subtract", "intersect":
			for j := range v.Items {
				s.region(&v.Items[j], fmt.Sprintf("%s/%s/%d", pointer, k.Name, j))
			}
		case "base":
			s.region(v, pointer+"/base")
		}
	}
}

// parsed is the engine's object for a node.
func (s *suggester) parsed(n *json5.Node) *pxl.Object {
	line, column := s.src.Line(n.Pos)
	objects := s.src.Objects()
	for i := range objects {
		if objects[i].Line == line && objects[i].Column == column && objects[i].Sprite != nil {
			return &objects[i]
		}
	}
	return nil
}

func (s *suggester) size(n *json5.Node, sp *pxl.Sprite) {
	w, h := s.drawnExtent(n, sp)
	if w == 0 || h == 0 {
		return
	}
	value := fmt.Sprintf("[%d, %d]", w, h)
	s.add(Suggestion{
		Type: "missing_size", Line: s.line(n.Pos), Sprite: sp.Name,
		Message:    fmt.Sprintf("sprite %q has no size; its regions extend to %dx%d", sp.Name, w, h),
		Fix:        Fix{Action: "add_field", Pointer: "/size", Value: json.RawMessage(value)},
		Confidence: 0.9, edits: []edit{{n.Pos + 1, n.Pos + 1, `"size": ` + value + ", "}},
	})
}

// drawnExtent is how far the regions of a sprite without a size reach: as they
// are drawn, but for those whose shape depends on the canvas.
func (s *suggester) drawnExtent(n *json5.Node, sp *pxl.Sprite) (w, h int) {
	w, h = reaches(sp)
	text := s.src.Text[n.Pos:n.End]
	doc := pxl.Parse([]byte(text[:1]+`"size": [1024, 1024], `+text[1:]), pxl.Options{Dialect: s.src.Dialect()})
	infos, err := doc.Regions(sp.Name)
	if err != nil {
		return w, h
	}
	for i, r := range infos {
		if g := sp.Regions[i]; g.Symmetry == "" && g.Axis == nil && g.Shape != pxl.ShapeFill && g.Shape != pxl.ShapeBackground {
			w, h = max(w, r.Bounds.Max.X), max(h, r.Bounds.Max.Y)
		}
	}
	return min(w, pxl.MaxSide), min(h, pxl.MaxSide)
}

func (s *suggester) include(p *json5.Node, sprite string) {
	ref := strings.TrimPrefix(p.Text, "@include:")
	from, name := ref, ""
	if i := strings.LastIndexByte(ref, '#'); i >= 0 {
		from, name = ref[:i], ref[i+1:]
	}
	from = strings.TrimSuffix(strings.TrimSuffix(from, ".pxl"), ".jsonl")
	text := `{"type": "import", "from": ` + quote(from)
	if name != "" {
		text += `, "palettes": [` + quote(name) + `]`
	}
	s.add(Suggestion{
		Type: "include_to_import", Line: s.line(p.Pos), Sprite: sprite,
		Message:    fmt.Sprintf("the palette of %q is an include; an import object does the same and can be shared", sprite),
		Fix:        Fix{Action: "use_import", IncludeRef: p.Text, ImportJSON: text + "}"},
		Confidence: 0.9,
	})
}

// Apply makes the suggested changes that are certain to be possible, and
// counts the others.
func Apply(text string, list []Suggestion) (fixed string, left int) {
	var all []edit
	for _, g := range list {
		if g.edits == nil {
			left++
		}
		all = append(all, g.edits...)
	}
	slices.SortStableFunc(all, func(a, b edit) int { return int(a.from - b.from) })
	var b strings.Builder
	at := int32(0)
	for _, e := range all {
		if e.from < at {
			continue
		}
		b.WriteString(text[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(text[at:])
	return b.String(), left
}

// escape writes a key as part of a JSON pointer.
func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
