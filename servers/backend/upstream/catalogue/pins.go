package catalogue

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

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Held is a tool that is new, or whose definition has changed since the user accepted it.
// It is not offered until the user accepts it.
type Held struct {
	Kind     Kind
	Tool     string // original name; "" for the instructions of the server
	New      bool   // it was never accepted
	Was, Now int    // bytes of the definition
	Diff     []snapshot.DiffLine

	now string // the definition that was compared and will be accepted
}

// Name is its name for the user.
func (h *Held) Name() string {
	if h.Tool == "" {
		return "the instructions"
	}
	return h.Kind.named(h.Tool)
}

// Digest identifies the definition.
func (h *Held) Digest() string {
	sum := sha256.Sum256([]byte(h.now))
	return hex.EncodeToString(sum[:])
}

// What says whether it is new or has changed.
func (h *Held) What() string {
	if h.New {
		return "new, " + humanize.Bytes(h.Now)
	}
	return fmt.Sprintf("changed from %s to %s", humanize.Bytes(h.Was), humanize.Bytes(h.Now))
}

// reason says why it is not offered.
func (h *Held) reason() string {
	if h.New {
		return "hidden until you accept it: it is new"
	}
	return "hidden until you accept it: its definition changed"
}

// maxPins is the largest file that is read, in bytes.
const maxPins = 64 << 20

// Pins remembers the accepted definitions of tools. Agents obey descriptions, so a
// definition that is added or changed without the user's knowledge is not passed on. The
// first list of tools is accepted as a whole.
type Pins struct {
	Path  string // "" keeps them in memory
	Title string // of the server, in notes and errors
	Exact bool   // keep definitions byte for byte, to offer them while the server is not running
	Hold  Hold

	mu   sync.Mutex
	file pinFile
	read bool
}

// Hold says which definitions the user must accept.
type Hold string

// The values of Hold. What is not held is accepted at once.
const (
	HoldAll     Hold = "all" // new and changed ones; the default
	HoldChanges Hold = "changes"
	HoldNothing Hold = "off"
)

type pinFile struct {
	Program programPin        `json:"program"`
	Version string            `json:"version,omitempty"` // of the server
	Era     eraPin            `json:"era,omitzero"`      // that it speaks; only with Exact
	Guide   *string           `json:"guide,omitempty"`   // its instructions; nil: none seen yet
	Tools   map[string]string `json:"tools"`             // original name → definition, canonical unless Exact

	// Of a server that was asked for more than tools; nil if it was not.
	Prompts      map[string]string `json:"prompts,omitzero"`
	Templates    map[string]string `json:"templates,omitzero"`
	Server       string            `json:"server,omitempty"` // its serverInfo
	Capabilities string            `json:"capabilities,omitempty"`
}

// of returns the pinned definitions of a kind.
func (f *pinFile) of(k Kind) *map[string]string {
	switch k {
	case OfPrompt:
		return &f.Prompts
	case OfTemplate:
		return &f.Templates
	case OfTool:
	}
	return &f.Tools
}

// programPin identifies the program file that the definitions came from.
type programPin struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Time   int64  `json:"time"` // of its last change, in Unix nanoseconds
	SHA256 string `json:"sha256"`
}

// Listing is what a server says about itself.
type Listing struct {
	Tools        []Tool // as Read returns them
	Notes        []Note
	Instructions string
	Version      string
	Program      string // path of its program file

	// What it lists besides tools; nil: it was not asked.
	Prompts, Templates   []Definition
	Server, Capabilities json.RawMessage // unchanged; nil: it sent none
}

// Empty reports whether nothing is listed.
func (l *Listing) Empty() bool { return len(l.Tools)+len(l.Prompts)+len(l.Templates) == 0 }

// listed is a definition of any kind.
type listed struct {
	name string
	raw  json.RawMessage
}

// of returns the definitions of a kind; ok is false if the server was not asked for it.
func (l *Listing) of(k Kind) (all []listed, ok bool) {
	if k == OfTool {
		for _, t := range l.Tools {
			all = append(all, listed{t.Original, t.Raw})
		}
		return all, true
	}
	from := l.Prompts
	if k == OfTemplate {
		from = l.Templates
	}
	for _, d := range from {
		all = append(all, listed{d.Original, d.Given})
	}
	return all, from != nil
}

// Verdict says which parts of a listing may be offered.
type Verdict struct {
	Held         []Held
	Instructions string // as they were accepted
	Updated      bool   // the program file has changed since the definitions were accepted
	Was          string // the version that was accepted; may be empty
	Gone         []Note // accepted tools that are not listed any more
}

// Check compares a listing with the pins; the first listing is pinned as a whole.
func (p *Pins) Check(l Listing) (v Verdict, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return v, err
	}
	before := p.file
	first := len(p.file.Tools)+len(p.file.Prompts)+len(p.file.Templates) == 0
	changed := first
	for _, k := range []Kind{OfTool, OfPrompt, OfTemplate} {
		if all, ok := l.of(k); ok {
			changed = p.checkKind(&v, k, all, first) || changed
			v.Gone = append(v.Gone, p.gone(k, all)...)
		}
	}
	if p.file.Guide == nil || first || p.Hold == HoldNothing && *p.file.Guide != l.Instructions {
		p.file.Guide = &l.Instructions
	}
	if v.Instructions = *p.file.Guide; v.Instructions != l.Instructions {
		v.Held = append(v.Held, Held{Was: len(v.Instructions), Now: len(l.Instructions), Diff: diffText(v.Instructions, l.Instructions), now: l.Instructions})
	}
	v.Was = p.file.Version
	pin, err := p.pinProgram(l.Program)
	if err == nil {
		v.Updated = p.file.Program.SHA256 != "" && pin.SHA256 != p.file.Program.SHA256
	}
	if len(v.Held) == 0 {
		p.file.Version, p.file.Server, p.file.Capabilities = l.Version, string(l.Server), string(l.Capabilities)
		if err == nil {
			p.file.Program = pin
		}
	}
	if changed || before.Guide != p.file.Guide || before.Program != p.file.Program || before.Version != p.file.Version ||
		before.Server != p.file.Server || before.Capabilities != p.file.Capabilities {
		return v, p.save()
	}
	return v, nil
}

// checkKind compares the definitions of a kind with the pins. It reports whether they
// were pinned, which happens when the kind is seen for the first time.
func (p *Pins) checkKind(v *Verdict, k Kind, all []listed, first bool) (pinned bool) {
	pins := p.file.of(k)
	if *pins == nil {
		*pins, first = map[string]string{}, true
	}
	for _, d := range all {
		now, same := p.kept(d.raw), false
		old, known := (*pins)[d.name]
		if same = old == now; p.Exact && !same {
			same = Canonical([]byte(old)) == Canonical(d.raw)
		}
		switch {
		case first, p.Hold == HoldNothing && !same, p.Hold == HoldChanges && !known:
			pinned = pinned || old != now
			(*pins)[d.name] = now
		case !known:
			v.Held = append(v.Held, Held{Kind: k, Tool: d.name, New: true, Now: len(now), Diff: addedJSON(now), now: now})
		case !same:
			v.Held = append(v.Held, Held{Kind: k, Tool: d.name, Was: len(old), Now: len(now), Diff: diffJSON(Canonical([]byte(old)), Canonical(d.raw)), now: now})
		}
	}
	return pinned || first
}

// kept is the form in which a definition is pinned.
func (p *Pins) kept(raw []byte) string {
	if p.Exact && json.Valid(raw) {
		return string(rawjson.OneLine(raw))
	}
	return Canonical(raw)
}

// Recall returns the accepted listing, which has no tools if none was accepted.
func (p *Pins) Recall() (Listing, Verdict, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil || p.file.Guide == nil {
		return Listing{}, Verdict{}, err
	}
	l := Listing{Instructions: *p.file.Guide, Version: p.file.Version, Program: p.file.Program.Path}
	var more []Note
	l.Tools, l.Notes = Read(recalled(p.file.Tools))
	if p.file.Prompts != nil {
		l.Prompts, more = ReadPrompts(recalled(p.file.Prompts))
		l.Notes = append(l.Notes, more...)
	}
	if p.file.Templates != nil {
		l.Templates, more = ReadTemplates(recalled(p.file.Templates))
		l.Notes = append(l.Notes, more...)
	}
	for text, to := range map[string]*json.RawMessage{p.file.Server: &l.Server, p.file.Capabilities: &l.Capabilities} {
		if json.Valid([]byte(text)) {
			*to = json.RawMessage(text)
		}
	}
	return l, Verdict{Instructions: *p.file.Guide, Was: p.file.Version}, nil
}

// recalled returns pinned definitions by name.
func recalled(pins map[string]string) (list []json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		raw := json.RawMessage(pins[name])
		if !json.Valid(raw) {
			raw = json.RawMessage("null") // not a definition
		}
		list = append(list, raw)
	}
	return list
}

// gone returns notes on the accepted definitions of a kind that are not listed any more.
func (p *Pins) gone(k Kind, all []listed) (notes []Note) {
	for _, name := range slices.Sorted(maps.Keys(*p.file.of(k))) {
		if !slices.ContainsFunc(all, func(d listed) bool { return d.name == name }) {
			notes = append(notes, Note{Tool: k.named(name), Reason: "no longer listed by " + p.Title + "'s server"})
		}
	}
	return notes
}

// Accept pins definitions as they were shown, even if the server lists others since.
func (p *Pins) Accept(shown []Held) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return err
	}
	for _, h := range shown {
		if h.Tool == "" {
			p.file.Guide = &h.now
		} else {
			pins := p.file.of(h.Kind)
			if *pins == nil {
				*pins = map[string]string{}
			}
			(*pins)[h.Tool] = h.now
		}
	}
	return p.save()
}

// Accepted reports whether definitions are pinned as they were shown.
func (p *Pins) Accepted(shown []Held) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(shown, func(h Held) bool {
		if h.Tool == "" {
			return p.file.Guide == nil || *p.file.Guide != h.now
		}
		return (*p.file.of(h.Kind))[h.Tool] != h.now
	})
}

// Forget drops definitions that are not listed any more: one that comes back is new.
func (p *Pins) Forget(gone []Note) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range gone {
		for _, k := range []Kind{OfTool, OfPrompt, OfTemplate} {
			maps.DeleteFunc(*p.file.of(k), func(name, _ string) bool { return k.named(name) == n.Tool })
		}
	}
	return p.save()
}

func (p *Pins) load() error {
	if p.read {
		return nil
	}
	f := pinFile{Tools: map[string]string{}}
	if p.Path != "" {
		raw, err := file.Read(p.Path, maxPins)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read accepted definitions: %w", err)
		}
		if err == nil {
			if err := json.Unmarshal(raw, &f); err != nil {
				return fmt.Errorf("read accepted definitions: %s is damaged (delete it to accept what %s offers now): %w", p.Path, p.Title, err)
			}
		}
	}
	if f.Tools == nil {
		f.Tools = map[string]string{}
	}
	p.file, p.read = f, true
	return nil
}

// save replaces the file atomically.
func (p *Pins) save() error {
	if p.Path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(p.file, "", " ")
	if err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	if err := file.Folder(filepath.Dir(p.Path)); err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	if err := file.Write(p.Path, raw, file.Options{}); err != nil {
		return fmt.Errorf("write accepted definitions: %w", err)
	}
	return nil
}

// pinProgram identifies the program file, which is hashed only if its size or time
// differs from what is stored.
func (p *Pins) pinProgram(program string) (programPin, error) {
	info, err := os.Stat(program)
	if err != nil {
		return programPin{}, err
	}
	pin := programPin{Path: program, Size: info.Size(), Time: info.ModTime().UnixNano(), SHA256: p.file.Program.SHA256}
	if pin == p.file.Program {
		return pin, nil
	}
	f, err := file.OpenPlain(program, true)
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

// Canonical returns JSON with sorted keys and without white space; numbers are kept as
// written.
func Canonical(raw []byte) string {
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
