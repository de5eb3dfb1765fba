// Package standin writes contexts as the stamp command does, for what stands in for it.
package standin

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
)

// Version is the version of the command that is stood in for.
const Version = "0.8.8"

// Context is what is told of a project.
type Context struct {
	Version string // of the command
	Depth   int    // of a bundle; one level is one edge
	Nodes   map[string]map[string]any
	Uses    map[string][]string // what each file uses
	Meta    map[string]any      // of each bundle
	Half    bool                // the files of folders are left out
}

// NewContext returns an empty one.
func NewContext(version string, depth int) *Context {
	return &Context{Version: version, Depth: depth, Nodes: map[string]map[string]any{}, Uses: map[string][]string{}, Meta: map[string]any{}}
}

// Add adds a component, and returns its node. name is that of its function, hash tells its
// contract from others, text is its source.
func (c *Context) Add(file, name, hash string, text []byte, props any, uses ...string) map[string]any {
	node := map[string]any{"entryId": file, "contract": map[string]any{
		"entryId": file, "kind": "react:component", "composition": map[string]any{"functions": []string{name}},
		"interface": map[string]any{"props": props}, "exports": "named", "semanticHash": hash, "fileHash": manifest.FileHash(text),
	}}
	c.Nodes[file], c.Uses[file] = node, uses
	return node
}

// Write writes it below a folder: a bundle for each file that no other uses.
func (c *Context) Write(out string) error {
	used := map[string]bool{}
	for _, all := range c.Uses {
		for _, to := range all {
			used[to] = true
		}
	}
	folders := map[string][]any{}
	for _, file := range slices.Sorted(maps.Keys(c.Nodes)) {
		if used[file] {
			continue
		}
		nodes, edges := []any{c.Nodes[file]}, c.reached(file, c.Depth)
		for _, edge := range edges {
			nodes = append(nodes, c.Nodes[edge[1]])
		}
		folders[path.Dir(file)] = append(folders[path.Dir(file)], map[string]any{
			"type": "LogicStampBundle", "entryId": file, "depth": c.Depth, "createdAt": time.Now(), "bundleHash": "uifb:" + file,
			"graph": map[string]any{"nodes": nodes, "edges": edges}, "meta": c.Meta,
		})
	}
	var index []any
	for dir, bundles := range folders {
		index = append(index, map[string]any{"path": dir, "contextFile": path.Join(dir, "context.json"), "bundles": len(bundles), "tokenEstimate": 100 * len(bundles)})
		if !c.Half {
			if err := JSON(filepath.Join(out, filepath.FromSlash(dir), "context.json"), bundles); err != nil {
				return err
			}
		}
	}
	return JSON(filepath.Join(out, "context_main.json"), map[string]any{
		"type": "LogicStampIndex", "schemaVersion": "0.2", "createdAt": time.Now(), "folders": index,
		"summary": map[string]int{"totalComponents": len(c.Nodes), "totalBundles": len(c.Nodes) - len(used), "totalFolders": len(folders), "totalTokenEstimate": 100 * len(c.Nodes)},
		"meta":    map[string]string{"source": "logicstamp-context@" + c.Version},
	})
}

// reached are the edges from a file, as deep as asked.
func (c *Context) reached(from string, depth int) (edges [][]string) {
	if depth > 0 {
		for _, to := range c.Uses[from] {
			edges = append(append(edges, []string{from, to}), c.reached(to, depth-1)...)
		}
	}
	return edges
}

// JSON writes a value into a file, and makes the folders that it needs.
func JSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}
