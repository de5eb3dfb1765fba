package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Read is the value that a JSON object stands for. What does not fit its field stays
// there as JSON.
func (f *Form) Read(raw json.RawMessage) (*Value, error) {
	raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	if !json.Valid(raw) {
		return nil, whereInvalid(raw)
	}
	if _, err := rawjson.SplitObject(raw); err != nil {
		return nil, err
	}
	return f.read(f.root, raw), nil
}

// whereInvalid says where text ends to be JSON.
func whereInvalid(raw []byte) error {
	var any any
	var syntax *json.SyntaxError
	err := json.Unmarshal(raw, &any)
	if !errors.As(err, &syntax) {
		return errors.New("not valid JSON")
	}
	before := raw[:min(int(syntax.Offset), len(raw))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	return fmt.Errorf("not valid JSON: line %d: %w", line, err)
}

// read fills a field in.
func (f *Form) read(s *Shape, raw json.RawMessage) *Value {
	r := reading{left: maxReads}
	return r.value(s, raw)
}

// maxReads bounds the fields that are tried for a value: alternatives within
// alternatives can be taken in more ways than anybody can wait for.
const maxReads = 10_000

type reading struct{ left int }

func (r *reading) value(s *Shape, raw json.RawMessage) *Value {
	raw = bytes.TrimSpace(raw)
	if r.left--; r.left <= 0 {
		return &Value{Raw: true, Text: string(raw)}
	}
	if s.Nullable && string(raw) == "null" {
		return &Value{Null: true}
	}
	switch s.Kind {
	case Text:
		if t, err := rawjson.Text(raw); err == nil {
			return &Value{Text: t, Set: true}
		}
	case Number:
		if isNumber(raw) {
			return &Value{Text: string(raw)}
		}
	case Choice:
		if i := s.option(raw); i >= 0 {
			return &Value{Chosen: []int{i}}
		}
	case Several:
		if v := s.several(raw); v != nil {
			return v
		}
	case List:
		if list, ok := rawjson.SplitArray(raw); ok {
			v := &Value{Set: true}
			for _, e := range list {
				v.Entries = append(v.Entries, r.value(s.item(), e))
			}
			return v
		}
	case Object:
		if o, err := rawjson.SplitObject(raw); err == nil {
			return r.members(s, o)
		}
	case Variant:
		for i, o := range s.Options {
			if v := r.value(o.shape(), raw); v.fits(o.shape()) {
				return &Value{Chosen: []int{i}, Inner: map[int]*Value{i: v}}
			}
		}
	default:
		return &Value{Text: string(raw)}
	}
	return &Value{Raw: true, Text: string(raw)}
}

func (r *reading) members(s *Shape, o rawjson.Object) *Value {
	v := &Value{Set: true, Members: map[string]*Value{}}
	for _, p := range s.props {
		v.Members[p.name] = &Value{None: true}
		if raw := o.Get(p.name); raw != nil {
			v.Members[p.name] = r.value(p.shape(), raw)
		}
	}
	for _, m := range o {
		if v.Members[m.Key] == nil {
			v.Extra = append(v.Extra, m)
		}
	}
	return v
}

// several chooses the options that an array has; nil when it has others, or one twice.
func (s *Shape) several(raw json.RawMessage) *Value {
	list, ok := rawjson.SplitArray(raw)
	if !ok {
		return nil
	}
	v := &Value{Set: true}
	for _, e := range list {
		i := s.option(e)
		if i < 0 || slices.Contains(v.Chosen, i) {
			return nil
		}
		v.Chosen = append(v.Chosen, i)
	}
	return v
}

// option finds the option with a value, -1 when there is none.
func (s *Shape) option(raw json.RawMessage) int {
	return slices.IndexFunc(s.Options, func(o Option) bool { return equal(o.Value, raw) })
}

// equal reports whether two values are the same but for the way they are written.
// Numbers are compared as they are written.
func equal(a, b json.RawMessage) bool {
	x, errA := rawjson.Text(a)
	y, errB := rawjson.Text(b)
	if errA == nil || errB == nil {
		return errA == nil && errB == nil && x == y
	}
	var p, q bytes.Buffer
	return json.Compact(&p, a) == nil && json.Compact(&q, b) == nil && bytes.Equal(p.Bytes(), q.Bytes())
}

// fits reports whether what was read is shown in the fields of its shape, and has what
// they require.
func (v *Value) fits(s *Shape) bool {
	if v.Raw || s.Kind != Object || v.Null {
		return !v.Raw
	}
	for _, p := range s.props {
		if m := v.Members[p.name]; m.Raw || p.required && m.None {
			return false
		}
	}
	return true
}
