// Package gittree takes the sources of a commit and of the present out of a git
// repository without writing anything into it.
package gittree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/process"
)

// Repo reads the repository a project lies in.
type Repo struct {
	// Project is the project's folder, absolute and without links.
	Project string
	// Timeout bounds each long git command; 0 means one minute.
	Timeout time.Duration
	// Environ is the deck's environment, of which git gets a few variables.
	Environ []string
}

// Commit is a resolved baseline.
type Commit struct {
	Ref, Hash string
	// Describe is a branch or tag that points at it, else a short hash.
	Describe string
	// Time is when it was committed.
	Time time.Time
	// Prefix is the project's slash path inside the repository with a slash at
	// its end, "" at the top; Top is the top folder of the working tree.
	Prefix, Top string
}

const resolveTime = 15 * time.Second

// CheckRef refuses what cannot be a revision.
func CheckRef(ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	bad := ref == "" || len(ref) > 256 || strings.HasPrefix(ref, "-")
	for _, r := range ref {
		bad = bad || unicode.IsControl(r)
	}
	if bad {
		return "", badRef(ref)
	}
	return ref, nil
}

func badRef(ref string) error {
	return problem.New(problem.GitBadRef, "use a branch, a tag or a commit, such as git:HEAD, git:main or git:HEAD~3", "%q names no commit of this repository", ref)
}

// Resolve finds the commit of a revision.
func (r Repo) Resolve(ctx context.Context, ref string) (Commit, error) {
	ref, err := CheckRef(ref)
	if err != nil {
		return Commit{}, err
	}
	if _, err := process.Find("git"); err != nil {
		return Commit{}, problem.New(problem.GitNotFound, "install git, or compare with a snapshot", "git was not found").Because(err)
	}
	out, err := r.git(ctx, resolveTime, r.Project, "", nil, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		if ctx.Err() != nil {
			return Commit{}, ctx.Err()
		}
		return Commit{}, problem.New(problem.GitNoRepo, "compare with a snapshot, or run `git init`", "%s lies in no git repository", r.Project).Because(err)
	}
	lines := strings.SplitN(strings.TrimSuffix(out, "\n"), "\n", 2)
	c := Commit{Ref: ref, Top: lines[0]}
	if len(lines) > 1 {
		c.Prefix = lines[1]
	}
	out, err = r.git(ctx, resolveTime, r.Project, "", nil, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return Commit{}, ctx.Err()
		}
		return Commit{}, badRef(ref)
	}
	c.Hash = strings.TrimSpace(out)
	c.Describe = c.Hash[:min(len(c.Hash), 7)]
	if out, err := r.git(ctx, resolveTime, r.Project, "", nil, "name-rev", "--name-only", "--no-undefined", "--refs=refs/heads/*", "--refs=refs/tags/*", c.Hash); err == nil {
		if name := strings.TrimSpace(out); name != "" && !strings.ContainsAny(name, "~^") {
			c.Describe = name
		}
	}
	if out, err := r.git(ctx, resolveTime, r.Project, "", nil, "show", "-s", "--format=%cI", c.Hash); err == nil {
		c.Time, _ = time.Parse(time.RFC3339, strings.TrimSpace(out))
	}
	return c, nil
}

// Wanted tells whether a file can matter to an analysis.
func Wanted(rel string, style bool) bool {
	return rel == "package.json" || manifest.IsSource(rel, style)
}

// Extract writes the commit's files that can matter into dir, which is empty.
// found is false when the project's folder does not exist in the commit.
func (r Repo) Extract(ctx context.Context, c Commit, dir string, style bool) (found bool, warnings []problem.Warning, err error) {
	tree := c.Hash + ":" + strings.TrimSuffix(c.Prefix, "/")
	if c.Prefix == "" {
		tree = c.Hash
	}
	out, err := r.git(ctx, r.timeout(), c.Top, "", nil, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		if c.Prefix != "" && ctx.Err() == nil && r.absent(ctx, c) {
			return false, []problem.Warning{problem.Warn(problem.GitPathNew, "%s does not exist at %s, so everything is new", strings.TrimSuffix(c.Prefix, "/"), c.Describe)}, nil
		}
		return false, nil, failed(ctx, "list the files of "+c.Describe, err)
	}
	names, links, modules := splitTree(out, style)
	if len(modules) > 0 {
		warnings = append(warnings, problem.Warn(problem.GitSubmodules, "%d submodules are left out on both sides: %s", len(modules), strings.Join(modules[:min(len(modules), 5)], ", ")))
	}
	index := dir + ".index"
	defer func() { _ = os.Remove(index) }()
	if _, err := r.git(ctx, r.timeout(), c.Top, index, nil, "read-tree", "--no-sparse-checkout", tree); err != nil {
		return true, warnings, failed(ctx, "read the tree of "+c.Describe, err)
	}
	stdin := strings.NewReader(strings.Join(append(names, ""), "\x00"))
	if _, err := r.git(ctx, r.timeout(), c.Top, index, stdin, "checkout-index", "-f", "-z", "--stdin", "--prefix="+dir+"/"); err != nil {
		return true, warnings, failed(ctx, "write the files of "+c.Describe, err)
	}
	for _, name := range links {
		dropOutside(dir, name)
	}
	return true, warnings, nil
}

func (r Repo) absent(ctx context.Context, c Commit) bool {
	out, err := r.git(ctx, resolveTime, c.Top, "", nil, "ls-tree", "-z", "--full-tree", c.Hash, "--", strings.TrimSuffix(c.Prefix, "/"))
	return err == nil && out == ""
}

// splitTree sorts the entries of a tree listing: names that matter, those of
// them that are links, and submodules.
func splitTree(out string, style bool) (names, links, modules []string) {
	for entry := range strings.SplitSeq(out, "\x00") {
		head, name, ok := strings.Cut(entry, "\t")
		if !ok {
			continue
		}
		mode, _, _ := strings.Cut(head, " ")
		switch {
		case mode == "160000":
			modules = append(modules, name)
		case !Wanted(name, style):
		case mode == "120000":
			links = append(links, name)
			names = append(names, name)
		default:
			names = append(names, name)
		}
	}
	return names, links, modules
}

// dropOutside removes a link that leaves the tree it lies in.
func dropOutside(dir, name string) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	target, err := os.Readlink(full)
	if err == nil && staysInside(name, target) {
		return
	}
	_ = os.Remove(full)
}

func staysInside(name, target string) bool {
	if filepath.IsAbs(target) {
		return false
	}
	return filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(name), filepath.ToSlash(target))))
}

// Present lists the project's files of now that can matter: tracked ones and
// untracked ones that git does not ignore.
func (r Repo) Present(ctx context.Context, style bool) ([]string, error) {
	out, err := r.git(ctx, r.timeout(), r.Project, "", nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, failed(ctx, "list the present files", err)
	}
	var names []string
	seen := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		if name != "" && Wanted(name, style) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// Copy brings present files into dir. Files that are gone, folders and links
// that leave the project are left out.
func (r Repo) Copy(ctx context.Context, names []string, dir string) error {
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := copyFile(r.Project, dir, name); err != nil {
			return problem.New(problem.GitFailed, "see that the file can be read", "%s could not be copied for the comparison", name).Because(err)
		}
	}
	return nil
}

func copyFile(from, to, name string) error {
	source := filepath.Join(from, filepath.FromSlash(name))
	info, err := os.Lstat(source)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	dest := filepath.Join(to, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(source)
		if err != nil || !staysInside(name, target) {
			return err
		}
		return os.Symlink(target, dest)
	case !info.Mode().IsRegular():
		return nil
	}
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(dest, data, 0o600)
}

func (r Repo) timeout() time.Duration {
	if r.Timeout > 0 {
		return r.Timeout
	}
	return time.Minute
}

func failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return problem.New(problem.GitFailed, "run `git status` in the project to see whether the repository is whole", "git could not %s: %v", what, err).Because(err)
}

// git runs one command that only reads: no prompts, no hooks, no helpers from
// the repository's own settings, no locks. index names a private index file.
func (r Repo) git(ctx context.Context, limit time.Duration, dir, index string, stdin io.Reader, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	all := append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "--no-pager"}, args...)
	c := process.Command{Program: "git", Args: all, Dir: dir, Kind: process.Tool, Own: r.Environ}
	c.Extra = []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C"}
	if index != "" {
		c.Extra = append(c.Extra, "GIT_INDEX_FILE="+index)
	}
	var out, errs bytes.Buffer
	if err := process.Run(ctx, c, process.Streams{In: stdin, Out: &out, Err: &errs}); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, first)
	}
	return out.String(), nil
}

// Refs are revisions that make good baselines: the last commit, the upstream,
// the main branch, the newest tags. Without a repository there are none.
func (r Repo) Refs(ctx context.Context) []string {
	var out []string
	add := func(ref string) {
		if _, err := r.git(ctx, resolveTime, r.Project, "", nil, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}"); err == nil {
			out = append(out, ref)
		}
	}
	add("HEAD")
	if len(out) == 0 {
		return nil
	}
	if name, err := r.git(ctx, resolveTime, r.Project, "", nil, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"); err == nil {
		out = append(out, strings.TrimSpace(name))
	}
	add("main")
	add("master")
	tags, err := r.git(ctx, resolveTime, r.Project, "", nil, "for-each-ref", "--sort=-creatordate", "--count=5", "--format=%(refname:short)", "refs/tags")
	if err == nil {
		out = append(out, strings.Fields(tags)...)
	}
	return out
}
