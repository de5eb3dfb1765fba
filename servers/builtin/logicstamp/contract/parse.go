package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

type bundleJSON struct {
	Position   string `json:"position"`
	EntryID    string `json:"entryId"`
	Depth      int    `json:"depth"`
	BundleHash string `json:"bundleHash"`
	CreatedAt  string `json:"createdAt"`
	Schema     string `json:"$schema"`
	Graph      *struct {
		Nodes *[]struct {
			EntryID  string       `json:"entryId"`
			Contract contractJSON `json:"contract"`
		} `json:"nodes"`
		Edges []json.RawMessage `json:"edges"`
	} `json:"graph"`
	Meta struct {
		Missing []json.RawMessage `json:"missing"`
	} `json:"meta"`
}

// parseBundle reads one bundle.
func parseBundle(text json.RawMessage, ids idRules) (*Bundle, error) {
	var in bundleJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	if in.EntryID == "" || in.Graph == nil || in.Graph.Nodes == nil {
		return nil, errors.New("no entryId or no graph.nodes")
	}
	b := &Bundle{
		Root: ids.relative(in.EntryID), Position: in.Position, Depth: in.Depth, Hash: in.BundleHash,
		Raw: Compact(text), Damaged: true,
	}
	b.Tokens = (len(b.Raw) - volatileLen(in) + 3) / 4
	for _, n := range *in.Graph.Nodes {
		node := newNode(n.EntryID, n.Contract, ids)
		b.Damaged = b.Damaged && node.ID != b.Root
		b.Nodes = append(b.Nodes, node)
	}
	for _, e := range in.Graph.Edges {
		if from, to, ok := parseEdge(e); ok {
			b.Edges = append(b.Edges, [2]string{ids.relative(from), ids.relative(to)})
		}
	}
	slices.SortFunc(b.Edges, func(x, y [2]string) int {
		return strings.Compare(x[0]+"\x00"+x[1], y[0]+"\x00"+y[1])
	})
	for _, m := range in.Meta.Missing {
		if miss, ok := parseMissing(m, ids); ok {
			b.Missing = append(b.Missing, miss)
		}
	}
	slices.SortFunc(b.Missing, func(x, y Missing) int {
		return strings.Compare(x.Name+"\x00"+x.Referenced, y.Name+"\x00"+y.Referenced)
	})
	return b, nil
}

// Compact is JSON text without white space between its tokens.
func Compact(text json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.Grow(len(text))
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// volatileLen is the length of the members of a bundle that change at every run
// or with its place in the file.
func volatileLen(in bundleJSON) int {
	n := 0
	for name, v := range map[string]string{"createdAt": in.CreatedAt, "position": in.Position, "$schema": in.Schema} {
		if v != "" {
			n += len(name) + len(v) + len(`"":"",`)
		}
	}
	return n
}

func parseEdge(raw json.RawMessage) (from, to string, ok bool) {
	var pair []string
	if json.Unmarshal(raw, &pair) == nil && len(pair) == 2 {
		return pair[0], pair[1], true
	}
	var object struct{ From, To string }
	if json.Unmarshal(raw, &object) == nil && object.From != "" {
		return object.From, object.To, true
	}
	return "", "", false
}

func parseMissing(raw json.RawMessage, ids idRules) (Missing, bool) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return Missing{Name: name}, name != ""
	}
	var m struct{ Name, ReferencedBy string }
	if json.Unmarshal(raw, &m) != nil || m.Name == "" {
		return Missing{}, false
	}
	return Missing{Name: m.Name, Referenced: ids.relative(m.ReferencedBy)}, true
}

type compositionJSON struct {
	Variables        []string                   `json:"variables"`
	Hooks            []string                   `json:"hooks"`
	Components       []string                   `json:"components"`
	Functions        []string                   `json:"functions"`
	Imports          []string                   `json:"imports"`
	LanguageSpecific map[string]json.RawMessage `json:"languageSpecific"`
}

type interfaceJSON struct {
	Props        map[string]json.RawMessage `json:"props"`
	Emits        map[string]json.RawMessage `json:"emits"`
	State        map[string]json.RawMessage `json:"state"`
	APISignature json.RawMessage            `json:"apiSignature"`
}

type contractJSON struct {
	Kind           string           `json:"kind"`
	EntryID        string           `json:"entryId"`
	Description    string           `json:"description"`
	Composition    *compositionJSON `json:"composition"`
	Version        *compositionJSON `json:"version"`
	Interface      *interfaceJSON   `json:"interface"`
	LogicSignature *interfaceJSON   `json:"logicSignature"`
	Exports        json.RawMessage  `json:"exports"`
	NextJS         json.RawMessage  `json:"nextjs"`
	Style          json.RawMessage  `json:"style"`
	SemanticHash   string           `json:"semanticHash"`
	FileHash       string           `json:"fileHash"`
}

func newNode(id string, in contractJSON, ids idRules) *Node {
	id = cmp.Or(id, in.EntryID)
	c := &Contract{
		ID: ids.relative(id), Kind: in.Kind, Description: in.Description,
		Words:        Vocabulary{Composition: "composition", Interface: "interface"},
		SemanticHash: in.SemanticHash, FileHash: in.FileHash,
		NextJS: canonical(in.NextJS), Style: canonical(in.Style), Exports: parseExports(in.Exports),
	}
	comp, face := in.Composition, in.Interface
	if comp == nil && face == nil {
		comp, face = in.Version, in.LogicSignature
		if comp != nil || face != nil {
			c.Words = Vocabulary{Composition: "version", Interface: "logicSignature"}
		}
	}
	c.Bare = comp == nil && face == nil
	if comp != nil {
		c.Variables, c.Hooks, c.Components = set(comp.Variables), set(comp.Hooks), set(comp.Components)
		c.Functions, c.Imports = set(comp.Functions), set(comp.Imports)
		for name, v := range comp.LanguageSpecific {
			if text := canonical(v); text != "" {
				c.Language = append(c.Language, name+" "+text)
			}
		}
		sort.Strings(c.Language)
	}
	if face != nil {
		c.Props, c.Emits = parseTypes(face.Props, ids), parseTypes(face.Emits, ids)
		c.State, c.API = parseTypes(face.State, ids), ids.relativeImports(canonical(face.APISignature))
	}
	return &Node{ID: c.ID, Contract: c}
}

func set(list []string) []string {
	out := slices.Clone(list)
	sort.Strings(out)
	return slices.Compact(out)
}

func parseTypes(in map[string]json.RawMessage, ids idRules) map[string]Type {
	out := make(map[string]Type, len(in))
	for name, raw := range in {
		t := parseType(raw)
		t.Text = ids.relativeImports(t.Text)
		out[name] = t
	}
	return out
}

// parseType turns a type descriptor of any version into text: a plain string, a
// list of literals, or an object.
func parseType(raw json.RawMessage) Type {
	if text, ok := simple(raw); ok {
		return Type{Text: text}
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return Type{Text: text}
	}
	var literals []string
	if json.Unmarshal(raw, &literals) == nil {
		return Type{Text: union(literals)}
	}
	var object struct {
		Type      string   `json:"type"`
		Optional  bool     `json:"optional"`
		Literals  []string `json:"literals"`
		Signature string   `json:"signature"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return Type{Text: canonical(raw)}
	}
	t := Type{Text: object.Type, Optional: object.Optional}
	switch {
	case len(object.Literals) > 0:
		t.Text = union(object.Literals)
	case object.Signature != "":
		t.Text = object.Signature
	case object.Type == "":
		t.Text = canonical(raw)
	}
	return t
}

func union(literals []string) string {
	list := set(literals)
	for i, l := range list {
		list[i] = `"` + l + `"`
	}
	return strings.Join(list, " | ")
}

func parseExports(raw json.RawMessage) Exports {
	e := Exports{Raw: canonical(raw)}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		e.Default = word == "default"
		e.Unnamed = word == "named"
		return e
	}
	var object struct {
		Default json.RawMessage `json:"default"`
		Named   []string        `json:"named"`
	}
	if json.Unmarshal(raw, &object) == nil {
		e.Names = set(object.Named)
		text := canonical(object.Default)
		e.Default = text != "" && text != "false"
	}
	return e
}

// simple reads a JSON string without escapes, which most values are.
func simple(raw json.RawMessage) (string, bool) {
	if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : n-1]), true
	}
	return "", false
}

// canonical is compact JSON with sorted members, with everything empty left
// out: null, absent, {} and [] all give "".
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return ""
	}
	v = prune(v)
	if v == nil {
		return ""
	}
	out, err := rawjson.Encode(v, "")
	if err != nil {
		return ""
	}
	return string(out)
}

// prune removes what is empty from a decoded value; nil when nothing is left.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member = prune(member); member == nil {
				delete(v, name)
			} else {
				v[name] = member
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
	}
	return v
}
