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

	"github.com/mcpdeck/mcpdeck/servers/file"
)

// Held is a tool that is new, or whose definition changed since the user last
// saw it. It is not offered until accepted.
type Held struct {
	Kind     Kind
	Tool     string // original name; "" for the instructions of the server
	New      bool   // it was not among the tools that were accepted
	Was, Now int    // bytes of the definition
	Diff     []DiffLine

	now string // the definition that was compared, which is what gets accepted
}

// Name is what the user calls it.
func (h *Held) Name() string {
	if h.Tool == "" {
		return "the instructions"
	}
	return h.Kind.named(h.Tool)
}

// Digest is the same for the same definition.
func (h *Held) Digest() string {
	sum := sha256.Sum256([]byte(h.now))
	return hex.EncodeToString(sum[:])
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

// Pins remembers the definitions of tools: a description is text that an
// agent obeys, so one that changes or comes behind the user's back is not passed
// on. The first list of tools is taken as a whole.
type Pins struct {
	Path  string // "" keeps them in memory
	Title string // of the server, in notes and errors
	Exact bool   // keep definitions as they are written, to be offered without the server
	Hold  Hold

	mu   sync.Mutex
	file pinFile
	read bool
}

// Hold says which definitions wait for the user to accept them.
type Hold string

// The words. What is not held is accepted as it comes.
const (
	HoldAll     Hold = "all" // the new and the changed ones; "" is the same
	HoldChanges Hold = "changes"
	HoldNothing Hold = "off"
)

type pinFile struct {
	Program programPin        `json:"program"`
	Version string            `json:"version,omitempty"` // of the server
	Era     eraPin            `json:"era,omitzero"`      // that it speaks; only of Exact ones
	Guide   *string           `json:"guide,omitempty"`   // its instructions; nil: none seen yet
	Tools   map[string]string `json:"tools"`             // original name → definition, canonical unless Exact

	// Of a server that is asked for more than tools; nil: it has not been.
	Prompts      map[string]string `json:"prompts,omitzero"`
	Templates    map[string]string `json:"templates,omitzero"`
	Server       string            `json:"server,omitempty"` // as the server introduces itself
	Capabilities string            `json:"capabilities,omitempty"`
}

// of are the pinned definitions of a kind.
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
	Time   int64  `json:"time"` // of its last change, Unix nanoseconds
	SHA256 string `json:"sha256"`
}

// Listing is what a server says of itself.
type Listing struct {
	Tools        []Tool // as Read returns them
	Notes        []Note
	Instructions string
	Version      string
	Program      string // path of its program file

	// What it lists beside tools; nil: it was not asked.
	Prompts, Templates   []Definition
	Server, Capabilities json.RawMessage // as it says them; nil: it does not
}

// Empty tells whether nothing is listed.
func (l *Listing) Empty() bool { return len(l.Tools)+len(l.Prompts)+len(l.Templates) == 0 }

// Same tells whether two are one, and not only equal.
func (l *Listing) Same(o Listing) bool {
	switch {
	case len(l.Tools) > 0 && len(o.Tools) > 0:
		return &l.Tools[0] == &o.Tools[0]
	case len(l.Prompts) > 0 && len(o.Prompts) > 0:
		return &l.Prompts[0] == &o.Prompts[0]
	case len(l.Templates) > 0 && len(o.Templates) > 0:
		return &l.Templates[0] == &o.Templates[0]
	}
	return l.Empty() && o.Empty()
}

// listed is a definition of any kind.
type listed struct {
	name string
	raw  json.RawMessage
}

// of are the definitions of a kind; ok is false for one that the server was not asked for.
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

// Verdict is what may be offered of a listing.
type Verdict struct {
	Held         []Held
	Instructions string // as they were accepted
	Updated      bool   // the program file is another one than the accepted definitions came from
	Was          string // the version they came from; may be empty
	Gone         []Note // tools that were accepted and are no longer listed
}

// Check compares a listing with what is pinned, and pins all of the first one.
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

// checkKind compares the definitions of a kind with what is pinned. It reports whether
// they were pinned, as those that are seen for the first time.
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

// kept is a definition as it is pinned.
func (p *Pins) kept(raw []byte) string {
	if p.Exact && json.Valid(raw) {
		return string(oneLine(raw))
	}
	return Canonical(raw)
}

// oneLine is JSON that fits a line; other bytes stay.
func oneLine(raw []byte) json.RawMessage {
	var line bytes.Buffer
	if bytes.ContainsAny(raw, "\r\n") && json.Compact(&line, raw) == nil {
		return line.Bytes()
	}
	return raw
}

// Recall is the listing that was accepted, without tools when there is none.
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

// recalled are pinned definitions by their names.
func recalled(pins map[string]string) (list []json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		raw := json.RawMessage(pins[name])
		if !json.Valid(raw) {
			raw = json.RawMessage("null") // which is no definition
		}
		list = append(list, raw)
	}
	return list
}

// gone are the accepted definitions of a kind that are not among those listed.
func (p *Pins) gone(k Kind, all []listed) (notes []Note) {
	for _, name := range slices.Sorted(maps.Keys(*p.file.of(k))) {
		if !slices.ContainsFunc(all, func(d listed) bool { return d.name == name }) {
			notes = append(notes, Note{Tool: k.named(name), Reason: "no longer listed by " + p.Title + "'s server"})
		}
	}
	return notes
}

// Accept pins definitions as they were shown, whatever the server lists since.
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

// Accepted tells whether definitions are pinned as they were shown.
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

// Forget drops definitions that are no longer listed: one that comes back is new.
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

// save writes the file in one step.
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

// pinProgram identifies the program file. It is hashed only when its size or
// time differs from what is remembered.
func (p *Pins) pinProgram(program string) (programPin, error) {
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

// Canonical is JSON with sorted keys and without white space; numbers stay as
// they are written.
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
