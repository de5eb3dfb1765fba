package upstream

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
)

// Published is what agents have of a card at one moment. It never changes.
type Published struct {
	opts    *Options
	mode    Mode
	built   *catalogue.Catalogue // of the most recent child, also while nothing is offered
	listed  *catalogue.Catalogue // nil if nothing is offered
	has     resources
	refusal string
	changed chan struct{} // closed when this is out of date
	told    chan struct{} // closed once the callbacks were called
}

// Published returns what agents have now.
func (c *Card) Published() *Published { return c.now.Load() }

// published makes it of the state.
func (s *state) published(o *Options) *Published {
	refusal := s.refusal
	if s.mode == TurningOn {
		refusal = o.Texts.Mode + " is starting. Try again in a moment."
	}
	return &Published{
		opts: o, mode: s.mode, built: s.offer, listed: s.listed, has: s.has, refusal: refusal,
		changed: make(chan struct{}), told: make(chan struct{}),
	}
}

// Catalogue returns what agents can use, or nil if nothing.
func (p *Published) Catalogue() *catalogue.Catalogue { return p.listed }

// usable returns the catalogue, or the reason why there is none.
func (p *Published) usable() (*catalogue.Catalogue, error) {
	switch {
	case p.mode != On:
		return nil, &refusal{p.refusal}
	case p.listed == nil:
		return nil, &refusal{p.opts.lost("")}
	}
	return p.listed, nil
}

// tool returns the tool to call, or the reason why there is none.
func (p *Published) tool(in Call) (*catalogue.Tool, error) {
	all, err := p.usable()
	if err != nil {
		return nil, err
	}
	tool := all.Exposed(in.Tool)
	if in.Passthrough {
		tool = all.Original(in.Tool)
	}
	if tool == nil {
		return nil, &refusal{p.opts.noTool(all, in.Tool)}
	}
	return tool, nil
}

// owns reports whether a name is that of one of the card's tools, offered or not.
func (p *Published) owns(tool string) bool {
	if !p.opts.Catalogue.Bare {
		return strings.HasPrefix(tool, p.opts.Catalogue.Prefix)
	}
	return tool == p.opts.StatusTool() || p.built != nil && p.built.Exposed(tool) != nil
}

// Refuse returns the answer to a call of a tool that is not listed, or "" for a name that
// does not belong to the card.
func (p *Published) Refuse(tool string) string {
	if !p.owns(tool) {
		return ""
	}
	listed, err := p.usable()
	switch {
	case err != nil:
		return err.Error()
	case listed.Exposed(tool) != nil: // a view with the gateway lists only the gateway
		return p.opts.behind(tool)
	}
	return p.opts.noTool(listed, tool)
}

// RefusePassthrough is [Published.Refuse] for a tool's original name. Any name that the server does
// not list does not belong to it.
func (p *Published) RefusePassthrough(tool string) string {
	if p.listed.Withheld(p.opts.Catalogue.Expose(tool)) != catalogue.NotWithheld {
		return p.opts.noTool(p.listed, tool)
	}
	return ""
}

// Resources returns the resources that agents can list: those the server listed last. The
// server is not started for this.
func (p *Published) Resources() []catalogue.Definition {
	if p.listed == nil || p.opts.noResources() {
		return nil
	}
	return p.has.all
}

// Has reports whether a resource belongs to the server: whether the server lists it or it
// matches one of its templates.
func (p *Published) Has(uri string) bool {
	return p.listed != nil && !p.opts.noResources() && (slices.ContainsFunc(p.has.all, func(d catalogue.Definition) bool { return d.Name == uri }) ||
		slices.ContainsFunc(p.listed.Templates, func(d catalogue.Definition) bool { return fits(d.Name, uri) }))
}

// Passes reports whether the card passes on requests of a method whose params do not
// identify a server.
func (p *Published) Passes(method string) bool {
	off := p.opts.ToolsOnly || p.opts.noResources() && strings.HasPrefix(method, "resources/")
	return !off && p.listed != nil
}
