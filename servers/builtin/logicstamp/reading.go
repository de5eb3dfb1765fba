package logicstamp

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// ReadArgs are the arguments of Read.
type ReadArgs struct {
	BundlePath, SnapshotID, Project, RootComponent string
}

// ReadFile is the result of Read: the index, a text, or the bundles of a file or
// the one that was asked for.
type ReadFile struct {
	Origin
	BundlePath string          `json:"bundlePath"`
	Index      json.RawMessage `json:"index,omitempty"`
	Format     string          `json:"format,omitempty"`
	Text       string          `json:"text,omitempty"`

	Bundles []*contract.Bundle `json:"-"`
}

// Read gives the bundles of one file of a context as the CLI wrote them.
func (s *Service) Read(ctx context.Context, call Call, args ReadArgs) (*ReadFile, error) {
	if args.BundlePath == "" {
		return nil, problem.New(problem.BadArgument, "take a bundlePath from logicstamp_list_bundles", "bundlePath is missing")
	}
	src, err := s.workspace.source(ctx, call, args.SnapshotID, args.Project)
	if err != nil {
		return nil, err
	}
	out := &ReadFile{Origin: src.Origin, BundlePath: args.BundlePath}
	wanted := strings.TrimPrefix(strings.ReplaceAll(args.BundlePath, `\`, "/"), "./")
	if wanted == contract.IndexFile {
		out.Index = contract.Compact(src.context.RawIndex)
		return out, nil
	}
	folders := filesNamed(src.context, wanted)
	if len(folders) == 0 {
		return nil, unknownFile(src.context, wanted)
	}
	if folders[0].Toon != "" {
		out.Format, out.Text = "toon", folders[0].Toon
		return out, nil
	}
	for _, f := range folders {
		out.Bundles = append(out.Bundles, f.Bundles...)
	}
	if args.RootComponent != "" {
		b, err := pickBundle(src.context, out.Bundles, args.RootComponent)
		if err != nil {
			return nil, err
		}
		out.Bundles = []*contract.Bundle{b}
	}
	return out, nil
}

func filesNamed(c *contract.Context, name string) []*contract.Folder {
	var out []*contract.Folder
	for _, f := range c.Folders {
		if f.File == name {
			out = append(out, f)
		}
	}
	return out
}

func unknownFile(c *contract.Context, name string) error {
	if ext := path.Ext(name); ext == ".ts" || ext == ".tsx" || ext == ".js" || ext == ".jsx" {
		return problem.New(problem.BundlePath, "pass the bundlePath of its folder ("+path.Join(path.Dir(name), "context.json")+") and the file as rootComponent",
			"%q is a source file, not a file of the context", name)
	}
	var files []string
	for _, f := range c.Folders {
		files = append(files, f.File)
	}
	return problem.New(problem.BundlePath, "use one of the bundlePath values of logicstamp_list_bundles, such as "+strings.Join(nearest(name, files, 5), ", "),
		"%q is not a file of this context", name)
}

// pickBundle finds the bundle of a root by its path, its file name, or its name
// without extension, in this order.
func pickBundle(c *contract.Context, bundles []*contract.Bundle, name string) (*contract.Bundle, error) {
	wanted := strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./")
	for _, match := range []func(string) bool{
		func(root string) bool { return root == wanted },
		func(root string) bool { return path.Base(root) == wanted },
		func(root string) bool { return contract.Name(root) == wanted },
	} {
		var found []*contract.Bundle
		var paths []string
		for _, b := range bundles {
			if match(b.Root) {
				found = append(found, b)
				paths = append(paths, b.Root)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, problem.New(problem.AmbiguousComponent, "pass one of these paths as rootComponent", "%q names %s: %s", name, humanize.Count(len(found), "root"), strings.Join(paths, ", "))
		}
	}
	return nil, notARoot(c, bundles, name, wanted)
}

// notARoot tells where a component that is no root of the file can be found.
func notARoot(c *contract.Context, bundles []*contract.Bundle, name, wanted string) error {
	all := c.Bundles()
	var ids, names []string
	for id, v := range c.Visible() {
		names = append(names, contract.Name(id))
		if id == wanted || path.Base(id) == wanted || contract.Name(id) == wanted {
			for _, root := range v.Roots {
				if b := all[root]; b != nil {
					ids = append(ids, root+" in "+b.File)
				}
			}
		}
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		ids = slices.Compact(ids)
		return problem.New(problem.ComponentNotFound, "read one of these roots: "+strings.Join(ids[:min(len(ids), 10)], ", "),
			"%q is not a root of this file; it is part of the bundles of %s", name, humanize.Count(len(ids), "root"))
	}
	var roots []string
	for _, b := range bundles {
		roots = append(roots, contract.Name(b.Root))
	}
	return problem.New(problem.ComponentNotFound, "nearest names: "+strings.Join(nearest(wanted, append(roots, names...), 3), ", "), "%q is not in this context", name)
}

// nearest gives the n names most like one, best first.
func nearest(name string, names []string, n int) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	low := strings.ToLower(name)
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(fuzzy.Slips(low, strings.ToLower(a)), fuzzy.Slips(low, strings.ToLower(b)))
	})
	return names[:min(n, len(names))]
}
