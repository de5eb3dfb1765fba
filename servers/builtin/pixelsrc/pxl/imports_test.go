package pxl

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTheEngineImportsAlmostNothing holds that the engine imports the standard library, itself, the
// names of colours, what compares words and what counts things, nothing else.
func TestTheEngineImportsAlmostNothing(t *testing.T) {
	const module = "github.com/mcpdeck/mcpdeck/servers/"
	const own = module + "builtin/pixelsrc/pxl/"
	allowed := []string{"golang.org/x/image/colornames", module + "support/fuzzy", module + "support/humanize"}
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
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !strings.HasPrefix(path, own) && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		return nil
	})
	if err != nil || files < 30 {
		t.Fatalf("%d files, %v", files, err)
	}
}
