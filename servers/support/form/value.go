package form

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Value is what was entered in a field and in those below it. The zero Value is an
// untouched field, which has no value.
type Value struct {
	Text   string `json:"text,omitempty"`   // of a Text, Number or JSON, as typed
	Set    bool   `json:"set,omitempty"`    // it has a value even if that is empty
	Null   bool   `json:"null,omitempty"`   // its value is null
	Raw    bool   `json:"raw,omitempty"`    // Text is the value's JSON, whatever the kind
	Given  bool   `json:"given,omitempty"`  // it is the schema's default, which nobody has changed
	None   bool   `json:"none,omitempty"`   // it has no value, not even one that is made for what is required
	Chosen []int  `json:"chosen,omitempty"` // options of a Choice, Several or Variant

	Members map[string]*Value `json:"members,omitempty"` // of an Object, by property
	Extra   rawjson.Object    `json:"extra,omitempty"`   // members of an Object that have no field
	Entries []*Value          `json:"entries,omitempty"` // of a List
	Inner   map[int]*Value    `json:"inner,omitempty"`   // of a Variant, by alternative
}

// Clone returns a copy that shares nothing with v that anybody changes.
func (v *Value) Clone() *Value {
	if v == nil {
		return nil
	}
	c := *v
	c.Chosen, c.Extra, c.Entries = slices.Clone(v.Chosen), slices.Clone(v.Extra), slices.Clone(v.Entries)
	c.Members, c.Inner = maps.Clone(v.Members), maps.Clone(v.Inner)
	for i, e := range c.Entries {
		c.Entries[i] = e.Clone()
	}
	for k, m := range c.Members {
		c.Members[k] = m.Clone()
	}
	for k, m := range c.Inner {
		c.Inner[k] = m.Clone()
	}
	return &c
}

// Empty reports whether the user has entered nothing.
func (v *Value) Empty() bool {
	if v == nil || v.Given {
		return true
	}
	if v.Text != "" || v.Set || v.Null || len(v.Chosen) > 0 || len(v.Extra) > 0 || len(v.Entries) > 0 {
		return false
	}
	for _, m := range v.Members {
		if !m.Empty() {
			return false
		}
	}
	for _, m := range v.Inner {
		if !m.Empty() {
			return false
		}
	}
	return true
}

// New is the value that nobody has entered anything in.
func (f *Form) New() *Value {
	v := f.fresh(f.root)
	f.Fields(v)
	return v
}

// fresh is an untouched field.
func (f *Form) fresh(s *Shape) *Value {
	if !f.prefill || s.Default == nil {
		return &Value{}
	}
	v := f.read(s, s.Default)
	v.given()
	return v
}

// within is an untouched field in v.
func (f *Form) within(v *Value, s *Shape) *Value {
	if v.None {
		return &Value{None: true}
	}
	return f.fresh(s)
}

func (v *Value) given() {
	v.Given = true
	for _, m := range v.Members {
		m.given()
	}
	for _, m := range v.Inner {
		m.given()
	}
	for _, m := range v.Entries {
		m.given()
	}
}

// chosen is the alternative that v takes, -1 for none.
func (s *Shape) chosen(v *Value) int {
	if len(v.Chosen) == 0 || v.Chosen[0] < 0 || v.Chosen[0] >= len(s.Options) {
		return -1
	}
	return v.Chosen[0]
}

// inner is the value of the alternative that v takes, nil for none.
func (f *Form) inner(s *Shape, v *Value) (*Shape, *Value) {
	i := s.chosen(v)
	if i < 0 {
		return nil, nil
	}
	shape := s.Options[i].shape()
	if v.Inner[i] == nil {
		if v.Inner == nil {
			v.Inner = map[int]*Value{}
		}
		v.Inner[i] = f.within(v, shape)
	}
	return shape, v.Inner[i]
}

// JSON is the object that v stands for, on one line. What is no value of its field, such as letters
// for a number, becomes a string.
func (f *Form) JSON(v *Value) json.RawMessage {
	f.Fields(v)
	if raw, ok := f.json(f.root, v, true); ok && raw[0] == '{' {
		return Compact(raw)
	}
	return json.RawMessage("{}")
}

// Compact is JSON without the space between its parts; what is no JSON stays as it is.
func Compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// json is a field's value; ok is false when it has none. One that must be there has the
// empty value of its kind, where there is one.
func (f *Form) json(s *Shape, v *Value, must bool) (raw json.RawMessage, ok bool) {
	switch {
	case v.None:
		return nil, false
	case v.Null:
		return json.RawMessage("null"), true
	case v.Raw || s.Kind == JSON:
		return typed(v.Text, json.Valid)
	}
	switch s.Kind {
	case Text:
		return rawjson.Quote(v.Text), v.Text != "" || v.Set
	case Number:
		return typed(v.Text, isNumber)
	case Choice:
		if i := s.chosen(v); i >= 0 {
			return s.Options[i].Value, true
		}
	case Several:
		var out []json.RawMessage
		for i, o := range s.Options {
			if slices.Contains(v.Chosen, i) {
				out = append(out, o.Value)
			}
		}
		return array(out), len(out) > 0 || v.Set || must
	case List:
		var out []json.RawMessage
		for _, e := range v.Entries {
			raw, ok := f.json(s.item(), e, true)
			if !ok {
				raw = json.RawMessage("null")
				if s.item().Kind == Text {
					raw = json.RawMessage(`""`)
				}
			}
			out = append(out, raw)
		}
		return array(out), len(out) > 0 || v.Set || must
	case Object:
		return f.object(s, v, must)
	case Variant:
		if shape, in := f.inner(s, v); shape != nil {
			return f.json(shape, in, true)
		}
	default:
	}
	return nil, false
}

// object is the value of an Object. Where nothing in it comes from the user, it is
// there only if it must be.
func (f *Form) object(s *Shape, v *Value, must bool) (json.RawMessage, bool) {
	out := rawjson.Object{}
	entered := len(v.Extra) > 0
	for _, p := range s.props {
		m := v.Members[p.name]
		if m == nil {
			continue
		}
		if raw, ok := f.json(p.shape(), m, p.required); ok {
			out = append(out, rawjson.Member{Key: p.name, Value: raw})
			entered = entered || !m.Empty()
		}
	}
	out = append(out, v.Extra...)
	return out.JSON(), must || v.Set || entered
}

// typed is text as JSON when it is, else as a string; blank text is none.
func typed(text string, valid func([]byte) bool) (json.RawMessage, bool) {
	switch t := strings.TrimSpace(text); {
	case t == "":
		return nil, false
	case valid([]byte(t)):
		return json.RawMessage(t), true
	}
	return rawjson.Quote(text), true
}

// isNumber reports whether text is a number as JSON writes it.
func isNumber(text []byte) bool {
	return len(text) > 0 && bytes.IndexByte([]byte("-0123456789"), text[0]) >= 0 && json.Valid(text)
}

func array(all []json.RawMessage) json.RawMessage {
	return slices.Concat([]byte{'['}, bytes.Join(bytesOf(all), []byte{','}), []byte{']'})
}

func bytesOf(all []json.RawMessage) [][]byte {
	out := make([][]byte, len(all))
	for i, raw := range all {
		out[i] = raw
	}
	return out
}
