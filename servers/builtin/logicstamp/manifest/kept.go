package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/outline"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// The files that a manifest is kept in, beside a context.
const (
	listFile    = "sources.json"
	outlineFile = "outlines.json"
	maxKept     = 1 << 30
)

// outlines are what sources declare, by path, and where their imports lead.
type outlines struct {
	Version int                         `json:"version"`
	Files   map[string]*outline.Outline `json:"files"`
	Configs []Config                    `json:"configs,omitempty"`
}

// Save keeps the manifest in a folder, in files of this mode.
func (m *Manifest) Save(dir string, mode os.FileMode) error {
	beside := outlines{outline.Version, map[string]*outline.Outline{}, m.Configs}
	for _, f := range m.Files {
		if f.Outline != nil {
			beside.Files[f.Path] = f.Outline
		}
	}
	for name, v := range map[string]any{listFile: m, outlineFile: beside} {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, mode)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// Load reads a manifest that was kept in a folder. Without what the sources
// declare it says less, and is no worse for it; what another version read of
// them is left out: it could differ though the source does not.
func Load(dir string) (*Manifest, error) {
	data, err := file.Read(filepath.Join(dir, listFile), maxKept)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, err
	}
	var beside outlines
	data, err = file.Read(filepath.Join(dir, outlineFile), maxKept)
	if err != nil || json.Unmarshal(data, &beside) != nil || beside.Version != outline.Version {
		return m, nil //nolint:nilerr // see above
	}
	m.Configs = beside.Configs
	for i := range m.Files {
		m.Files[i].Outline = beside.Files[m.Files[i].Path]
	}
	return m, nil
}
