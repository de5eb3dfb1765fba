package roots_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// kernelTop is another name of the top of the file system.
const kernelTop = "/proc/self/root"

// user is a home with what a home has.
func user(t *testing.T) (home string, r *roots.Rules) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	home = filepath.Join(base, "users", "ana")
	for _, dir := range []string{
		".ssh/keys", ".gnupg", ".aws", ".kube", ".config/gh", ".config/nvim", ".mozilla/firefox/x.default", ".local/share/keyrings", ".local/state/mcpdeck/run",
		".codex/worktrees/shop", "src/shop/app", "state",
	} {
		must(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(home, "src/file"), nil, 0o600))
	return home, roots.New(roots.Options{Homes: []string{home}, State: []string{filepath.Join(home, "state")}})
}

func TestWhatCannotBeAProject(t *testing.T) {
	home, rules := user(t)
	at := func(name string) string { return filepath.Join(home, name) }
	must(t, os.Symlink(at(".ssh"), at("src/shop/keys")))
	must(t, os.Symlink("/", at("src/shop/all")))
	must(t, os.Symlink(at("src/shop"), at("work")))
	tests := []struct {
		name, dir string
		want      string // part of why it is refused; "" if it is not
		resolved  string // below home
	}{
		{"a project", at("src/shop"), "", "src/shop"},
		{"a folder of a project", at("src/shop/app"), "", "src/shop/app"},
		{"many projects", at("src"), "", "src"},
		{"a project by a link", at("work"), "", "src/shop"},
		{"a project spelled in a roundabout way", at("src/shop/../shop/./app/.."), "", "src/shop"},
		{"a worktree that an agent keeps", at(".codex/worktrees/shop"), "", ".codex/worktrees/shop"},
		{"a program's settings", at(".config/nvim"), "", ".config/nvim"},
		{"the top", "/", "root of a file system", ""},
		{"the top by a link", at("src/shop/all"), "root of a file system", ""},
		{"the home", home, "your home", ""},
		{"the home, otherwise spelled", home + "/src/..", "your home", ""},
		{"what the home lies in", filepath.Dir(home), "it contains your home folder", ""},
		{"and that", filepath.Dir(filepath.Dir(home)), "it contains your home folder", ""},
		{"keys", at(".ssh"), "secrets", ""},
		{"below keys", at(".ssh/keys"), "secrets", ""},
		{"keys by a link", at("src/shop/keys"), "secrets", ""},
		{"below keys by a link", at("src/shop/keys/keys"), "secrets", ""},
		{"a token", at(".config/gh"), "secrets", ""},
		{"what holds tokens", at(".config"), "secrets", ""},
		{"a browser's profile", at(".mozilla/firefox/x.default"), "secrets", ""},
		{"passwords", at(".local/share/keyrings"), "secrets", ""},
		{"an agent's token", at(".codex"), "secrets", ""},
		{"the deck's state", at("state"), "mcpdeck's own", ""},
		{"the state of another deck", at(".local/state/mcpdeck/run"), "secrets", ""},
		{"a relative path", "src", "not absolute", ""},
		{"a file", at("src/file"), "not a folder", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rules.Folder(tt.dir)
			if tt.want == "" && (err != nil || got != at(tt.resolved)) {
				t.Errorf("%s: %q, %v, want %s", tt.dir, got, err, at(tt.resolved))
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: %q, %v, want %q", tt.dir, got, err, tt.want)
			}
			if tt.want != "" {
				if root, err := rules.Open(tt.dir); err == nil {
					root.Close()
					t.Errorf("%s was opened", tt.dir)
				}
			}
		})
	}
	if _, err := rules.Folder(at("none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := (*roots.Rules)(nil).Folder("/"); err == nil {
		t.Error("without rules the top is a project")
	}
}

func TestFoldersOfTheSystemAreNoProjects(t *testing.T) {
	_, rules := user(t)
	var refused, allowed []string
	switch runtime.GOOS {
	case "linux":
		refused = []string{
			"/etc", "/etc/ssl", "/usr", "/usr/share", "/usr/local", "/proc", "/proc/self", "/proc/self/task", kernelTop, kernelTop + "/etc", "/sys",
			"/sys/kernel", "/dev", "/dev/pts", "/boot", "/run", "/var", "/var/lib", "/bin", "//etc", "/etc/../usr", "/var/www/../lib",
		}
		allowed = []string{"/dev/shm", "/var/tmp", "/usr/src"}
	case "darwin":
		refused = []string{"/System", "/Library", "/private", "/private/etc", "/private/var/db", "/SYSTEM/library", "/usr/bin", "/Applications"}
		allowed = []string{"/private/tmp", "/tmp"}
	default:
		t.Skip("the folders of this system are not known here")
	}
	for _, dir := range refused {
		if got, err := rules.Folder(dir); err == nil {
			t.Errorf("%s is a project: %s", dir, got)
		}
	}
	for _, dir := range allowed {
		if _, err := rules.Folder(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}

func TestOtherSpellingsOfTheKernel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	home, rules := user(t)
	t.Chdir(filepath.Join(home, "src", "shop"))
	open, err := os.Open(home)
	must(t, err)
	defer open.Close()
	for _, dir := range []string{kernelTop + home, kernelTop + home + "/.ssh", "/proc/self/cwd/../../.ssh", "/proc/thread-self/root"} {
		if got, err := rules.Folder(dir); err == nil {
			t.Errorf("%s is a project: %s", dir, got)
		}
	}
	for _, dir := range []string{"/proc/self/cwd", kernelTop + home + "/src/shop"} {
		if got, err := rules.Folder(dir); err != nil || got != filepath.Join(home, "src", "shop") {
			t.Errorf("%s: %q, %v", dir, got, err)
		}
	}
}

func TestTheHomeOfAServiceMayLieInTheSystem(t *testing.T) {
	home, _ := user(t)
	if runtime.GOOS != "linux" {
		t.Skip("no system folder can be written here")
	}
	base, err := os.MkdirTemp("/var", "mcpdeck-home-")
	if err != nil {
		t.Skipf("no folder can be made in /var: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	must(t, os.MkdirAll(filepath.Join(base, "builder", "job", ".ssh"), 0o700))
	service := roots.New(roots.Options{Homes: []string{filepath.Join(base, "builder"), home}})
	if _, err := service.Folder(filepath.Join(base, "builder", "job")); err != nil {
		t.Error(err)
	}
	if _, err := service.Folder(base); err == nil {
		t.Error("the folder above a service's home is a project")
	}
}

func TestAFolderThatWasExchangedIsNotOpened(t *testing.T) {
	home, rules := user(t)
	shop := filepath.Join(home, "src", "shop")
	must(t, os.Rename(shop, shop+".moved"))
	must(t, os.Symlink("/", shop))
	if root, err := rules.Open(shop); err == nil {
		root.Close()
		t.Error("the top of the file system was opened by a project's path")
	}
}

func TestAPathIsFoundBelowItsRootHoweverItIsSpelled(t *testing.T) {
	home, _ := user(t)
	root := filepath.Join(home, "src", "shop")
	must(t, os.Symlink(root, filepath.Join(home, "current")))
	must(t, os.Symlink("/", filepath.Join(root, "all")))
	tests := []struct {
		name, path, want string
		ok               bool
	}{
		{"as it is", root + "/a/b.pxl", "a/b.pxl", true},
		{"the root", root, ".", true},
		{"through a link to the root", home + "/current/app/x.pxl", "app/x.pxl", true},
		{"one that is not there", home + "/current/none/x.pxl", "none/x.pxl", true},
		{"beside it", home + "/src/file", "", false},
		{"a name that begins like it", root + "2/x", "", false},
		{"climbing out of the link", home + "/current/../.ssh", "", false},
		{"a link out of it stays below, for the opening to refuse", root + "/all/etc/passwd", "all/etc/passwd", true},
		{"relative", "app", "", false},
		{"a NUL", root + "/a\x00", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := roots.Within(root, tt.path)
			if ok != tt.ok || ok && filepath.ToSlash(got) != tt.want {
				t.Errorf("%s: %q, %v, want %q, %v", tt.path, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func BenchmarkFolder(b *testing.B) {
	home := b.TempDir()
	rules := roots.New(roots.Options{Homes: []string{home}})
	shop := filepath.Join(home, "src", "shop")
	if err := os.MkdirAll(shop, 0o700); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := rules.Folder(shop); err != nil {
			b.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnOpenedFolderIsTheOneThatWasDecidedAbout(t *testing.T) {
	home, rules := user(t)
	shop := filepath.Join(home, "src", "shop")
	link := filepath.Join(home, "src", "link")
	must(t, os.Symlink(shop, link))
	for _, dir := range []string{shop, link, shop + "/./app/.."} {
		root, err := rules.Open(dir)
		must(t, err)
		if _, err := root.Stat("app"); err != nil {
			t.Errorf("%s was opened, and is not the shop: %v", dir, err)
		}
		must(t, root.Close())
	}
	var refused *roots.RefusedError
	if _, err := rules.Open(filepath.Join(home, ".ssh")); !errors.As(err, &refused) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if text := refused.NoProject(); !strings.Contains(text, ".ssh") || !strings.HasSuffix(text, "start the agent in a project's folder") {
		t.Errorf("got %q, want the folder and what to do", text)
	}
	if _, err := rules.Open(filepath.Join(home, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for a folder that is missing", err)
	}
}
