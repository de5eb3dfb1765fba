package rules

import (
	"os"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// At returns where a command runs that begins in a folder. The project is the repository of the folder
// that is its project's, or that folder.
func At(cwd, project, home string) Place {
	root := repository(project, home)
	return Place{Cwd: slashed(cwd), Root: slashed(root), Home: slashed(home), Link: link, Shared: shared, Planted: planted(cwd, root)}
}

// planted reports whether git may take a folder from one up to the project's for a repository. One without a folder
// .git is its files alone, which are like any others.
func planted(cwd, root string) bool {
	at, err := filepath.EvalSymlinks(cwd)
	root, rootErr := filepath.EvalSymlinks(root)
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(at, name))
		return err == nil
	}
	for err == nil && rootErr == nil && within(slashed(root), slashed(at)) {
		switch git := has(".git"); {
		case at == root:
			return !git && has("HEAD")
		case git || has("HEAD"):
			return true
		}
		at = filepath.Dir(at)
	}
	return false
}

// repository is the folder of the repository that a folder is in, or the folder itself.
func repository(dir, home string) string {
	for at := dir; filepath.IsAbs(at) && at != home; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return dir
}

func link(path string) (string, bool) {
	to, err := os.Readlink(filepath.FromSlash(path))
	return slashed(to), err == nil
}

// shared reports whether a file has other names, which may lie anywhere: what is written to it is written there.
func shared(path string) bool {
	info, err := os.Lstat(filepath.FromSlash(path))
	return err == nil && info.Mode().IsRegular() && file.Names(info) != 1
}

func slashed(p string) string { return filepath.ToSlash(p) }
