package form

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Kind is how a field is filled in.
type Kind string

// The kinds of fields.
const (
	Text    Kind = "text"    // of any number of lines
	Number  Kind = "number"  // as it is typed: no digit is lost
	Choice  Kind = "choice"  // one of Options
	Several Kind = "several" // any of Options
	Object  Kind = "object"
	List    Kind = "list"
	Variant Kind = "variant" // one of Options, each of a shape of its own
	JSON    Kind = "json"    // whatever the others cannot show
)

const (
	maxCycle = 6   // times a reference may lead to itself
	maxDepth = 32  // levels of fields
	maxRefs  = 100 // references that lead to references
)

// Shape is what a schema says about a value.
type Shape struct {
	Kind     Kind
	Title    string
	About    string          // its description
	Default  json.RawMessage // nil: none
	Options  []Option
	Nullable bool   // and null is none of Options
	Format   string // of a Text
	Integer  bool   // of a Number
	Limits   string // in words: "1 to 5"; "": none

	props    []property    // of an Object
	item     func() *Shape // of a List
	recursed bool          // a reference has led here before
	max      int           // entries of a List or Several; -1: any number
}

// Option is one of the values of a choice.
type Option struct {
	Title string
	Value json.RawMessage // nil for an alternative of a Variant

	shape func() *Shape // of a Variant
	at    int           // which of the schema's alternatives it is
}

type property struct {
	name     string
	required bool
	shape    func() *Shape
}

// reader makes shapes of schemas. Each of its values stands for a place in the schema.
type reader struct {
	root  json.RawMessage
	depth int
	refs  []string // that led here
}

// resolved is a schema behind its references, with what stands beside them.
func (r reader) resolved(schema json.RawMessage) (rawjson.Object, reader, bool) {
	rules, err := rawjson.SplitObject(schema)
	if err != nil {
		return nil, r, false
	}
	for range maxRefs {
		next, ref := rules.Get("$ref"), rules.Str("$ref")
		key := "$ref"
		switch all, _ := rawjson.SplitArray(rules.Get("allOf")); {
		case next != nil:
			target, ok := pointed(r.root, ref)
			if !ok {
				return nil, r, false
			}
			next = target
			r.refs = append(slices.Clip(r.refs), ref)
		case len(all) == 1:
			next, key = all[0], "allOf"
		default:
			return rules, r, true
		}
		behind, err := rawjson.SplitObject(next)
		if err != nil {
			return nil, r, false
		}
		rules = over(behind, rules, key)
	}
	return nil, r, false
}

// over is the rules below with those above in the place of equal ones, but for key.
func over(below, above rawjson.Object, key string) rawjson.Object {
	out := make(rawjson.Object, 0, len(below)+len(above))
	for _, m := range below {
		if m.Key == key || above.Get(m.Key) == nil {
			out = append(out, m)
		}
	}
	for _, m := range above {
		if m.Key != key {
			out = append(out, m)
		}
	}
	return out
}

// pointed finds what a reference within the schema leads to; ok is false for any other.
func pointed(root json.RawMessage, ref string) (at json.RawMessage, ok bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path == "" {
		return root, ok
	}
	steps, err := url.PathUnescape(path)
	if err != nil || path[0] != '/' {
		return nil, false
	}
	at = root
	for step := range strings.SplitSeq(steps[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if list, isList := rawjson.SplitArray(at); isList {
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(list) {
				return nil, false
			}
			at = list[n]
			continue
		}
		o, err := rawjson.SplitObject(at)
		if at = o.Get(step); err != nil || at == nil {
			return nil, false
		}
	}
	return at, true
}

// shape reads a schema.
func (r reader) shape(schema json.RawMessage) *Shape {
	before := len(r.refs)
	rules, r, ok := r.resolved(schema)
	r.depth++
	if !ok || r.depth > maxDepth || r.cycles() > maxCycle {
		rules, _ := rawjson.SplitObject(schema) // what it says of itself is all there is to show
		return plain(rules, JSON)
	}
	s := r.read(rules)
	s.recursed = len(r.refs) > before && r.cycles() > 1
	return s
}

// cycles is how often the last reference has led here.
func (r reader) cycles() int {
	n := 0
	for _, ref := range r.refs {
		if ref == r.refs[len(r.refs)-1] {
			n++
		}
	}
	return n
}

// plain is a shape without anything inside.
func plain(rules rawjson.Object, k Kind) *Shape {
	return &Shape{
		Kind: k, Title: strings.TrimSpace(rules.Str("title")), About: strings.TrimSpace(rules.Str("description")),
		Default: rules.Get("default"), max: -1,
	}
}

func (r reader) read(rules rawjson.Object) *Shape {
	kinds, nullable := types(rules)
	if opts, ok := choices(rules); ok {
		s := plain(rules, Choice)
		s.Options = opts
		return s
	}
	if s := r.variant(rules); s != nil {
		return s
	}
	kind := ""
	if len(kinds) == 1 {
		kind = kinds[0]
	}
	var s *Shape
	switch kind {
	case "string":
		s = plain(rules, Text)
		s.Format = rules.Str("format")
		s.Limits = between(rules, "minLength", "maxLength", "characters")
	case "integer", "number":
		s = plain(rules, Number)
		s.Integer = kind == "integer"
		s.Limits = between(rules, "minimum", "maximum", "")
	case "boolean":
		s = plain(rules, Choice)
		s.Options = []Option{{Title: "Yes", Value: json.RawMessage("true")}, {Title: "No", Value: json.RawMessage("false")}}
		if nullable {
			s.Options, nullable = append(s.Options, Option{Title: "null", Value: json.RawMessage("null")}), false
		}
	case "array":
		s = r.list(rules)
	case "object", "":
		props, err := rawjson.SplitObject(rules.Get("properties"))
		if err != nil || len(props) == 0 || kind == "" && len(kinds) > 0 {
			s = plain(rules, JSON)
			break
		}
		s = r.object(rules, props)
	default:
		s = plain(rules, JSON)
	}
	s.Nullable = nullable && s.Kind != JSON
	return s
}

// types are the types that a schema allows, null aside.
func types(rules rawjson.Object) (kinds []string, nullable bool) {
	nullable = rules.Flag("nullable")
	list, several := rawjson.SplitArray(rules.Get("type"))
	if !several {
		list = []json.RawMessage{rules.Get("type")}
	}
	for _, raw := range list {
		switch t, err := rawjson.Text(raw); {
		case err != nil:
		case t == "null":
			nullable = true
		default:
			kinds = append(kinds, t)
		}
	}
	return kinds, nullable
}

// choices reads the values that a schema names, in all the ways they are written.
func choices(rules rawjson.Object) ([]Option, bool) {
	var out []Option
	for _, key := range []string{"oneOf", "anyOf"} {
		list, _ := rawjson.SplitArray(rules.Get(key))
		for _, raw := range list {
			o, err := rawjson.SplitObject(raw)
			if err != nil || o.Get("const") == nil {
				out = nil
				break
			}
			out = named(out, o.Get("const"), o.Str("title"))
		}
		if out != nil {
			return out, true
		}
	}
	if v := rules.Get("const"); v != nil {
		return named(nil, v, ""), true
	}
	values, _ := rawjson.SplitArray(rules.Get("enum"))
	names, _ := rawjson.SplitArray(rules.Get("enumNames"))
	for i, v := range values {
		name := ""
		if i < len(names) {
			name = Word(names[i])
		}
		out = named(out, v, name)
	}
	return out, len(out) > 0
}

// named adds an option. Those of the same title are told apart by their values.
func named(all []Option, value json.RawMessage, title string) []Option {
	same := func(o Option) bool { return strings.TrimSpace(o.Title) == strings.TrimSpace(title) }
	if strings.TrimSpace(title) == "" {
		title = Word(value)
	}
	if slices.ContainsFunc(all, same) {
		title += " (" + Word(value) + ")"
	}
	return append(all, Option{Title: title, Value: value})
}

// Word is a value as a user reads it: a string without its quotes.
func Word(v json.RawMessage) string {
	if s, err := rawjson.Text(v); err == nil {
		return s
	}
	return string(v)
}

// variant reads alternatives; nil when the schema has none. One that may also be null
// is no choice.
func (r reader) variant(rules rawjson.Object) *Shape {
	key := "oneOf"
	list, _ := rawjson.SplitArray(rules.Get(key))
	if len(list) == 0 {
		key = "anyOf"
		list, _ = rawjson.SplitArray(rules.Get(key))
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := rawjson.SplitObject(rules.Get("properties")); err == nil {
		return plain(rules, JSON) // what holds beside the alternatives has no field of its own
	}
	_, nullable := types(rules)
	s := plain(rules, Variant)
	for i, raw := range list {
		if o, err := rawjson.SplitObject(raw); err == nil && o.Str("type") == "null" {
			nullable = true
			continue
		}
		s.Options = append(s.Options, Option{Title: r.nameOf(raw, i), at: i, shape: sync.OnceValue(func() *Shape { return r.shape(raw) })})
	}
	s.Nullable = nullable
	if len(s.Options) == 1 {
		return s.only()
	}
	return s
}

// only is the one alternative that there is beside null.
func (s *Shape) only() *Shape {
	only := *s.Options[0].shape()
	only.Title, only.About, only.Default = cmp.Or(s.Title, only.Title), cmp.Or(s.About, only.About), s.Default
	switch {
	case !s.Nullable || only.Kind == JSON:
	case only.Kind == Choice && only.option(json.RawMessage("null")) < 0:
		only.Options = named(slices.Clip(only.Options), json.RawMessage("null"), "")
	case only.Kind != Choice:
		only.Nullable = true
	}
	return &only
}

// nameOf is what an alternative is called: its title, the name it is referred to by,
// its type.
func (r reader) nameOf(raw json.RawMessage, i int) string {
	rules, _, ok := r.resolved(raw)
	if !ok {
		return "alternative " + strconv.Itoa(i+1)
	}
	own, _ := rawjson.SplitObject(raw) // it is an object, as it was resolved
	ref := own.Str("$ref")
	return cmp.Or(strings.TrimSpace(rules.Str("title")), ref[strings.LastIndexByte(ref, '/')+1:], rules.Str("type"), "alternative "+strconv.Itoa(i+1))
}

func (r reader) list(rules rawjson.Object) *Shape {
	items := rules.Get("items")
	inner, _, ok := r.resolved(items)
	if !ok {
		return plain(rules, JSON)
	}
	if opts, ok := choices(inner); ok {
		s := plain(rules, Several)
		s.Options = opts
		s.count(rules)
		return s
	}
	s := plain(rules, List)
	s.item = sync.OnceValue(func() *Shape { return r.shape(items) })
	s.count(rules)
	return s
}

func (s *Shape) count(rules rawjson.Object) {
	s.max = most(rules)
	s.Limits = between(rules, "minItems", "maxItems", "")
}

func (r reader) object(rules, props rawjson.Object) *Shape {
	s := plain(rules, Object)
	must, _ := rawjson.SplitArray(rules.Get("required"))
	for _, p := range props {
		required := slices.ContainsFunc(must, func(raw json.RawMessage) bool {
			name, err := rawjson.Text(raw)
			return err == nil && name == p.Key
		})
		shape := sync.OnceValue(func() *Shape { return r.shape(p.Value) })
		s.props = append(s.props, property{name: p.Key, required: required, shape: shape})
	}
	return s
}

// most is the number of entries that a list may have; -1: any.
func most(rules rawjson.Object) int {
	n, err := strconv.Atoi(string(rules.Get("maxItems")))
	if err != nil {
		return -1
	}
	return max(n, -1)
}

// between says a range in words.
func between(rules rawjson.Object, least, most, of string) string {
	from, to := string(rules.Get(least)), string(rules.Get(most))
	if from == "0" && of != "" {
		from = ""
	}
	out := ""
	switch {
	case from != "" && from == to:
		out = "exactly " + from
	case from != "" && to != "":
		out = from + " to " + to
	case from != "":
		out = "at least " + from
	case to != "":
		out = "at most " + to
	}
	if out != "" && of != "" {
		out += " " + of
	}
	return out
}
