package offer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc"
)

// argument is one argument of a tool: how it is described, and how it is read.
type argument struct {
	name string
	kind kind
	text string // what it is, for the model
	// normal is what an absent one counts as; nil: the zero value of its kind.
	normal   any
	enum     []string // the values of a word; nil: any
	more     string   // further members of its schema, JSON
	required bool     // in the schema; the tool says what is missing
}

// kind is how the value of an argument is written. null counts as absent.
type kind int

const (
	text   kind = iota // string
	word               // string, in lower case; one that is blank counts as absent
	flag               // bool
	whole              // int, held at ±1e9
	number             // float64
	pair               // [2]int, or a string such as "16x16"
	words              // []string, or one string with commas or blanks between
)

// types are those of a kind in a schema.
func (k kind) types() []string {
	return [...][]string{{"string"}, {"string"}, {"boolean"}, {"integer"}, {"number"}, {"array", "string"}, {"array", "string"}}[k]
}

// want says what a value of a kind must be.
func (k kind) want() string {
	return [...]string{
		"a string", "a string", "true or false", "an integer", "a number",
		`two integers [width, height], such as [16, 16], or "16x16"`, "a list of strings",
	}[k]
}

// read reads a value; nil when it is of another kind.
func (k kind) read(v any) any {
	switch v := v.(type) {
	case bool:
		if k == flag {
			return v
		}
	case float64:
		if k == number {
			return v
		}
		if n, ok := integer(v); ok && k == whole {
			return n
		}
	case string:
		return k.readString(v)
	case []any:
		return k.readList(v)
	}
	return nil
}

func (k kind) readString(s string) any {
	switch k {
	case text:
		return s
	case word:
		return strings.ToLower(strings.TrimSpace(s))
	case words:
		return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	case pair:
		if w, h, ok := parseSize(s); ok {
			return [2]int{w, h}
		}
	default:
	}
	return nil
}

func (k kind) readList(list []any) any {
	switch {
	case k == pair && len(list) == 2:
		w, okW := integer(list[0])
		h, okH := integer(list[1])
		if okW && okH {
			return [2]int{w, h}
		}
	case k == words:
		out := make([]string, len(list))
		for i, v := range list {
			s, ok := v.(string)
			if !ok {
				return nil
			}
			out[i] = s
		}
		return out
	}
	return nil
}

// integer is a number without a fraction, held at ±1e9.
func integer(v any) (int, bool) {
	f, ok := v.(float64)
	return int(min(max(f, -1e9), 1e9)), ok && f == math.Trunc(f)
}

// schema is the tool's arguments as JSON Schema.
func (t tool) schema() json.RawMessage {
	quoted := func(v any) string { return pixelsrc.JSON(v) }
	var list, required []string
	for _, a := range t.arguments {
		types := a.kind.types()
		if a.required {
			required = append(required, a.name)
		} else {
			types = append(types, "null")
		}
		var of any = types
		if len(types) == 1 {
			of = types[0]
		}
		s := fmt.Sprintf(`%q: {"type": %s`, a.name, quoted(of))
		if a.enum != nil {
			values := quoted(a.enum)
			s += `, "enum": ` + values[:len(values)-1] + ", null]"
		}
		if a.more != "" {
			s += ", " + a.more
		}
		if a.normal != nil {
			s += `, "default": ` + quoted(a.normal)
		}
		list = append(list, s+`, "description": `+quoted(a.text)+"}")
	}
	s := `{"type": "object", "properties": {` + strings.Join(list, ", ") + "}"
	if required != nil {
		s += `, "required": ` + quoted(required)
	}
	return json.RawMessage(s + "}")
}

// arguments are those of one call, by name, as their kinds read them.
type arguments struct {
	declared []argument
	given    map[string]any
}

// read takes the arguments of a call, a map[string]any as encoding/json makes it or
// nil. ignored says which of them the tool does not know.
func (t tool) read(raw any) (a arguments, ignored string, err error) {
	given, ok := raw.(map[string]any)
	if !ok && raw != nil {
		return a, "", failf("The arguments must be a JSON object.")
	}
	a = arguments{t.arguments, map[string]any{}}
	ignored = t.ignored(given)
	for _, d := range t.arguments {
		v := given[d.name]
		if v == nil {
			continue
		}
		read := d.kind.read(v)
		switch {
		case read == nil:
			return a, ignored, failf("The argument %s must be %s.", d.name, d.kind.want())
		case d.kind == word && read == "":
			continue
		case d.enum != nil && !slices.Contains(d.enum, read.(string)):
			return a, ignored, failf("Unknown %s '%s': use one of %s.", d.name, read, strings.Join(d.enum, ", "))
		}
		a.given[d.name] = read
	}
	return a, ignored, nil
}

// ignored says which arguments the tool does not know, and what was perhaps meant.
func (t tool) ignored(given map[string]any) string {
	var known, lines []string
	for _, d := range t.arguments {
		known = append(known, d.name)
	}
	slices.Sort(known)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, name) {
			continue
		}
		line := "Ignored argument '" + name + "'."
		if near := pixelsrc.NearNames(name, known, 2); len(near) > 0 {
			line += " " + pixelsrc.DidYouMean(near[:1])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// has reports whether an argument was given.
func (a arguments) has(name string) bool {
	_, ok := a.given[name]
	return ok
}

// get is an argument, or its default. T is the type of its kind.
func get[T any](c *call, name string) (value T) {
	i := slices.IndexFunc(c.declared, func(d argument) bool { return d.name == name })
	switch v := c.given[name]; {
	case v != nil:
		return v.(T)
	case c.declared[i].normal != nil: // it panics for a name that is not declared
		return c.declared[i].normal.(T)
	}
	return value
}

// parseSize reads "16x16": two positive numbers.
func parseSize(s string) (w, h int, ok bool) {
	left, right, found := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "x")
	if !found {
		return 0, 0, false
	}
	digits := func(s string) (n int) {
		for _, r := range s {
			if r < '0' || r > '9' || n > 1e6 {
				return 0
			}
			n = n*10 + int(r-'0')
		}
		return n
	}
	w, h = digits(left), digits(right)
	return w, h, w > 0 && h > 0
}
