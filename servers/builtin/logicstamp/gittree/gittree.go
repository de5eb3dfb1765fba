// Package gittree takes the sources of a commit and of the present out of a git
// repository. It writes nothing into it, and runs and follows nothing that it
// names.
//
// git itself reads the objects and the index, since it alone knows all their
// forms: a reader in Go such as go-git knows neither repositories with SHA-256, nor
// split indexes, nor revisions by their reflog, and takes four times as long. But it never sees the repository's own settings, hooks or attributes:
// it works in a folder made for the moment, with settings of ours, which holds
// the repository's refs as plain data and looks for objects where they lie.
// That those lie in the repository is checked before.
package gittree

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// Repo reads the repository a project lies in.
type Repo struct {
	// Project is the project's folder, absolute and without links.
	Project string
	// Scratch is a folder of ours, which is made, for what git needs while it
	// reads; "" is the system's for temporary files.
	Scratch string
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
	// its end, "" at the top.
	Prefix string
}

const resolveTime = 15 * time.Second

// checkRef refuses what cannot be a revision.
func checkRef(ref string) (string, error) {
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
	return problem.New(problem.GitBadRef, "use a branch, a tag or a commit, such as git:HEAD, git:main or git:HEAD~3", "%q is not a commit in this repository", ref)
}

// Resolve finds the commit of a revision.
func (r Repo) Resolve(ctx context.Context, ref string) (Commit, error) {
	ref, err := checkRef(ref)
	if err != nil {
		return Commit{}, err
	}
	v, err := r.open(ctx, strings.Contains(ref, "@{"))
	if err != nil {
		return Commit{}, err
	}
	defer v.close()
	out, err := v.git(ctx, resolveTime, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return Commit{}, ctx.Err()
		}
		if any, err := v.git(ctx, resolveTime, "rev-list", "--max-count=1", "--all"); err == nil && strings.TrimSpace(any) == "" {
			return Commit{}, problem.New(problem.GitBadRef, "commit first, or compare with a snapshot", "this repository has no commit yet")
		}
		return Commit{}, badRef(ref)
	}
	c := Commit{Ref: ref, Hash: strings.TrimSpace(out), Prefix: v.place.prefix(r.Project)}
	c.Describe = c.Hash[:min(len(c.Hash), 7)]
	if out, err := v.git(ctx, resolveTime, "name-rev", "--name-only", "--no-undefined", "--refs=refs/heads/*", "--refs=refs/tags/*", c.Hash); err == nil {
		if name := strings.TrimSpace(out); name != "" && !strings.ContainsAny(name, "~^") {
			c.Describe = name
		}
	}
	if out, err := v.git(ctx, resolveTime, "rev-list", "--max-count=1", "--format=%cI", c.Hash); err == nil {
		_, date, _ := strings.Cut(strings.TrimSpace(out), "\n")
		c.Time, _ = time.Parse(time.RFC3339, date)
	}
	return c, nil
}

// Wanted reports whether a file can matter to an analysis.
func Wanted(rel string, style bool) bool {
	return rel == "package.json" || manifest.IsSource(rel, style)
}

// Present lists the project's files of now that can matter.
func (r Repo) Present(ctx context.Context, style bool) ([]string, error) {
	names, err := r.Files(ctx)
	return slices.DeleteFunc(names, func(name string) bool { return !Wanted(name, style) }), err
}

// Files lists the project's files of now: tracked ones and untracked ones that git does
// not ignore. A tracked file need not be there.
func (r Repo) Files(ctx context.Context) ([]string, error) {
	v, err := r.open(ctx, false)
	if err != nil {
		return nil, err
	}
	defer v.close()
	if err := v.takeIndex(); err != nil {
		return nil, failed(ctx, "read the index", err)
	}
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	if file := r.usersExcludes(ctx); file != "" {
		args = append([]string{"-c", "core.excludesFile=" + file}, args...)
	}
	out, err := v.git(ctx, r.timeout(), args...)
	if err != nil {
		return nil, failed(ctx, "list the present files", err)
	}
	var names []string
	seen := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		if filepath.IsLocal(filepath.FromSlash(name)) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// usersExcludes is the file of patterns that the user has git ignore
// everywhere, "" for git's usual place.
func (r Repo) usersExcludes(ctx context.Context) string {
	out, err := r.run(ctx, resolveTime, process.Command{
		Args: []string{"config", "--global", "--includes", "--type=path", "--get", "core.excludesFile"}, Extra: []string{noRepository},
	}, nil)
	if err != nil {
		return "" // not set
	}
	return strings.TrimSuffix(out, "\n")
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
	return problem.New(problem.GitFailed, "run `git status` in the project to check the repository", "git failed to %s: %v", what, err).Because(err)
}

// Refs are revisions that make good baselines: the last commit, the upstream,
// the main branch, the newest tags. Without a repository there are none.
func (r Repo) Refs(ctx context.Context) []string {
	v, err := r.open(ctx, true)
	if err != nil {
		return nil
	}
	defer v.close()
	var out []string
	add := func(ref string) {
		if _, err := v.git(ctx, resolveTime, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}"); err == nil {
			out = append(out, ref)
		}
	}
	add("HEAD")
	if len(out) == 0 {
		return nil
	}
	if name, err := v.git(ctx, resolveTime, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"); err == nil {
		out = append(out, strings.TrimSpace(name))
	}
	add("main")
	add("master")
	tags, err := v.git(ctx, resolveTime, "for-each-ref", "--sort=-creatordate", "--count=5", "--format=%(refname:short)", "refs/tags")
	if err == nil {
		out = append(out, strings.Fields(tags)...)
	}
	return out
}
