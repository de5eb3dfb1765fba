package gittree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// largest is the size of a source that is still taken; nobody writes larger
// ones, and programs that do are not compared.
const largest = 16 << 20

// entry is a file of a commit.
type entry struct {
	name, hash string
	link       bool
}

// Extract writes the commit's files that can matter into dir, as they are in
// the commit: no filter and no attribute changes them, but that lines end as on
// Unix. found is false when the project's folder does not exist in the commit.
func (r Repo) Extract(ctx context.Context, c Commit, dir string, style bool) (found bool, warnings []problem.Warning, err error) {
	v, err := r.open(ctx, false)
	if err != nil {
		return false, nil, err
	}
	defer v.close()
	tree := c.Hash + ":" + strings.TrimSuffix(c.Prefix, "/")
	if c.Prefix == "" {
		tree = c.Hash
	}
	out, err := v.git(ctx, r.timeout(), "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		if c.Prefix != "" && ctx.Err() == nil && v.absent(ctx, c) {
			return false, []problem.Warning{problem.Warn(problem.GitPathNew, "%s does not exist at %s, so everything is new", strings.TrimSuffix(c.Prefix, "/"), c.Describe)}, nil
		}
		return false, nil, failed(ctx, "list the files of "+c.Describe, err)
	}
	files, modules := splitTree(out, style)
	if len(modules) > 0 {
		warnings = append(warnings, problem.Warn(problem.GitSubmodules, "skipped %s on both sides: %s", humanize.Count(len(modules), "submodule"), strings.Join(modules[:min(len(modules), 5)], ", ")))
	}
	to, err := openNew(dir)
	if err != nil {
		return true, warnings, failed(ctx, "write the files of "+c.Describe, err)
	}
	defer to.Close()
	missing, err := v.blobs(ctx, files, to)
	if err != nil {
		return true, warnings, failed(ctx, "write the files of "+c.Describe, err)
	}
	if len(missing) > 0 {
		return true, warnings, problem.New(problem.GitFailed, "fetch them with `git fetch --refetch --no-filter`, or compare with a snapshot",
			"this partial clone lacks %s of %s: %s", humanize.Count(len(missing), "file"), c.Describe, strings.Join(missing[:min(len(missing), 5)], ", "))
	}
	return true, warnings, nil
}

// openNew opens a folder that is made if it is missing, so that no name can
// lead out of it.
func openNew(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return file.Root(dir)
}

func (v *view) absent(ctx context.Context, c Commit) bool {
	out, err := v.git(ctx, resolveTime, "ls-tree", "-z", "--full-tree", c.Hash, "--", strings.TrimSuffix(c.Prefix, "/"))
	return err == nil && out == ""
}

// splitTree sorts the entries of a tree listing: files and links that matter,
// and submodules. A name that would lead out of a folder is left out: no commit
// that git made has one.
func splitTree(out string, style bool) (files []entry, modules []string) {
	for line := range strings.SplitSeq(out, "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		switch {
		case fields[0] == "160000":
			modules = append(modules, name)
		case Wanted(name, style):
			files = append(files, entry{name: name, hash: fields[2], link: fields[0] == "120000"})
		}
	}
	return files, modules
}

// blobs writes the contents of files, and tells which the repository does not
// have.
func (v *view) blobs(ctx context.Context, files []entry, to *os.Root) (missing []string, err error) {
	var ask bytes.Buffer
	for _, f := range files {
		ask.WriteString(f.hash + "\n")
	}
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	ended := make(chan struct{})
	defer func() {
		cancel()
		_ = r.Close() // lets git end, whatever it still has to say
		<-ended
	}()
	recovery.Go("git objects", func() {
		defer close(ended)
		w.CloseWithError(v.repo.stream(ctx, v.repo.timeout(), v.command("cat-file", "--batch"), &ask, w))
	})
	in := bufio.NewReader(r)
	var links []string
	for _, f := range files {
		have, err := f.take(in, to)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if !have {
			missing = append(missing, f.name)
		}
		if f.link {
			links = append(links, f.name)
		}
	}
	dropOutside(to, links)
	return missing, nil
}

// take reads one answer of cat-file and writes the file.
func (f entry) take(in *bufio.Reader, to *os.Root) (have bool, err error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return false, err
	}
	fields := strings.Fields(head)
	if len(fields) == 2 && fields[1] == "missing" {
		return false, nil
	}
	if len(fields) != 3 || fields[0] != f.hash {
		return false, fmt.Errorf("git answers %q", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return false, err
	}
	if fields[1] != "blob" || size > largest {
		_, err := io.CopyN(io.Discard, in, size+1)
		return true, err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return false, err
	}
	if _, err := in.Discard(1); err != nil {
		return false, err
	}
	if f.link {
		return true, putLink(to, f.name, string(data))
	}
	return true, put(to, f.name, data)
}

// put writes a file with Unix line ends, whatever the repository or the user
// has working files look like, so that both sides are alike.
func put(to *os.Root, name string, data []byte) error {
	local := filepath.FromSlash(name)
	if err := to.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return err
	}
	return to.WriteFile(local, bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), 0o600)
}

func putLink(to *os.Root, name, target string) error {
	local := filepath.FromSlash(name)
	if !staysInside(name, target) {
		return nil
	}
	if err := to.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return err
	}
	_ = to.Symlink(filepath.FromSlash(target), local) // Windows may not allow it
	return nil
}

// dropOutside removes links that lead nowhere or out of the folder, perhaps
// over other links.
func dropOutside(dir *os.Root, links []string) {
	for _, name := range links {
		local := filepath.FromSlash(name)
		if info, err := dir.Stat(local); err != nil || !info.Mode().IsRegular() {
			_ = dir.Remove(local)
		}
	}
}

func staysInside(name, target string) bool {
	if filepath.IsAbs(target) {
		return false
	}
	return filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(name), filepath.ToSlash(target))))
}

// Copy brings present files into dir as Extract does. Files that are gone,
// folders, and what leads out of the project are left out.
func (r Repo) Copy(ctx context.Context, names []string, dir string) error {
	from, err := file.Root(r.Project)
	if err != nil {
		return failed(ctx, "open the project", err)
	}
	defer from.Close()
	to, err := openNew(dir)
	if err != nil {
		return failed(ctx, "write the present files", err)
	}
	defer to.Close()
	var links []string
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		link, err := copyFile(from, to, name)
		if err != nil && !outside(r.Project, name) {
			return problem.New(problem.GitFailed, "see that the file can be read", "%s could not be copied for the comparison", name).Because(err)
		}
		if link {
			links = append(links, name)
		}
	}
	dropOutside(to, links)
	return nil
}

// outside reports whether a file of the project lies elsewhere, or nowhere.
func outside(project, name string) bool {
	full, err := filepath.EvalSymlinks(filepath.Join(project, filepath.FromSlash(name)))
	return err != nil || !file.Within(project, full)
}

func copyFile(from, to *os.Root, name string) (link bool, err error) {
	local := filepath.FromSlash(name)
	info, err := from.Lstat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(local)
		if err != nil {
			return false, err
		}
		return true, putLink(to, name, target)
	case !info.Mode().IsRegular() || info.Size() > largest:
		return false, nil
	}
	data, err := file.Inside(from, local, largest)
	if err != nil {
		return false, err
	}
	return false, put(to, name, data)
}
