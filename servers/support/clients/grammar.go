package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// Grammar is the language of a configuration file, as its client reads it.
type Grammar int

// The grammars.
const (
	JSON             Grammar = iota // nothing beyond the standard
	JSONWithComments                // with comments
	JSONC                           // with comments, and a comma behind the last member
	TOML
)

// ByteOrderMark may begin a file.
const ByteOrderMark = "\xef\xbb\xbf"

// Decode reads a file. What the client could not read, or would read in another
// way than the next parser does, is an error. An empty file holds an empty object.
func (g Grammar) Decode(b []byte) (map[string]any, error) {
	b = bytes.TrimPrefix(b, []byte(ByteOrderMark))
	if g == TOML {
		return decodeTOML(b)
	}
	out := map[string]any{}
	if len(bytes.TrimSpace(b)) == 0 {
		return out, nil
	}
	root, err := hujson.Parse(bytes.Clone(b)) // Standardize writes into it
	if err != nil {
		return nil, fmt.Errorf("read it as JSON: %w", err)
	}
	root.UpdateOffsets()
	for v := range root.All() {
		if fault := g.fault(v); fault != "" {
			line := 1 + bytes.Count(b[:v.StartOffset], []byte("\n"))
			return nil, fmt.Errorf("read it as JSON: value at line %d: %s", line, fault)
		}
	}
	root.Standardize()
	if err := json.Unmarshal(root.Pack(), &out); err != nil {
		return nil, fmt.Errorf("read it as JSON: %w", err)
	}
	if out == nil {
		return nil, errors.New("read it as JSON: it contains null; remove it, or write {}")
	}
	return out, nil
}

// decodeTOML reads TOML, whose parser refuses names that stand twice.
func decodeTOML(b []byte) (map[string]any, error) {
	out := map[string]any{}
	if err := toml.Unmarshal(b, &out); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, _ := at.Position()
			return nil, fmt.Errorf("read it as TOML: line %d: %w", line, err)
		}
		return nil, fmt.Errorf("read it as TOML: %w", err)
	}
	return out, nil
}

// fault is why the client could not read a value.
func (g Grammar) fault(v *hujson.Value) string {
	comment := func(extras ...hujson.Extra) bool {
		return slices.ContainsFunc(extras, func(e hujson.Extra) bool { return g == JSON && bytes.ContainsRune(e, '/') })
	}
	const commented = "a comment, which the client does not accept"
	const comma = "a trailing comma, which the client does not accept"
	if comment(v.BeforeExtra, v.AfterExtra) {
		return commented
	}
	switch t := v.Value.(type) {
	case *hujson.Object:
		seen := map[string]bool{}
		for _, m := range t.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if seen[name] {
				return fmt.Sprintf("duplicate name %q; remove one", name)
			}
			seen[name] = true
		}
		if comment(t.AfterExtra) {
			return commented
		}
		if n := len(t.Members); g != JSONC && n > 0 && t.Members[n-1].Value.AfterExtra != nil {
			return comma
		}
	case *hujson.Array:
		if comment(t.AfterExtra) {
			return commented
		}
		if n := len(t.Elements); g != JSONC && n > 0 && t.Elements[n-1].AfterExtra != nil {
			return comma
		}
	}
	return ""
}
