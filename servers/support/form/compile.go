package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// here is what a schema is called, for references within it.
const here = "mcpdeck:form"

// refuse loads nothing: what a schema refers to must be in it.
type refuse struct{}

func (refuse) Load(string) (any, error) {
	return nil, errors.New("it refers to another document")
}

// compile makes a schema ready to be held against values.
func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	if vast(schema) {
		return nil, errVast
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if !bounded(schema, doc) {
		return nil, errors.New("the schema takes too long to check")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(refuse{})
	if err := c.AddResource(here, doc); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	out, err := c.Compile(here)
	if err != nil {
		return nil, fmt.Errorf("the server's schema is not valid: %w", err)
	}
	return out, nil
}

// maxSteps bounds the schemas that are looked at for one value, maxNested the levels of
// the value.
const (
	maxSteps  = 20_000
	maxNested = 16
)

// bounded reports whether a schema is looked at in reasonable time: references can lead
// to the same place in more ways than anybody can wait for.
func bounded(schema json.RawMessage, doc any) bool {
	b := bound{root: schema, known: map[string]int{}}
	return b.steps(doc) <= maxSteps
}

type bound struct {
	root  json.RawMessage
	known map[string]int // steps behind a reference; 1 while they are counted
}

// steps is how many schemas are looked at, references followed, at most maxSteps+1.
func (b *bound) steps(at any) int {
	n := 1
	switch v := at.(type) {
	case []any:
		for _, e := range v {
			n += b.steps(e)
		}
	case map[string]any:
		for key, e := range v {
			ref, is := e.(string)
			switch {
			case !is && key != "$defs" && key != "definitions" && key != "enum" && key != "const" && key != "default":
				n += b.steps(e)
			case is && key == "$ref":
				n += b.behind(ref)
			case is && (key == "$dynamicRef" || key == "$recursiveRef"):
				n += maxSteps
			}
		}
	}
	return min(n, maxSteps+1)
}

func (b *bound) behind(ref string) int {
	if n, ok := b.known[ref]; ok {
		return n
	}
	at, ok := pointed(b.root, ref)
	if !ok {
		return maxSteps
	}
	target, err := jsonschema.UnmarshalJSON(bytes.NewReader(at))
	if err != nil {
		return maxSteps
	}
	b.known[ref] = 1
	b.known[ref] = b.steps(target)
	return b.known[ref]
}

// deep reports whether JSON is nested further than is looked at.
func deep(raw []byte) bool {
	level := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = rawjson.End(raw, i) - 1
		case '{', '[':
			if level++; level > maxNested {
				return true
			}
		case '}', ']':
			level--
		}
	}
	return false
}
