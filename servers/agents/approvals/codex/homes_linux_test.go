package codex

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// TestMain is also a program that runs until its input ends, under the name of Codex.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == agent {
		fmt.Println("running")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

func TestFoldersOfRunningPrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, folder := filepath.Join(t.TempDir(), agent), t.TempDir()
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{folder + "/", "relative"} {
		c := exec.Command(program)
		c.Env = []string{"CODEX_HOME=" + home}
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = in.Close()
			_ = c.Wait()
		}()
		if _, err := fmt.Fscan(out, new(string)); err != nil {
			t.Fatal(err)
		}
	}
	got := Homes("/usual", process.All())
	if got[0] != "/usual" || !slices.Contains(got, folder) || slices.Contains(got, "relative") {
		t.Errorf("got %q, want also %s", got, folder)
	}
}
