package pixelsrc

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// Options are what a Server is made of.
type Options struct {
	// Dialect is how sources are read; the zero value draws everything the
	// format guide teaches.
	Dialect pxl.Dialect
	// AllowDirs are folders that every caller may read, absolute.
	AllowDirs []string
	// Roots say which folders may be read at all; nil: all but the system's.
	Roots *roots.Rules
}

// Server reads what its callers may read, and keeps what it drew for the screen. It
// is safe for concurrent use.
type Server struct {
	options Options
	recent  store
	encoder encoder
}

// New makes a server.
func New(o Options) *Server { return &Server{options: o} }

// Caller is who works with the server.
type Caller struct {
	Agent string // the connection's id
	Name  string // for people
	Root  string // the project folder, absolute; may be empty
	// Refused says why there is no Root although the caller brought a folder.
	Refused *roots.RefusedError
}

// Source is a text to work on, parsed.
type Source struct {
	*pxl.Document
	Text  string
	path  string // as given, "" for inline
	at    *place // nil for inline
	notes []note

	found   []Issue // what Issues found, once checked
	checked bool
}

// Parse reads a text, with what it imports and includes when the caller's project is
// a pixel project.
func (s *Server) Parse(ctx context.Context, who Caller, text string) *Source {
	src := &Source{Text: text}
	s.parse(ctx, src, s.inlinePlace(who))
	return src
}

// Open reads a .pxl or .jsonl file of the caller's, with what it imports and includes.
func (s *Server) Open(ctx context.Context, who Caller, path string) (*Source, error) {
	f, err := s.readSource(who, path)
	if err != nil {
		return nil, err
	}
	src := &Source{Text: string(f.data), path: path, at: &f.place}
	s.parse(ctx, src, src.at)
	return src, nil
}

// ReadText reads a .pxl or .jsonl file of the caller's as it stands.
func (s *Server) ReadText(who Caller, path string) (string, error) {
	f, err := s.readSource(who, path)
	return string(f.data), err
}

func (s *Server) readSource(who Caller, path string) (file, error) {
	f, err := s.read(who, path, pxl.MaxSource, sourceExtensions()...)
	if err != nil {
		return file{}, Failf("Failed to read file '%s': %v.", path, err)
	}
	return f, nil
}

// ReadPicture reads a .png file of the caller's; name is the file's, without its
// extension.
func (s *Server) ReadPicture(who Caller, given string) (data []byte, name string, err error) {
	f, err := s.read(who, given, MaxImageBytes, ".png")
	if err != nil {
		return nil, "", Failf("File not found: %s: %v.", given, err)
	}
	return f.data, strings.TrimSuffix(path.Base(f.rel), path.Ext(f.rel)), nil
}

// read reads a file that a caller names, as [folders.read] does.
func (s *Server) read(who Caller, given string, limit int, extensions ...string) (file, error) {
	f, err := s.rootsOf(who).read(given, limit, extensions...)
	if errors.Is(err, errHidden) && who.Refused != nil {
		err = errors.New(who.noProject())
	}
	return f, err
}

// noProject says why a caller has only the directories that are open to all.
func (c Caller) noProject() string {
	return c.Refused.NoProject() + ", or have the user add one with mcpdeck --allow-dir DIR"
}

// parse reads the text; what it refers to lies beside from, nil for nowhere.
func (s *Server) parse(ctx context.Context, src *Source, from *place) {
	src.Document, src.notes = parse(pxl.Options{Dialect: s.options.Dialect, Context: ctx}, src.Text, from, false)
}

// inlinePlace is the folder that an inline source's references start from: the
// project folder when it is a pixel project, else none.
func (s *Server) inlinePlace(who Caller) *place {
	list := s.rootsOf(who)
	if len(list) == 0 {
		return nil
	}
	p := place{list[0], "inline.pxl"}
	if _, _, ok := p.project(); !ok {
		return nil
	}
	return &p
}
