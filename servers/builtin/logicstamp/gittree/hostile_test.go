//go:build unix

package gittree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/gittree"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

const secret = "export const SECRET = 1;\n"

// scene is a repository in a folder that holds other things, too.
type scene struct {
	t                   *testing.T
	dir, project, owned string
}

// newScene makes a repository with one commit of src/a.ts. Programs that it is
// made to name would write the file owned.
func newScene(t *testing.T, init ...string) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git: ", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, dir: dir, project: filepath.Join(dir, "project"), owned: filepath.Join(dir, "owned")}
	s.write("outside/secret.ts", secret)
	s.write("project/src/a.ts", "export const a = 1;\n")
	s.write("evil", "#!/bin/sh\necho \"$0 $*\" >> '"+s.owned+"'\ncat\n")
	if err := os.Chmod(filepath.Join(dir, "evil"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.git(append([]string{"init", "-q", "-b", "main"}, init...)...)
	s.commit()
	return s
}

func (s *scene) write(name, text string) {
	s.t.Helper()
	full := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) git(args ...string) string { s.t.Helper(); return s.gitIn(s.project, args...) }

func (s *scene) gitIn(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@e", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@e",
		"GIT_CONFIG_NOSYSTEM=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *scene) commit() {
	s.t.Helper()
	s.git("add", "-A")
	s.git("commit", "-qm", "x", "--allow-empty", "--no-verify")
}

func (s *scene) link(target, name string) {
	s.t.Helper()
	if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) remove(name string) {
	s.t.Helper()
	if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

// read takes both sides out of the repository. It returns their files by name,
// the commit's under "commit/" and the present's under "present/".
func (s *scene) read(project, ref string) (map[string]string, error) {
	s.t.Helper()
	repo := gittree.Repo{
		Project: project, Scratch: filepath.Join(s.dir, "scratch"),
		Environ: []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "GIT_DIR=/nowhere", "GIT_EXTERNAL_DIFF=" + filepath.Join(s.dir, "evil")},
	}
	repo.Refs(s.t.Context())
	out := s.t.TempDir()
	c, err := repo.Resolve(s.t.Context(), ref)
	if err != nil {
		return nil, err
	}
	if c.Time.IsZero() || c.Describe == "" {
		s.t.Errorf("commit = %+v", c)
	}
	if _, _, err := repo.Extract(s.t.Context(), c, filepath.Join(out, "commit"), false); err != nil {
		return nil, err
	}
	names, err := repo.Present(s.t.Context(), false)
	if err != nil {
		return nil, err
	}
	if err := repo.Copy(s.t.Context(), names, filepath.Join(out, "present")); err != nil {
		return nil, err
	}
	files := map[string]string{}
	err = filepath.Walk(out, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		files[strings.TrimPrefix(p, out+"/")] = string(b)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files, nil
}

// safe fails when something ran or came from outside, or when the reader left
// something behind.
func (s *scene) safe(files map[string]string) {
	s.t.Helper()
	if b, err := os.ReadFile(s.owned); err == nil {
		s.t.Errorf("the repository ran a program:\n%s", b)
	}
	for name, text := range files {
		if strings.Contains(text, "SECRET") {
			s.t.Errorf("%s was read from outside", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "scratch", "*")); len(left) > 0 {
		s.t.Errorf("left behind: %q", left)
	}
}

func names(files map[string]string) string {
	var all []string
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestComparingRunsNothingTheRepositoryNames holds that no setting, attribute or
// hook of a repository starts a program.
func TestComparingRunsNothingTheRepositoryNames(t *testing.T) {
	const both = "commit/src/a.ts present/src/a.ts"
	for name, row := range map[string]struct {
		make func(s *scene, evil string)
		want string // files, "" for an error
	}{
		"a smudge filter": {func(s *scene, evil string) {
			s.write("project/.gitattributes", "*.ts filter=x\n")
			s.commit()
			s.git("config", "filter.x.smudge", evil)
			s.git("config", "filter.x.required", "true")
		}, both},
		"a filter process": {func(s *scene, evil string) {
			s.write("project/.gitattributes", "*.ts filter=x\n")
			s.commit()
			s.git("config", "filter.x.process", evil)
		}, both},
		"a filter of the user's own": {func(s *scene, evil string) {
			s.write("project/.gitattributes", "*.ts filter=x\n")
			s.commit()
			s.write(".gitconfig", "[filter \"x\"]\nsmudge = "+evil+"\nclean = "+evil+"\n")
		}, both},
		"a signature program": {func(s *scene, evil string) {
			tree := s.git("rev-parse", "HEAD^{tree}")
			s.write("signed", "tree "+tree+"\nauthor t <t@e> 1700000000 +0000\ncommitter t <t@e> 1700000000 +0000\n"+
				"gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nx\n")
			s.git("reset", "-q", "--soft", s.git("hash-object", "-t", "commit", "-w", filepath.Join(s.dir, "signed")))
			s.git("config", "log.showSignature", "true")
			s.git("config", "gpg.program", evil)
		}, both},
		"a file system monitor": {func(s *scene, evil string) { s.git("config", "core.fsmonitor", evil) }, both},
		"an external diff and a pager": {func(s *scene, evil string) {
			s.write("project/.gitattributes", "*.ts diff=x\n")
			s.commit()
			for _, key := range []string{"diff.external", "diff.x.command", "diff.x.textconv", "core.pager", "pager.ls-files", "core.editor", "core.askPass", "core.sshCommand", "credential.helper"} {
				s.git("config", key, evil)
			}
		}, both},
		"hooks": {func(s *scene, evil string) {
			for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"} {
				s.write("hooks/"+hook, "#!/bin/sh\n"+evil+"\n")
				if err := os.Chmod(filepath.Join(s.dir, "hooks", hook), 0o700); err != nil {
					s.t.Fatal(err)
				}
			}
			s.git("config", "core.hooksPath", filepath.Join(s.dir, "hooks"))
		}, both},
		"settings in another file": {func(s *scene, evil string) {
			s.write("more", "[core]\nfsmonitor = "+evil+"\n[alias]\nls-tree = !"+evil+"\n")
			s.git("config", "include.path", filepath.Join(s.dir, "more"))
		}, both},
		"the fetch of a partial clone": {func(s *scene, evil string) {
			s.git("config", "extensions.partialClone", "origin")
			s.git("config", "core.repositoryFormatVersion", "1")
			s.git("config", "remote.origin.url", "file://"+s.dir+"/project")
			s.git("config", "remote.origin.promisor", "true")
			s.git("config", "remote.origin.uploadpack", evil)
			blob := s.git("rev-parse", "HEAD:src/a.ts")
			s.remove("project/.git/objects/" + blob[:2] + "/" + blob[2:])
		}, ""},
		"a working tree elsewhere": {func(s *scene, _ string) { s.git("config", "core.worktree", filepath.Join(s.dir, "outside")) }, both},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			row.make(s, filepath.Join(s.dir, "evil"))
			s.remove("owned") // what making it has run
			files, err := s.read(s.project, "HEAD")
			s.safe(files)
			switch {
			case row.want == "" && (problem.CodeOf(err) != problem.GitFailed || !strings.Contains(fmt.Sprint(err), "partial clone lacks 1 file")):
				t.Errorf("%s: %v", names(files), err)
			case row.want != "" && (err != nil || names(files) != row.want):
				t.Errorf("read %s, want %s: %v", names(files), row.want, err)
			}
			for name, text := range files {
				if text != "export const a = 1;\n" {
					t.Errorf("%s is %q", name, text)
				}
			}
		})
	}
}

// TestComparingReadsNothingOutsideTheProject holds that nothing in a project
// leads git or us to files elsewhere.
func TestComparingReadsNothingOutsideTheProject(t *testing.T) {
	other := func(s *scene) string { // a repository that the project has no business with
		dir := filepath.Join(s.dir, "other")
		s.write("other/src/b.ts", secret)
		s.gitIn(s.dir, "init", "-q", "-b", "main", "other")
		s.gitIn(dir, "add", "-A")
		s.gitIn(dir, "commit", "-qm", "x")
		return dir
	}
	for name, row := range map[string]struct {
		make func(s *scene)
		want string // files, "" for a refusal
	}{
		"borrowed objects": {func(s *scene) {
			s.write("project/.git/objects/info/alternates", filepath.Join(other(s), ".git/objects")+"\n")
			hash := s.gitIn(filepath.Join(s.dir, "other"), "rev-parse", "HEAD")
			s.write("project/.git/refs/heads/main", hash+"\n")
		}, ""},
		"linked objects": {func(s *scene) {
			objects := filepath.Join(other(s), ".git/objects")
			s.remove("project/.git/objects/pack")
			s.gitIn(filepath.Join(s.dir, "other"), "gc", "-q")
			s.link(filepath.Join(objects, "pack"), "project/.git/objects/pack")
		}, ""},
		"a linked object": {func(s *scene) {
			dir := other(s)
			blob := s.gitIn(dir, "rev-parse", "HEAD:src/b.ts")
			s.link(filepath.Join(dir, ".git/objects", blob[:2], blob[2:]), "project/.git/objects/"+blob[:2]+blob[2:])
		}, ""},
		"all objects linked": {func(s *scene) {
			s.remove("project/.git/objects")
			s.link(filepath.Join(other(s), ".git/objects"), "project/.git/objects")
		}, ""},
		"a .git file": {func(s *scene) {
			s.remove("project/.git")
			s.write("project/.git", "gitdir: "+filepath.Join(other(s), ".git")+"\n")
		}, ""},
		"a .git file to another's working tree": {func(s *scene) {
			s.gitIn(other(s), "worktree", "add", "-q", "-b", "w", filepath.Join(s.dir, "wt"))
			s.remove("project/.git")
			s.write("project/.git", "gitdir: "+filepath.Join(s.dir, "other/.git/worktrees/wt")+"\n")
		}, ""},
		"a .git link": {func(s *scene) {
			s.remove("project/.git")
			s.link(filepath.Join(other(s), ".git"), "project/.git")
		}, ""},
		"a common folder": {func(s *scene) { s.write("project/.git/commondir", filepath.Join(other(s), ".git")+"\n") }, ""},
		"an index entry behind a linked folder": {func(s *scene) {
			s.write("project/lib/secret.ts", "export {}\n")
			s.commit()
			s.remove("project/lib")
			s.link("../outside", "project/lib")
		}, "commit/lib/secret.ts commit/src/a.ts present/src/a.ts"},
		"linked sources": {func(s *scene) {
			s.link(filepath.Join(s.dir, "outside/secret.ts"), "project/src/b.ts")
			s.link("../../outside/secret.ts", "project/src/c.ts")
			s.link("a.ts", "project/src/fine.ts")
			s.commit()
		}, "commit/src/a.ts commit/src/fine.ts present/src/a.ts present/src/fine.ts"},
		"a link over a link": {func(s *scene) {
			// Each looks as if it stayed inside; together they do not.
			s.write("project/p/q/b.ts", "export {}\n")
			s.link("../..", "project/p/q/up.ts")
			s.link("up.ts/../outside/secret.ts", "project/p/q/c.ts")
			s.commit()
		}, "commit/p/q/b.ts commit/src/a.ts present/p/q/b.ts present/src/a.ts"},
		"a linked reflog and list of exclusions": {func(s *scene) {
			s.remove("project/.git/logs")
			s.remove("project/.git/info")
			s.link("../../outside", "project/.git/logs")
			s.link("../../outside", "project/.git/info")
		}, "commit/src/a.ts present/src/a.ts"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			row.make(s)
			files, err := s.read(s.project, "HEAD")
			s.safe(files)
			switch {
			case row.want == "" && problem.CodeOf(err) != problem.GitUnsafe:
				t.Errorf("read %s: %v", names(files), err)
			case row.want != "" && (err != nil || names(files) != row.want):
				t.Errorf("read %s, want %s: %v", names(files), row.want, err)
			}
		})
	}
}

// TestATreeCannotLeadOutOfItsFolder reads a commit that git would not have made.
func TestATreeCannotLeadOutOfItsFolder(t *testing.T) {
	s := newScene(t)
	blob := s.git("rev-parse", "HEAD:src/a.ts")
	raw := make([]byte, 0, 20)
	for i := 0; i < len(blob); i += 2 {
		var b byte
		_, _ = fmt.Sscanf(blob[i:i+2], "%02x", &b)
		raw = append(raw, b)
	}
	s.write("tree", "100644 ../../x.ts\x00"+string(raw)+"100644 a.ts\x00"+string(raw))
	tree := s.git("hash-object", "-t", "tree", "-w", "--literally", filepath.Join(s.dir, "tree"))
	commit := s.git("commit-tree", "-m", "x", tree)
	files, err := s.read(s.project, commit)
	if err != nil || names(files) != "commit/a.ts present/src/a.ts" {
		t.Errorf("read %s: %v", names(files), err)
	}
}

// TestTrueRepositoriesAreRead holds that what git makes itself is read.
func TestTrueRepositoriesAreRead(t *testing.T) {
	const both = "commit/src/a.ts present/src/a.ts"
	for name, row := range map[string]struct {
		init []string
		make func(s *scene) (project, ref string)
		want string
	}{
		"plain": {nil, func(s *scene) (string, string) { return s.project, "main" }, both},
		"with SHA-256": {[]string{"--object-format=sha256"}, func(s *scene) (string, string) {
			s.git("gc", "-q")
			return s.project, "HEAD"
		}, both},
		"packed": {nil, func(s *scene) (string, string) {
			s.git("tag", "-am", "x", "v1")
			s.git("gc", "-q")
			return s.project, "v1"
		}, both},
		"a working tree": {nil, func(s *scene) (string, string) {
			s.git("worktree", "add", "-q", "-b", "side", filepath.Join(s.dir, "side"))
			s.write("side/src/new.ts", "export {}\n")
			return filepath.Join(s.dir, "side"), "side"
		}, both + " present/src/new.ts"},
		"a submodule": {nil, func(s *scene) (string, string) {
			s.gitIn(s.dir, "init", "-q", "-b", "main", "around")
			around := filepath.Join(s.dir, "around")
			s.gitIn(around, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.project, "sub")
			return filepath.Join(around, "sub"), "HEAD"
		}, both},
		"a shallow clone": {nil, func(s *scene) (string, string) {
			s.write("project/src/b.ts", "export {}\n")
			s.commit()
			s.gitIn(s.dir, "clone", "-q", "--depth=1", "file://"+s.project, "clone")
			return filepath.Join(s.dir, "clone"), "@{upstream}"
		}, "commit/src/a.ts commit/src/b.ts present/src/a.ts present/src/b.ts"},
		"with a history of its branch": {nil, func(s *scene) (string, string) {
			s.write("project/src/b.ts", "export {}\n")
			s.commit()
			return s.project, "main@{1}"
		}, "commit/src/a.ts present/src/a.ts present/src/b.ts"},
		"a replaced commit": {nil, func(s *scene) (string, string) {
			first := s.git("rev-parse", "HEAD")
			s.write("project/src/b.ts", "export {}\n")
			s.commit()
			s.git("replace", "HEAD", first)
			return s.project, "HEAD"
		}, "commit/src/a.ts commit/src/b.ts present/src/a.ts present/src/b.ts"},
		"an index in two parts": {nil, func(s *scene) (string, string) {
			s.git("update-index", "--split-index")
			s.write("project/src/b.ts", "export {}\n")
			s.git("add", "-A")
			return s.project, "HEAD"
		}, both + " present/src/b.ts"},
		"what is ignored": {nil, func(s *scene) (string, string) {
			s.write("project/.gitignore", "b.ts\n")
			s.write("project/.git/info/exclude", "c.ts\n")
			s.write("mine", "d.ts\n")
			s.write(".gitconfig", "[core]\nexcludesFile = "+filepath.Join(s.dir, "mine")+"\n")
			for _, f := range []string{"b", "c", "d", "e"} {
				s.write("project/src/"+f+".ts", "export {}\n")
			}
			return s.project, "HEAD"
		}, both + " present/src/e.ts"},
		"a folder of it": {nil, func(s *scene) (string, string) { return filepath.Join(s.project, "src"), "HEAD~0" }, "commit/a.ts present/a.ts"},
		"lines that end as on Windows": {nil, func(s *scene) (string, string) {
			s.write("project/src/a.ts", "export const a = 1;\r\n")
			return s.project, "HEAD"
		}, both},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, row.init...)
			project, ref := row.make(s)
			files, err := s.read(project, ref)
			s.safe(files)
			if err != nil || names(files) != row.want {
				t.Errorf("read %s, want %s: %v", names(files), row.want, err)
			}
			if text, ok := files["present/src/a.ts"]; ok && text != files["commit/src/a.ts"] {
				t.Errorf("the sides differ: %q", files)
			}
		})
	}
}

func TestARepositoryWithoutCommitsSaysSo(t *testing.T) {
	s := newScene(t)
	s.remove("project/.git")
	s.git("init", "-q", "-b", "main")
	if _, err := s.read(s.project, "HEAD"); problem.CodeOf(err) != problem.GitBadRef || !strings.Contains(err.Error(), "has no commit yet. Next: commit first") {
		t.Errorf("got %v", err)
	}
	s.commit()
	if _, err := s.read(s.project, "nowhere"); err == nil || !strings.Contains(err.Error(), `"nowhere" is not a commit`) {
		t.Errorf("with a commit: %v", err)
	}
}
