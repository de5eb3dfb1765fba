package main

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRulesOfTheCode holds what no linter does.
func TestRulesOfTheCode(t *testing.T) {
	t.Parallel()
	c := sources(t)
	all := c.shipped(t)
	rules := []struct {
		name  string
		rooms []string // that need not obey
		check func(ast.Node) string
	}{
		{"programs start in one room", []string{"servers/support/process", "cmd/internal/hook"}, starter},
		{"the environment is read by the configuration alone", []string{"cmd/internal/config", "cmd/internal/hook"}, environment},
		{"nothing happens at import", nil, initialiser},
		{"a goroutine cannot bring the process down", []string{"servers/support/recovery", "servers/builtin/pixelsrc/pxl"}, bareGoroutine},
		{"what a terminal shows goes through one door", []string{"cmd/internal/console", "cmd/internal/hook"}, standardOutput},
		{"package variables do not change", nil, changedVariable(c.fset, all)},
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
						if fault := r.check(n); fault != "" {
							t.Errorf("%s: %s", c.at(n), fault)
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

func environment(n ast.Node) string {
	x, name := member(n)
	if x == "os" && slices.Contains([]string{
		"Getenv", "LookupEnv", "Environ", "ExpandEnv", "UserHomeDir", "UserCacheDir", "UserConfigDir", "TempDir",
	}, name) {
		return "os." + name
	}
	return ""
}

// starter finds what starts programs, or could.
func starter(n ast.Node) string {
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
func standardOutput(n ast.Node) string {
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

func initialiser(n ast.Node) string {
	if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
		return "func init"
	}
	return ""
}

// bareGoroutine finds what is not started by recovery.Go and does not recover
// itself. A callback of one call is left alone: most of them close something.
func bareGoroutine(n ast.Node) string {
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
func intoPlace(n ast.Node) string {
	if x, name := member(n); name == "Rename" && x != "fsnotify" {
		return name + "; use servers/support/file"
	}
	return ""
}

// opened finds what may wait at a FIFO, or read without end. A file that must not exist
// yet can be neither, and a terminal is no file.
func opened(n ast.Node) string {
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

// changedVariable finds assignments to variables of the packages, and to what they hold.
func changedVariable(fset *token.FileSet, all []source) func(ast.Node) string {
	shared := map[*ast.Ident]bool{} // that are such a variable
	for _, s := range all {
		// Names are all that is wanted: what other packages hold stays unknown.
		unknown := types.Config{Importer: noImports{}, Error: func(error) {}}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		checked, _ := unknown.Check(s.path, fset, s.files, info)
		for id, of := range info.Uses {
			if v, ok := of.(*types.Var); ok && v.Parent() == checked.Scope() {
				shared[id] = true
			}
		}
	}
	return func(n ast.Node) string {
		var targets []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			targets = n.Lhs
		case *ast.IncDecStmt:
			targets = []ast.Expr{n.X}
		}
		for _, to := range targets {
			if id := root(to); shared[id] {
				return id.Name + " is changed"
			}
		}
		return ""
	}
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not looked at") }

// root is the name with which an expression begins that can be assigned to; nil for none.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			return x
		default:
			return nil
		}
	}
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
