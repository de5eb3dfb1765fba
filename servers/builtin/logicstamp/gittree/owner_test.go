package gittree

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// Each part of a repository has to be the user's own.
func TestARepositoryOfAnotherUserIsRefused(t *testing.T) {
	top := t.TempDir()
	p := place{top: top, own: filepath.Join(top, "own"), common: filepath.Join(top, "common")}
	for _, name := range []string{".git", "own", "common"} {
		if err := os.Mkdir(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := (Repo{}).checkOwner(t.Context(), p, func(fs.FileInfo) bool { return true }); err != nil {
		t.Errorf("of the user's own: %v", err)
	}
	for _, foreign := range []string{filepath.Base(top), ".git", "own", "common"} {
		err := (Repo{}).checkOwner(t.Context(), p, func(info fs.FileInfo) bool { return info.Name() != foreign })
		if problem.CodeOf(err) != problem.GitUnsafe || !strings.Contains(err.Error(), foreign+" belongs to another user") {
			t.Errorf("%s: %v", foreign, err)
		}
	}
	if os.Geteuid() != 0 || runtime.GOOS == "windows" {
		t.Skip("only root can give a file away: that comparing looks at the owner is not tested")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("no git here: %v %s", err, out)
	}
	own, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if _, err := own.WriteString("[safe]\ndirectory = *\n"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(dir, ".git"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		settings string
		environ  []string
		trusted  bool
	}{
		"nothing is set":          {},
		"its folder":              {settings: "directory = " + dir, trusted: true},
		"another folder":          {settings: "directory = " + filepath.Dir(dir)},
		"all below a folder":      {settings: "directory = " + filepath.Dir(dir) + "/*", trusted: true},
		"all":                     {settings: "directory = *", trusted: true},
		"taken back":              {settings: "directory = *\ndirectory ="},
		"set again":               {settings: "directory = *\ndirectory =\ndirectory = " + dir, trusted: true},
		"who came by sudo":        {environ: []string{"SUDO_UID=12345"}, trusted: true},
		"another who came so":     {environ: []string{"SUDO_UID=12346"}},
		"a number that is none":   {environ: []string{"SUDO_UID=12345x"}},
		"a sign before a number":  {environ: []string{"SUDO_UID=-12345"}},
		"a setting of the folder": {environ: []string{"GIT_CONFIG_GLOBAL=" + filepath.Join(dir, ".git", "config")}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n"+row.settings+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := Repo{Project: dir, Environ: append(row.environ, "HOME="+home, "PATH="+os.Getenv("PATH"))}
			if slices.Contains(r.safe(t.Context()), "*") && !strings.Contains(row.settings, "*") {
				t.Skip("the system's settings trust every folder")
			}
			v, err := r.open(t.Context(), false)
			if err == nil {
				v.close()
			}
			if row.trusted != (err == nil) || err != nil && problem.CodeOf(err) != problem.GitUnsafe {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWhichFoldersAreSafe(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(top, link); err != nil {
		t.Skip("no links here:", err)
	}
	for name, row := range map[string]struct {
		list []string
		safe bool
	}{
		"nothing":               {nil, false},
		"it":                    {[]string{top}, true},
		"with a slash":          {[]string{top + "/"}, true},
		"by a link":             {[]string{link}, true},
		"one above it":          {[]string{filepath.Dir(top)}, false},
		"what is below another": {[]string{filepath.Dir(top) + "/*"}, true},
		"what is below it":      {[]string{top + "/*"}, false},
		"all":                   {[]string{"*"}, true},
		"all, otherwise":        {[]string{"/*"}, true},
		"taken back":            {[]string{top, "*", ""}, false},
		"again":                 {[]string{"*", "", "/nowhere", top}, true},
		"a name alone":          {[]string{filepath.Base(top), "."}, false},
	} {
		if got := isSafe(row.list, top); got != row.safe {
			t.Errorf("%s: %v", name, got)
		}
	}
}
