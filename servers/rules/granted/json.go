package granted

import (
	"errors"

	"github.com/tailscale/hujson"
)

// Part is a part of a JSON text that can be taken out of what it stands in.
type Part struct {
	Name  string // of a member; "" of an element
	Value *hujson.Value
	Cuts  []Span
}

// String is its value if that is a string.
func (p Part) String() (string, bool) {
	l, ok := p.Value.Value.(hujson.Literal)
	return l.String(), ok && l.Kind() == '"'
}

// Raw is the part of the text as it is written.
func (p Part) Raw(text []byte) string { return string(text[p.Cuts[0].Start:p.Cuts[0].End]) }

// ParseJSON reads a JSON text with comments, that of an object.
func ParseJSON(text []byte) (Part, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return Part{}, err
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return Part{}, errors.New("it does not hold an object")
	}
	return Part{Value: &v}, nil
}

// Parts are the members or elements of a part; none if it has none.
func (p Part) Parts(text []byte) (all []Part) {
	var spans []Span
	switch v := p.Value.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			m := &v.Members[i]
			key, _ := m.Name.Value.(hujson.Literal)
			all = append(all, Part{Name: key.String(), Value: &m.Value})
			spans = append(spans, Span{m.Name.StartOffset, m.Value.EndOffset})
		}
	case *hujson.Array:
		for i := range v.Elements {
			e := &v.Elements[i]
			all = append(all, Part{Value: e})
			spans = append(spans, Span{e.StartOffset, e.EndOffset})
		}
	}
	for i := range all {
		all[i].Cuts = JSONCuts(text, spans, i, p.Value.EndOffset-1)
	}
	return all
}

// At is the member under a name, the last one if there are several; ok is false if there is none.
func (p Part) At(text []byte, name string) (found Part, ok bool) {
	if _, is := p.Value.Value.(*hujson.Object); !is {
		return found, false
	}
	for _, m := range p.Parts(text) {
		if m.Name == name {
			found, ok = m, true
		}
	}
	return found, ok
}
