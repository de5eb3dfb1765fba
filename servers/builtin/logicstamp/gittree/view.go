package gittree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// view is a repository as git is shown it: a folder of ours with its refs and
// settings of ours.
type view struct {
	repo  Repo
	place place
	dir   string
}

// noRepository keeps git from looking for one in its working folder.
const noRepository = "GIT_DIR=" + os.DevNull

const viewPrefix = "git-view-"

// open makes a view. history takes what revisions with @{ need: the reflogs
// and which branch follows which.
func (r Repo) open(ctx context.Context, history bool) (_ *view, err error) {
	if _, err := process.Find("git"); err != nil {
		return nil, problem.New(problem.GitNotFound, "install git, or compare with a snapshot", "git was not found").Because(err)
	}
	p, err := r.find(ctx, r.Project)
	if errors.Is(err, errNone) {
		return nil, problem.New(problem.GitNoRepo, "compare with a snapshot, or run `git init`", "%s is not in a git repository", r.Project).Because(err)
	}
	if err == nil {
		err = r.checkOwner(ctx, p, r.owned)
	}
	if err != nil {
		return nil, err
	}
	if err := checkObjects(ctx, filepath.Join(p.common, "objects")); err != nil {
		if problem.CodeOf(err) == problem.GitUnsafe {
			return nil, err
		}
		return nil, failed(ctx, "look at the objects", err)
	}
	if r.Scratch != "" {
		if err := os.MkdirAll(r.Scratch, 0o700); err != nil {
			return nil, failed(ctx, "make a folder", err)
		}
		r.sweep()
	}
	dir, err := os.MkdirTemp(r.Scratch, viewPrefix)
	if err != nil {
		return nil, failed(ctx, "make a folder", err)
	}
	v := &view{repo: r, place: p, dir: dir}
	if err := v.fill(ctx, history); err != nil {
		v.close()
		if problem.CodeOf(err) == problem.GitUnsafe {
			return nil, err
		}
		return nil, failed(ctx, "read the refs", err)
	}
	return v, nil
}

func (v *view) close() { _ = os.RemoveAll(v.dir) }

// sweep removes what a crash left.
func (r Repo) sweep() {
	entries, _ := os.ReadDir(r.Scratch)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), viewPrefix) && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(r.Scratch, e.Name()))
		}
	}
}

func (v *view) fill(ctx context.Context, history bool) error {
	settings, err := v.repo.settings(ctx, v.place.common, `^(extensions\..*|branch\..*\.(remote|merge)|remote\..*\.fetch)$`)
	if err != nil {
		return err
	}
	config, err := ownConfig(settings)
	if err != nil {
		return err
	}
	for _, dir := range []string{"refs", "info"} {
		if err := os.Mkdir(filepath.Join(v.dir, dir), 0o700); err != nil {
			return err
		}
	}
	refs, err := readRefs(v.place.common)
	if err != nil {
		return err
	}
	files := map[string][]byte{"config": config, "packed-refs": refs.packed()}
	for _, name := range []string{"HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		if b := headOf(filepath.Join(v.place.own, name)); b != "" {
			files[name] = []byte(b + "\n")
		}
	}
	if files["HEAD"] == nil {
		files["HEAD"] = []byte("ref: refs/heads/.invalid\n") // what git writes where there is none
	}
	if b, err := file.ReadPlain(filepath.Join(v.place.common, "shallow"), false, 64<<20); err == nil {
		files["shallow"] = b
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(v.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	if !history {
		return nil
	}
	if isFolder(filepath.Join(v.place.common, "logs")) {
		if err := copyTree(filepath.Join(v.place.common, "logs", "refs"), filepath.Join(v.dir, "logs", "refs")); err != nil {
			return err
		}
	}
	if !isFolder(filepath.Join(v.place.own, "logs")) {
		return nil
	}
	return copyPlain(filepath.Join(v.place.own, "logs", "HEAD"), filepath.Join(v.dir, "logs", "HEAD"))
}

// takeIndex brings the index over, and what it says is excluded.
func (v *view) takeIndex() error {
	if err := copyPlain(filepath.Join(v.place.own, "index"), filepath.Join(v.dir, "index")); err != nil {
		return err
	}
	shared, _ := filepath.Glob(filepath.Join(globEscape(v.place.own), "sharedindex.*"))
	for _, file := range shared {
		if err := copyPlain(file, filepath.Join(v.dir, filepath.Base(file))); err != nil {
			return err
		}
	}
	if !isFolder(filepath.Join(v.place.common, "info")) {
		return nil
	}
	return copyPlain(filepath.Join(v.place.common, "info", "exclude"), filepath.Join(v.dir, "info", "exclude"))
}

// isFolder reports whether a folder is there, and no link to one.
func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// globEscape makes a path stand for itself in a pattern.
func globEscape(path string) string {
	return regexp.MustCompile(`[*?[\\]`).ReplaceAllStringFunc(path, func(s string) string {
		if s == `\` && filepath.Separator == '\\' {
			return s
		}
		return "[" + s + "]"
	})
}

// copyPlain copies a regular file, if there is one.
func copyPlain(from, to string) error {
	in, err := file.OpenPlain(from, false)
	if errors.Is(err, file.ErrNotPlain) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// copyTree copies the regular files below a folder, if there is one.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // no history is no failure
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		return copyPlain(p, filepath.Join(to, rel))
	})
}

// setting is one line of a repository's settings: a.b.c and its value.
type setting struct{ key, value string }

// settings reads those of a repository's settings that match, as data: git gets
// the text, and none of it counts.
func (r Repo) settings(ctx context.Context, dir, pattern string) ([]setting, error) {
	text, err := file.ReadPlain(filepath.Join(dir, "config"), false, 4<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, refuse("make it a regular file", "the repository's settings in %s are not a regular file", dir)
	}
	out, err := r.run(ctx, resolveTime, process.Command{
		Args:  []string{"config", "--file", "-", "--no-includes", "-z", "--get-regexp", pattern},
		Extra: []string{noRepository, "GIT_CONFIG_GLOBAL=" + os.DevNull},
	}, bytes.NewReader(text))
	if code, exited := process.ExitCode(err); exited && code == 1 {
		return nil, nil // none matches
	}
	if err != nil {
		return nil, err
	}
	var all []setting
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		all = append(all, setting{key, value})
	}
	return all, nil
}

// ownConfig writes the settings that git works with: how the objects are named,
// and which branch follows which. Nothing in it names a program or an address.
func ownConfig(settings []setting) ([]byte, error) {
	var b strings.Builder
	version, format := 0, ""
	for _, s := range settings {
		switch value := strings.ToLower(s.value); s.key {
		case "extensions.objectformat":
			if value != "sha1" && value != "sha256" {
				return nil, fmt.Errorf("unsupported object format %q", s.value)
			}
			version, format = 1, value
		case "extensions.refstorage":
			if value != "files" {
				return nil, fmt.Errorf("the refs are stored as %q, which mcpdeck does not support", s.value)
			}
		}
	}
	fmt.Fprintf(&b, "[core]\nrepositoryformatversion = %d\nbare = false\nuntrackedCache = false\nfsmonitor = false\n", version)
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		b.WriteString("ignorecase = true\nprecomposeunicode = true\n")
	}
	if format != "" {
		fmt.Fprintf(&b, "[extensions]\nobjectformat = %s\n", format)
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, s := range settings {
		section, rest, _ := strings.Cut(s.key, ".")
		dot := strings.LastIndexByte(rest, '.')
		if section == "extensions" || dot < 0 || strings.ContainsAny(s.key+s.value, "\x00\n\r") {
			continue
		}
		fmt.Fprintf(&b, "[%s \"%s\"]\n%s = \"%s\"\n", section, quote.Replace(rest[:dot]), rest[dot+1:], quote.Replace(s.value))
	}
	return []byte(b.String()), nil
}

// refs are a repository's, by full name: a hash, or "ref: " and another name.
type refs map[string]string

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// refName reports whether git would take a name for a ref's.
func refName(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "refs/replace/") || strings.ContainsAny(name, " ~^:?*[\\\x7f") ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' })
}

// readRefs reads packed and loose refs. Replacements of objects are left out:
// what is compared is what the commit's own name covers.
func readRefs(common string) (refs, error) {
	all := refs{}
	packed, err := file.ReadPlain(filepath.Join(common, "packed-refs"), false, 256<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("packed-refs: %w", err)
	}
	for line := range strings.Lines(string(packed)) {
		hash, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if ok && isHash(hash) && refName(name) {
			all[name] = hash
		}
	}
	err = filepath.WalkDir(filepath.Join(common, "refs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a link is no ref
		}
		rel, err := filepath.Rel(common, p)
		if err != nil {
			return err
		}
		if name := filepath.ToSlash(rel); refName(name) {
			if value := headOf(p); value != "" {
				all[name] = value
			}
		}
		return nil
	})
	return all, err
}

// headOf is what a file like HEAD holds: a hash, or "ref: " and a name. "" is
// anything else.
func headOf(path string) string {
	b, err := file.ReadPlain(path, false, 1<<20)
	if err != nil {
		return ""
	}
	text := strings.TrimSpace(string(b))
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		if name = strings.TrimSpace(name); refName(name) {
			return "ref: " + name
		}
		return ""
	}
	fields := strings.Fields(text)
	if len(fields) > 0 && isHash(fields[0]) {
		return fields[0]
	}
	return ""
}

// packed writes the refs as one file, names that stand for others resolved.
func (all refs) packed() []byte {
	const deepest = 5 // as git's own
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		for range deepest {
			to, ok := strings.CutPrefix(value, "ref: ")
			if !ok {
				break
			}
			value = all[to]
		}
		if isHash(value) {
			fmt.Fprintf(&b, "%s %s\n", value, name)
		}
	}
	return b.Bytes()
}

// git runs one command over the view, in the project.
func (v *view) git(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	return v.repo.run(ctx, limit, v.command(args...), nil)
}

func (v *view) command(args ...string) process.Command {
	return process.Command{
		Args: args, Dir: v.repo.Project,
		Extra: []string{
			"GIT_DIR=" + v.dir, "GIT_WORK_TREE=" + v.place.top, "GIT_OBJECT_DIRECTORY=" + filepath.Join(v.place.common, "objects"),
			"GIT_CONFIG_GLOBAL=" + os.DevNull,
		},
	}
}

// run runs git with none of its settings but ours, and returns what it prints.
func (r Repo) run(ctx context.Context, limit time.Duration, c process.Command, in io.Reader) (string, error) {
	var out bytes.Buffer
	err := r.stream(ctx, limit, c, in, &out)
	return out.String(), err
}

func (r Repo) stream(ctx context.Context, limit time.Duration, c process.Command, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c.Program, c.Kind, c.Own = "git", process.Tool, r.Environ
	c.Extra = append([]string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
	}, c.Extra...)
	var errs bytes.Buffer
	if err := process.Run(ctx, c, process.Streams{In: in, Out: out, Err: &errs}); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		verb := c.Args[slices.IndexFunc(c.Args, func(a string) bool { return a[0] != '-' && !strings.Contains(a, "=") })]
		return fmt.Errorf("git %s: %w: %s", verb, err, first)
	}
	return nil
}
