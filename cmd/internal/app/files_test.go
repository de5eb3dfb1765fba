//go:build unix

package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
)

func TestFilesThatGitIgnoresAreNotOffered(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git: ", err)
	}
	home := t.TempDir()
	project, ran := filepath.Join(home, "shop"), filepath.Join(home, "ran")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir, c.Env = project, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"main.go", "gone.go", "web/new.ts", "web/dist/app.js", "notes.log"} {
		write(name, "x", 0o600)
	}
	write(".gitignore", "dist/\n*.log\n", 0o600)

	h := &App{Config: &config.Config{Environ: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, Paths: config.Paths{State: filepath.Join(home, "state")}}}
	stamp, err := plugin.Of("logicstamp").New(&plugin.Env{Config: h.Config})
	if err != nil {
		t.Fatal(err)
	}
	h.Own = []included{{Instance: stamp}}
	offered := func() string { return fmt.Sprint(slices.Sorted(slices.Values(h.filesIn(project)))) }
	if got, want := offered(), "[.gitignore gone.go main.go notes.log web/dist/app.js web/new.ts]"; got != want {
		t.Errorf("without a repository it offers %s, want %s", got, want)
	}

	git("init", "-q")
	git("add", "main.go", "gone.go")
	// git lists another repository as one name.
	for _, name := range []string{"nested/one.go", "module/two.go"} {
		write(name, "x", 0o600)
	}
	git("init", "-q", "nested")
	git("-C", "module", "init", "-q")
	git("-C", "module", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x")
	git("-c", "advice.addEmbeddedRepo=false", "add", "module")
	git("-C", "module", "init", "-q", "--separate-git-dir", filepath.Join(project, ".git", "module"))
	write(".git/evil", "#!/bin/sh\necho ran >> '"+ran+"'\n", 0o700)
	git("config", "core.fsmonitor", filepath.Join(project, ".git", "evil"))
	if err := os.Remove(filepath.Join(project, "gone.go")); err != nil {
		t.Fatal(err)
	}
	if got, want := offered(), "[.gitignore main.go module/two.go nested/one.go web/new.ts]"; got != want {
		t.Errorf("it offers %s, want %s", got, want)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program that the repository names has run")
	}
}
