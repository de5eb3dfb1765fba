package pixelsrc

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed examples/*.pxl
var examples embed.FS

// Examples lists the names of the example sources.
func Examples() []string {
	files, _ := fs.Glob(examples, "examples/*.pxl") // the pattern is valid
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "examples/"), ".pxl")
	}
	return files
}

// Example is the source of an example, "" for an unknown name.
func Example(name string) string {
	b, _ := examples.ReadFile("examples/" + name + ".pxl") // unknown: nil
	return string(b)
}
