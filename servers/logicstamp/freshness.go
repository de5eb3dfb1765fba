package logicstamp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/manifest"
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

func (s *Service) publishedFile(project string) string {
	return filepath.Join(s.opts.Dir, "published", hashOf(project)+".json")
}

// diskFreshness tells whether a context in a project describes its sources:
// every contract's file is unchanged, and nothing else changed since it was
// written.
func (s *Service) diskFreshness(c *contract.Context, project string, now *manifest.Manifest) *compare.Freshness {
	var changes manifest.Changes
	if rec := s.publishedRecord(project, c); rec != nil {
		changes = now.Since(rec.Sources)
	} else {
		changes = unrecordedChanges(c, now)
	}
	return freshnessOf(changes)
}

func (s *Service) publishedRecord(project string, c *contract.Context) *published {
	data, err := os.ReadFile(s.publishedFile(project))
	if err != nil {
		return nil
	}
	var rec published
	if json.Unmarshal(data, &rec) != nil || rec.Index != digest(c.RawIndex) || rec.Sources == nil {
		return nil
	}
	return &rec
}

// unrecordedChanges compares a context that someone else wrote with the
// sources: hashes for what it shows, times for what it does not.
func unrecordedChanges(c *contract.Context, now *manifest.Manifest) manifest.Changes {
	var changes manifest.Changes
	visible := c.Visible()
	written := c.CreatedAt
	if info, err := os.Stat(filepath.Join(c.Dir, contract.IndexFile)); err == nil && info.ModTime().After(written) {
		written = info.ModTime()
	}
	for _, f := range now.Files {
		if f.FileHash == "" {
			continue
		}
		v, ok := visible[f.Path]
		switch {
		case ok && v.FileHash != f.FileHash:
			changes.Changed = append(changes.Changed, f.Path)
		case !ok && time.Unix(0, f.ModTime).After(written):
			changes.New = append(changes.New, f.Path)
		}
	}
	for p := range visible {
		if _, ok := now.Find(p); !ok {
			changes.Deleted = append(changes.Deleted, p)
		}
	}
	slices.Sort(changes.Deleted)
	return changes
}

// entryFreshness compares the sources a kept context was made from with those
// of now.
func entryFreshness(then, now *manifest.Manifest) *compare.Freshness {
	return freshnessOf(now.Since(then))
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
