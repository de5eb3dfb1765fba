package logicstamp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
)

// maxLinks is how many links a refusal names.
const maxLinks = 5

// workspace reads the projects and the contexts that are kept of them.
type workspace struct {
	opts     *Options
	access   *access
	store    *store.Store
	contexts contextCache

	mu    sync.Mutex
	known map[string]*manifest.Manifest
}

// takeManifest lists the project, hashing only what changed since last time.
func (ws *workspace) takeManifest(ctx context.Context, project string, style bool) (*manifest.Manifest, error) {
	ws.mu.Lock()
	known := ws.known[project]
	ws.mu.Unlock()
	m, err := manifest.Take(ctx, project, manifest.Options{Style: style, Known: known, Allowed: ws.access.everybodys()})
	if err != nil {
		return nil, err
	}
	ws.mu.Lock()
	ws.known[project] = m
	ws.mu.Unlock()
	return m, nil
}

// takeSources is takeManifest for what the CLI analyses in place, or has: it
// follows links wherever they lead, so that none may lead outside. Called before
// a run and after it, before anything of it is kept or told.
func (ws *workspace) takeSources(ctx context.Context, project string, style bool) (*manifest.Manifest, error) {
	m, err := ws.takeManifest(ctx, project, style)
	if err != nil {
		return nil, err
	}
	if err := refuseLinks(m.Outside); err != nil {
		return nil, err
	}
	if n := len(m.Special); n > 0 {
		return nil, problem.New(problem.SourcesUnsafe, "replace it by a file, or remove it",
			"stamp would wait for what is no plain file: %s", strings.Join(m.Special[:min(n, maxLinks)], ", "))
	}
	return m, nil
}

// leftOut warns of links to folders outside, which are no part of an analysis.
func leftOut(m *manifest.Manifest) []problem.Warning {
	if len(m.LeftOut) == 0 {
		return nil
	}
	return []problem.Warning{problem.Warn(problem.LinksLeftOut, "left out, since they lead out of the project: %s", strings.Join(listed(m.LeftOut), ", "))}
}

func listed(links []manifest.Link) (list []string) {
	for _, l := range links[:min(len(links), maxLinks)] {
		list = append(list, l.Path+" → "+l.Target)
	}
	if more := len(links) - maxLinks; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return list
}

func refuseLinks(links []manifest.Link) error {
	if len(links) == 0 {
		return nil
	}
	list := listed(links)
	return problem.New(problem.SourcesUnsafe, "remove the link or add it to .stampignore, or ask the user to allow the folder it leads to (logicstamp.allowed_paths, or start mcpdeck with --allow-dir)",
		"stamp would read outside the project through a link: %s", strings.Join(list, ", "))
}

// foreign are the sources of which an analysis read another text than they had
// before or after it. Somebody wrote them twice meanwhile, or put a link in their
// place and took it away again.
func foreign(c *contract.Context, before, after *manifest.Manifest) []string {
	masked := slices.ContainsFunc(after.Inputs, func(f manifest.File) bool { return f.Path == manifest.SecurityReport })
	var out []string
	for p, hash := range hashesOf(c) {
		was, _ := before.Find(p)
		is, _ := after.Find(p)
		if hash != was.FileHash && hash != is.FileHash {
			out = append(out, p)
		}
	}
	for _, f := range c.Folders {
		for _, b := range f.Bundles {
			for _, t := range b.Texts() {
				was, _ := before.Find(t.ID)
				is, _ := after.Find(t.ID)
				if !hasText(was, t, masked) && !hasText(is, t, masked) && !slices.Contains(out, t.ID) {
					out = append(out, t.ID)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// hasText reports whether a source has the code and the header that a context shows
// of it. What the command masked is not looked at.
func hasText(f manifest.File, t contract.Text, masked bool) bool {
	if masked {
		return true
	}
	code := t.Code == "" || manifest.FileHash([]byte(t.Code)) == f.FileHash && manifest.Header([]byte(t.Code)) == f.Header
	return code && (t.Header == "" || t.Header == f.Header)
}

func refuseForeign(files []string) error {
	return problem.New(problem.SourcesUnsafe, "call again when these files are no longer being replaced",
		"what stamp read did not match the sources, twice: %s", strings.Join(files[:min(len(files), maxLinks)], ", "))
}
