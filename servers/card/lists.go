package card

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
)

// freshFor is how long a list of resources is valid if the server does not say.
const freshFor = 5 * time.Second

// resources are the resources that a server has listed. They are data: they are not subject
// to acceptance and not stored.
type resources struct {
	all   []catalogue.Definition
	print string    // equal for equal lists
	until time.Time // until when the list is valid; zero if there is none
	order uint64    // of the request for it among all such requests; zero if there is none
	asked uint64    // the order of the request for a new list; zero if none is on its way
}

// more reads what a child lists besides tools, if it declares such capabilities. Failures
// are logged, and what was accepted before stays.
func (a *attempt) more(c *Card, l *catalogue.Listing) {
	if c.opts.ToolsOnly {
		return
	}
	c.mu.Lock()
	life := c.life
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(life, c.opts.Limits.Start)
	defer cancel()
	hello := a.child.Hello()
	l.Server, l.Capabilities = hello.Server, hello.Capabilities
	list := func(k child.Kind, capability string, read func([]json.RawMessage) ([]catalogue.Definition, []catalogue.Note)) []catalogue.Definition {
		if !hello.Has(capability) {
			return []catalogue.Definition{}
		}
		raw, err := a.child.List(ctx, k)
		if err != nil {
			a.child.log.Note("list " + capability + ": " + err.Error())
			return nil
		}
		all, notes := read(raw)
		l.Notes = append(l.Notes, notes...)
		return all
	}
	l.Prompts = list(child.Prompts, "prompts", catalogue.ReadPrompts)
	l.Templates = list(child.Templates, "resources", catalogue.ReadTemplates)
	if hello.Has("resources") && !c.opts.noResources() {
		c.mu.Lock()
		order := c.nextList()
		a.has = c.has
		c.mu.Unlock()
		if has, ok := c.listResources(ctx, a.child, order); ok {
			a.has = has
		}
	}
}

// nextList returns the order of a request for the resources. The caller holds mu.
func (c *Card) nextList() uint64 {
	c.lists++
	return c.lists
}

// newer returns the list of resources that was requested last, unless the server no longer
// lists any.
func (r resources) newer(than resources) resources {
	if r.order == 0 || r.order > than.order {
		r.asked = than.asked
		return r
	}
	return than
}

// noResources tells whether the user keeps resources from agents.
func (o Options) noResources() bool { return o.Catalogue.WithoutAll(catalogue.OfTemplate) }

// listResources requests the resources of a child.
func (c *Card) listResources(ctx context.Context, l *link, order uint64) (has resources, ok bool) {
	raw, keep, err := l.ListFor(ctx, child.Resources)
	if err != nil {
		l.log.Note("list resources: " + err.Error())
		return has, false
	}
	has.all, _ = catalogue.ReadResources(raw)
	var b strings.Builder
	for _, d := range has.all {
		b.Write(d.Raw)
	}
	has.print, has.until, has.order = b.String(), time.Now().Add(cmp.Or(keep, freshFor)), order
	return has, true
}

// Resources returns the resources that agents can list: those the server listed last. The
// server is not started for this.
func (c *Card) Resources() []catalogue.Definition {
	if now := c.now.Load(); now.listed != nil && !c.opts.noResources() {
		return now.has.all
	}
	return nil
}

// Refresh requests the resources of a running server if the current list has expired. It
// does not block.
func (c *Card) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed == nil || c.has.asked > 0 || time.Now().Before(c.has.until) || c.opts.ToolsOnly || c.opts.noResources() {
		return
	}
	for _, s := range c.all() {
		if l := s.child; l != nil && s.link == LinkReady && l.Hello().Has("resources") {
			order := c.nextList()
			c.has.asked = order
			c.spawn("list resources", func() { c.refresh(l, order) })
			return
		}
	}
}

func (c *Card) refresh(l *link, order uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.Limits.Start)
	defer cancel()
	has, ok := c.listResources(ctx, l, order)
	c.update(func() {
		if ok {
			c.has = has.newer(c.has)
		}
		if c.has.asked == order {
			c.has.asked = 0
		}
	})
}

// Has reports whether a resource belongs to the server: whether the server lists it or it
// matches one of its templates.
func (c *Card) Has(uri string) bool {
	now := c.now.Load()
	return now.listed != nil && !c.opts.noResources() && (slices.ContainsFunc(now.has.all, func(d catalogue.Definition) bool { return d.Name == uri }) ||
		slices.ContainsFunc(now.listed.Templates, func(d catalogue.Definition) bool { return fits(d.Name, uri) }))
}

// fits reports whether a URI matches a template.
func fits(template, uri string) bool {
	pattern, rest := "^", template
	for {
		before, expression, ok := strings.Cut(rest, "{")
		pattern += regexp.QuoteMeta(before)
		if !ok {
			break
		}
		expression, after, ok := strings.Cut(expression, "}")
		if !ok {
			return false
		}
		if strings.ContainsAny(expression[:min(len(expression), 1)], "+#/?&;.") {
			pattern += ".*"
		} else {
			pattern += "[^/?#]+"
		}
		rest = after
	}
	re, err := regexp.Compile(pattern + "$")
	return err == nil && re.MatchString(uri)
}
