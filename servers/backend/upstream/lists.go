package upstream

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// freshFor is how long a list of resources is valid if the server does not say.
const freshFor = 5 * time.Second

// listings is what the server has listed, and what of it agents have.
type listings struct {
	asked  []string             // programs that wait for the user to accept held definitions
	offer  *catalogue.Catalogue // of the most recent child, kept after its end; nil if there is none
	listed *catalogue.Catalogue // what agents have; nil if nothing
	has    resources            // of the most recent child
	count  snapshot.Count       // of the last offer
	lists  uint64               // number of requests for resources
}

// adopt takes what a child has listed.
func (l *listings) adopt(a attempt) {
	l.has = a.has.newer(l.has)
	l.offers(a.offer)
}

// offers changes the offer, and what agents have if anything is offered to them.
func (l *listings) offers(c *catalogue.Catalogue) {
	l.offer = c
	if l.listed != nil {
		l.listed = c
	}
}

// verdict returns that on what is listed.
func (l *listings) verdict() (v catalogue.Verdict) {
	if l.offer != nil {
		v = l.offer.Verdict
	}
	return v
}

// counted reports what the offer comes to, and whether that is news.
func (l *listings) counted() (n snapshot.Count, news bool) {
	if l.offer == nil {
		return l.count, false
	}
	n = snapshot.Count{Tools: len(l.offer.Tools), Context: l.offer.Context}
	news = n != l.count
	l.count = n
	return n, news
}

// nextList returns the order of a request for the resources.
func (l *listings) nextList() uint64 {
	l.lists++
	return l.lists
}

// resources are the resources that a server has listed. They are data: they are not subject
// to acceptance and not stored.
type resources struct {
	all   []catalogue.Definition
	print string    // equal for equal lists
	until time.Time // until when the list is valid; zero if there is none
	order uint64    // of the request for it among all such requests; zero if there is none
	asked uint64    // the order of the request for a new list; zero if none is on its way
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

// noResources reports whether the user keeps resources from agents.
func (o *Options) noResources() bool { return o.Catalogue.WithoutAll(catalogue.OfTemplate) }

// listResources requests the resources of a child.
func (l *link) listResources(ctx context.Context, order uint64) (has resources, ok bool) {
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

// Refresh requests the resources of a running server if the current list has expired. It
// does not block.
func (c *Card) Refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed == nil || c.has.asked > 0 || time.Now().Before(c.has.until) || c.opts.ToolsOnly || c.opts.noResources() {
		return
	}
	i := slices.IndexFunc(c.all(), func(s *slot) bool { return s.child != nil && s.link == LinkReady && s.child.Hello().Has("resources") })
	if i < 0 {
		return
	}
	l, order := c.all()[i].child, c.nextList()
	c.has.asked = order
	c.work.spawn("list resources", func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.opts.Limits.Start)
		defer cancel()
		has, ok := l.listResources(ctx, order)
		c.update(func() {
			if ok {
				c.has = has.newer(c.has)
			}
			if c.has.asked == order {
				c.has.asked = 0
			}
		})
	})
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
