// Package contract keeps what real agents' programs wrote, by version, to their hooks, files and clients: tests
// hold the adapters to it, and new versions to what the adapters read.
package contract

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

//go:embed recorded
var files embed.FS

// Recording is what one version of a program wrote.
type Recording struct {
	Agent   string   `json:"agent"` // ID in the table of clients
	Version string   `json:"version"`
	Date    string   `json:"date"`
	Of      string   `json:"of"` // what it was recorded for: "prompts"
	Lines   [][]byte `json:"-"`
}

// Name returns the recording's name.
func (r *Recording) Name() string { return r.Agent + "-" + r.Version + "-" + r.Of }

// File returns the recording as [Read] reads it.
func (r *Recording) File() ([]byte, error) {
	head, err := json.Marshal(r)
	return append(append(head, '\n'), r.Text()...), err
}

// Text returns the lines as a file of the program has them.
func (r *Recording) Text() []byte { return append(bytes.Join(r.Lines, []byte("\n")), '\n') }

// Read reads a recording: a line of JSON about it, and its lines.
func Read(text []byte) (r Recording, err error) {
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(head, &r); err != nil {
		return r, fmt.Errorf("read a recording: %w", err)
	}
	r.Lines = bytes.Split(bytes.TrimSpace(rest), []byte("\n"))
	return r, nil
}

// All returns the recordings.
func All() (all []Recording, err error) {
	entries, err := files.ReadDir("recorded")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		r, err := Find(strings.TrimSuffix(e.Name(), ".jsonl"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Find returns the recording of a name such as "claude-2.1.330-prompts".
func Find(name string) (Recording, error) {
	text, err := files.ReadFile(path.Join("recorded", name+".jsonl"))
	if err != nil {
		return Recording{}, err
	}
	return Read(text)
}
