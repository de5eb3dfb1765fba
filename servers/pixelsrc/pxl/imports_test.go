package pxl

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestStandardLibraryOnly holds that the engine imports the standard library and itself, nothing else;
// its tests may also ask whether real programs are wanted.
func TestStandardLibraryOnly(t *testing.T) {
	const module = "github.com/mcpdeck/mcpdeck/servers/"
	const own, inTests = module + "pixelsrc/pxl/", module + "realtest"
	files := 0
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files++
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if path == inTests && strings.HasSuffix(name, "_test.go") {
				continue
			}
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !strings.HasPrefix(path, own) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		return nil
	})
	if err != nil || files < 30 {
		t.Fatalf("%d files, %v", files, err)
	}
}
