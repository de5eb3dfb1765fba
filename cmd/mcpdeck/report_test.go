package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCISaysWhyATestFailed has .ci/report read what go test -json says.
func TestCISaysWhyATestFailed(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3: ", err)
	}
	type event struct{ Action, Package, Test, Output string }
	run := func(test string, said ...string) (all []event) {
		for _, l := range append([]string{"=== RUN   " + test}, said...) {
			all = append(all, event{"output", "p", test, l + "\n"})
		}
		return all
	}
	failed, passed := event{"fail", "p", "", ""}, event{"pass", "p", "", ""}
	many := strings.Split(strings.Repeat("noise,", 300), ",")
	for name, tt := range map[string]struct {
		events []event
		says   []string
		silent string
		fails  bool
	}{
		"a test fails":              {append(run("TestA", "a.go:1: bad"), event{"fail", "p", "TestA", ""}, failed), []string{"failed  TestA of p", "a.go:1: bad"}, "the package", false},
		"the process of one ends":   {append(run("TestA", "panic: boom"), failed), []string{"failed  TestA of p", "panic: boom"}, "the package", false},
		"it ends and says nothing":  {append(run("TestA"), failed), []string{"failed  TestA of p"}, "the package", false},
		"others wait for their end": {append(append(run("TestB", "=== PAUSE TestB"), run("TestA", "panic: boom")...), failed), []string{"panic: boom"}, "TestB", false},
		"one has passed before":     {append(append(run("TestB"), event{"pass", "p", "TestB", ""}), append(run("TestA", "panic: boom"), failed)...), []string{"panic: boom"}, "TestB", false},
		"it says much before":       {append(run("TestA", append(many, append([]string{"panic: boom"}, many...)...)...), failed), []string{"panic: boom"}, "", false},
		"it says much, then why":    {append(run("TestA", append(many, "a.go:1: bad")...), event{"fail", "p", "TestA", ""}, failed), []string{"a.go:1: bad"}, "", false},
		"the package says why, too": {append(run("TestA"), event{"fail", "p", "TestA", ""}, event{"output", "p", "", "left running: x\n"}, failed), []string{"failed  TestA", "left running: x"}, "", false},
		"what must run is skipped":  {append(run("TestA", "a.go:1: needs git: not found"), event{"skip", "p", "TestA", ""}, passed), []string{"skipped  TestA of p: a.go:1: needs git: not found"}, "failed", true},
		"another one is skipped":    {append(run("TestA", "a.go:1: for Windows"), event{"skip", "p", "TestA", ""}, passed), []string{"for Windows"}, "failed", false},
		"no test runs":              {nil, []string{"no test has run"}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, e := range tt.events {
				line, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString(string(line) + "\n")
			}
			path := filepath.Join(t.TempDir(), "test.json")
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(python, filepath.Join("..", "..", ".ci", "report"), path).CombinedOutput()
			if (err != nil) != tt.fails {
				t.Errorf("it ends with %v", err)
			}
			for _, w := range tt.says {
				if !strings.Contains(string(out), w) {
					t.Errorf("it does not say %q", w)
				}
			}
			if tt.silent != "" && strings.Contains(string(out), tt.silent) {
				t.Errorf("it says %q", tt.silent)
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}
