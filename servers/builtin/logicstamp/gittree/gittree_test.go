package gittree

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

func FuzzCheckRef(f *testing.F) {
	for _, seed := range []string{"HEAD", "main~3", "-x", "--all", "a\x00b", " v1 ", "", strings.Repeat("x", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		got, err := CheckRef(ref)
		if err != nil {
			if problem.CodeOf(err) != problem.GitBadRef {
				t.Fatal(err)
			}
			return
		}
		if got == "" || strings.HasPrefix(got, "-") || len(got) > 256 || strings.ContainsAny(got, "\x00\n") {
			t.Fatalf("%q passes", got)
		}
	})
}

func TestLinksThatLeaveAreLeftOut(t *testing.T) {
	for name, row := range map[string]struct {
		file, target string
		stays        bool
	}{
		"beside":         {"src/a.ts", "b.ts", true},
		"up and down":    {"src/a.ts", "../lib/b.ts", true},
		"out":            {"src/a.ts", "../../b.ts", false},
		"absolute":       {"src/a.ts", "/etc/passwd", false},
		"to the top":     {"a.ts", "..", false},
		"through itself": {"src/x/a.ts", "../../src/b.ts", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := staysInside(row.file, row.target); got != row.stays {
				t.Errorf("stays = %v", got)
			}
		})
	}
}

// Each part of a repository has to be the user's own.
func TestARepositoryOfAnotherUserIsRefused(t *testing.T) {
	top := t.TempDir()
	p := place{top: top, own: filepath.Join(top, "own"), common: filepath.Join(top, "common")}
	for _, name := range []string{".git", "own", "common"} {
		if err := os.Mkdir(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkOwner(p, func(fs.FileInfo) bool { return true }); err != nil {
		t.Errorf("of the user's own: %v", err)
	}
	for _, foreign := range []string{filepath.Base(top), ".git", "own", "common"} {
		err := checkOwner(p, func(info fs.FileInfo) bool { return info.Name() != foreign })
		if problem.CodeOf(err) != problem.GitUnsafe || !strings.Contains(err.Error(), foreign+" belongs to another user") {
			t.Errorf("%s: %v", foreign, err)
		}
	}
	if os.Geteuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can give a file away: that comparing looks at the owner is not tested")
	}
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("no git here: %v %s", err, out)
	}
	if err := os.Chown(filepath.Join(dir, ".git"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := (Repo{Project: dir}).open(t.Context(), false); problem.CodeOf(err) != problem.GitUnsafe {
		t.Errorf("a repository of another: %v", err)
	}
}
