package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/mcpdeck/mcpdeck/"

// pkg is a package of the module, as the go command lists it, with its path below the module.
type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
	Deps       []string
}

// code is the module's Go files, tests too and for all systems, by their paths in the module.
type code struct {
	fset  *token.FileSet
	files map[string]*ast.File
}

// Many tests read the same of the module: it is listed, and parsed, once for all of them.
var (
	listOnce  = sync.OnceValues(list)
	parseOnce = sync.OnceValues(parse)
)

func list() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		all = append(all, p)
	}
}

func parse() (code, error) {
	c := code{token.NewFileSet(), map[string]*ast.File{}}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !strings.HasSuffix(file, ".go"):
			return nil
		}
		f, err := parser.ParseFile(c.fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		c.files[filepath.ToSlash(name)] = f
		return err
	})
	return c, err
}

// packages lists the module's own packages.
func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listOnce()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(all) < 20 {
		t.Fatalf("go list found %d packages", len(all))
	}
	return all
}

// sources parses the module.
func sources(t *testing.T) code {
	t.Helper()
	c, err := parseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// source is a package, parsed without its tests.
type source struct {
	path  string // below the module
	files []*ast.File
}

// packages are those that the module has outside tests, in order.
func (c code) packages() []source {
	of := map[string][]*ast.File{}
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		if !strings.HasSuffix(name, "_test.go") {
			of[path.Dir(name)] = append(of[path.Dir(name)], c.files[name])
		}
	}
	var all []source
	for _, dir := range slices.Sorted(maps.Keys(of)) {
		all = append(all, source{dir, of[dir]})
	}
	return all
}

// shipped are the packages that the program is built of.
func (c code) shipped(t *testing.T) []source {
	t.Helper()
	var deps []string
	for _, p := range packages(t) {
		if p.ImportPath == "cmd/mcpdeck" {
			deps = slices.Concat(p.Deps, []string{module + p.ImportPath}) // all tests share the list
		}
	}
	return slices.DeleteFunc(c.packages(), func(s source) bool { return !slices.Contains(deps, module+s.path) })
}

// at is where a node stands: a line of a file of the module.
func (c code) at(n ast.Node) token.Position {
	at := c.fset.Position(n.Pos())
	at.Filename = filepath.ToSlash(strings.TrimPrefix(at.Filename, filepath.Join("..", "..")+string(filepath.Separator)))
	return at
}

func under(path string, rooms ...string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool { return path == room || strings.HasPrefix(path, room+"/") })
}
