package logicstamp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
)

// hashesOf are the source hashes that a context names for each of its
// components; "" where its bundles disagree, as in one that was read while it
// was written.
func hashesOf(c *contract.Context) map[string]string {
	out := map[string]string{}
	for _, f := range c.Folders {
		for _, b := range f.Bundles {
			for _, n := range b.Nodes {
				if was, seen := out[n.ID]; seen && was != n.Contract.FileHash {
					out[n.ID] = ""
					continue
				}
				out[n.ID] = n.Contract.FileHash
			}
		}
	}
	return out
}

// writtenAt is when a context was finished, as its index and its file say.
func writtenAt(c *contract.Context) time.Time {
	written := c.CreatedAt
	if info, err := os.Stat(filepath.Join(c.Dir, contract.IndexFile)); err == nil && info.ModTime().After(written) {
		written = info.ModTime()
	}
	return written
}

// analysed is the list of sources a context was made from. before and after are
// the sources around the analysis; before is nil for one that somebody else
// made. A file that nobody touched between the two was read as it is, and of
// one that the context shows its own hash tells the text. Of every other file
// the text is not known, which the list says; doubt names those.
func analysed(c *contract.Context, before, after *manifest.Manifest) (list *manifest.Manifest, doubt []string) {
	shown, written := hashesOf(c), writtenAt(c)
	list = &manifest.Manifest{Style: after.Style, Configs: after.Configs}
	unsure := func(f manifest.File) manifest.File {
		doubt = append(doubt, f.Path)
		f.SHA256 = ""
		return f
	}
	for _, f := range after.Files {
		hash, visible := shown[f.Path]
		delete(shown, f.Path)
		was, known := before.Find(f.Path)
		switch {
		case known && untouched(was, f), visible && f.FileHash != "" && hash == f.FileHash:
		case visible:
			f.FileHash, f.Outline = hash, nil
			f = unsure(f)
		case before == nil && time.Unix(0, f.ModTime).After(written):
			continue // not there yet, as far as can be told
		default:
			f = unsure(f)
		}
		list.Files = append(list.Files, f)
	}
	for p, hash := range shown {
		list.Files = append(list.Files, unsure(manifest.File{Path: p, FileHash: hash}))
	}
	if before != nil {
		for _, f := range before.Files {
			_, visible := shown[f.Path]
			if _, still := after.Find(f.Path); !still && !visible {
				list.Files = append(list.Files, unsure(f))
			}
		}
	}
	for _, f := range after.Inputs {
		i := -1
		if before != nil {
			i = slices.IndexFunc(before.Inputs, func(b manifest.File) bool { return b.Path == f.Path })
		}
		same := i >= 0 && untouched(before.Inputs[i], f) || before == nil && !time.Unix(0, f.ModTime).After(written)
		if !same {
			f = unsure(f)
		}
		list.Inputs = append(list.Inputs, f)
	}
	byPath := func(a, b manifest.File) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(list.Files, byPath)
	slices.Sort(doubt)
	return list, doubt
}

func untouched(was, now manifest.File) bool {
	return was.SameFile(now) && was.SHA256 == now.SHA256
}
