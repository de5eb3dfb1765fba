package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// stampVersion is the version of the command that Stamp stands in for.
const stampVersion = "0.8.8"

// Stamp stands in for the stamp command, which needs Node: it knows the props of the
// demo's components and what they import.
func Stamp(ctx context.Context, args []string, project string, out io.Writer) error {
	if slices.Equal(args, []string{"--version"}) {
		_, err := fmt.Fprintln(out, "Version: "+stampVersion)
		return err
	}
	at := slices.Index(args, "--out")
	if at < 0 || at+1 == len(args) {
		return errors.New("the stand-in for stamp analyses, and does nothing else")
	}
	c, err := readComponents(ctx, project)
	if err != nil {
		return err
	}
	return c.write(args[at+1])
}

// components are what stamp would tell of a project.
type components struct {
	contract map[string]any // by path
	imports  map[string][]string
	used     map[string]bool
}

func readComponents(ctx context.Context, project string) (components, error) {
	c := components{contract: map[string]any{}, imports: map[string][]string{}, used: map[string]bool{}}
	list, err := manifest.Take(ctx, project, manifest.Options{})
	if err != nil {
		return c, err
	}
	var (
		declared = regexp.MustCompile(`interface \w+Props \{([^}]*)\}`)
		prop     = regexp.MustCompile(`(\w+)(\??): ([^;]+)`)
		imported = regexp.MustCompile(`from '(\.[^']+)'`)
	)
	for _, f := range list.Files {
		text, err := file.Read(filepath.Join(project, filepath.FromSlash(f.Path)), 1<<20)
		if err != nil {
			return c, err
		}
		props := map[string]any{}
		for _, body := range declared.FindAllStringSubmatch(string(text), -1) {
			for _, m := range prop.FindAllStringSubmatch(body[1], -1) {
				props[m[1]] = strings.TrimSpace(m[3])
				if m[2] != "" {
					props[m[1]] = map[string]any{"type": strings.TrimSpace(m[3]), "optional": true}
				}
			}
		}
		for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
			to := path.Join(path.Dir(f.Path), m[1]) + ".tsx"
			c.imports[f.Path] = append(c.imports[f.Path], to)
			c.used[to] = true
		}
		hash := manifest.FileHash(fmt.Append(nil, props))
		c.contract[f.Path] = map[string]any{
			"entryId": f.Path, "kind": "react:component", "exports": "named", "semanticHash": hash, "fileHash": manifest.FileHash(text),
			"interface": map[string]any{"props": props}, "composition": map[string]any{"functions": []string{strings.TrimSuffix(path.Base(f.Path), ".tsx")}},
		}
	}
	return c, nil
}

// write writes the files of a context: a bundle for each component that no other uses.
func (c components) write(out string) error {
	folders := map[string][]any{}
	bundles := 0
	for p, contract := range c.contract {
		if c.used[p] {
			continue
		}
		nodes, edges := []any{map[string]any{"entryId": p, "contract": contract}}, []any{}
		for _, to := range c.imports[p] {
			nodes = append(nodes, map[string]any{"entryId": to, "contract": c.contract[to]})
			edges = append(edges, []string{p, to})
		}
		bundles++
		folders[path.Dir(p)] = append(folders[path.Dir(p)], map[string]any{
			"type": "LogicStampBundle", "entryId": p, "depth": 2, "createdAt": time.Now(), "bundleHash": "uifb:" + p,
			"graph": map[string]any{"nodes": nodes, "edges": edges}, "meta": map[string]any{},
		})
	}
	var index []any
	for dir, all := range folders {
		if err := writeJSON(filepath.Join(out, filepath.FromSlash(dir), "context.json"), all); err != nil {
			return err
		}
		index = append(index, map[string]any{"path": dir, "contextFile": path.Join(dir, "context.json"), "bundles": len(all), "tokenEstimate": 100 * len(all)})
	}
	return writeJSON(filepath.Join(out, "context_main.json"), map[string]any{
		"type": "LogicStampIndex", "schemaVersion": "0.2", "createdAt": time.Now(), "folders": index,
		"summary": map[string]int{"totalComponents": len(c.contract), "totalBundles": bundles, "totalFolders": len(folders), "totalTokenEstimate": 100 * bundles},
		"meta":    map[string]string{"source": "logicstamp-context@" + stampVersion},
	})
}

func writeJSON(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
