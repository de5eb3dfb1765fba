// Package form makes a form of a JSON schema: its fields, what a user enters in them,
// and the JSON that comes of it. It has no screen.
package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Form is a schema as fields. It is never changed, and may be used from any goroutine.
type Form struct {
	root    *Shape
	prefill bool
	checker func() (*jsonschema.Schema, error)
}

// Options say how a schema becomes a form.
type Options struct {
	// Prefill makes the defaults of a schema the first values of its fields, which are
	// sent unless the user changes them. Otherwise they are only shown.
	Prefill bool
}

// Parse reads the schema of an object. What it cannot show as fields becomes a field
// for JSON; the error says why there can be no form at all.
func Parse(schema json.RawMessage, o Options) (*Form, error) {
	schema = bytes.ToValidUTF8(schema, []byte("\ufffd"))
	rules, err := rawjson.Parse(schema)
	if err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	f := &Form{prefill: o.Prefill, checker: sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(schema) })}
	props, err := membersOf(rules.Get("properties"))
	if err != nil {
		return nil, fmt.Errorf("read the form: properties: %w", err)
	}
	for _, p := range props {
		if _, err := rawjson.SplitObject(p.Value); err != nil && !isFlag(p.Value) {
			return nil, fmt.Errorf("read the form: %s: %w", clip(p.Key), err)
		}
	}
	r := reader{root: schema}
	f.root = r.shape(schema)
	objects := f.root.Kind == Object || f.root.Kind == Variant && !slices.ContainsFunc(f.root.Options, func(o Option) bool { return o.shape().Kind != Object })
	if !objects {
		f.root = r.object(rules, props)
	}
	f.root.Nullable = false
	return f, nil
}

func membersOf(raw json.RawMessage) (rawjson.Object, error) {
	if raw == nil {
		return nil, nil
	}
	return rawjson.SplitObject(raw)
}

// isFlag reports whether a schema is true or false, which stand for anything and nothing.
func isFlag(schema json.RawMessage) bool {
	return string(schema) == "true" || string(schema) == "false"
}
