package logicstamp

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// maxFreshFiles is how many files each list of a freshness report names.
const maxFreshFiles = 50

// The states of a context beside its sources.
const (
	fresh   = "fresh"
	stale   = "stale"
	missing = "missing"
)

// published is what is remembered of a context that was written into a project.
type published struct {
	// Index is the SHA-256 of the index as it was written.
	Index   string             `json:"index"`
	Sources *manifest.Manifest `json:"sources"`
}

func (ws *workspace) publishedFile(project string) string {
	return filepath.Join(ws.opts.Dir, "published", hashOf(project)+".json")
}

// diskFreshness reports whether a context in a project describes its sources:
// every contract's file is unchanged, and nothing else changed since it was
// written.
func (ws *workspace) diskFreshness(c *contract.Context, project string, now *manifest.Manifest) *compare.Freshness {
	rec := ws.publishedRecord(project, c)
	changes := unrecordedChanges(c, now, rec == nil)
	if rec != nil {
		since := now.Since(rec.Sources)
		changes.Changed = union(changes.Changed, since.Changed)
		changes.New = union(changes.New, since.New)
		changes.Deleted = union(changes.Deleted, since.Deleted)
	}
	return freshnessOf(changes)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func (ws *workspace) publishedRecord(project string, c *contract.Context) *published {
	data, err := file.Read(ws.publishedFile(project), maxPublished)
	if err != nil {
		return nil
	}
	var rec published
	if json.Unmarshal(data, &rec) != nil || rec.Index != store.Digest(c.RawIndex) || rec.Sources == nil {
		return nil
	}
	return &rec
}

// unrecordedChanges compares a context that someone else may have written with
// the sources: hashes for what it shows; times, if wanted, for what it does not.
func unrecordedChanges(c *contract.Context, now *manifest.Manifest, times bool) manifest.Changes {
	var changes manifest.Changes
	shown, written := hashesOf(c), writtenAt(c)
	for _, f := range now.Files {
		if f.FileHash == "" {
			continue
		}
		hash, ok := shown[f.Path]
		switch {
		case ok && hash != f.FileHash:
			changes.Changed = append(changes.Changed, f.Path)
		case !ok && times && time.Unix(0, f.ModTime).After(written):
			changes.New = append(changes.New, f.Path)
		}
	}
	for p := range shown {
		if _, ok := now.Find(p); !ok {
			changes.Deleted = append(changes.Deleted, p)
		}
	}
	slices.Sort(changes.Deleted)
	return changes
}

func freshnessOf(c manifest.Changes) *compare.Freshness {
	if c.Empty() {
		return &compare.Freshness{State: fresh}
	}
	f := &compare.Freshness{State: stale}
	cut := func(list []string) []string {
		if len(list) <= maxFreshFiles {
			return list
		}
		f.More += len(list) - maxFreshFiles
		return list[:maxFreshFiles]
	}
	f.ChangedFiles, f.NewFiles, f.DeletedFiles = cut(c.Changed), cut(c.New), cut(c.Deleted)
	return f
}
