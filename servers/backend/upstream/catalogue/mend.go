package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Many clients check each definition of a list and, for a single one that is not as the
// protocol has it, reject the list: the tools of every server would be gone. So what a
// server gets wrong is mended where its meaning is clear, and else the tool is skipped.

// emptyArray reports whether a value is [], as which some languages write an object that
// has no members.
func emptyArray(raw json.RawMessage) bool {
	list, ok := rawjson.SplitArray(raw)
	return ok && len(list) == 0
}

// inputSchema returns a schema of arguments that clients accept.
func inputSchema(raw json.RawMessage) (json.RawMessage, error) {
	if raw == nil || emptyArray(raw) {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	raw = schemaObjects(raw)
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, errors.New("its schema is not an object")
	}
	if t := o.Get("type"); t != nil && string(t) != `"object"` {
		return nil, fmt.Errorf("its arguments are not an object but %s", t)
	}
	if raw, err = properties(raw, o); err != nil {
		return nil, err
	}
	if names, ok := rawjson.SplitArray(o.Get("required")); o.Get("required") != nil && (!ok || slices.ContainsFunc(names, notText)) {
		return nil, errors.New("its schema's required is not a list of names")
	}
	if o.Get("type") != nil {
		return raw, nil
	}
	head := []byte(`{"type":"object"`)
	if len(o) > 0 {
		head = append(head, ',')
	}
	return append(head, bytes.TrimLeft(raw[1:], " \t\r\n")...), nil
}

// properties returns the schema o, raw, with an object as the schema of each argument: a
// schema may be true or false, too, but not for many clients.
func properties(raw json.RawMessage, o rawjson.Object) (json.RawMessage, error) {
	if o.Get("properties") == nil {
		return raw, nil
	}
	all, err := rawjson.SplitObject(o.Get("properties"))
	if err != nil {
		return nil, errors.New("its schema's properties are not an object")
	}
	all = slices.Clone(all)
	changed := false
	for i, p := range all {
		switch string(p.Value) {
		case "true":
			all[i].Value, changed = json.RawMessage("{}"), true
		case "false":
			all[i].Value, changed = json.RawMessage(`{"not":{}}`), true
		default:
			if _, err := rawjson.SplitObject(p.Value); err != nil {
				return nil, fmt.Errorf("the schema of its argument %s is not an object", p.Key)
			}
		}
	}
	if !changed {
		return raw, nil
	}
	return o.With("properties", all.JSON()).JSON(), nil
}

func notText(raw json.RawMessage) bool {
	_, err := rawjson.Text(raw)
	return err != nil
}

// schemaObjects replaces empty arrays in a schema where an object of schemas belongs, and
// keeps all other bytes.
func schemaObjects(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if !objects(&b, raw, false, 0) {
		return raw
	}
	return b.Bytes()
}

// objects copies a schema or, if named, an object of them, to b. It reports whether it
// has replaced something.
func objects(b *bytes.Buffer, raw []byte, named bool, depth int) (changed bool) {
	parts, _, err := rawjson.Split(raw)
	if err != nil || depth > deepest {
		b.Write(raw)
		return false
	}
	at := 0
	for _, p := range parts {
		b.Write(raw[at:p.From])
		at = p.To
		value := raw[p.From:p.To]
		switch holds := holdsOf(p.Key); {
		case named:
			changed = objects(b, value, false, depth+1) || changed
		case holds == schemasByName && emptyArray(value):
			b.WriteString("{}")
			changed = true
		case holds == values:
			b.Write(value)
		default:
			changed = objects(b, value, holds == schemasByName, depth+1) || changed
		}
	}
	b.Write(raw[at:])
	return changed
}

// holding is what a schema's member holds.
type holding int

const (
	schemas       holding = iota // one, a list of them, or something plain
	schemasByName                // an object of them
	values                       // examples of what the schema describes
)

func holdsOf(key string) holding {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return schemasByName
	case "default", "const", "enum", "examples", "example", "required":
		return values
	}
	return schemas
}

// fitting returns the value of another member of a definition as clients accept it, nil if
// it must be left out.
func fitting(key string, value json.RawMessage) json.RawMessage {
	switch key {
	case "title":
		if notText(value) {
			return nil
		}
	case "icons":
		if _, ok := rawjson.SplitArray(value); !ok {
			return nil
		}
	case "outputSchema", "_meta", "execution":
		if _, err := rawjson.SplitObject(value); err != nil {
			return nil
		}
	case "annotations":
		o, err := rawjson.SplitObject(value)
		if err != nil {
			return nil
		}
		if rest := slices.DeleteFunc(slices.Clone(o), unfit); len(rest) < len(o) {
			return rest.JSON()
		}
	}
	return value
}

// unfit reports whether a member of a tool's annotations has a value of another type.
func unfit(m rawjson.Member) bool {
	switch {
	case m.Key == "title":
		return notText(m.Value)
	case slices.Contains([]string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}, m.Key):
		return string(m.Value) != "true" && string(m.Value) != "false"
	}
	return false
}
