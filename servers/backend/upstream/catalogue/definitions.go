package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Kind is the kind of a definition.
type Kind string

// The kinds that are pinned.
const (
	OfTool     Kind = ""
	OfPrompt   Kind = "prompt"
	OfTemplate Kind = "template"
)

// named is the name of a definition among those of all kinds.
func (k Kind) named(name string) string {
	if k == OfTool {
		return name
	}
	return string(k) + " " + name
}

// Definition is a prompt, a resource template, or a resource.
type Definition struct {
	Name     string          // exposed: a prompt's name, a URI, or a template of URIs
	Original string          // as the server calls it
	Raw      json.RawMessage // as agents get it
	Given    json.RawMessage // as the server gave it
}

// ReadPrompts decodes each entry of a server's list separately; an invalid entry is left
// out, with a note. The result is never nil.
func ReadPrompts(list []json.RawMessage) ([]Definition, []Note) {
	return define(list, "prompt", "name")
}

// ReadTemplates is [ReadPrompts] for templates.
func ReadTemplates(list []json.RawMessage) ([]Definition, []Note) {
	return define(list, "template", "uriTemplate")
}

// ReadResources is [ReadPrompts] for resources, in the server's order.
func ReadResources(list []json.RawMessage) ([]Definition, []Note) {
	return define(list, "resource", "uri")
}

func define(list []json.RawMessage, noun, member string) ([]Definition, []Note) {
	var notes []Note
	out := []Definition{}
	for i, raw := range list {
		o, err := rawjson.SplitObject(raw)
		name := o.Str(member)
		known := slices.ContainsFunc(out, func(d Definition) bool { return d.Original == name })
		switch {
		case err == nil && name == "":
			err = fmt.Errorf("it has no %s", member)
		case err == nil && known:
			err = fmt.Errorf("duplicate %s", member)
		}
		if err != nil {
			notes = append(notes, Note{Tool: strings.TrimSpace(noun + " " + name), Reason: fmt.Sprintf("entry %d skipped: %v", i+1, err)})
			continue
		}
		line := rawjson.OneLine(raw)
		out = append(out, Definition{Name: name, Original: name, Raw: line, Given: line})
	}
	return out, notes
}

// expose adds the prompts and templates that are offered: as the server lists them, but
// with exposed names for prompts.
func (c *Catalogue) expose(prompts, templates []Definition, o Options, r *renamer, hidden map[string]string) {
	taken := map[string]bool{}
	for _, d := range prompts {
		name := OfPrompt.named(d.Original)
		d.Name = o.Expose(d.Original)
		switch {
		case hidden[name] != "":
			c.Notes = append(c.Notes, Note{Tool: name, Reason: hidden[name]})
			continue
		case taken[d.Name]:
			c.Notes = append(c.Notes, Note{Tool: name, Reason: "hidden: " + d.Name + " is already another prompt of " + o.Title})
			continue
		}
		taken[d.Name] = true
		p, _ := rawjson.SplitObject(d.Given) // valid: it was read before
		p = p.With("name", rawjson.Quote(d.Name))
		if about := p.Get("description"); about != nil {
			p = p.With("description", r.quoted(about))
		}
		d.Raw = p.JSON()
		c.Prompts = append(c.Prompts, d)
	}
	for _, d := range templates {
		name := OfTemplate.named(d.Original)
		if hidden[name] != "" {
			c.Notes = append(c.Notes, Note{Tool: name, Reason: hidden[name]})
			continue
		}
		c.Templates = append(c.Templates, d)
	}
}

// quoted rewrites a JSON string; if nothing changes, it keeps its bytes.
func (r *renamer) quoted(raw json.RawMessage) json.RawMessage {
	if s, err := rawjson.Text(raw); err == nil {
		if changed := r.text(s); changed != s {
			return rawjson.Quote(changed)
		}
	}
	return raw
}

// Prompt returns the prompt with the given exposed name, or nil.
func (c *Catalogue) Prompt(name string) *Definition {
	for i := range c.Prompts {
		if c.Prompts[i].Name == name {
			return &c.Prompts[i]
		}
	}
	return nil
}
