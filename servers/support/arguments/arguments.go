// Package arguments describes a tool's arguments once: the schema that clients see
// and the check of a call come from the same rows.
package arguments

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Argument is one argument of a tool.
type Argument struct {
	Name string
	Kind Kind
	Text string   // what it is, for the model
	Enum []string // the values of a string; nil: any
	// Default is what an absent one counts as, of the type that its kind reads; nil: the
	// zero value.
	Default  any
	Required bool
	// Min and Max bound an Integer. Max is the most bytes of a Text; 0: any.
	Min, Max int
	More     string // further members of its schema, JSON
}

// List is what a tool takes.
type List []Argument

// Style is what the schemas of a server's tools have in common.
type Style struct {
	Nullable bool // null is a value of what is not required
	Closed   bool // other arguments are not expected
}

// Schema is the list as JSON Schema, in plain keywords that every client takes.
func (l List) Schema(style Style) json.RawMessage {
	var properties, required []string
	for _, a := range l {
		properties = append(properties, encode(a.Name)+":"+a.schema(style.Nullable && !a.Required))
		if a.Required {
			required = append(required, a.Name)
		}
	}
	s := `{"type":"object","properties":{` + strings.Join(properties, ",") + "}"
	if required != nil {
		s += `,"required":` + encode(required)
	}
	if style.Closed {
		s += `,"additionalProperties":false`
	}
	return json.RawMessage(s + "}")
}

func (a Argument) schema(nullable bool) string {
	var values []any
	for _, v := range a.Enum {
		values = append(values, v)
	}
	types, more := a.Kind.form()
	if nullable {
		types = append(types, "null")
		if values != nil {
			values = append(values, nil)
		}
	}
	s := `{"type":` + encode(types)
	if len(types) == 1 {
		s = `{"type":` + encode(types[0])
	}
	if values != nil {
		s += `,"enum":` + encode(values)
	}
	if a.More != "" {
		more = a.More
	}
	if more != "" {
		s += "," + more
	}
	if a.Kind == Integer {
		s += `,"minimum":` + encode(a.Min) + `,"maximum":` + encode(a.Max)
	}
	if a.Default != nil {
		s += `,"default":` + encode(a.Default)
	}
	return s + `,"description":` + encode(a.Text) + "}"
}

// encode is JSON on one line, as short as it can be.
func encode(v any) string {
	b, err := rawjson.Encode(v, "")
	if err != nil {
		panic(err) // a row of the program's own
	}
	return string(b)
}

// Fault is what is wrong with the arguments of a call.
type Fault struct {
	Argument     // the zero value: they are no object
	Got      any // nil: it is missing
	Value    any // what its kind reads, but not one of its values; nil: it is of another kind
}

// Values are the arguments of a call.
type Values struct {
	list  List
	given map[string]any
	// Unknown names what was given beside those of the list, sorted.
	Unknown []string
}

// Read reads the arguments of a call: a map[string]any as encoding/json makes it, or nil.
// A null counts as absent. say words what is wrong, or returns nil where that does no
// harm: the argument counts as absent then. The values beside an error are those before it.
func (l List) Read(raw any, say func(Fault) error) (Values, error) {
	v := Values{list: l, given: map[string]any{}}
	given, ok := raw.(map[string]any)
	if !ok && raw != nil {
		return v, say(Fault{})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(l, func(a Argument) bool { return a.Name == name }) {
			v.Unknown = append(v.Unknown, name)
		}
	}
	for _, a := range l {
		got := given[a.Name]
		value := a.Kind.Read(got)
		switch blank := value == "" && a.Kind == Word; {
		case got == nil && !a.Required, blank:
		case value != nil && a.allows(value):
			v.given[a.Name] = value
		default:
			if err := say(Fault{a, got, value}); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

func (a Argument) allows(value any) bool {
	switch v := value.(type) {
	case string:
		return (a.Enum == nil || slices.Contains(a.Enum, v)) && (a.Max == 0 || len(v) <= a.Max)
	case int:
		return a.Kind != Integer || v >= a.Min && v <= a.Max
	}
	return true
}

// Has reports whether an argument was given.
func (v Values) Has(name string) bool { return v.given[name] != nil }

// Given is an argument of the type T that its kind reads; nil: it was not given.
func Given[T any](v Values, name string) *T {
	if t, ok := v.given[name].(T); ok {
		return &t
	}
	return nil
}

// Get is an argument or its default, of the type T that its kind reads. It panics for
// one that is not on the list.
func Get[T any](v Values, name string) (value T) {
	i := slices.IndexFunc(v.list, func(a Argument) bool { return a.Name == name })
	if normal := v.list[i].Default; v.given[name] == nil && normal != nil {
		return normal.(T)
	}
	if t := Given[T](v, name); t != nil {
		return *t
	}
	return value
}

// String is a Text or a Word.
func (v Values) String(name string) string { return Get[string](v, name) }

// Strings is a Strings or a Words.
func (v Values) Strings(name string) []string { return Get[[]string](v, name) }

// Bool is a Flag.
func (v Values) Bool(name string) bool { return Get[bool](v, name) }

// Int is a Whole or an Integer.
func (v Values) Int(name string) int { return Get[int](v, name) }
