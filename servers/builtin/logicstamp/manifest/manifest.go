// Package manifest lists a project's source files with their hashes, so that two
// states of a project can be told apart without analysing it.
package manifest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/outline"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// File is one file of a project at one moment.
type File struct {
	// Path is relative to the project, with slashes.
	Path string `json:"path"`
	// Size is in bytes, ModTime in nanoseconds since 1970.
	Size    int64 `json:"size"`
	ModTime int64 `json:"mtime"`
	// SHA256 is "" where it is not known which text an analysis read: such a
	// file differs from every other state of it, its own included.
	SHA256 string `json:"sha256"`
	// FileHash is the CLI's own hash of a source text ("uif:" and 24 hex
	// digits); style sheets and inputs have none.
	FileHash string `json:"fileHash,omitempty"`
	// Header is its first contract comment; it is not kept.
	Header string `json:"-"`
	// Outline is what the source declares; nil where it is not known. It is kept
	// beside the list, not in it.
	Outline *outline.Outline `json:"-"`
	// version is that of the file whose hash this is.
	version file.Version
	// settled tells that no later text can have the same version.
	settled bool
	// at is where the text lies, which for a link is where it leads.
	at place
}

// Link is a link whose target lies outside the project.
type Link struct{ Path, Target string }

// Manifest is the set of files an analysis depends on.
type Manifest struct {
	// Files are the sources, sorted by path.
	Files []File `json:"files"`
	// Inputs are other files that change what the analysis says.
	Inputs []File `json:"inputs"`
	Style  bool   `json:"style"`
	// Outside are the links that the CLI would follow to where nobody allowed it
	// to read, sorted by path. They are in none of the lists.
	Outside []Link `json:"-"`
	// LeftOut are the links to folders outside from which no source imports anything,
	// so that the CLI does not read there.
	LeftOut []Link `json:"-"`
	// Special are the paths at which the CLI would open what is no file (a FIFO would
	// make it wait without end), sorted. They are in none of the lists.
	Special []string `json:"-"`
	// Configs say where imports lead that are not relative, sorted by folder.
	// They are kept with the outlines.
	Configs []Config `json:"-"`
}

// Options say which files count and what is already known.
type Options struct {
	// Style takes style sheets in.
	Style bool
	// Known is an earlier manifest: files that nobody has written since are not
	// hashed again.
	Known *Manifest
	// Now gives the time; nil: time.Now.
	Now func() time.Time
	// Allowed are the folders outside the project that links may lead to, every
	// path without links.
	Allowed []string
}

// SecurityReport is the file that tells the command what to mask in texts.
const SecurityReport = "stamp_security_report.json"

func inputNames() []string {
	return append([]string{ignoreFile, SecurityReport, "package.json"}, locks()...)
}

// The CLI's own folder in a project, and what it keeps there, which says nothing of the
// sources.
const (
	ownFolder = ".logicstamp"
	ownConfig = ownFolder + "/config.json"
)

// locks are the inputs that the CLI itself does not read.
func locks() []string {
	return []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"}
}

// IsSource reports whether the CLI analyses a file of this slash path (or, with
// style, reads it beside one).
func IsSource(rel string, style bool) bool {
	for dir := path.Dir(rel); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if SkipFolder(path.Base(dir)) {
			return false
		}
	}
	return sourceName(path.Base(rel), style)
}

// sourceName reports whether a file of this name can be a source.
func sourceName(name string, style bool) bool {
	if strings.HasPrefix(name, ".") {
		return false
	}
	ext := path.Ext(name)
	switch ext {
	case ".ts", ".tsx":
		stem := strings.TrimSuffix(name, ext)
		return !strings.HasSuffix(stem, ".test") && !strings.HasSuffix(stem, ".spec")
	case ".css", ".scss":
		return style
	}
	return false
}

// SkipFolder reports whether folders of this name hold no sources.
func SkipFolder(name string) bool {
	switch name {
	case "node_modules", "dist", "build", ".next", "coverage":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// Take lists the project at root. It fails only when the root cannot be read or
// the context ends; files that vanish while it runs are left out. What a link
// puts in a file's place meanwhile is not read where it lies outside.
func Take(ctx context.Context, root string, opts Options) (*Manifest, error) {
	p, err := openPlaces(root, opts.Allowed)
	if err != nil {
		return nil, fmt.Errorf("list the sources of %s: %w", root, err)
	}
	defer p.close()
	rules := readIgnore(p)
	m := &Manifest{Style: opts.Style}
	var configs []string
	var texts []place
	var folders []Link
	err = fs.WalkDir(file.FS(p.project), ".", func(rel string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && isText(rel) {
			texts = append(texts, place{p.project, rel})
		}
		switch link := d != nil && d.Type()&fs.ModeSymlink != 0; {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && rel == ".":
			return err
		case err != nil || rel == ".":
			return nil
		case d.IsDir() && SkipFolder(d.Name()):
			return filepath.SkipDir
		case d.Type().IsRegular() && isConfig(d.Name()):
			configs = append(configs, rel)
		case d.IsDir() || rules.match(rel):
			return nil
		case link:
			folders = append(folders, m.link(p, rel, d.Name(), rules)...)
		case !sourceName(d.Name(), opts.Style):
		case !d.Type().IsRegular():
			m.Special = append(m.Special, rel)
		default:
			if info, err := d.Info(); err == nil {
				m.Files = append(m.Files, newFile(rel, info, place{p.project, rel}))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the sources of %s: %w", root, err)
	}
	m.leaveOut(ctx, folders, texts)
	m.takeInputs(p)
	m.Configs = readConfigs(p, configs)
	sortFiles(m.Files)
	sortFiles(m.Inputs)
	slices.SortFunc(m.Outside, func(a, b Link) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(m.Special)
	now := time.Now
	if opts.Now != nil {
		now = opts.Now
	}
	if err := hashAll(ctx, m, opts.Known, now()); err != nil {
		return nil, err
	}
	return m, nil
}

func newFile(rel string, info fs.FileInfo, at place) File {
	return File{Path: rel, Size: info.Size(), ModTime: info.ModTime().UnixNano(), version: file.VersionOf(info), at: at}
}

// link takes a link in: to a file, where that may be read; else as one that leads
// outside, if the CLI would follow it. Of folders the CLI lists none behind a
// link, but the TypeScript compiler reads there what a source imports: it returns one that
// lies outside.
func (m *Manifest) link(p *places, rel, name string, rules ignoreRules) (folder []Link) {
	target, info, err := p.resolve(rel)
	if err != nil || info.IsDir() && (SkipFolder(name) || rules.match(rel+"/any.ts")) || !info.IsDir() && !sourceName(name, m.Style) {
		return nil
	}
	at, ok := p.find(target)
	switch {
	case !ok && info.IsDir():
		return []Link{{Path: rel, Target: target}}
	case !ok:
		m.Outside = append(m.Outside, Link{Path: rel, Target: target})
	case info.Mode().IsRegular():
		m.Files = append(m.Files, newFile(rel, info, at))
	case !info.IsDir():
		m.Special = append(m.Special, rel)
	}
	return nil
}

// takeInputs lists the other files that matter. The CLI reads and writes below
// .logicstamp, too.
func (m *Manifest) takeInputs(p *places) {
	for _, name := range append(inputNames(), ownFolder, ownConfig) {
		target, info, err := p.resolve(name)
		if err != nil {
			continue
		}
		at, ok := p.find(target)
		switch {
		case !ok && !slices.Contains(locks(), name):
			m.Outside = append(m.Outside, Link{Path: name, Target: target})
		case name == ownConfig && info.Mode().IsRegular():
		case ok && info.Mode().IsRegular():
			m.Inputs = append(m.Inputs, newFile(name, info, at))
		case !info.IsDir() && !slices.Contains(locks(), name):
			m.Special = append(m.Special, name)
		}
	}
}

// SameFile reports whether nobody has written a file between two lists of one process.
func (f File) SameFile(as File) bool { return f.version == as.version }

func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// settle is how long ago a file must have been written for its version to be its own: two
// writes within one tick of the file system's clock have the same time.
const settle = time.Second

// hashAll fills the hashes, from known where the version is the same, and drops the
// files that can no longer be read.
func hashAll(ctx context.Context, m *Manifest, known *Manifest, now time.Time) error {
	have := known.byPath()
	var todo []*File
	for _, files := range [][]File{m.Files, m.Inputs} {
		for i := range files {
			f := &files[i]
			f.settled = f.version.Changed > 0 && f.version.Changed < now.Add(-settle).UnixNano()
			if old, ok := have[f.Path]; ok && old.settled && old.version == f.version && old.SHA256 != "" {
				f.SHA256, f.FileHash, f.Header, f.Outline = old.SHA256, old.FileHash, old.Header, old.Outline
				continue
			}
			todo = append(todo, f)
		}
	}
	work := make(chan *File)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4, max(len(todo), 1)) {
		wg.Go(func() {
			defer recovery.Recover("hash sources")
			for f := range work {
				f.hash()
			}
		})
	}
	for _, f := range todo {
		if ctx.Err() != nil {
			break
		}
		work <- f
	}
	close(work)
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, files := range [][]File{m.Files, m.Inputs} {
		for i := range files {
			files[i].at = place{}
		}
	}
	gone := func(f File) bool { return f.SHA256 == "" }
	m.Files = slices.DeleteFunc(m.Files, gone)
	m.Inputs = slices.DeleteFunc(m.Inputs, gone)
	return nil
}

func (f *File) hash() {
	data, err := f.at.read()
	if err != nil {
		return
	}
	sum := sha256.Sum256(data)
	f.SHA256 = hex.EncodeToString(sum[:])
	switch path.Ext(f.Path) {
	case ".ts", ".tsx":
		f.FileHash = FileHash(data)
		f.Header = Header(data)
		f.Outline = outline.Read(data)
	}
}

// FileHash is the CLI's hash of a source text: SHA-256 over the text without
// its first contract comment and with Unix line ends, 24 hex digits.
func FileHash(text []byte) string {
	sum := sha256.Sum256(bytes.ReplaceAll(stripHeader(asRead(text)), []byte("\r\n"), []byte("\n")))
	return "uif:" + hex.EncodeToString(sum[:])[:24]
}

// asRead is a text as the CLI reads one that is no UTF-8.
func asRead(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return []byte(string([]rune(string(text))))
}

// stripHeader removes the contract comment and the line ends after it.
func stripHeader(text []byte) []byte {
	start, end := header(text)
	if end == 0 {
		return text
	}
	return slices.Concat(text[:start], bytes.TrimLeft(text[end:], "\n"))
}

// Header is the contract comment of a source text, "" without one.
func Header(text []byte) string {
	text = asRead(text)
	start, end := header(text)
	return string(text[start:end])
}

// header is where the first "/** … @uif … */" comment stands; both are 0 where
// there is none.
func header(text []byte) (start, end int) {
	start = bytes.Index(text, []byte("/**"))
	if start < 0 {
		return 0, 0
	}
	tag := bytes.Index(text[start+3:], []byte("@uif"))
	if tag < 0 {
		return 0, 0
	}
	tag += start + 3
	end = bytes.Index(text[tag:], []byte("*/"))
	if end < 0 {
		return 0, 0
	}
	return start, tag + end + 2
}

func (m *Manifest) byPath() map[string]File {
	out := map[string]File{}
	if m == nil {
		return out
	}
	for _, files := range [][]File{m.Files, m.Inputs} {
		for _, f := range files {
			out[f.Path] = f
		}
	}
	return out
}

// Changes are the files in which two manifests differ, each list sorted.
type Changes struct {
	Changed, New, Deleted []string
}

// Empty reports whether nothing differs.
func (c Changes) Empty() bool { return len(c.Changed)+len(c.New)+len(c.Deleted) == 0 }

// All is every path in the changes, sorted.
func (c Changes) All() []string {
	all := slices.Concat(c.Changed, c.New, c.Deleted)
	slices.Sort(all)
	return all
}

// Since compares m with an earlier manifest: contents, not times. Inputs count
// as sources do. A file whose text is not known counts as changed.
func (m *Manifest) Since(old *Manifest) Changes {
	var c Changes
	before, after := old.byPath(), m.byPath()
	for p, f := range after {
		was, ok := before[p]
		switch {
		case !ok:
			c.New = append(c.New, p)
		case was.SHA256 != f.SHA256 || f.SHA256 == "":
			c.Changed = append(c.Changed, p)
		}
	}
	for p := range before {
		if _, ok := after[p]; !ok {
			c.Deleted = append(c.Deleted, p)
		}
	}
	slices.Sort(c.Changed)
	slices.Sort(c.New)
	slices.Sort(c.Deleted)
	return c
}

// Find gives the file at a path.
func (m *Manifest) Find(p string) (File, bool) {
	if m == nil {
		return File{}, false
	}
	i, ok := slices.BinarySearchFunc(m.Files, p, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok {
		return File{}, false
	}
	return m.Files[i], true
}

// Components are the paths of the analysed files, style sheets left out.
func (m *Manifest) Components() []string {
	var out []string
	for _, f := range m.Files {
		if f.FileHash != "" {
			out = append(out, f.Path)
		}
	}
	return out
}
