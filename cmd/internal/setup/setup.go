// Package setup writes the deck into the configuration of agents' clients:
// previewed, backed up, and undone exactly.
package setup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Entry is what a client starts.
type Entry struct {
	Command string // of mcpdeck
	Name    string // of the deck; "" for the default one
	Root    string // project folder, for clients with a file a project
	Home    string
	User    bool // the person's own file, where there is also one a project
}

// args are the relay's.
func (e Entry) args(gateway bool) []string {
	args := []string{"mcp"}
	if gateway {
		args = append(args, "--gateway")
	}
	if e.Name != "" {
		args = append(args, "--name", e.Name)
	}
	return args
}

// Change is what a file becomes.
type Change struct {
	Path   string
	Note   string // what the person has to do beside it; "" for nothing
	before []byte // nil: the file is not there yet
	after  []byte
}

// Plan works out the change for a client. A client that is set up already has
// a change that changes nothing.
func Plan(client string, e Entry) (*Change, error) {
	c, ok := find(client)
	if !ok {
		return nil, fmt.Errorf("set up %q: not a client that is known here (known: %s)", client, Names())
	}
	path := c.file(e)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the configuration of %s: %w", c.name, err)
	}
	after, err := c.edit(before, e)
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", path, err)
	}
	return &Change{Path: path, Note: c.note, before: before, after: after}, nil
}

// Same tells whether there is nothing to change.
func (c *Change) Same() bool { return bytes.Equal(c.before, c.after) }

// Preview is the change as lines with + and - before them, and up to two lines
// around each place.
func (c *Change) Preview() []string { return diff(lines(c.before), lines(c.after)) }

// backup is the file as it was before Apply.
func (c *Change) backup() string { return c.Path + ".before-mcpdeck" }

// Apply writes the file, and its backup. It refuses when the file is no longer
// the one the plan was made from.
func (c *Change) Apply() error {
	now, err := os.ReadFile(c.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s again: %w", c.Path, err)
	}
	if sha256.Sum256(now) != sha256.Sum256(c.before) {
		return fmt.Errorf("write %s: it changed meanwhile; try again", c.Path)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(c.Path); err == nil {
		mode = info.Mode().Perm()
	} else if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", c.Path, err)
	}
	if c.before != nil {
		if err := os.WriteFile(c.backup(), c.before, mode); err != nil {
			return fmt.Errorf("back up %s: %w", c.Path, err)
		}
	}
	return replace(c.Path, c.after, mode)
}

// Undo puts back what was before Apply. It refuses when the file has changed
// since, so that nobody's edits are lost. The entry may call this program by another of
// its names: Apply may have run with another PATH.
func Undo(client string, e Entry, names ...string) (path string, err error) {
	c, ok := find(client)
	if !ok {
		return "", fmt.Errorf("set up %q: not a client that is known here (known: %s)", client, Names())
	}
	change := &Change{Path: c.file(e)}
	now, err := os.ReadFile(change.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("undo the change of %s: there is no such file, so nothing to put back", change.Path)
	}
	if err != nil {
		return "", fmt.Errorf("read the configuration of %s: %w", c.name, err)
	}
	before, err := os.ReadFile(change.backup())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the backup: %w", err)
	}
	ours := func(command string) bool {
		e.Command = command
		want, err := c.edit(before, e)
		return err == nil && bytes.Equal(now, want)
	}
	if !ours(e.Command) && !slices.ContainsFunc(names, ours) {
		return "", fmt.Errorf("undo the change of %s: the file is not as it was left; remove the entry mcpdeck by hand", change.Path)
	}
	if before == nil {
		return change.Path, os.Remove(change.Path)
	}
	info, err := os.Stat(change.Path)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", change.Path, err)
	}
	if err := replace(change.Path, before, info.Mode().Perm()); err != nil {
		return "", err
	}
	return change.Path, os.Remove(change.backup())
}

func replace(path string, content []byte, mode fs.FileMode) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, content, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func lines(b []byte) []string {
	var out []string
	for l := range bytes.Lines(b) {
		out = append(out, string(bytes.TrimRight(l, "\r\n")))
	}
	return out
}

// diff compares two texts that share their beginning and their end.
func diff(a, b []string) []string {
	const around = 2
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	add := func(mark string, ls []string) {
		for _, l := range ls {
			out = append(out, mark+l)
		}
	}
	add("  ", a[max(0, head-around):head])
	add("- ", a[head:len(a)-tail])
	add("+ ", b[head:len(b)-tail])
	add("  ", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out
}
