package conformance

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

const (
	stableSuite = "@modelcontextprotocol/conformance@0.1.16"
	nextSuite   = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
)

// TestConformance runs the official suite against the fixtures behind the
// production host and guard.
func TestConformance(t *testing.T) {
	realtest.On(t)
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
	for _, run := range suiteRuns() {
		t.Run(run.name, func(t *testing.T) { run.against(t, node, url, "expected-failures.yaml") })
	}
}

// suiteRun is a run of one version of the suite.
type suiteRun struct {
	name, suite string
	args        []string
}

func suiteRuns() []suiteRun {
	return []suiteRun{
		{"all scenarios", stableSuite, []string{"--suite", "all"}},
		{legacy, nextSuite, []string{"--requirements", legacy}},
		{modern, nextSuite, []string{"--requirements", modern}},
	}
}

// against runs it, and expects the failures that a file names.
func (r suiteRun) against(t *testing.T, node, url, failures string) {
	t.Helper()
	expected, err := filepath.Abs(filepath.Join("testdata", failures))
	if err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(install(t, r.suite), "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	args := append([]string{entry, "server", "--url", url, "--expected-failures", expected, "-o", t.TempDir()}, r.args...)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, args...).CombinedOutput()
	t.Logf("%s", summary(out))
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// summary is the end of the suite's output: one line a scenario and the sums.
func summary(out []byte) []byte {
	if i := bytes.LastIndex(out, []byte("SUMMARY")); i >= 0 {
		return out[i:]
	}
	return out[max(0, len(out)-2000):]
}

// install returns a folder that has the npm package in its node_modules.
func install(t *testing.T, spec string) string {
	t.Helper()
	return realtest.Packages(t, strings.NewReplacer("@", "", "/", "-").Replace(spec), spec)
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
