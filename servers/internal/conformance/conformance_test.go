package conformance

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	stableSuite = "@modelcontextprotocol/conformance@0.1.16"
	nextSuite   = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
)

// TestConformance runs the official suite against the fixtures behind the
// production host and guard.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite is not run with -short")
	}
	node := findNode(t)
	h, err := NewHost(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Stop(context.Background()) })
	url, err := Serve(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	expected, err := filepath.Abs("testdata/expected-failures.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		name, suite string
		args        []string
	}{
		{"all scenarios", stableSuite, []string{"--suite", "all"}},
		{"2025-11-25", nextSuite, []string{"--requirements", "2025-11-25"}},
		{"2026-07-28", nextSuite, []string{"--requirements", "2026-07-28"}},
	} {
		t.Run(run.name, func(t *testing.T) {
			entry := filepath.Join(install(t, run.suite), "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
			args := append([]string{entry, "server", "--url", url, "--expected-failures", expected, "-o", t.TempDir()}, run.args...)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, node, args...).CombinedOutput()
			t.Logf("%s", summary(out))
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// summary is the end of the suite's output: one line a scenario and the sums.
func summary(out []byte) []byte {
	if i := bytes.LastIndex(out, []byte("SUMMARY")); i >= 0 {
		return out[i:]
	}
	return out[max(0, len(out)-2000):]
}

// cache is where packages are kept from one run to the next.
func cache(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MCPDECK_TEST_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("there is no folder for npm packages: %v", err)
		}
		dir = filepath.Join(base, "mcpdeck-test")
	}
	return dir
}

// install returns a folder that has the npm package in its node_modules. The
// test is skipped when npm cannot install it.
func install(t *testing.T, spec string) string {
	t.Helper()
	dir := filepath.Join(cache(t), strings.NewReplacer("@", "", "/", "-").Replace(spec)+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed, so the conformance suite cannot be fetched")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Skipf("there is no folder for npm packages: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", dir, spec)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %s: %v: %s", spec, err, bytes.TrimSpace(out))
	}
	if err := os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// findNode returns a Node that the suite runs on: version 22 or newer, from the
// npm package if the machine's own is older.
func findNode(t *testing.T) string {
	t.Helper()
	if own, err := exec.LookPath("node"); err == nil && nodeMajor(own) >= 22 {
		return own
	}
	node := filepath.Join(install(t, "node@22"), "node_modules", ".bin", "node")
	if v := nodeMajor(node); v < 22 {
		t.Skipf("the npm package node@22 does not run here (version %d)", v)
	}
	return node
}

func nodeMajor(node string) int {
	out, err := exec.Command(node, "--version").Output()
	if err != nil {
		return 0
	}
	m := regexp.MustCompile(`^v(\d+)\.`).FindSubmatch(out)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
