package logicstamp

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
)

// ListArgs are the arguments of List.
type ListArgs struct {
	SnapshotID, Project, FolderPrefix string
}

// Listed is the result of List.
type Listed struct {
	Origin
	TotalBundles int          `json:"totalBundles"`
	Bundles      []BundleInfo `json:"bundles"`
	WatchMode    *WatchMode   `json:"watchMode,omitempty"`
}

// BundleInfo describes one bundle.
type BundleInfo struct {
	ID            string `json:"id"`
	RootComponent string `json:"rootComponent"`
	FilePath      string `json:"filePath"`
	Folder        string `json:"folder"`
	BundlePath    string `json:"bundlePath"`
	Position      string `json:"position"`
	BundleHash    string `json:"bundleHash"`
	ApproxTokens  int    `json:"approxTokens"`
	Kind          string `json:"kind,omitempty"`
	Nodes         int    `json:"nodes"`
}

// List names the bundles of a context, by folder and position.
func (s *Service) List(ctx context.Context, call Call, args ListArgs) (*Listed, error) {
	src, err := s.workspace.source(ctx, call, args.SnapshotID, args.Project)
	if err != nil {
		return nil, err
	}
	if err := src.context.NeedBundles(); err != nil {
		return nil, err
	}
	all := bundleInfos(src.context)
	prefix := cleanPrefix(args.FolderPrefix)
	all = slices.DeleteFunc(all, func(b BundleInfo) bool { return !under(b.Folder, prefix) })
	return &Listed{src.Origin, len(all), all, src.watch}, nil
}

func cleanPrefix(p string) string {
	p = strings.TrimSuffix(strings.ReplaceAll(p, `\`, "/"), "/")
	for strings.HasPrefix(p, "./") {
		p = p[2:]
	}
	if p == "." {
		return ""
	}
	return p
}

// under reports whether a folder is the prefix or lies below it.
func under(folder, prefix string) bool {
	return prefix == "" || folder == prefix || strings.HasPrefix(folder, prefix+"/")
}

// bundleInfos describes every bundle of a context in the order of a listing.
func bundleInfos(c *contract.Context) []BundleInfo {
	var out []BundleInfo
	ids := map[string]int{}
	for _, f := range c.Folders {
		var roots []string
		for _, b := range f.Bundles {
			roots = append(roots, b.Root)
		}
		names := contract.RootNames(roots)
		for _, b := range f.Bundles {
			info := BundleInfo{
				RootComponent: names[b.Root], FilePath: b.Root, Folder: f.Path, BundlePath: f.File,
				Position: b.Position, BundleHash: b.Hash, ApproxTokens: (len(b.Raw) + 3) / 4, Nodes: len(b.Nodes),
			}
			if n := b.RootNode(); n != nil {
				info.Kind = n.Contract.Kind
			}
			info.ID = "bundle_" + info.RootComponent
			ids[info.ID]++
			out = append(out, info)
		}
	}
	for i, info := range out {
		if ids[info.ID] > 1 {
			out[i].ID += "_" + store.Digest([]byte(info.FilePath))[:8]
		}
	}
	slices.SortStableFunc(out, func(a, b BundleInfo) int { return contract.CompareFolders(a.Folder, b.Folder) })
	return out
}
