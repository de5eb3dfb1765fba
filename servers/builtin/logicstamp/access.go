package logicstamp

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// access decides which folders a caller may read.
type access struct{ opts *Options }

// project resolves the project of a call: absolute, links resolved, a folder
// the caller may read.
func (a *access) project(call Call, arg string) (string, error) {
	base := cmp.Or(call.Root, a.opts.ProjectPath, a.opts.WorkDir)
	if call.Refused != nil {
		base = ""
	}
	path := cmp.Or(arg, call.Hint, base)
	switch {
	case filepath.IsAbs(path):
	case call.Refused != nil:
		return "", problem.New(problem.ProjectNotAllowed, "pass the absolute path of a folder that the user allowed with mcpdeck --allow-dir", "%s", call.Refused.NoProject())
	case path == "":
		return "", problem.New(problem.ProjectNotFound, "pass projectPath", "no project was given and the agent has no project folder")
	default:
		path = filepath.Join(base, path)
	}
	full, found, err := a.resolve(call, path)
	if !found && (err == nil || path == base) {
		return "", problem.New(problem.ProjectNotFound, "pass the absolute path of an existing folder", "the project %s does not exist", path)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(full)
	if err != nil || !info.IsDir() {
		return "", problem.New(problem.ProjectNotFound, "pass the absolute path of an existing folder", "the project %s is not a folder", path)
	}
	if _, err := a.opts.Roots.Folder(full); err != nil || !a.allowed(call, full) {
		return "", a.notAllowed(call, path)
	}
	return full, nil
}

// resolve is what a path stands for, links resolved, if the caller may read there; found
// reports whether there is anything. What lies outside is refused in the same words whether
// or not it exists.
func (a *access) resolve(call Call, path string) (full string, found bool, err error) {
	full, found = destination(path)
	if !a.allowed(call, full) {
		return full, found, a.notAllowed(call, path)
	}
	return full, found, nil
}

// destination is where a path leads, links resolved, also when nothing is there.
func destination(path string) (full string, found bool) {
	const mostLinks = 40
	rest := ""
	for links, at := 0, filepath.Clean(path); ; {
		if full, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(full, rest), rest == ""
		}
		if to, err := os.Readlink(at); err == nil && links < mostLinks {
			links++
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			at = filepath.Clean(to)
			continue
		}
		if at == filepath.Dir(at) {
			return filepath.Join(at, rest), false
		}
		at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
	}
}

// roots are the folders a caller may read below.
func (a *access) roots(call Call) []string {
	var out []string
	dirs := append(slices.Clone(a.opts.AllowedPaths), call.Root, call.Hint)
	if call.Refused == nil {
		dirs = append(dirs, a.opts.ProjectPath)
		if call.Root == "" {
			dirs = append(dirs, a.opts.WorkDir)
		}
	}
	for _, dir := range dirs {
		if full, err := a.opts.Roots.Folder(dir); err == nil && !slices.Contains(out, full) {
			out = append(out, full)
		}
	}
	return out
}

// allowed reports whether a resolved path lies in a folder the caller may read.
func (a *access) allowed(call Call, full string) bool {
	for _, root := range a.roots(call) {
		if full == root || strings.HasPrefix(full, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func (a *access) notAllowed(call Call, path string) error {
	roots := a.roots(call)
	list := "none"
	if len(roots) > 0 {
		list = strings.Join(roots, ", ")
	}
	why := ""
	if call.Refused != nil {
		why = "; " + call.Refused.NoProject()
	}
	return problem.New(problem.ProjectNotAllowed, "use a folder below one of them, or add yours to logicstamp.allowed_paths (or start mcpdeck with --allow-dir)",
		"%s is outside the folders this connection may read (%s)%s", path, list, why)
}

// everybodys are the folders that every caller may read: an analysis is shared by
// callers whose own folders differ.
func (a *access) everybodys() []string {
	var out []string
	for _, dir := range append(slices.Clone(a.opts.AllowedPaths), a.opts.ProjectPath) {
		if full, err := a.opts.Roots.Folder(dir); err == nil && !slices.Contains(out, full) {
			out = append(out, full)
		}
	}
	return out
}
