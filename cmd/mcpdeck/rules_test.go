package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is one package of the program, parsed.
type source struct {
	path  string // below the module
	files []*ast.File
	info  *types.Info
	scope *types.Scope
}

// shipped parses the packages that the program is built of, for all systems.
func shipped(t *testing.T, fset *token.FileSet) []source {
	t.Helper()
	return sources(t, fset, "-deps", "./cmd/mcpdeck")
}

// sources parses the packages of this module that go list lists with some arguments.
func sources(t *testing.T, fset *token.FileSet, args ...string) []source {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,IgnoredGoFiles"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []source
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir         string
			GoFiles, IgnoredGoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		s := source{path: path}
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, f)
		}
		// Names are all that is wanted: what other packages hold stays unknown.
		s.info = &types.Info{Uses: map[*ast.Ident]types.Object{}}
		unknown := types.Config{Importer: noImports{}, Error: func(error) {}}
		checked, _ := unknown.Check(p.ImportPath, fset, s.files, s.info)
		s.scope = checked.Scope()
		all = append(all, s)
	}
	if len(all) < 20 {
		t.Fatalf("go list found %d packages", len(all))
	}
	return all
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not looked at") }

// TestRulesOfTheCode holds what no linter does.
func TestRulesOfTheCode(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	all := shipped(t, fset)
	rules := []struct {
		name  string
		rooms []string // that need not obey
		check func(source, ast.Node) string
	}{
		{"programs start in one room", []string{"servers/support/process"}, starter},
		{"the environment is read by the configuration alone", []string{"cmd/internal/config", "cmd/internal/hook"}, environment},
		{"nothing happens at import", nil, initialiser},
		{"a goroutine cannot bring the process down", []string{"servers/support/recovery", "servers/builtin/pixelsrc/pxl"}, bareGoroutine},
		{"what a terminal shows goes through one door", []string{"cmd/internal/console", "cmd/internal/hook"}, standardOutput},
		{"package variables do not change", nil, changedVariable},
		{"files are put in place by one room", []string{"servers/support/file"}, intoPlace},
		{"what others wrote is opened in one room", []string{"servers/support/file", "servers/support/process", "servers/support/socket"}, opened},
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, s := range all {
				if under(s.path, r.rooms...) {
					continue
				}
				for _, f := range s.files {
					ast.Inspect(f, func(n ast.Node) bool {
						if n == nil {
							return true
						}
						if fault := r.check(s, n); fault != "" {
							at := fset.Position(n.Pos())
							t.Errorf("%s/%s:%d: %s", s.path, filepath.Base(at.Filename), at.Line, fault)
						}
						return true
					})
				}
			}
		})
	}
}

// member splits the expression x.name for a plain x.
func member(n ast.Node) (x, name string) {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	if id, ok := s.X.(*ast.Ident); ok {
		x = id.Name
	}
	return x, s.Sel.Name
}

func environment(_ source, n ast.Node) string {
	x, name := member(n)
	if x == "os" && slices.Contains([]string{
		"Getenv", "LookupEnv", "Environ", "ExpandEnv", "UserHomeDir", "UserCacheDir", "UserConfigDir", "TempDir",
	}, name) {
		return "os." + name
	}
	return ""
}

// starter finds what starts programs, or could.
func starter(_ source, n ast.Node) string {
	if i, ok := n.(*ast.ImportSpec); ok && i.Path.Value == `"os/exec"` {
		return "os/exec is imported; use servers/support/process"
	}
	switch x, name := member(n); x + "." + name {
	case "os.StartProcess", "syscall.StartProcess", "syscall.ForkExec", "syscall.Exec", "unix.Exec", "windows.CreateProcess", "windows.ShellExecute",
		"tea.ExecProcess":
		return x + "." + name + "; use servers/support/process"
	}
	return ""
}

// standardOutput finds what writes past the door: the files themselves, and what
// prints to them by default.
func standardOutput(_ source, n ast.Node) string {
	switch x, name := member(n); {
	case x == "os" && (name == "Stdout" || name == "Stderr"),
		x == "fmt" && (name == "Print" || name == "Printf" || name == "Println"):
		return x + "." + name + "; use console"
	}
	if call, ok := n.(*ast.CallExpr); ok {
		if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
			return id.Name + "; use console"
		}
	}
	return ""
}

func initialiser(_ source, n ast.Node) string {
	if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
		return "func init"
	}
	return ""
}

// bareGoroutine finds what is not started by recovery.Go and does not recover
// itself. A callback of one call is left alone: most of them close something.
func bareGoroutine(_ source, n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "go statement; use recovery.Go"
	case *ast.CallExpr:
		x, name := member(n.Fun)
		if x == "recovery" || len(n.Args) == 0 || name != "Go" && name != "AfterFunc" {
			return ""
		}
		body, ok := n.Args[len(n.Args)-1].(*ast.FuncLit)
		if !ok || name == "AfterFunc" && len(body.Body.List) < 2 {
			return ""
		}
		guarded := false
		ast.Inspect(body, func(n ast.Node) bool {
			x, _ := member(n)
			guarded = guarded || x == "recovery"
			return !guarded
		})
		if !guarded {
			return name + " without recovery.Recover"
		}
	}
	return ""
}

// intoPlace finds what puts a file in the place of another.
func intoPlace(_ source, n ast.Node) string {
	if x, name := member(n); name == "Rename" && x != "fsnotify" {
		return name + "; use servers/support/file"
	}
	return ""
}

// opened finds what may wait at a FIFO, or read without end. A file that must not exist
// yet can be neither, and a terminal is no file.
func opened(_ source, n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	x, name := member(call.Fun)
	switch name {
	case "ReadFile", "Open":
		if x != "os" {
			return ""
		}
	case "OpenFile":
		fresh := false
		ast.Inspect(call, func(n ast.Node) bool {
			_, flag := member(n)
			fresh = fresh || flag == "O_EXCL"
			return true
		})
		if id, ok := call.Args[0].(*ast.Ident); fresh || ok && strings.HasPrefix(id.Name, "terminal") {
			return ""
		}
	case "FS":
		if len(call.Args) > 0 {
			return ""
		}
	case "OpenRoot":
	default:
		return ""
	}
	return x + "." + name + "; use servers/support/file"
}

// changedVariable finds assignments to package variables, and to what they
// hold.
func changedVariable(s source, n ast.Node) string {
	var targets []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		targets = n.Lhs
	case *ast.IncDecStmt:
		targets = []ast.Expr{n.X}
	}
	for _, to := range targets {
		for inner := to; inner != nil; {
			to = inner
			switch e := to.(type) {
			case *ast.IndexExpr:
				inner = e.X
			case *ast.SelectorExpr:
				inner = e.X
			case *ast.StarExpr:
				inner = e.X
			case *ast.ParenExpr:
				inner = e.X
			default:
				inner = nil
			}
		}
		id, ok := to.(*ast.Ident)
		if !ok {
			continue
		}
		if v, ok := s.info.Uses[id].(*types.Var); ok && v.Parent() == s.scope {
			return id.Name + " is changed"
		}
	}
	return ""
}

// TestNoFileNamesThisMachine holds that the checkout works wherever it lies, and with
// whatever registries its user has.
func TestNoFileNamesThisMachine(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	places := []string{"/" + "root/"}
	if strings.Count(root, string(filepath.Separator)) > 1 { // else it is too common a word
		places = append(places, root)
	}
	for _, host := range []string{"ghcr io", "docker io", "quay io", "gcr io", "npmjs org", "npmjs com", "pypi org", "proxy golang org", "sum golang org", "crates io", "debian org"} {
		places = append(places, strings.ReplaceAll(host, " ", "."))
	}
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("git does not list the files: %v", err)
	}
	files := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted and not yet committed
		}
		for _, p := range places {
			if strings.Contains(string(b), p) {
				t.Errorf("%s holds %s", name, p)
			}
		}
	}
}
