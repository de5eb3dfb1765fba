// Package catalogue reads the definitions an MCP server lists, holds back new and
// changed ones until the user accepts them, and prepares the rest for agents: the
// server's own JSON, except for names.
package catalogue

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// nameLimit is the longest exposed name that Claude Code accepts when the server is
// called mcpdeck.
const nameLimit = 50

// Options are the settings for one server.
type Options struct {
	Title    string // of the server, in notes
	Prefix   string // of exposed names
	Bare     bool   // exposed names have no prefix, even if Prefix is set
	RawTexts bool   // names of tools in texts are not rewritten
	// Trim lists the members to leave out of definitions; "annotations.title" is a member
	// of annotations.
	Trim []string
	// RunsTasks means that agents call a tool that runs only as a task like any other, and
	// mcpdeck makes the task.
	RunsTasks bool
	Reserved  []string // exposed names that are the deck's own
	Preface   string   // put before the instructions; may be empty
	Guide     string   // used as instructions if the server gives none
	// Entry lists original names of tools, best first. The first that exists carries the
	// instructions, for clients that do not show a server's own; if none does, another
	// tool is chosen. nil: no tool carries them.
	Entry []string
	// Off returns why the user keeps a tool from agents, given its original name, and ""
	// if they may use it. nil: they may use all.
	Off func(tool string) string
	// Without reports whether the user keeps all prompts from agents, or all resources and
	// templates, both of which are OfTemplate. nil: they may use all.
	Without func(Kind) bool
}

// WithoutAll reports whether the user keeps everything of a kind from agents.
func (o Options) WithoutAll(k Kind) bool { return o.Without != nil && o.Without(k) }

// Tool is one tool of the server as agents see it.
type Tool struct {
	Name        string // exposed
	Original    string // as the server lists it
	Description string
	Input       json.RawMessage // schema, an object
	Output      json.RawMessage // schema, nil when there is none
	Annotations json.RawMessage // nil when there are none
	ReadOnly    bool            // according to the server
	TaskOnly    bool            // it can only run as a task of protocol 2025-11-25
	Bytes       int             // of the definition as JSON
	Trimmed     int             // bytes left out of it, see Options

	Raw json.RawMessage // as the server gave it

	trim      []string // see Options
	runsTasks bool
}

// Context is the number of bytes of the definition that reach a model: clients pass on
// the name, the description and the schema of the arguments.
func (t *Tool) Context() int {
	own := rawjson.Object{
		{Key: "name", Value: rawjson.Quote(cmp.Or(t.Name, t.Original))},
		{Key: "description", Value: rawjson.Quote(t.Description)},
		{Key: "inputSchema", Value: t.Input},
	}
	return len(own.JSON())
}

// Withheld is a reason why agents do not get a tool that the server lists.
type Withheld int

// A tool that is not withheld is offered, or is not listed by the server.
const (
	NotWithheld Withheld = iota
	TurnedOff
	HeldNew
	HeldChanged
)

// Note says why a tool is not offered, or what else is worth knowing about the list.
type Note struct{ Tool, Reason string }

// Catalogue is what one server offers. It is immutable.
type Catalogue struct {
	Tools        []Tool // offered, sorted by original name
	Notes        []Note // what was left out
	Prompts      []Definition
	Templates    []Definition
	Instructions string // rewritten, after the preface
	Context      int    // bytes of what a model gets of the definitions, and of the instructions

	Listing *Listing // that it was made of
	Verdict Verdict  // on the listing

	byName   map[string]*Tool    // by exposed name
	withheld map[string]Withheld // by exposed name
	print    string              // the same for equal catalogues
}

// Fingerprint is the same for catalogues that agents cannot tell apart, and "" for nil.
func (c *Catalogue) Fingerprint() string {
	if c == nil {
		return ""
	}
	return c.print
}

// Exposed returns the tool with the given exposed name, or nil.
func (c *Catalogue) Exposed(name string) *Tool { return c.byName[name] }

// Withheld returns why a tool is withheld, given the name it would be exposed under.
func (c *Catalogue) Withheld(name string) Withheld {
	if c == nil {
		return NotWithheld
	}
	return c.withheld[name]
}

// Lookup finds a tool by its exposed name or, failing that, by its original one.
func (c *Catalogue) Lookup(name string) *Tool {
	if t := c.byName[name]; t != nil {
		return t
	}
	return c.Original(name)
}

// Original returns the tool with the given original name, or nil.
func (c *Catalogue) Original(name string) *Tool {
	for i := range c.Tools {
		if c.Tools[i].Original == name {
			return &c.Tools[i]
		}
	}
	return nil
}

// Read decodes each entry of the server's list separately; an entry that is not a tool
// is left out, with a note.
func Read(list []json.RawMessage) (tools []Tool, notes []Note) {
	seen := map[string]bool{}
	for i, raw := range list {
		t, err := read(raw)
		if err != nil {
			name := cmp.Or(t.Original, fmt.Sprintf("entry %d", i+1))
			notes = append(notes, Note{Tool: name, Reason: "skipped: " + err.Error()})
			continue
		}
		if seen[t.Original] {
			notes = append(notes, Note{Tool: t.Original, Reason: "skipped: duplicate name"})
			continue
		}
		seen[t.Original] = true
		tools = append(tools, t)
	}
	slices.SortStableFunc(tools, func(a, b Tool) int { return strings.Compare(a.Original, b.Original) })
	return tools, notes
}

func read(raw json.RawMessage) (Tool, error) {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return Tool{}, err
	}
	t := Tool{Raw: raw, Original: o.Str("name"), Description: o.Str("description")}
	if t.Original == "" {
		return t, errors.New("it has no name")
	}
	if t.Input, err = inputSchema(o.Some("inputSchema")); err != nil {
		return t, err
	}
	if out := o.Some("outputSchema"); out != nil && fitting("outputSchema", out) != nil {
		t.Output = schemaObjects(out)
	}
	if e, err := rawjson.SplitObject(o.Some("execution")); err == nil {
		t.TaskOnly = e.Str("taskSupport") == "required"
	}
	t.Annotations = o.Some("annotations")
	if a, err := rawjson.SplitObject(t.Annotations); err == nil {
		t.ReadOnly = a.Flag("readOnlyHint")
	}
	return t, nil
}

// New makes the catalogue of a listing without what the verdict holds.
func New(l Listing, v Verdict, o Options) *Catalogue {
	hidden, withheld := withhold(l, v, o)
	c := &Catalogue{Notes: slices.Concat(l.Notes, v.Gone), byName: map[string]*Tool{}, withheld: withheld, Listing: &l, Verdict: v}
	exposed := map[string]string{}
	taken := map[string]string{}
	for _, r := range o.Reserved {
		taken[r] = "mcpdeck's own tool"
	}
	// A hidden tool must not take the name of one that is offered.
	isHidden := func(t Tool) bool { return hidden[t.Original] != "" }
	offered := slices.DeleteFunc(slices.Clone(l.Tools), isHidden)
	rest := slices.DeleteFunc(slices.Clone(l.Tools), func(t Tool) bool { return !isHidden(t) })
	for _, t := range slices.Concat(offered, rest) {
		t.Name = o.Expose(t.Original)
		if owner, ok := taken[t.Name]; ok {
			c.Notes = append(c.Notes, Note{Tool: t.Original, Reason: "hidden: " + t.Name + " is already " + owner})
			continue
		}
		taken[t.Name] = "another tool of " + o.Title
		if reason, ok := hidden[t.Original]; ok {
			c.Notes = append(c.Notes, Note{Tool: t.Original, Reason: reason})
			continue
		}
		exposed[t.Original] = t.Name
		c.Tools = append(c.Tools, t)
	}
	prompts, templates := l.Prompts, l.Templates
	if o.WithoutAll(OfPrompt) {
		prompts = nil
	}
	if o.WithoutAll(OfTemplate) {
		templates = nil
	}
	for _, p := range prompts { // a tool of the same name has the same exposed name
		if exposed[p.Original] == "" && hidden[OfPrompt.named(p.Original)] == "" {
			exposed[p.Original] = o.Expose(p.Original)
		}
	}
	if o.RawTexts {
		exposed = nil
	}
	r := newRenamer(exposed)
	c.Instructions = r.text(cmp.Or(v.Instructions, o.Guide))
	if o.Preface != "" {
		c.Instructions = o.Preface + "\n\n" + c.Instructions
	}
	for i := range c.Tools {
		t := &c.Tools[i]
		t.trim, t.runsTasks = o.Trim, o.RunsTasks
		if slices.Contains(o.Trim, "outputSchema") {
			t.Output = nil
		}
		t.Description = r.text(t.Description)
		t.Input = r.schema(t.Input)
		if t.Output != nil {
			t.Output = r.schema(t.Output)
		}
		c.byName[t.Name] = t
	}
	if e := c.Entry(o.Entry); e != nil && o.Entry != nil {
		e.Description = cutSentence(strings.TrimSpace(e.Description+"\n\n"+c.Instructions), entryDescription)
	}
	c.expose(prompts, templates, o, r, hidden)
	h := sha256.New()
	c.Context = len(c.Instructions)
	for i := range c.Tools {
		b := c.Tools[i].JSON()
		c.Tools[i].Bytes = len(b)
		if whole := c.Tools[i]; len(o.Trim) > 0 {
			whole.trim = nil
			c.Tools[i].Trimmed = len(whole.JSON()) - len(b)
		}
		c.Context += c.Tools[i].Context()
		h.Write(b)
	}
	for _, d := range slices.Concat(c.Prompts, c.Templates) {
		h.Write(d.Raw)
	}
	h.Write(slices.Concat(l.Server, l.Capabilities))
	h.Write([]byte(c.Instructions))
	c.print = string(h.Sum(nil))
	return c
}

// Again makes the catalogue of the same listing anew.
func (c *Catalogue) Again(v Verdict, o Options) *Catalogue {
	made := New(*c.Listing, v, o)
	made.Listing = c.Listing
	return made
}

// withhold finds what agents do not get: the reasons for the user's page by original
// names, and those for an agent's call by exposed names.
func withhold(l Listing, v Verdict, o Options) (hidden map[string]string, withheld map[string]Withheld) {
	hidden, withheld = make(map[string]string, len(v.Held)), map[string]Withheld{}
	for _, h := range v.Held {
		hidden[h.Kind.named(h.Tool)] = h.reason()
		if h.Kind != OfTool {
			continue
		}
		withheld[o.Expose(h.Tool)] = HeldChanged
		if h.New {
			withheld[o.Expose(h.Tool)] = HeldNew
		}
	}
	if o.Off != nil {
		for _, t := range l.Tools {
			if why := o.Off(t.Original); why != "" {
				hidden[t.Original] = why
				withheld[o.Expose(t.Original)] = TurnedOff
			}
		}
	}
	return hidden, withheld
}

// Entry is the tool that an agent is likely to look at first: a preferred one, else a
// read-only one without required arguments, else the first.
func (c *Catalogue) Entry(preferred []string) *Tool {
	for _, name := range preferred {
		if t := c.Original(name); t != nil {
			return t
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

// JSON is the definition that agents get, on one line: the server's with all its
// members, with the name and texts replaced.
func (t *Tool) JSON() json.RawMessage {
	o, err := rawjson.SplitObject(t.Raw)
	if err != nil {
		o = nil // not from a server's list
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
		if m.Value = fitting(m.Key, m.Value); m.Value == nil || slices.Contains(t.trim, m.Key) {
			continue
		}
		switch {
		case m.Key == "annotations" && slices.Contains(t.trim, "annotations.title"):
			m.Value = without(m.Value, "title")
		case m.Key == "execution" && t.TaskOnly && t.runsTasks:
			if m.Value = without(m.Value, "taskSupport"); string(m.Value) == "{}" {
				continue
			}
		}
		add(m.Key, m.Value)
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

// without removes a member from an object; anything but an object is returned unchanged.
func without(raw json.RawMessage, key string) json.RawMessage {
	o, err := rawjson.SplitObject(raw)
	if err != nil || o.Get(key) == nil {
		return raw
	}
	return o.Without(key).JSON()
}

// Expose returns the name of a tool for agents: with the prefix, only with characters
// that model APIs accept, and shortened with a hash if it is too long for a client.
func (o Options) Expose(original string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, original)
	if !o.Bare && !strings.HasPrefix(name, o.Prefix) {
		name = o.Prefix + name
	}
	if len(name) <= nameLimit {
		return name
	}
	sum := sha256.Sum256([]byte(original))
	return name[:nameLimit-9] + "_" + hex.EncodeToString(sum[:4])
}
