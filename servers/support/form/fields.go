package form

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Field is a row of a form: a value to fill in, or the heading of those below it.
type Field struct {
	Path     string // JSON pointer to the value; unique but for a Variant and what it takes
	Name     string // what the user knows it by
	Depth    int    // levels of fields above it, from 0
	Required bool
	Role     Role
	Shape    *Shape
	Value    *Value // never nil

	form  *Form
	index int
	up    []*Value // values that this one is in
}

// Role is what a row stands for.
type Role string

// The roles of rows.
const (
	Member Role = "member" // of an object
	Entry  Role = "entry"  // of a list
	Added  Role = "add"    // one more entry for a list: Value and Shape are the list's
	Extra  Role = "extra"  // members of an object that have no field: Value and Shape are the object's
)

// maxFields is how many fields are there without the user's asking for them.
const maxFields = 500

// Fields are the rows of a form, in order.
func (f *Form) Fields(v *Value) []Field {
	l := &lister{form: f}
	if f.root.Kind == Variant {
		l.add(Field{Name: label(f.root, "kind"), Required: true, Role: Member, Shape: f.root, Value: v})
		return l.out
	}
	l.inside(Field{Shape: f.root, Value: v, Depth: -1})
	return l.out
}

// lister lists fields. Values are made where there are none.
type lister struct {
	form *Form
	out  []Field
}

// inside lists what is in a field.
func (l *lister) inside(f Field) {
	v, up := f.Value, append(slices.Clip(f.up), f.Value)
	if f.Closed() {
		return
	}
	switch f.Kind() {
	case Object:
		for _, p := range f.Shape.props {
			shape := p.shape()
			if v.Members[p.name] == nil {
				if v.Members == nil {
					v.Members = map[string]*Value{}
				}
				v.Members[p.name] = l.form.within(v, shape)
			}
			l.add(Field{
				Path: f.Path + "/" + escape(p.name), Name: label(shape, p.name), Depth: f.Depth + 1, Required: p.required,
				Role: Member, Shape: shape, Value: v.Members[p.name], up: up,
			})
		}
		if len(v.Extra) > 0 {
			l.add(Field{Path: f.Path, Name: "other members", Depth: f.Depth + 1, Role: Extra, Shape: f.Shape, Value: v, up: f.up})
		}
	case List:
		item := f.Shape.item()
		for i, e := range v.Entries {
			l.add(Field{
				Path: f.Path + "/" + strconv.Itoa(i), Name: strconv.Itoa(i + 1), Depth: f.Depth + 1, Required: true,
				Role: Entry, Shape: item, Value: e, index: i, up: up,
			})
		}
		l.add(Field{Path: f.Path, Name: "add", Depth: f.Depth + 1, Role: Added, Shape: f.Shape, Value: v, up: f.up})
	case Variant:
		shape, in := l.form.inner(f.Shape, v)
		switch {
		case shape == nil:
		case shape.Kind == Object && !in.Raw && !in.Null:
			l.inside(Field{Path: f.Path, Depth: f.Depth, Shape: shape, Value: in, up: up})
		default:
			name := f.Shape.Options[f.Shape.chosen(v)].Title
			l.add(Field{Path: f.Path, Name: label(shape, name), Depth: f.Depth + 1, Required: true, Role: Member, Shape: shape, Value: in, up: up})
		}
	default:
	}
}

// add lists a field with what is in it.
func (l *lister) add(f Field) {
	f.form = l.form
	l.out = append(l.out, f)
	if f.Role == Member || f.Role == Entry {
		if len(l.out) > maxFields && !f.Value.Set {
			return // open nothing more by itself
		}
		l.inside(f)
	}
}

// Kind is how the field is filled in now.
func (f Field) Kind() Kind {
	if f.Value.Raw {
		return JSON
	}
	return f.Shape.Kind
}

// Closed reports whether the field is an object whose members are not listed until it is
// opened: one that a schema goes on and on with, or null.
func (f Field) Closed() bool {
	return f.Value.Null || f.Kind() == Object && f.Shape.recursed && !f.Value.Set
}

// Heading reports whether the field has no value but those of the fields below it.
func (f Field) Heading() bool {
	return (f.Role == Member || f.Role == Entry) && (f.Kind() == Object || f.Kind() == List) && !f.Closed()
}

// label is the name of a field that has a title or not.
func label(s *Shape, name string) string {
	if s.Title != "" {
		return s.Title
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == ' ' })
	if len(words) == 0 {
		return strconv.Quote(name)
	}
	return strings.Join(words, " ")
}

func escape(step string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(step) }

// touch says that the user has changed the field.
func (f Field) touch() {
	f.Value.Given, f.Value.None = false, false
	for _, v := range f.up {
		v.Given, v.None = false, false
	}
}

// SetText enters text: of a Text, a Number or JSON.
func (f Field) SetText(s string) {
	f.touch()
	f.Value.Text, f.Value.Set, f.Value.Null = strings.ToValidUTF8(s, "\ufffd"), false, false
}

// SetJSON enters a value as JSON. What does not fit the field stays there as JSON.
func (f Field) SetJSON(s string) error {
	raw := []byte(strings.ToValidUTF8(s, "\ufffd"))
	if !json.Valid(raw) {
		return whereInvalid(raw)
	}
	f.touch()
	*f.Value = *f.form.read(f.Shape, raw)
	return nil
}

// Choose takes an option of a Choice or a Variant.
func (f Field) Choose(i int) {
	f.touch()
	f.Value.Chosen, f.Value.Null = []int{i}, false
}

// Toggle takes an option of a Several, or no longer takes it.
func (f Field) Toggle(i int) {
	f.touch()
	f.Value.Null, f.Value.Set = false, true // also when none is left
	if at := slices.Index(f.Value.Chosen, i); at >= 0 {
		f.Value.Chosen = slices.Delete(slices.Clone(f.Value.Chosen), at, at+1)
		return
	}
	f.Value.Chosen = append(slices.Clone(f.Value.Chosen), i)
}

// Clear leaves the field without a value.
func (f Field) Clear() {
	f.touch()
	if f.Role == Extra {
		f.Value.Extra = nil
		return
	}
	*f.Value = Value{None: true}
}

// SetNull gives the field the value null, where it may have that.
func (f Field) SetNull() {
	if f.Shape.Nullable {
		f.touch()
		f.Value.Null = true
	}
}

// Open lists the members of an object that are not.
func (f Field) Open() {
	f.touch()
	f.Value.Set, f.Value.Null = true, false
}

// Add puts an empty entry at the end of a list.
func (f Field) Add() {
	f.touch()
	item := &Value{Set: f.Shape.item().Kind == Object}
	f.Value.Entries = append(f.Value.Entries, item)
}

// Remove takes an entry out of its list.
func (f Field) Remove() {
	if l := f.list(); l != nil {
		f.touch()
		l.Entries = slices.Delete(slices.Clone(l.Entries), f.index, f.index+1)
		l.Set = true
	}
}

// Move moves an entry by d places in its list and returns where it is.
func (f Field) Move(d int) int {
	l := f.list()
	if l == nil {
		return f.index
	}
	to := min(max(f.index+d, 0), len(l.Entries)-1)
	f.touch()
	e := l.Entries[f.index]
	l.Entries = slices.Insert(slices.Delete(slices.Clone(l.Entries), f.index, f.index+1), to, e)
	return to
}

// list is the list that an entry is in.
func (f Field) list() *Value {
	if f.Role != Entry || len(f.up) == 0 {
		return nil
	}
	return f.up[len(f.up)-1]
}

// Entries are how many entries a list has, and whether it may have one more.
func (f Field) Entries() (n int, more bool) {
	n = len(f.Value.Entries)
	return n, f.Shape.max < 0 || n < f.Shape.max
}

// Words is the value in words; "" for none.
func (f Field) Words() string {
	v := f.Value
	switch {
	case f.Role == Added:
		return ""
	case f.Role == Extra:
		return string(v.Extra.JSON())
	case v.Null:
		return "null"
	}
	switch f.Kind() {
	case Choice, Variant:
		if i := f.Shape.chosen(v); i >= 0 {
			return f.Shape.Options[i].Title
		}
		return ""
	case Several:
		var titles []string
		for i, o := range f.Shape.Options {
			if slices.Contains(v.Chosen, i) {
				titles = append(titles, o.Title)
			}
		}
		return strings.Join(titles, ", ")
	case Text:
		if v.Text == "" && v.Set {
			return `""`
		}
	default:
	}
	return v.Text
}

// Suggested is the field's default in words, "" where there is none or it is the value
// already.
func (f Field) Suggested() string {
	if f.Shape.Default == nil || f.Role == Added || f.Role == Extra || f.Value.Given {
		return ""
	}
	d := f
	d.Value = f.form.read(f.Shape, f.Shape.Default)
	return d.Words()
}
