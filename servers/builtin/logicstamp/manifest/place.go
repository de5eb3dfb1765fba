package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// maxSource is more than anybody writes.
const maxSource = 1 << 30

// place is a file below an open folder, which nothing leads out of.
type place struct {
	root *os.Root
	rel  string
}

func (p place) read() ([]byte, error) {
	return file.Inside(p.root, filepath.FromSlash(p.rel), maxSource)
}

// places are the folders that the files of a project may lie in.
type places struct {
	project *os.Root
	dirs    []string // without links, the project first
	open    []*os.Root
}

func openPlaces(project string, allowed []string) (*places, error) {
	full, err := filepath.EvalSymlinks(project)
	if err != nil {
		return nil, err
	}
	root, err := file.Root(full)
	if err != nil {
		return nil, err
	}
	dirs := slices.Concat([]string{full}, allowed)
	p := &places{project: root, dirs: dirs, open: make([]*os.Root, len(dirs))}
	p.open[0] = root
	return p, nil
}

func (p *places) close() {
	for _, root := range p.open {
		if root != nil {
			root.Close()
		}
	}
}

// resolve is the path without links that a slash path below the project stands
// for, and what lies there.
func (p *places) resolve(rel string) (target string, info fs.FileInfo, err error) {
	target, err = filepath.EvalSymlinks(filepath.Join(p.dirs[0], filepath.FromSlash(rel)))
	if err != nil {
		return "", nil, err
	}
	info, err = os.Lstat(target)
	return target, info, err
}

// find tells in which of the folders a path without links lies; false for none.
func (p *places) find(target string) (place, bool) {
	for i, dir := range p.dirs {
		rel, err := filepath.Rel(dir, target)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if p.open[i] == nil {
			if p.open[i], err = file.Root(dir); err != nil {
				continue
			}
		}
		return place{p.open[i], rel}, true
	}
	return place{}, false
}
