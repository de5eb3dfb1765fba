package approvals

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Shape is what the deck reads of the lines of one kind that an agent's program writes: what a
// hook is told, an event, a message, a line of a file. Fields that it does not name are no
// difference.
type Shape struct {
	Name string // of the kind, in the program's word
	// When tells which lines are of the kind, by their fields: "type=user id" are those of that
	// type that have an ID.
	When string
	// In is the path of the object that has the fields; "" is the line itself.
	In string
	// Fields are "path type" with commas between them. A path such as "a.b[].c" goes into objects,
	// and into each element of an array. A type with "?" is of a field that may be missing,
	// and "string=a|b" of one whose values are known.
	Fields string
	// Also are fields, written as Fields, that a program always writes, and that the deck can do without.
	Also string
	// Rare is set if the kind is not in every recording.
	Rare bool
}

// Shapes are those of one agent's program.
type Shapes []Shape

// Difference is how a line differs from the shape of its kind.
type Difference struct {
	Kind, What string
	// New is set for a value that is not known, of a field that has known ones: the line can be read.
	New bool
}

func (d Difference) String() string { return d.Kind + ": " + d.What }

// Line is a line of a kind as a program wrote it, of which only what is in it has come: its field has the kind's
// name, and in is the field of the rest.
func Line(field, kind, in string, rest json.RawMessage) []byte {
	return rawjson.Object{{Key: field, Value: rawjson.Quote(kind)}, {Key: in, Value: rest}}.JSON()
}

// Compare returns the kinds of a line, and how the line differs from their shapes.
func (all Shapes) Compare(line []byte) (kinds []string, out []Difference) {
	return all.compare(line, true)
}

// Differences returns how a whole recording differs, each difference once: also kinds that it lacks.
func (all Shapes) Differences(lines [][]byte) (out []Difference) {
	var seen []string
	for _, line := range lines {
		kinds, differ := all.Compare(line)
		seen, out = append(seen, kinds...), append(out, differ...)
	}
	for i := range all {
		if s := &all[i]; !s.Rare && !slices.Contains(seen, s.Name) {
			out = append(out, Difference{Kind: s.Name, What: "missing"})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}

// Err returns how a line differs from what the deck cannot do without, nil if it does not, or is of
// no kind that has a shape.
func (all Shapes) Err(line []byte) error {
	_, out := all.compare(line, false)
	if i := slices.IndexFunc(out, func(d Difference) bool { return !d.New }); i >= 0 {
		return errors.New(out[i].String())
	}
	return nil
}

func (all Shapes) compare(line []byte, whole bool) (kinds []string, out []Difference) {
	var v any
	if json.Unmarshal(line, &v) != nil {
		return nil, nil
	}
	for i := range all {
		s := &all[i]
		if !s.is(v) {
			continue
		}
		kinds = append(kinds, s.Name)
		in := v
		if s.In != "" {
			in = inside(v, s.In)
		}
		fields := s.Fields
		if whole {
			fields += "," + s.Also
		}
		for text := range strings.SplitSeq(fields, ",") {
			f := fieldOf(strings.TrimSpace(text))
			if what, isNew := f.differs(in, 0); what != "" {
				out = append(out, Difference{Kind: s.Name, What: "field " + what, New: isNew})
			}
		}
	}
	return kinds, out
}

// is reports whether a line is of the kind.
func (s *Shape) is(line any) bool {
	for condition := range strings.FieldsSeq(s.When) {
		path, values, valued := strings.Cut(condition, "=")
		v := inside(line, path)
		text, _ := v.(string)
		if v == nil || valued && !slices.Contains(strings.Split(values, "|"), text) {
			return false
		}
	}
	return true
}

// inside returns the value at a path, nil if there is none.
func inside(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

// field is one of a shape.
type field struct {
	path     []string
	kind     string
	known    []string // values; nil: any
	optional bool
}

// fieldOf reads a field; "" is one that every value has.
func fieldOf(text string) (f field) {
	path, kind, _ := strings.Cut(text, " ")
	if path != "" {
		f.path = strings.Split(path, ".")
	}
	kind, values, valued := strings.Cut(kind, "=")
	if f.kind, f.optional = strings.CutSuffix(kind, "?"); valued {
		f.known = strings.Split(values, "|")
	}
	return f
}

// differs says how a value at an element of the path differs from the field, "" if it does not.
func (f *field) differs(v any, at int) (what string, isNew bool) {
	named := func() string { return strings.TrimSuffix(strings.Join(f.path[:min(at+1, len(f.path))], "."), "[]") }
	if at < len(f.path) {
		name, each := strings.CutSuffix(f.path[at], "[]")
		o, _ := v.(map[string]any)
		v = o[name]
		list, is := v.([]any)
		switch {
		case v == nil && f.optional:
			return "", false
		case v == nil:
			return named() + " missing", false
		case each && !is:
			return named() + " is " + kindOf(v) + ", not array", false
		case !each:
			return f.differs(v, at+1)
		}
		for _, one := range list {
			if what, isNew = f.differs(one, at+1); what != "" {
				return what, isNew
			}
		}
		return "", false
	}
	text, _ := v.(string)
	switch {
	case f.kind != "" && f.kind != "any" && kindOf(v) != f.kind:
		return named() + " is " + kindOf(v) + ", not " + f.kind, false
	case f.known != nil && !slices.Contains(f.known, text):
		return fmt.Sprintf("%s has a new value %q", named(), text), true
	}
	return "", false
}

// kindOf names the type of a JSON value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "string"
}
