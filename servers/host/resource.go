package host

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// plainAddresses lets clients write the variable part of a resource's address as it
// stands: mcp-go knows a template's address only with its reserved characters escaped,
// palette/%40nes and not palette/@nes. The answer carries the address that was asked for.
func (v *View) plainAddresses(hooks *server.Hooks) {
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, r *mcp.ReadResourceRequest) {
		q := requestFrom(ctx)
		if escaped, ok := v.escape(r.Params.URI); ok && q != nil {
			q.address, r.Params.URI = r.Params.URI, escaped
		}
	})
	hooks.AddAfterReadResource(func(ctx context.Context, _ any, r *mcp.ReadResourceRequest, result *mcp.ReadResourceResult) {
		q := requestFrom(ctx)
		if q == nil || q.address == "" || result == nil {
			return
		}
		for i, c := range result.Contents {
			if text, ok := c.(mcp.TextResourceContents); ok && text.URI == r.Params.URI {
				text.URI = q.address
				result.Contents[i] = text
			}
		}
	})
}

// hasTemplate tells whether an address fits a template that a handler of the library
// answers for.
func (v *View) hasTemplate(uri string) bool {
	for _, m := range v.all() {
		for _, t := range v.offerOf(m).Templates {
			if t.Template.URITemplate.Regexp().MatchString(uri) {
				return true
			}
		}
	}
	_, escaped := v.escape(uri)
	return escaped
}

// escape makes an address fit one of the templates, if it fits nothing as it is.
func (v *View) escape(uri string) (string, bool) {
	for _, m := range v.all() {
		o := v.offerOf(m)
		if slices.ContainsFunc(o.Resources, func(r server.ServerResource) bool { return r.Resource.URI == uri }) {
			return "", false
		}
		for _, t := range o.Templates {
			if t.Template.URITemplate.Regexp().MatchString(uri) {
				return "", false
			}
			before, _, _ := strings.Cut(t.Template.URITemplate.Raw(), "{")
			name, ok := strings.CutPrefix(uri, before)
			if !ok {
				continue
			}
			if escaped := before + strings.ReplaceAll(name, "@", "%40"); t.Template.URITemplate.Regexp().MatchString(escaped) {
				return escaped, true
			}
		}
	}
	return "", false
}
