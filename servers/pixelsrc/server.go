package pixelsrc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/roots"
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
	// Timeout bounds one call, 10 s when 0.
	Timeout time.Duration
}

// Server is the pixel art server: what its tools, resources and prompts do,
// without the protocol. It is safe for concurrent use.
type Server struct {
	options Options
	recent  store
	encoder encoder
	tools   []Tool
}

// New makes a server.
func New(o Options) *Server {
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	return &Server{options: o, tools: tools()}
}

// Caller is who calls a tool.
type Caller struct {
	Agent string // the connection's id
	Name  string // for people
	Root  string // the project folder, absolute; may be empty
	// Refused says why there is no Root although the caller brought a folder.
	Refused *roots.RefusedError
}

// Tool is one tool: how it is offered and what it does.
type Tool struct {
	Name, Title, Description string
	Schema                   json.RawMessage
	arguments                []string // names that the schema declares
	// Work is how much a call takes while it runs.
	Work admission.Class
	run  func(*call) Answer
}

// Tools lists the tools by name.
func (s *Server) Tools() []Tool { return s.tools }

// call is one call of a tool.
type call struct {
	ctx    context.Context
	server *Server
	who    Caller
	args   *Args
}

// Call runs a tool. It always answers: what goes wrong is an Answer that says
// so. It gives up when ctx ends or the time limit passes: the engine looks for that
// in its inner loops, so nothing of the work is left when Call returns. The
// arguments are a map[string]any as encoding/json makes it, or nil.
func (s *Server) Call(ctx context.Context, who Caller, name string, arguments any) Answer {
	var tool *Tool
	for i := range s.tools {
		if s.tools[i].Name == name {
			tool = &s.tools[i]
		}
	}
	if tool == nil {
		return fail("Unknown tool '%s'.", name)
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	a := tool.answer(&call{ctx, s, who, newArgs(arguments, tool.arguments...)})
	switch {
	case ctx.Err() == nil:
		return a
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fail("%s timed out after %v: make the canvas smaller, or split the source.", name, s.options.Timeout)
	}
	return fail("%s was cancelled.", name)
}

// answer runs the tool with its arguments checked; a panic becomes an answer.
func (t *Tool) answer(c *call) (a Answer) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("panic recovered", "in", t.Name, "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			a = fail("%s failed with an internal error; the server goes on. Change the source a little and report the case.", t.Name)
		}
	}()
	if c.args.problem == "" {
		a = t.run(c)
	}
	if c.args.problem != "" {
		return fail("%s", c.args.problem)
	}
	if n := a.length(); n > maxAnswer {
		return fail("The answer would be %.1f MB of text; the limit is %d MB. Ask for less: name one object, or split the source.", float64(n)/(1<<20), maxAnswer>>20)
	}
	if note := c.args.ignored(); note != "" {
		a.Blocks = append(a.Blocks, Block{Text: note})
	}
	return a
}

// source is a text to work on, parsed.
type source struct {
	*pxl.Document
	text  string
	path  string // as given, "" for inline
	at    *place // nil for inline
	notes []note

	found   []issue // what issues found, once checked
	checked bool
}

// source reads the arguments source and path, or their variants for one side.
func (c *call) source(sourceArg, pathArg string) (*source, *Answer) {
	text, inline := c.args.Text(sourceArg)
	given, byPath := c.args.Text(pathArg)
	if c.args.problem != "" {
		a := fail("%s", c.args.problem)
		return nil, &a
	}
	src := &source{text: text}
	switch {
	case inline:
		if len(text) > maxSource {
			a := fail("%s is %d bytes; the limit is %d MiB. Split it into several files.", sourceArg, len(text), maxSource>>20)
			return nil, &a
		}
	case byPath:
		f, err := c.read(given, maxSource, sourceExtensions()...)
		if err != nil {
			a := fail("Failed to read file '%s': %v.", given, err)
			return nil, &a
		}
		src.text, src.path, src.at = string(f.data), given, &f.place
	default:
		a := fail("Either %s (the text) or %s (a .pxl file) is needed.", sourceArg, pathArg)
		return nil, &a
	}
	c.parse(src)
	return src, nil
}

// parse reads the text, with the palettes and sprites that it imports.
func (c *call) parse(src *source) {
	o := pxl.Options{Dialect: c.server.options.Dialect, Context: c.ctx}
	at := src.at
	if at == nil {
		at = c.inlinePlace()
	}
	if at != nil {
		o.Include = at.beside
	}
	o.Imported, src.notes = imported(src.text, at)
	src.Document = pxl.Parse([]byte(src.text), o)
}

// inlinePlace is the folder that an inline source's references start from: the
// project folder when it is a pixel project, else none.
func (c *call) inlinePlace() *place {
	list := c.server.rootsOf(c.who)
	if len(list) == 0 {
		return nil
	}
	p := place{list[0], "inline.pxl"}
	if _, _, ok := p.project(); !ok {
		return nil
	}
	return &p
}
