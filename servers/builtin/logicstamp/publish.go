package logicstamp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// publish writes a kept context into its project, the index last, and only the
// files that say something new. Files that are not the CLI's are left alone.
func (ws *workspace) publish(ctx context.Context, e *store.Entry, c *contract.Context, sources *manifest.Manifest) (warnings []problem.Warning, orphans []string, err error) {
	project := e.Project
	old := map[string]bool{}
	for _, name := range contract.Names(project) {
		old[name] = true
	}
	names := namesOf(c)
	for _, name := range append(names[1:len(names):len(names)], names[0]) {
		delete(old, name)
		if ctx.Err() != nil {
			return warnings, nil, ctx.Err()
		}
		data, err := file.Read(filepath.Join(e.Dir, filepath.FromSlash(name)), maxPublished)
		if err != nil {
			return warnings, nil, fmt.Errorf("publish %s: %w", name, err)
		}
		w, err := publishFile(project, name, data)
		if err != nil {
			return warnings, nil, problem.New(problem.CLIPermission, "call again with publish: false", "the context file %s could not be written into the project", name).Because(err)
		}
		if w != nil {
			warnings = append(warnings, *w)
		}
	}
	return warnings, slices.Sorted(maps.Keys(old)), ws.recordPublished(project, sources)
}

func (ws *workspace) recordPublished(project string, sources *manifest.Manifest) error {
	index, err := file.ReadPlain(filepath.Join(project, contract.IndexFile), true, maxPublished)
	if err != nil {
		return fmt.Errorf("read the published index: %w", err)
	}
	data, err := json.Marshal(published{Index: store.Digest(index), Sources: sources})
	if err != nil {
		return err
	}
	name := ws.publishedFile(project)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("remember what was published: %w", err)
	}
	return file.Write(name, data, file.Options{})
}

const maxPublished = 256 << 20 // more than is ever read of one

// publishFile writes one file by way of a temporary one beside it.
func publishFile(project, name string, data []byte) (*problem.Warning, error) {
	full := filepath.Join(project, filepath.FromSlash(name))
	before, err := file.ReadPlain(full, true, maxPublished)
	switch {
	case err == nil && !oursToReplace(before, name):
		w := problem.Warn(problem.PublishSkipped, "%s was left alone: what is there is not a context of the CLI", name)
		return &w, nil
	case err == nil && store.SameBut(before, data):
		return nil, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return nil, err
	}
	return nil, file.Write(full, data, file.Options{Mode: 0o644, Keep: true})
}

// oursToReplace reports whether a file is one that the CLI writes.
func oursToReplace(data []byte, name string) bool {
	if name == contract.IndexFile {
		var index struct{ Type string }
		return json.Unmarshal(data, &index) == nil && index.Type == "LogicStampIndex"
	}
	var bundles []struct {
		Type    string
		EntryID string
	}
	if json.Unmarshal(data, &bundles) != nil {
		return bytes.Contains(data, []byte(`"LogicStampBundle"`))
	}
	for _, b := range bundles {
		if b.Type != "LogicStampBundle" && b.EntryID == "" {
			return false
		}
	}
	return len(bundles) > 0
}
