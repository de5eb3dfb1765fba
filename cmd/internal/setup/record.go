package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/file"
)

// record is what Undo needs. It lies in the state folder: beside a project's
// file, a repository could have planted something in its place.
type record struct {
	Path    string   `json:"path"`
	Missing bool     `json:"missing"` // there was no file
	Before  []byte   `json:"before"`
	After   string   `json:"after"`   // SHA-256 of what was written
	Folders []string `json:"folders"` // that were made, outermost first
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func recordFile(state, path string) string {
	return filepath.Join(state, "setup", sum([]byte(path))[:24]+".json")
}

// loadRecord returns nil if nothing is recorded for the file.
func loadRecord(state, path string) (*record, error) {
	b, err := file.Read(recordFile(state, path), 2*sizeLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the record of the last setup: %w", err)
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("read the record of the last setup: %w", err)
	}
	return &r, nil
}

func (r record) save(state string) error {
	path := recordFile(state, r.Path)
	b, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err == nil {
		err = file.Private(filepath.Dir(path))
	}
	if err == nil {
		err = file.Write(path, b, file.Options{})
	}
	if err != nil {
		return fmt.Errorf("record the change for --undo: %w", err)
	}
	return nil
}
