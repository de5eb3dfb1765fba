// Package realtest provides tests with the real programs: agents, MCP servers, the stamp
// command, Pencil's server and the conformance suite, fetched from npm and PyPI.
//
// One switch turns such tests on: MCPDECK_TEST_REAL=1 (task test:real). Without
// it they are skipped, and nothing is fetched. With it whatever is missing fails
// the test.
package realtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// On skips a test that needs real programs unless the switch is on.
func On(t testing.TB) {
	t.Helper()
	if on, _ := strconv.ParseBool(os.Getenv("MCPDECK_TEST_REAL")); !on {
		t.Skip("needs real programs, 1 GB from npm and PyPI: set MCPDECK_TEST_REAL=1 (task test:real)")
	}
}

// Kept returns the folder name of the cache, which fill has filled once, in
// whatever process. The test is skipped if the switch is off.
func Kept(t testing.TB, name string, fill func(ctx context.Context, dir string) error) string {
	t.Helper()
	On(t)
	cache := os.Getenv("MCPDECK_TEST_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("no folder to keep programs in: %v", err)
		}
		cache = filepath.Join(base, "mcpdeck-test")
	}
	dir := filepath.Join(cache, name+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	whole := filepath.Join(dir, "complete")
	if _, err := os.Stat(whole); err == nil {
		return dir
	}
	if err, again := unfetched.Load(name); again {
		t.Fatalf("cannot fetch %s: %v", name, err)
	}
	const tries = 3
	for i := range tries {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		err := fill(ctx, dir)
		cancel()
		if err == nil {
			break
		}
		t.Logf("try %d: %v", i+1, err)
		if i == tries-1 {
			unfetched.Store(name, err)
			t.Fatalf("cannot fetch %s: %v", name, err)
		}
		time.Sleep(time.Duration(i+1) * 10 * time.Second)
	}
	if err := os.WriteFile(whole, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unfetched has, by name, why a program could not be had: no other test of the process tries again.
var unfetched sync.Map

// Packages returns a folder with npm packages below node_modules; the arguments
// are those of npm install. The test is skipped if the switch is off.
func Packages(t testing.TB, name string, args ...string) string {
	t.Helper()
	return Kept(t, name, func(ctx context.Context, dir string) error {
		return install(ctx, dir, args...)
	})
}

// install installs npm packages in a folder. What npm keeps of them besides goes: it is as
// much again.
func install(ctx context.Context, dir string, packages ...string) error {
	kept := filepath.Join(dir, "npm")
	defer func() { _ = os.RemoveAll(kept) }() // it only takes room
	return Run(exec.CommandContext(ctx, "npm", append([]string{"install", "--no-audit", "--no-fund", "--cache", kept, "--prefix", dir}, packages...)...))
}

// Run runs a command; its error has what the command said.
func Run(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// Newest reports whether tests run with the newest versions of agents' programs in place of
// those that are pinned: MCPDECK_TEST_NEWEST=1 (task canary).
func Newest() bool {
	on, _ := strconv.ParseBool(os.Getenv("MCPDECK_TEST_NEWEST"))
	return on
}

// Agent returns the path of a real agent's program by the agent's ID, of the oldest version
// that it was tested with, or of the node that they run on. The test is skipped if the switch
// is off.
func Agent(t testing.TB, id string) string {
	t.Helper()
	if id == "node" {
		return filepath.Join(Packages(t, "node-22", "node@22"), "node_modules", ".bin", id)
	}
	tested := tested(id)
	return version(t, id, tested[len(tested)-1].Number)
}

// Claude returns the path of the version of Claude Code with which its prompts were
// measured. The test is skipped if the switch is off.
func Claude(t testing.TB) string {
	t.Helper()
	return version(t, "claude", tested("claude")[0].Number)
}

// Print are variables for Claude Code in its print mode (-p), beside those of its model. It waits
// for its MCP servers to start, on however busy a machine: by itself it gives them some seconds,
// and its model then does without their tools.
func Print() []string {
	return []string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "MCP_CONNECTION_NONBLOCKING=0", "MCP_CONNECT_TIMEOUT_MS=180000", "MCP_TIMEOUT=180000",
	}
}

// Claudes returns the paths of the versions of Claude Code that the deck has to work with,
// by their numbers. The test is skipped if the switch is off.
func Claudes(t testing.TB) map[string]string {
	t.Helper()
	return Versions(t, "claude")
}

// Versions returns the paths of the tested versions of an agent's program, or of the newest one, by
// their numbers. The test is skipped if the switch is off.
func Versions(t testing.TB, id string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, v := range tested(id) {
		path := version(t, id, v.Number)
		c, _ := clients.Find(id)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), c.Package, "package.json"))
		var installed struct{ Version string }
		if err == nil {
			err = json.Unmarshal(text, &installed)
		}
		if err != nil {
			t.Fatal(err)
		}
		out[installed.Version] = path
	}
	return out
}

// tested are the versions of an agent that tests run.
func tested(id string) []clients.Version {
	c, _ := clients.Find(id)
	return c.Prompts.Tested
}

// version returns the path of a version of an agent's program.
func version(t testing.TB, id, number string) string {
	t.Helper()
	c, _ := clients.Find(id)
	return Program(t, id, c.Package, number, c.Programs[0])
}

// Program returns the path of a program of a version of an npm package, which is kept under a
// name. The test is skipped if the switch is off.
func Program(t testing.TB, name, pkg, number, program string) string {
	t.Helper()
	kept := name + "-" + number
	if Newest() {
		number, kept = "latest", name+"-newest-"+time.Now().Format(time.DateOnly)
	}
	node := Agent(t, "node")
	dir := Kept(t, kept, func(ctx context.Context, dir string) error {
		if err := install(ctx, dir, pkg+"@"+number); err != nil {
			return err
		}
		modules := filepath.Join(dir, "node_modules")
		if err := os.Symlink(node, filepath.Join(modules, ".bin", "node")); err != nil {
			return err
		}
		after := filepath.Join(modules, pkg, "install.cjs")
		if _, err := os.Stat(after); err == nil { // npm may not have run it
			if err := Run(exec.CommandContext(ctx, node, after)); err != nil {
				return err
			}
		}
		return starts(ctx, dir, filepath.Join(modules, ".bin", program), filepath.Dir(node))
	})
	return filepath.Join(dir, "node_modules", ".bin", program)
}

// starts runs a program only for its version: a package may be there without what it needs.
func starts(ctx context.Context, home, program, node string) error {
	c := exec.CommandContext(ctx, program, "--version")
	c.Dir, c.Env = home, []string{"HOME=" + home, "PATH=" + node + ":" + os.Getenv("PATH")}
	return Run(c)
}

// Home puts into a home what an agent's program fetches when it is first started there, if it does.
// OpenCode's takes half a minute of a processor, for which its first turn waits. The test is skipped if
// the switch is off.
func Home(t testing.TB, id, home string) {
	t.Helper()
	if id != "opencode" {
		return
	}
	const plugin = "@opencode-ai/plugin"
	for number := range Versions(t, id) {
		from, to := Packages(t, id+"-home-"+number, "--save-exact", plugin+"@"+number), filepath.Join(home, ".config", id)
		if err := os.MkdirAll(to, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"package.json", "package-lock.json"} { // it may write into them
			text, err := os.ReadFile(filepath.Join(from, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(to, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join(from, "node_modules"), filepath.Join(to, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
}

// Corpus returns the folder with the expected pictures of the reference
// implementation, which are no part of this repository; MCPDECK_TEST_CORPUS
// names it. The test is skipped without.
func Corpus(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("MCPDECK_TEST_CORPUS")
	if dir == "" {
		t.Skip("no pictures of the reference: set MCPDECK_TEST_CORPUS to the folder with corpus.jsonl")
	}
	if _, err := os.Stat(filepath.Join(dir, "corpus.jsonl")); err != nil {
		t.Fatal(err)
	}
	return dir
}
