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
	asked bool      // a new list has been requested
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
			c.log.Note("list " + capability + ": " + err.Error())
			return nil
		}
		all, notes := read(raw)
		l.Notes = append(l.Notes, notes...)
		return all
	}
	l.Prompts = list(child.Prompts, "prompts", catalogue.ReadPrompts)
	l.Templates = list(child.Templates, "resources", catalogue.ReadTemplates)
	if hello.Has("resources") && !c.opts.Catalogue.NoResources {
		a.has, _ = c.listResources(ctx, a.child)
	}
}

// listResources requests the resources of a child.
func (c *Card) listResources(ctx context.Context, l *link) (has resources, ok bool) {
	raw, keep, err := l.ListFor(ctx, child.Resources)
	if err != nil {
		c.log.Note("list resources: " + err.Error())
		return has, false
	}
	has.all, _ = catalogue.ReadResources(raw)
	var b strings.Builder
	for _, d := range has.all {
		b.Write(d.Raw)
	}
	has.print, has.until = b.String(), time.Now().Add(cmp.Or(keep, freshFor))
	return has, true
}

// Resources returns the resources that agents can list: those the server listed last. The
// server is not started for this.
func (c *Card) Resources() []catalogue.Definition {
	if now := c.now.Load(); now.listed != nil {
		return now.has.all
	}
	return nil
}

// Refresh requests the resources of a running server if the current list has expired. It
// does not block.
func (c *Card) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed == nil || c.has.asked || time.Now().Before(c.has.until) || c.opts.ToolsOnly || c.opts.Catalogue.NoResources {
		return
	}
	for _, s := range c.all() {
		if l := s.child; l != nil && s.link == LinkReady && l.Hello().Has("resources") {
			c.has.asked = true
			c.spawn("list resources", func() { c.refresh(l) })
			return
		}
	}
}

func (c *Card) refresh(l *link) {
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.Limits.Start)
	defer cancel()
	has, ok := c.listResources(ctx, l)
	c.update(func() {
		if c.has.asked = false; ok {
			c.has = has
		}
	})
}

// Has reports whether a resource belongs to the server: whether the server lists it or it
// matches one of its templates.
func (c *Card) Has(uri string) bool {
	now := c.now.Load()
	return now.listed != nil && (slices.ContainsFunc(now.has.all, func(d catalogue.Definition) bool { return d.Name == uri }) ||
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
