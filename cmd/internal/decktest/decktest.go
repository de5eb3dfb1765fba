// Package decktest builds programs of this module for tests that run them as
// processes.
package decktest

import (
	"os/exec"
	"path"
	"path/filepath"
	"testing"
)

// Program puts the program of a package below the module, such as cmd/mcpdeck,
// into a folder and returns its path. It is linked once for all tests: unlike go
// build, go run keeps what it links.
func Program(t testing.TB, dir, pkg string) string {
	t.Helper()
	file := filepath.Join(dir, path.Base(pkg))
	if out, err := exec.Command("go", "run", "-exec", "cp", "github.com/mcpdeck/mcpdeck/"+pkg, file).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return file
}
