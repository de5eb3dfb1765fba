package contract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// IndexFile is the name of a context's index.
const IndexFile = "context_main.json"

// Limits of what is read.
const (
	maxIndex  = 16 << 20
	maxFolder = 64 << 20
	maxNodes  = 100_000
	maxDepth  = 200
)

const refreshHint = "call logicstamp_refresh_snapshot to make a new context"

// Options say what is known about a context before it is read.
type Options struct {
	// Project is the absolute path the context describes, "" when unknown.
	Project string
	// Side names the context in errors: "baseline", "current".
	Side string
	// Context ends the reading, with its error; nil: nothing does.
	Context context.Context //nolint:containedctx // that of one reading
}

func (o Options) stopped() error {
	if o.Context == nil {
		return nil
	}
	return o.Context.Err()
}

type indexJSON struct {
	Type                string `json:"type"`
	SchemaVersion       string `json:"schemaVersion"`
	ProjectRoot         string `json:"projectRoot"`
	ProjectRootResolved string `json:"projectRootResolved"`
	ProjectRootAbs      string `json:"projectRootAbs"`
	CreatedAt           string `json:"createdAt"`
	Summary             struct {
		TotalComponents    int            `json:"totalComponents"`
		TotalBundles       int            `json:"totalBundles"`
		TotalFolders       int            `json:"totalFolders"`
		TotalTokenEstimate int            `json:"totalTokenEstimate"`
		TokenEstimates     map[string]any `json:"tokenEstimates"`
	} `json:"summary"`
	Folders []struct {
		Path          string   `json:"path"`
		ContextFile   string   `json:"contextFile"`
		Bundles       int      `json:"bundles"`
		Components    []string `json:"components"`
		IsRoot        bool     `json:"isRoot"`
		RootLabel     string   `json:"rootLabel"`
		TokenEstimate *int     `json:"tokenEstimate"`
	} `json:"folders"`
	Meta struct {
		Source string `json:"source"`
	} `json:"meta"`
}

// Read reads the context in dir. Without an index it is CONTEXT_MISSING; a
// folder file that the index promises and that cannot be read is
// CONTEXT_INCOMPLETE, never an empty folder.
func Read(dir string, opts Options) (*Context, error) {
	return ReadFrom(dir, opts, func(name string, limit int64) ([]byte, error) {
		return readInside(dir, name, limit)
	})
}

// ReadCopy is Read with the bytes of every file that was read, so that they can
// be kept although another program may write the files meanwhile.
func ReadCopy(dir string, opts Options) (*Context, map[string][]byte, error) {
	var mu sync.Mutex
	files := map[string][]byte{}
	c, err := ReadFrom(dir, opts, func(name string, limit int64) ([]byte, error) {
		data, err := readInside(dir, name, limit)
		if err == nil {
			mu.Lock()
			files[name] = data
			mu.Unlock()
		}
		return data, err
	})
	return c, files, err
}

// ReadFrom reads a context whose files get gives by their slash path; get
// refuses what is larger than limit bytes. dir is only told in errors.
func ReadFrom(dir string, opts Options, get func(name string, limit int64) ([]byte, error)) (*Context, error) {
	raw, err := get(IndexFile, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New(problem.ContextMissing,
			"call logicstamp_refresh_snapshot (or run `stamp context` in the project), or pass forceRegenerate: true",
			"%s not found in %s", IndexFile, dir)
	}
	if err != nil {
		return nil, err
	}
	c, ids, err := readIndex(raw, dir, opts)
	if err != nil {
		return nil, err
	}
	nodes := 0
	read := c.readFolders(ids, opts, get)
	if err := opts.stopped(); err != nil {
		return nil, err
	}
	for i, err := range read {
		if err != nil {
			return nil, err
		}
		f := c.Folders[i]
		for _, b := range f.Bundles {
			if b.Damaged {
				c.Warnings = append(c.Warnings, problem.Warn(problem.BundleWithoutRoot,
					"the bundle of %s in %s has no node for its root; only its hash is compared", b.Root, f.File))
			}
			nodes += len(b.Nodes)
		}
		if nodes > maxNodes {
			return nil, problem.New(problem.ContextTooLarge, "narrow the project with .stampignore",
				"the context in %s has more than %d contracts", dir, maxNodes)
		}
	}
	c.index()
	return c, nil
}

// Names are the files that the index in dir lists, without reading them; nil
// when there is no index.
func Names(dir string) []string {
	raw, err := readInside(dir, IndexFile, maxIndex)
	if err != nil {
		return nil
	}
	c, _, err := readIndex(raw, dir, Options{})
	if err != nil {
		return nil
	}
	return c.Files()
}

func leaves(name string) error {
	return problem.New(problem.NotAnIndex, refreshHint, "the index names the file %q, which is outside the context", name)
}

// unreadable is what a folder file is that cannot be read: nothing when the
// index promises no bundles in it.
func unreadable(f *Folder, err error, opts Options) error {
	if f.Declared == 0 {
		return nil
	}
	return incomplete(sideOf(opts), f, "it cannot be read").Because(err)
}

func sideOf(opts Options) string {
	if opts.Side == "" {
		return ""
	}
	return "the " + opts.Side + " side's "
}

func readIndex(raw []byte, dir string, opts Options) (*Context, idRules, error) {
	var in indexJSON
	raw = trimBOM(raw)
	if levels, _ := rawjson.Measure(raw); levels > maxDepth {
		return nil, idRules{}, problem.New(problem.ContextTooLarge, refreshHint, "%s is nested too deeply", IndexFile)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, idRules{}, problem.New(problem.BadJSON, refreshHint, "%s in %s is not JSON of the expected shape", IndexFile, dir).Because(err)
	}
	if in.Type != "LogicStampIndex" {
		return nil, idRules{}, problem.New(problem.NotAnIndex, refreshHint, "%s in %s has type %q, want LogicStampIndex", IndexFile, dir, in.Type)
	}
	c := &Context{Dir: dir, Project: opts.Project, Tool: in.Meta.Source, RawIndex: raw}
	c.CreatedAt, _ = time.Parse(time.RFC3339, in.CreatedAt)
	c.Summary = Summary{
		Components: in.Summary.TotalComponents, Bundles: in.Summary.TotalBundles,
		Folders: in.Summary.TotalFolders, Tokens: in.Summary.TotalTokenEstimate,
	}
	for name, v := range in.Summary.TokenEstimates {
		if n, ok := v.(float64); ok {
			if c.Summary.Estimates == nil {
				c.Summary.Estimates = map[string]int{}
			}
			c.Summary.Estimates[name] = int(n)
		}
	}
	if in.SchemaVersion != "0.1" && in.SchemaVersion != "0.2" {
		c.Warnings = append(c.Warnings, problem.Warn(problem.UnknownSchema,
			"the index of %s has schema %q; only 0.1 and 0.2 are supported", dir, in.SchemaVersion))
	}
	if c.Project == "" {
		c.Project = firstAbsolute(in.ProjectRootResolved, in.ProjectRootAbs, in.ProjectRoot)
	}
	ids := idRules{prefixes: []string{slashes(in.ProjectRootResolved), slashes(in.ProjectRootAbs), slashes(opts.Project)}}
	for _, f := range in.Folders {
		folder := &Folder{
			Path: cleanFolder(f.Path), File: slashes(f.ContextFile), Declared: f.Bundles,
			Components: f.Components, IsRoot: f.IsRoot, RootLabel: f.RootLabel,
		}
		if f.TokenEstimate != nil {
			folder.Tokens, folder.HasTokens = *f.TokenEstimate, true
		}
		folder.File = cmp.Or(folder.File, path.Join(folder.Path, "context.json"))
		folder.File = strings.TrimPrefix(folder.File, "./")
		if !filepath.IsLocal(filepath.FromSlash(folder.File)) || isAbsolute(folder.File) {
			return nil, idRules{}, leaves(folder.File)
		}
		ids.folders = append(ids.folders, folder.Path)
		for _, name := range folder.Components {
			ids.files = append(ids.files, path.Join(folder.Path, name))
		}
		c.Folders = append(c.Folders, folder)
	}
	return c, ids, nil
}

func firstAbsolute(paths ...string) string {
	for _, p := range paths {
		if isAbsolute(slashes(p)) {
			return p
		}
	}
	return ""
}

func cleanFolder(p string) string {
	p = strings.TrimSuffix(strings.TrimPrefix(slashes(p), "./"), "/")
	return cmp.Or(p, ".")
}

// readFolders reads all folder files, several at once, and gives what went wrong
// with each.
func (c *Context) readFolders(ids idRules, opts Options, get func(string, int64) ([]byte, error)) []error {
	errs := make([]error, len(c.Folders))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4, len(c.Folders)) {
		wg.Go(func() {
			for i := range next {
				errs[i] = recovery.Call("read a folder file", func() error {
					f := c.Folders[i]
					raw, err := get(f.File, maxFolder)
					if err == nil {
						return readFolder(f, raw, ids, opts)
					}
					if problem.CodeOf(err) == problem.Internal {
						return unreadable(f, err, opts)
					}
					return err
				})
			}
		})
	}
	for i := range c.Folders {
		if opts.stopped() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return errs
}

func readFolder(f *Folder, raw []byte, ids idRules, opts Options) error {
	side := sideOf(opts)
	raw = trimBOM(raw)
	if strings.HasSuffix(f.File, ".toon") {
		f.Toon = string(raw)
		return nil
	}
	texts, err := splitBundles(raw)
	if err != nil {
		return incomplete(side, f, "it contains no bundles").Because(err)
	}
	if len(texts) == 0 && f.Declared > 0 {
		return incomplete(side, f, "it is empty, but the index lists bundles")
	}
	for _, text := range texts {
		b, err := parseBundle(text, ids)
		if err != nil {
			return incomplete(side, f, "one of its bundles is damaged").Because(err)
		}
		b.Folder, b.File = f.Path, f.File
		f.Bundles = append(f.Bundles, b)
	}
	return nil
}

func incomplete(side string, f *Folder, why string) *problem.Error {
	return problem.New(problem.ContextIncomplete, refreshHint, "%sfile %s is listed by the index but %s", side, f.File, why)
}

// NeedBundles refuses a context with folder files in the toon format, which
// only read_bundle can pass on.
func (c *Context) NeedBundles() error {
	for _, f := range c.Folders {
		if f.Toon != "" {
			return problem.New(problem.UnsupportedFormat, refreshHint+" in JSON", "%s is in the toon format, which is not supported", f.File)
		}
	}
	return nil
}

// readInside reads a file by its slash path below dir, at most limit bytes. What
// lies outside, through links too, is refused.
func readInside(dir, name string, limit int64) ([]byte, error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) || isAbsolute(name) {
		return nil, leaves(name)
	}
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(filepath.Join(base, local)) // a root takes no absolute link, not even one that stays in it
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rel, relErr := filepath.Rel(base, target)
	if err != nil || relErr != nil || !filepath.IsLocal(rel) {
		return nil, leaves(name)
	}
	root, err := file.Root(base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := file.Inside(root, rel, limit)
	switch {
	case errors.Is(err, file.ErrTooLarge):
		return nil, problem.New(problem.ContextTooLarge, "narrow the project with .stampignore or use mode header",
			"%s is larger than %s", path.Base(name), humanize.Bytes(limit))
	case errors.Is(err, file.ErrNotPlain):
		return nil, problem.New(problem.NotAnIndex, refreshHint, "%s is not a regular file", name)
	}
	return data, err
}

func trimBOM(b []byte) []byte { return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")) }

// splitBundles gives the texts of the bundles of a folder file: a JSON array,
// one bundle per line, or the pretty format with its "# Bundle" lines.
func splitBundles(raw []byte) ([]json.RawMessage, error) {
	if levels, _ := rawjson.Measure(raw); levels > maxDepth {
		return nil, errors.New("nested too deeply")
	}
	text := bytes.TrimSpace(raw)
	if len(text) == 0 {
		return nil, nil
	}
	if text[0] == '[' {
		var out []json.RawMessage
		err := json.Unmarshal(text, &out)
		return out, err
	}
	if text[0] == '#' {
		text = stripBundleLines(text)
	}
	var out []json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var one json.RawMessage
		err := dec.Decode(&one)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
}

func stripBundleLines(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("# Bundle ")) {
			out = append(out, line...)
		}
	}
	return out
}
