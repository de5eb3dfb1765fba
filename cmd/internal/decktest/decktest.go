// Package decktest builds programs of this module for tests that run them as
// processes.
package decktest

import (
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"
)

// Shared runs tests that share programs. Each program is built when a test first
// needs it.
type Shared struct {
	M *testing.M // set by TestMain

	mu    sync.Mutex
	dir   string
	built map[string]string // path by package
}

// Program returns the path of the program of a package below the module, built with variables
// beside those of the process.
func (s *Shared) Program(t testing.TB, pkg string, env ...string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if file := s.built[pkg]; file != "" {
		return file
	}
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "md")
		if err != nil {
			t.Fatal(err)
		}
		s.dir, s.built = dir, map[string]string{}
	}
	s.built[pkg] = Program(t, s.dir, pkg, env...)
	return s.built[pkg]
}

// Hasty is for the environment of programs that are the test binary: built with the race
// detector, they sleep for a second before they end, unless told.
const Hasty = "GORACE=atexit_sleep_ms=10"

// Run runs the tests, many at once however few processors there are, for they wait for
// processes most of the time; -parallel says otherwise. It removes the programs when they have
// ended.
func (s *Shared) Run() int {
	defer func() { _ = os.RemoveAll(s.dir) }()
	parallel := flag.Lookup("test.parallel")
	if err := parallel.Value.Set("8"); err != nil {
		panic(err)
	}
	flag.Parse()
	return s.M.Run()
}

// Program puts the program of a package below the module, such as cmd/mcpdeck,
// into a folder and returns its path. It is linked once for all tests: unlike go
// build, go run keeps what it links.
func Program(t testing.TB, dir, pkg string, env ...string) string {
	t.Helper()
	file := filepath.Join(dir, path.Base(pkg))
	build := exec.Command("go", "run", "-exec", "cp", "github.com/mcpdeck/mcpdeck/"+pkg, file)
	build.Env = append(os.Environ(), env...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return file
}
