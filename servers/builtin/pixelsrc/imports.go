package pixelsrc

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// maxImports is how many files one source may import.
const maxImports = 64

// importer gathers what the import objects of a source bring in, as text that is
// appended to it: names resolve over the whole of a source in any order.
type importer struct {
	at     *place
	out    strings.Builder
	notes  []note
	line   int
	from   string
	files  map[string]bool
	names  map[string]bool // "kind name" of what is defined so far
	budget int
	used   map[string]bool // what the source itself refers to
	useful bool            // the import at hand brought something that is used
	within []string        // the files that import the one at hand, the first outermost
}

// imported is the text of everything that a source imports, each object on a
// line of its own after a line break, and what went wrong. at is where the source
// lies, nil when its imports cannot be resolved.
func imported(text string, at *place) (more string, notes []note) {
	if !strings.Contains(text, "import") {
		return "", nil
	}
	nodes, _ := json5.Parse(text)
	im := &importer{at: at, files: map[string]bool{}, names: map[string]bool{}, used: map[string]bool{}, budget: pxl.MaxSource - len(text)}
	for i := range nodes {
		im.names[word(&nodes[i], "type")+" "+word(&nodes[i], "name")] = true
		for _, v := range references(&nodes[i]) {
			if v != nodes[i].Get("name") {
				im.used[v.Text] = true
			}
		}
	}
	lines := json5.NewLines(text)
	for i := range nodes {
		if word(&nodes[i], "type") == "import" {
			im.line, _ = lines.At(nodes[i].Pos)
			im.from = word(&nodes[i], "from")
			before := len(im.notes)
			im.useful = false
			if im.object(&nodes[i]); !im.useful && len(im.notes) == before {
				im.note("import from %q is not used", im.from)
				im.notes[before].unused = true
			}
		}
	}
	return im.out.String(), im.notes
}

// word is the value of a key that holds a string, "" otherwise.
func word(n *json5.Node, key string) string {
	if v := n.Get(key); v != nil && v.Kind == json5.String {
		return v.Text
	}
	return ""
}

// note is something that could not be imported.
type note struct {
	line          int
	context, text string
	unused        bool // nothing is wrong, but nothing of it is used
}

func (im *importer) note(format string, args ...any) {
	im.notes = append(im.notes, note{im.line, fmt.Sprintf("import from %q", im.from), fmt.Sprintf(format, args...), false})
}

func (im *importer) object(n *json5.Node) {
	from, alias := word(n, "from"), word(n, "as")
	if from == "" {
		return
	}
	if im.at == nil {
		im.note("import from %q is not resolved: source text has no folder to resolve it against; pass path instead, or use an inline palette", from)
		return
	}
	target, err := im.resolve(from)
	if err != nil {
		im.note("import from %q is not resolved: %v", from, err)
		return
	}
	if !strings.HasSuffix(from, "/") {
		im.file(n, from, target, alias)
		return
	}
	found, err := (place{im.at.root, target}).scan(false)
	if err != nil || len(found.files) == 0 {
		im.note("import from %q is not resolved: no sources in that folder", from)
		return
	}
	for _, f := range found.files {
		stem := strings.TrimSuffix(path.Base(f.rel), path.Ext(f.rel))
		if alias != "" {
			stem = alias + ":" + stem
		}
		im.file(n, from, f.rel, stem)
	}
}

// resolve is the path of what is imported, relative to the root: ./ and ../ from
// the importing file, other paths from the project's source folder.
func (im *importer) resolve(from string) (string, error) {
	if strings.ContainsAny(from, "\x00\\") || path.IsAbs(from) {
		return "", fmt.Errorf("the path must be relative, with forward slashes")
	}
	dir := path.Dir(im.at.rel)
	if !strings.HasPrefix(from, "./") && !strings.HasPrefix(from, "../") {
		var err error
		if dir, err = im.at.sourceRoot(); err != nil {
			return "", err
		}
	}
	rel := path.Join(dir, from)
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return "", fmt.Errorf("the path is outside the project folder")
	}
	return rel, nil
}

// sourceRoot is the folder that imports without ./ start from.
func (p place) sourceRoot() (string, error) {
	home, text, ok := p.project()
	if !ok {
		return "", fmt.Errorf("no pxl.toml found above this file; start the path with ./")
	}
	src, err := sourceFolder(text)
	return path.Join(home, src), err
}

// sourceFolder reads [project].src of a pxl.toml.
func sourceFolder(text []byte) (string, error) {
	var t struct {
		Project struct {
			Src string `toml:"src"`
		} `toml:"project"`
	}
	if err := toml.Unmarshal(text, &t); err != nil {
		return "", fmt.Errorf("cannot read pxl.toml: %w", err)
	}
	if t.Project.Src == "" {
		return "src/pxl", nil
	}
	return t.Project.Src, nil
}

// file adds the objects of one file, and what they need of what that file imports itself.
func (im *importer) file(n *json5.Node, from, rel, alias string) {
	text, rel, ok := im.open(from, rel)
	if !ok {
		return
	}
	nodes, errs := json5.Parse(text)
	if len(errs) > 0 {
		line, _ := json5.NewLines(text).At(errs[0].Pos)
		im.note("import from %q: cannot read line %d", from, line)
	}
	chosen := im.choose(n, from, nodes)
	local := map[string]bool{}
	for i := range nodes {
		local[word(&nodes[i], "name")] = true
	}
	theirs := im.theirs(nodes, chosen, rel)
	inner, _ := json5.Parse(theirs)
	for i := range inner {
		local[word(&inner[i], "name")] = true
	}
	for i := range nodes {
		if chosen[i] {
			im.add(text, &nodes[i], alias, local)
		}
	}
	for i := range inner {
		im.add(theirs, &inner[i], alias, local)
	}
}

// open reads a file that is imported; what keeps it from being one is noted.
func (im *importer) open(from, rel string) (text, at string, ok bool) {
	var data []byte
	var err error
	for _, ext := range [...]string{"", ".pxl", ".jsonl"} {
		if e := strings.ToLower(path.Ext(rel + ext)); e != ".pxl" && e != ".jsonl" {
			continue
		}
		if data, err = (place{im.at.root, rel + ext}).read(pxl.MaxSource); err == nil {
			rel += ext
			break
		}
	}
	switch {
	case data == nil:
		im.note("import from %q is not resolved: no such file in the project folder", from)
	case rel == im.at.rel:
		im.note("import from %q: a file cannot import itself", from)
	case len(im.files) >= maxImports:
		im.note("import from %q: more than %d imported files", from, maxImports)
	default:
		im.files[rel] = true
		return string(data), rel, true
	}
	return "", "", false
}

// theirs is what a file imports in its turn, if the objects that are chosen of it refer to
// something that it does not have. To the importing file these are names of that file.
func (im *importer) theirs(nodes []json5.Node, chosen []bool, rel string) string {
	next := &importer{
		at: &place{im.at.root, rel}, line: im.line, files: im.files, names: map[string]bool{}, used: map[string]bool{},
		budget: im.budget, within: append(slices.Clip(im.within), im.at.rel),
	}
	for i := range nodes {
		next.names[word(&nodes[i], "type")+" "+word(&nodes[i], "name")] = true
		if !chosen[i] {
			continue
		}
		for _, v := range references(&nodes[i]) {
			if !strings.HasPrefix(v.Text, "@") {
				next.used[v.Text] = true
			}
		}
	}
	for i := range nodes {
		delete(next.used, word(&nodes[i], "name"))
	}
	if len(next.used) == 0 || slices.Contains(im.within, rel) {
		return ""
	}
	for i := range nodes {
		if word(&nodes[i], "type") == "import" {
			next.from = word(&nodes[i], "from")
			next.object(&nodes[i])
		}
	}
	for _, n := range next.notes {
		im.note("import from %q: %s", im.from, n.text)
	}
	return next.out.String()
}

// choose marks the objects that an import asks for: all, or those it lists.
func (im *importer) choose(n *json5.Node, from string, nodes []json5.Node) []bool {
	chosen := make([]bool, len(nodes))
	selective := false
	for _, list := range [...]struct{ key, kind string }{{"palettes", "palette"}, {"sprites", "sprite"}, {"transforms", "transform"}, {"animations", "animation"}} {
		v := n.Get(list.key)
		if v == nil || v.Kind != json5.Array {
			continue
		}
		selective = true
		for j := range v.Items {
			want, found := v.Items[j].Text, false
			for i := range nodes {
				if word(&nodes[i], "type") == list.kind && word(&nodes[i], "name") == want {
					chosen[i], found = true, true
				}
			}
			if !found {
				im.note("import from %q: no %s %q in that file", from, list.kind, want)
			}
		}
	}
	if !selective {
		for i := range nodes {
			chosen[i] = word(&nodes[i], "type") != "import"
		}
	}
	return chosen
}

// add appends an object; with an alias its name, and the names in it that mean
// objects of its own file, get the alias in front.
func (im *importer) add(text string, n *json5.Node, alias string, local map[string]bool) {
	name := word(n, "name")
	if alias != "" {
		name = alias + ":" + name
	}
	id := word(n, "type") + " " + name
	im.useful = im.useful || im.used[name]
	if im.names[id] {
		return
	}
	im.names[id] = true
	var b strings.Builder
	at := n.Pos
	for _, v := range references(n) {
		if alias == "" || v.Pos < at || !local[v.Text] {
			continue
		}
		b.WriteString(text[at:v.Pos])
		b.WriteString(quote(alias + ":" + v.Text))
		at = v.End
	}
	b.WriteString(text[at:n.End])
	if im.budget -= b.Len() + 1; im.budget < 0 {
		im.note("the imported files exceed %s in total; %s is skipped", humanize.Bytes(pxl.MaxSource), id)
		return
	}
	im.out.WriteByte('\n')
	im.out.WriteString(b.String())
}

// references lists the strings of an object that name objects, in their order in
// the text: its own name and those it is built from.
func references(n *json5.Node) (list []*json5.Node) {
	add := func(v *json5.Node) {
		if v != nil && v.Kind == json5.String {
			list = append(list, v)
		}
	}
	for _, key := range [...]string{"name", "palette", "base", "source", "sprite"} {
		add(n.Get(key))
	}
	for _, key := range [...]string{"frames", "sprites"} {
		if v := n.Get(key); v != nil {
			for i := range v.Items {
				add(&v.Items[i])
			}
		}
	}
	for _, key := range [...]string{"keyframes", "layers"} {
		if v := n.Get(key); v != nil {
			for i := range v.Items {
				if v.Items[i].Kind == json5.Object {
					add(v.Items[i].Get("sprite"))
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b *json5.Node) int { return int(a.Pos - b.Pos) })
	return list
}
