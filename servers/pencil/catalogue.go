package pencil

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

const (
	prefix    = "pencil_"
	nameLimit = 50 // of an exposed name: Claude Code takes no longer one with the server name mcpdeck
)

// The tools that are the deck's own.
const (
	CallTool   = "pencil_call"   // the gateway
	StatusTool = "pencil_status" // what a connection to Pencil alone always has
)

// Tool is one tool of the child as agents see it.
type Tool struct {
	Name        string // exposed: "pencil_batch_get"
	Original    string // as the child lists it
	Description string
	Input       json.RawMessage // schema, an object
	Output      json.RawMessage // schema, nil when there is none
	Annotations json.RawMessage // nil when there are none
	ReadOnly    bool            // by the child's own hint
	Bytes       int             // of the definition as JSON

	raw json.RawMessage // as the child gave it
}

// Note is a tool that is not offered, or a fact about the list, and why.
type Note struct{ Tool, Reason string }

// Catalogue is what one child offers. It is not changed once made.
type Catalogue struct {
	Tools        []Tool // offered, sorted by original name
	Notes        []Note // what was left out
	Instructions string // rewritten, with the deck's line before it
	Bytes        int    // of the definitions as JSON: what an agent's context pays

	byName map[string]*Tool // by exposed name
	print  string           // equal for equal catalogues
}

// Tokens estimates what the definitions cost an agent.
func (c *Catalogue) Tokens() int { return c.Bytes / 4 }

// lookup finds a tool by its exposed or, failing that, its original name.
func (c *Catalogue) lookup(name string) *Tool {
	if t := c.byName[name]; t != nil {
		return t
	}
	for i := range c.Tools {
		if c.Tools[i].Original == name {
			return &c.Tools[i]
		}
	}
	return nil
}

// definition is one tool as the child listed it, checked.
type definition struct {
	Tool
	object rawjson.Object
}

// readDefinitions decodes each entry of the child's list on its own; what is
// no tool is left out with a note.
func readDefinitions(list []json.RawMessage) (defs []definition, notes []Note) {
	seen := map[string]bool{}
	for i, raw := range list {
		d, err := readDefinition(raw)
		if err != nil {
			name := d.Original
			if name == "" {
				name = fmt.Sprintf("entry %d", i+1)
			}
			notes = append(notes, Note{Tool: name, Reason: "left out: " + err.Error()})
			continue
		}
		if seen[d.Original] {
			notes = append(notes, Note{Tool: d.Original, Reason: "left out: it is listed twice"})
			continue
		}
		seen[d.Original] = true
		defs = append(defs, d)
	}
	slices.SortStableFunc(defs, func(a, b definition) int { return strings.Compare(a.Original, b.Original) })
	return defs, notes
}

func readDefinition(raw json.RawMessage) (definition, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return definition{}, err
	}
	d := definition{object: o, Tool: Tool{raw: raw, Original: o.Str("name"), Description: o.Str("description")}}
	if d.Original == "" {
		return d, errors.New("it has no name")
	}
	if d.Input, err = inputSchema(o.Get("inputSchema")); err != nil {
		return d, err
	}
	d.Output = optional(o, "outputSchema")
	d.Annotations = optional(o, "annotations")
	if a, err := rawjson.SplitObject(d.Annotations); err == nil {
		d.ReadOnly = a.Flag("readOnlyHint")
	}
	return d, nil
}

func optional(o rawjson.Object, key string) json.RawMessage {
	if v := o.Get(key); string(v) != "null" {
		return v
	}
	return nil
}

// inputSchema mends what clients trip over, a missing schema and a missing root
// type, and nothing else.
func inputSchema(raw json.RawMessage) (json.RawMessage, error) {
	if raw == nil || string(raw) == "null" {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return nil, errors.New("its schema is not an object")
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

// newCatalogue makes the offered tools out of the child's. hidden says which
// original names are not offered and why; reserved are exposed names of the
// deck's own.
func newCatalogue(defs []definition, notes []Note, instructions string, hidden map[string]string, reserved []string) *Catalogue {
	c := &Catalogue{Notes: notes, byName: map[string]*Tool{}}
	exposed := map[string]string{}
	taken := map[string]string{}
	for _, r := range reserved {
		taken[r] = "mcpdeck's own tool"
	}
	// What is hidden takes no name from what is offered.
	isHidden := func(d definition) bool { return hidden[d.Original] != "" }
	offered := slices.DeleteFunc(slices.Clone(defs), isHidden)
	rest := slices.DeleteFunc(slices.Clone(defs), func(d definition) bool { return !isHidden(d) })
	for _, d := range slices.Concat(offered, rest) {
		name := exposedName(d.Original)
		if owner, ok := taken[name]; ok {
			c.Notes = append(c.Notes, Note{Tool: d.Original, Reason: "hidden: " + name + " is already " + owner})
			continue
		}
		taken[name] = "another tool of Pencil"
		if reason, ok := hidden[d.Original]; ok {
			c.Notes = append(c.Notes, Note{Tool: d.Original, Reason: reason})
			continue
		}
		exposed[d.Original] = name
		t := d.Tool
		t.Name = name
		c.Tools = append(c.Tools, t)
	}
	r := newRenamer(exposed)
	if instructions == "" {
		instructions = ownGuide
	}
	c.Instructions = guidePreface + "\n\n" + r.text(instructions)
	for i := range c.Tools {
		t := &c.Tools[i]
		t.Description = r.text(t.Description)
		t.Input = r.schema(t.Input)
		if t.Output != nil {
			t.Output = r.schema(t.Output)
		}
		c.byName[t.Name] = t
	}
	if e := c.entry(); e != nil {
		e.Description = cutSentence(strings.TrimSpace(e.Description+"\n\n"+c.Instructions), entryDescription)
	}
	h := sha256.New()
	for i := range c.Tools {
		b := c.Tools[i].JSON()
		c.Tools[i].Bytes = len(b)
		c.Bytes += len(b)
		h.Write(b)
	}
	h.Write([]byte(c.Instructions))
	c.print = string(h.Sum(nil))
	return c
}

// entry is the tool that an agent is likely to look at first; it carries the
// instructions for clients that do not show a server's own. The names are a
// preference: any catalogue has an entry.
func (c *Catalogue) entry() *Tool {
	for _, name := range []string{"get_app_state", "get_editor_state", "read_skill"} {
		for i := range c.Tools {
			if c.Tools[i].Original == name {
				return &c.Tools[i]
			}
		}
	}
	for i := range c.Tools {
		if t := &c.Tools[i]; t.ReadOnly && !needsArguments(t.Input) {
			return t
		}
	}
	if len(c.Tools) > 0 {
		return &c.Tools[0]
	}
	return nil
}

func needsArguments(schema json.RawMessage) bool {
	o, err := rawjson.SplitObject(schema)
	if err != nil {
		return false
	}
	required, ok := rawjson.SplitArray(o.Get("required"))
	return ok && len(required) > 0
}

// JSON is the definition as agents get it, on one line: the child's, whatever
// members it has, with the name and the texts replaced.
func (t *Tool) JSON() json.RawMessage {
	o, err := rawjson.SplitObject(t.raw)
	if err != nil {
		o = nil // a tool that no child has listed
	}
	own := rawjson.Object{{Key: "name", Value: rawjson.Quote(t.Name)}, {Key: "description", Value: rawjson.Quote(t.Description)}, {Key: "inputSchema", Value: t.Input}}
	if t.Output != nil {
		own = append(own, rawjson.Member{Key: "outputSchema", Value: t.Output})
	}
	b := []byte{'{'}
	add := func(key string, v json.RawMessage) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, rawjson.Quote(key)...), ':'), v...)
	}
	for _, m := range o {
		if v := own.Get(m.Key); v != nil {
			m.Value = v
		}
		if string(m.Value) != "null" || !slices.Contains(optionalMembers(), m.Key) {
			add(m.Key, m.Value)
		}
	}
	for _, m := range own {
		if o.Get(m.Key) == nil && string(m.Value) != `""` {
			add(m.Key, m.Value)
		}
	}
	var line bytes.Buffer
	if json.Compact(&line, append(b, '}')) != nil {
		return append(b, '}')
	}
	return line.Bytes()
}

// optionalMembers are those of a definition that clients check: a null, which
// some programs write for nothing, would lose them the whole list.
func optionalMembers() []string {
	return []string{"title", "outputSchema", "annotations", "icons", "_meta", "execution"}
}

// exposedName is what agents call a tool: prefixed, of characters that model
// APIs take, and cut with a hash when it is too long for a client.
func exposedName(original string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, original)
	if !strings.HasPrefix(name, prefix) {
		name = prefix + name
	}
	if len(name) <= nameLimit {
		return name
	}
	sum := sha256.Sum256([]byte(original))
	return name[:nameLimit-9] + "_" + hex.EncodeToString(sum[:4])
}
