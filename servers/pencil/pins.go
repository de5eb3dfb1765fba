package pencil

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Held is a tool whose definition changed since a person last saw it. It is
// not offered until accepted.
type Held struct {
	Tool string // original name
	Diff []DiffLine
}

// heldReason is why a held tool is not offered.
const heldReason = "held: its definition changed; accept it to offer it"

// pins remembers the definitions of tools: a description is text that an
// agent obeys, so one that changes behind a person's back is not passed on.
// The first definition seen of a tool is taken.
type pins struct {
	path string // "" keeps them in memory

	mu   sync.Mutex
	file pinFile
	read bool
}

type pinFile struct {
	Program programPin        `json:"program"`
	Tools   map[string]string `json:"tools"` // original name → canonical definition
}

// programPin identifies the program file that the definitions came from.
type programPin struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Time   int64  `json:"time"` // of its last change, Unix nanoseconds
	SHA256 string `json:"sha256"`
}

// check compares definitions with those pinned, pins what is new, and returns
// what is held. updated tells that the program file itself is another one
// than the one the held definitions are compared with.
func (p *pins) check(defs []definition, program string) (held []Held, updated bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return nil, false, err
	}
	dirty := false
	for _, d := range defs {
		now := canonical(d.raw)
		old, known := p.file.Tools[d.Original]
		switch {
		case !known:
			p.file.Tools[d.Original] = now
			dirty = true
		case old != now:
			held = append(held, Held{Tool: d.Original, Diff: diffJSON(old, now)})
		}
	}
	pin, err := p.pinProgram(program)
	if err == nil && pin != p.file.Program {
		updated = p.file.Program.SHA256 != "" && pin.SHA256 != p.file.Program.SHA256
		if len(held) == 0 {
			p.file.Program = pin
			dirty = true
		}
	}
	if dirty {
		return held, updated, p.save()
	}
	return held, updated, nil
}

// accept pins the definitions as they are now, of the named tools or, without
// names, of all.
func (p *pins) accept(defs []definition, program string, names []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return err
	}
	for _, d := range defs {
		if len(names) == 0 || slices.Contains(names, d.Original) || slices.Contains(names, exposedName(d.Original)) {
			p.file.Tools[d.Original] = canonical(d.raw)
		}
	}
	if len(names) == 0 {
		if pin, err := p.pinProgram(program); err == nil {
			p.file.Program = pin
		}
	}
	return p.save()
}

func (p *pins) load() error {
	if p.read {
		return nil
	}
	f := pinFile{Tools: map[string]string{}}
	if p.path != "" {
		raw, err := os.ReadFile(p.path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read accepted definitions: %w", err)
		}
		if err == nil {
			if err := json.Unmarshal(raw, &f); err != nil {
				return fmt.Errorf("read accepted definitions: %s is damaged (delete it to accept what Pencil offers now): %w", p.path, err)
			}
		}
	}
	if f.Tools == nil {
		f.Tools = map[string]string{}
	}
	p.file, p.read = f, true
	return nil
}

// save writes the file in one step.
func (p *pins) save() error {
	if p.path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(p.file, "", " ")
	if err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(p.path), "pencil-tools-*")
	if err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	if err := os.Rename(f.Name(), p.path); err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	return nil
}

// pinProgram identifies the program file. It is hashed only when its size or
// time differs from what is remembered.
func (p *pins) pinProgram(program string) (programPin, error) {
	info, err := os.Stat(program)
	if err != nil {
		return programPin{}, err
	}
	pin := programPin{Path: program, Size: info.Size(), Time: info.ModTime().UnixNano(), SHA256: p.file.Program.SHA256}
	if pin == p.file.Program {
		return pin, nil
	}
	f, err := os.Open(program)
	if err != nil {
		return programPin{}, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return programPin{}, err
	}
	pin.SHA256 = hex.EncodeToString(h.Sum(nil))
	return pin, nil
}

// canonical is JSON with sorted keys and without white space; numbers stay as
// they are written.
func canonical(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return string(raw)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
