package pencil

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/file"
)

// Held is a tool that is new, or whose definition changed since a person last
// saw it. It is not offered until accepted.
type Held struct {
	Tool     string // original name; "" for the instructions of the server
	New      bool   // it was not among the tools that were accepted
	Was, Now int    // bytes of the definition
	Diff     []DiffLine

	now string // the definition that was compared, which is what gets accepted
}

// Name is how a person calls it.
func (h *Held) Name() string {
	if h.Tool == "" {
		return "the instructions"
	}
	return h.Tool
}

// What says why it is held.
func (h *Held) What() string {
	if h.New {
		return fmt.Sprintf("new, %d bytes", h.Now)
	}
	return fmt.Sprintf("changed, %+d bytes", h.Now-h.Was)
}

// reason is why it is not offered.
func (h *Held) reason() string {
	if h.New {
		return "held: it is new; accept it to offer it"
	}
	return "held: its definition changed; accept it to offer it"
}

// maxPins bounds what is read of the file.
const maxPins = 64 << 20

// pins remembers the definitions of tools: a description is text that an
// agent obeys, so one that changes or comes behind a person's back is not passed
// on. The first list of tools is taken as a whole.
type pins struct {
	path string // "" keeps them in memory

	mu   sync.Mutex
	file pinFile
	read bool
}

type pinFile struct {
	Program programPin        `json:"program"`
	Version string            `json:"version,omitempty"` // of the server
	Guide   *string           `json:"guide,omitempty"`   // its instructions; nil: none seen yet
	Tools   map[string]string `json:"tools"`             // original name → canonical definition
}

// programPin identifies the program file that the definitions came from.
type programPin struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Time   int64  `json:"time"` // of its last change, Unix nanoseconds
	SHA256 string `json:"sha256"`
}

// listing is what a child says of itself.
type listing struct {
	defs             []definition
	guide            string
	version, program string
}

// verdict is what may be offered of a listing.
type verdict struct {
	held    []Held
	guide   string // the instructions as they were accepted
	updated bool   // the program file is another one than the accepted definitions came from
	was     string // the version they came from; may be empty
	gone    []Note // tools that were accepted and are no longer listed
}

// check compares a listing with what is pinned, and pins all of the first one.
func (p *pins) check(l listing) (v verdict, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return v, err
	}
	before := p.file
	first := len(p.file.Tools) == 0
	for _, d := range l.defs {
		now := canonical(d.raw)
		old, known := p.file.Tools[d.Original]
		switch {
		case first:
			p.file.Tools[d.Original] = now
		case !known:
			v.held = append(v.held, Held{Tool: d.Original, New: true, Now: len(now), Diff: addedJSON(now), now: now})
		case old != now:
			v.held = append(v.held, Held{Tool: d.Original, Was: len(old), Now: len(now), Diff: diffJSON(old, now), now: now})
		}
	}
	if p.file.Guide == nil || first {
		p.file.Guide = &l.guide
	}
	if v.guide = *p.file.Guide; v.guide != l.guide {
		v.held = append(v.held, Held{Was: len(v.guide), Now: len(l.guide), Diff: diffText(v.guide, l.guide), now: l.guide})
	}
	v.was, v.gone = p.file.Version, p.gone(l.defs)
	pin, err := p.pinProgram(l.program)
	if err == nil {
		v.updated = p.file.Program.SHA256 != "" && pin.SHA256 != p.file.Program.SHA256
	}
	if len(v.held) == 0 {
		p.file.Version = l.version
		if err == nil {
			p.file.Program = pin
		}
	}
	if first || before.Guide != p.file.Guide || before.Program != p.file.Program || before.Version != p.file.Version {
		return v, p.save()
	}
	return v, nil
}

// gone are the accepted tools that are not among defs.
func (p *pins) gone(defs []definition) (notes []Note) {
	for _, name := range slices.Sorted(maps.Keys(p.file.Tools)) {
		if !slices.ContainsFunc(defs, func(d definition) bool { return d.Original == name }) {
			notes = append(notes, Note{Tool: name, Reason: "no longer listed by Pencil's server"})
		}
	}
	return notes
}

// accept pins definitions as they were shown, whatever the child lists since.
func (p *pins) accept(shown []Held) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return err
	}
	for _, h := range shown {
		if h.Tool == "" {
			p.file.Guide = &h.now
		} else {
			p.file.Tools[h.Tool] = h.now
		}
	}
	return p.save()
}

// accepted tells whether definitions are pinned as they were shown.
func (p *pins) accepted(shown []Held) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(shown, func(h Held) bool {
		if h.Tool == "" {
			return p.file.Guide == nil || *p.file.Guide != h.now
		}
		return p.file.Tools[h.Tool] != h.now
	})
}

// forget drops tools that are no longer listed: one that comes back is new.
func (p *pins) forget(gone []Note) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range gone {
		delete(p.file.Tools, n.Tool)
	}
	return p.save()
}

func (p *pins) load() error {
	if p.read {
		return nil
	}
	f := pinFile{Tools: map[string]string{}}
	if p.path != "" {
		raw, err := file.Read(p.path, maxPins)
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
	if err := file.Folder(filepath.Dir(p.path)); err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	if err := file.Write(p.path, raw, file.Options{}); err != nil {
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
