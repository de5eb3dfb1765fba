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
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
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
			t.Fatalf("cannot fetch %s: %v", name, err)
		}
		time.Sleep(time.Duration(i+1) * 10 * time.Second)
	}
	if err := os.WriteFile(whole, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

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

// The packages of agents' programs, of the versions that are pinned.
const (
	pinnedClaude   = "2.1.197"
	measuredClaude = "2.1.330" // with which prompts were measured
)

// Newest reports whether tests run with the newest versions of agents' programs in place of
// those that are pinned: MCPDECK_TEST_NEWEST=1 (task test:newest).
func Newest() bool {
	on, _ := strconv.ParseBool(os.Getenv("MCPDECK_TEST_NEWEST"))
	return on
}

// Agent returns the path of a real agent, claude, codex, opencode or gemini, or of
// the node that they run on. The test is skipped if the switch is off.
func Agent(t testing.TB, name string) string {
	t.Helper()
	kept, claude, others := "agents", pinnedClaude, []string{"@openai/codex@0.169.0", "opencode-ai@1.18.33", "@google/gemini-cli@0.61.0"}
	if Newest() {
		kept, claude, others = newest("agents"), "latest", []string{"@openai/codex@latest", "opencode-ai@latest", "@google/gemini-cli@latest"}
	}
	return program(t, kept, name, append([]string{"node@22", "@anthropic-ai/claude-code@" + claude}, others...)...)
}

// Claude returns the path of the version of Claude Code with which its prompts were
// measured. The test is skipped if the switch is off.
func Claude(t testing.TB) string {
	t.Helper()
	if Newest() {
		return Agent(t, "claude")
	}
	return program(t, "claude-code-"+measuredClaude, "claude", "@anthropic-ai/claude-code@"+measuredClaude)
}

// Claudes returns the paths of the versions of Claude Code that the deck has to work with,
// by their names. The test is skipped if the switch is off.
func Claudes(t testing.TB) map[string]string {
	t.Helper()
	if Newest() {
		return map[string]string{"newest": Agent(t, "claude")}
	}
	return map[string]string{pinnedClaude: Agent(t, "claude"), measuredClaude: Claude(t)}
}

// newest names the folder of what is newest on this day.
func newest(name string) string { return name + "-newest-" + time.Now().Format(time.DateOnly) }

// program returns the path of a program of packages that are kept together.
func program(t testing.TB, kept, name string, packages ...string) string {
	t.Helper()
	dir := Kept(t, kept, func(ctx context.Context, dir string) error {
		if err := install(ctx, dir, packages...); err != nil {
			return err
		}
		modules := filepath.Join(dir, "node_modules")
		node := filepath.Join(modules, ".bin", "node")
		if _, err := os.Stat(node); err != nil {
			node = "node"
		}
		return Run(exec.CommandContext(ctx, node, filepath.Join(modules, "@anthropic-ai/claude-code/install.cjs"))) // npm may not have run it
	})
	return filepath.Join(dir, "node_modules", ".bin", name)
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
