// Package granted lists what agents have been allowed in their own files, and takes entries out of these.
package granted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	reading "github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Scope is whom a file of an agent is for.
type Scope string

// The scopes.
const (
	Managed Scope = "managed" // by the administrator of the machine
	User    Scope = "user"
	Project Scope = "project" // in the repository
	Local   Scope = "local"   // beside it, the user's own
)

// Verdict is what an entry says.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// The marks of entries that allow.
const (
	RunsAnything = "runs anything"
	WritesFiles  = "writes files"
	Unsandboxed  = "outside the sandbox"
	BeatsDeny    = "beats your deny"
	Repository   = "from the repository"
	Shadowed     = "shadowed by a deny"
	Untrusted    = "folder not trusted"
)

// Call is a use of a tool that entries are tried on.
type Call struct {
	Tool  string
	Words []string // of the command, or the path; nil if there is none
}

// The tools that all agents have.
const (
	Command = "command"
	Edit    = "edit"
)

// Text is the command as the agent compares it.
func (c Call) Text() string { return strings.Join(c.Words, " ") }

// Entry is one entry of a file.
type Entry struct {
	Agent   string   `json:"agent"`
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Scope   Scope    `json:"scope"`
	Verdict Verdict  `json:"verdict"`
	Text    string   `json:"text"` // as written
	Says    string   `json:"says"` // what it is for, in words
	Marks   []string `json:"marks"`
	// Fixed is why it cannot be revoked here; "" if it can.
	Fixed string `json:"fixed,omitempty"`

	// Covers reports whether the agent applies it to a call; nil: to none of a tool.
	Covers func(Call) bool `json:"-"`
	// Like is a call that it is written for.
	Like Call `json:"-"`
	// Cuts are the parts of the file that go with it, in order.
	Cuts []Span `json:"-"`

	source Source
	text   []byte // of the file
}

// Span is a part of a text.
type Span struct{ Start, End int }

// Skipped is a file that was not read.
type Skipped struct {
	Agent string `json:"agent"`
	File  string `json:"file"`
	Why   string `json:"why"`
}

// List is what was found.
type List struct {
	Entries []Entry   `json:"entries"`
	Skipped []Skipped `json:"skipped"`
}

// Where is where to look.
type Where struct {
	Folders  clients.Folders
	Projects []string // roots of them
	System   string   // folder in which the administrator's are; "" for the root
}

// At is where the files of the user and of the projects are in which folders lie.
func At(f clients.Folders, folders []string) Where {
	in := Where{Folders: f}
	for _, dir := range folders {
		root := filepath.FromSlash(reading.At(dir, dir, f.Home).Root)
		if root != f.Home && !slices.Contains(in.Projects, root) {
			in.Projects = append(in.Projects, root)
		}
	}
	return in
}

// Source is one file of an agent, which need not be there.
type Source struct {
	Root, Name string // no link may lead out of Root
	Scope      Scope
	Parse      func(text []byte) ([]Entry, error)
}

// Path is the file's.
func (s Source) Path() string { return filepath.Join(s.Root, filepath.FromSlash(s.Name)) }

// Model is how an agent keeps what it was allowed.
type Model struct {
	Sources func(Where) []Source
	// LastWins is set if a later entry beats an earlier one. Otherwise a deny beats all.
	LastWins bool
	// Refine marks what only the agent's own entries say; nil: nothing.
	Refine func([]Entry)
	// Exact is how one command is allowed, letter for letter; nil: that is not known.
	Exact *Exact
}

// Exact is where and how an agent's program keeps that one command is allowed.
type Exact struct {
	File string   // below the project, with slashes: the user's own
	List []string // keys that lead to the list of entries
	// Entry returns that of a tool's command, "" if it cannot be of that text alone.
	Entry func(tool, command string) string
}

// longest is the size from which on a file is not read.
const longest = 1 << 20

// Read lists the entries of an agent.
func (m *Model) Read(agent string, in Where) (l List) {
	for _, s := range m.Sources(in) {
		found, err := s.read(agent)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			l.Skipped = append(l.Skipped, Skipped{agent, s.Path(), err.Error()})
		}
		l.Entries = append(l.Entries, found...)
	}
	m.mark(l.Entries)
	return l
}

func (s Source) read(agent string) ([]Entry, error) {
	text, err := s.bytes()
	if err != nil {
		return nil, err
	}
	all, err := s.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("cannot be understood: %w", err)
	}
	for i := range all {
		e := &all[i]
		e.Agent, e.File, e.Scope, e.source, e.text = agent, s.Path(), s.Scope, s, text
		if len(e.Cuts) > 0 {
			e.Line = 1 + bytes.Count(text[:e.Cuts[0].Start], []byte("\n"))
		}
		if s.Scope == Managed {
			e.Fixed = "the administrator of this machine manages it"
		}
	}
	return all, nil
}

// bytes is the file's text. The errors say why it is not read.
func (s Source) bytes() ([]byte, error) {
	root, err := file.Root(s.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Stat(filepath.FromSlash(s.Name)); err != nil {
		if _, there := root.Lstat(filepath.FromSlash(s.Name)); there == nil || !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("a link leads out of its folder, or nowhere")
		}
		return nil, err
	}
	f, err := file.OpenInside(root, filepath.FromSlash(s.Name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Size() >= longest:
		return nil, errors.New("too large: " + humanize.Bytes(longest) + " or more")
	case !file.OwnedByUser(info) && (s.Scope != Managed || !file.OwnedBySystem(info)):
		return nil, errors.New("belongs to another user")
	}
	text, err := io.ReadAll(io.LimitReader(f, longest))
	if err == nil && len(text) == longest {
		err = errors.New("too large: " + humanize.Bytes(longest) + " or more")
	}
	return text, err
}

// In returns the folder that no link may lead out of, and the name of the file below it.
func (e *Entry) In() (root, name string) { return e.source.Root, filepath.FromSlash(e.source.Name) }

func (e *Entry) covers(c Call) bool { return e.Covers != nil && e.Covers(c) }

// Mark adds a mark that it does not have.
func (e *Entry) Mark(text string) {
	if !slices.Contains(e.Marks, text) {
		e.Marks = append(e.Marks, text)
	}
}

// mark marks the entries that allow.
func (m *Model) mark(all []Entry) {
	for i := range all {
		e := &all[i]
		if e.Marks == nil {
			e.Marks = []string{}
		}
		if e.Verdict != Allow {
			continue
		}
		for _, s := range samples() {
			if e.covers(s.Call) {
				e.Mark(s.mark)
			}
		}
		if e.writes() {
			e.Mark(WritesFiles)
		}
		for j := range all {
			d := &all[j]
			if d.Verdict != Deny || e.Like.Tool == "" {
				continue
			}
			last := !m.LastWins || j > i
			switch {
			case last && d.covers(e.Like):
				e.Mark(Shadowed)
			case !last && e.Scope == Project && d.Scope == User && (d.covers(e.Like) || e.covers(d.Like)):
				e.Mark(BeatsDeny)
			}
		}
		if e.Scope == Project {
			e.Mark(Repository)
		}
	}
	if m.Refine != nil {
		m.Refine(all)
	}
}

// writes reports whether the command that an entry is written for writes by itself.
func (e *Entry) writes() bool {
	if e.Like.Tool != Command || len(e.Like.Words) == 0 {
		return e.Like.Tool == Edit
	}
	r := reading.Read(e.Like.Text(), reading.Place{Cwd: "/p", Root: "/p", Home: "/h", Shell: "bash"})
	return slices.ContainsFunc(r.Effects(), func(x reading.Effect) bool {
		return x == reading.WriteIn || x == reading.WriteOut || x == reading.Delete || x == reading.Guard
	})
}

// Wild reports whether a pattern in which * stands for anything, and nothing else has a meaning, is a text's.
func Wild(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
