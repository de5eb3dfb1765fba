// Package setup writes the deck into the configuration of agents' clients:
// previewed, read again before it is written, and undone exactly.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/clients"
)

// Entry is what a client starts, and where its configuration is.
type Entry struct {
	Command string   // of mcpdeck
	Options []string // by which the relay finds the deck; none for the default one
	Root    string   // project folder, for clients with a file a project; "" for none
	User    bool     // the user's own file, where there is also one a project
	State   string   // folder that records what Undo needs
	Folders clients.Folders
}

// Change is what a file becomes.
type Change struct {
	Path  string
	Notes []string // what the user has to do beside it
	place place
	state string
	// before is nil if there is no file.
	before, after []byte
}

// Plan works out the change for a client. A client that is set up already has
// a change that changes nothing.
func Plan(name string, e Entry) (*Change, error) {
	c, ok := find(name)
	if !ok {
		return nil, unknown(name)
	}
	p, err := c.place(e)
	if err != nil {
		return nil, fmt.Errorf("find the configuration of %s: %w", c.ID, err)
	}
	before, err := p.read()
	if err != nil {
		return nil, fmt.Errorf("read the configuration of %s: %w", c.ID, err)
	}
	after, err := edit(c.Grammar, before, c.Section, c.members(e))
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", p.path(), err)
	}
	change := &Change{Path: p.path(), place: p, state: e.State, before: before, after: after}
	change.note(c.Note)
	if p.shared {
		change.note(c.ProjectNote)
		change.note(sharedNote(e.Command))
	}
	return change, nil
}

func unknown(name string) error {
	return fmt.Errorf("set up %q: unknown client (known: %s)", name, strings.Join(Names(), ", "))
}

func (c *Change) note(text string) {
	if text != "" {
		c.Notes = append(c.Notes, text)
	}
}

// Same tells whether there is nothing to change.
func (c *Change) Same() bool { return bytes.Equal(c.before, c.after) }

// Preview is the change as lines with + and - before them, and up to two lines
// around each place.
func (c *Change) Preview() []string { return diff(lines(c.before), lines(c.after)) }

// Apply writes the file, and a record of what it was. It refuses when the file
// is no longer the one that the plan was made from.
func (c *Change) Apply() error {
	now, err := c.place.read()
	if err != nil {
		return fmt.Errorf("read %s again: %w", c.Path, err)
	}
	if (now == nil) != (c.before == nil) || !bytes.Equal(now, c.before) {
		return fmt.Errorf("write %s: it changed meanwhile; try again", c.Path)
	}
	r, err := loadRecord(c.state, c.Path)
	if err != nil {
		return err
	}
	// What an earlier setup left as it was is still what Undo puts back.
	if r == nil || c.before == nil || r.After != sum(c.before) {
		r = &record{Path: c.Path, Missing: c.before == nil, Before: c.before}
	}
	r.After = sum(c.after)
	if err := r.save(c.state); err != nil {
		return err
	}
	made, err := c.place.write(c.after)
	if err != nil {
		return fmt.Errorf("write %s: %w", c.Path, err)
	}
	if len(made) == 0 {
		return nil
	}
	r.Folders = made
	return r.save(c.state)
}

// Undo puts back what was before Apply, byte for byte. It refuses when the
// file has changed since, so that nobody's edits are lost.
func Undo(name string, e Entry) (path string, err error) {
	c, ok := find(name)
	if !ok {
		return "", unknown(name)
	}
	p, err := c.place(e)
	if err != nil {
		return "", fmt.Errorf("find the configuration of %s: %w", c.ID, err)
	}
	now, err := p.read()
	if err != nil {
		return "", fmt.Errorf("read the configuration of %s: %w", c.ID, err)
	}
	if now == nil {
		return "", fmt.Errorf("undo the change of %s: there is no such file", p.path())
	}
	r, err := loadRecord(e.State, p.path())
	if err != nil {
		return "", err
	}
	if r == nil {
		return "", c.notUndone(p, now, e, "mcpdeck has no record of changing it")
	}
	if r.After != sum(now) {
		return "", c.notUndone(p, now, e, "the file has changed since")
	}
	if r.Missing {
		err = p.remove(r.Folders)
	} else {
		_, err = p.write(r.Before)
	}
	if err != nil {
		return "", fmt.Errorf("undo the change of %s: %w", p.path(), err)
	}
	if err := os.Remove(recordFile(e.State, p.path())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("remove the record of the last setup: %w", err)
	}
	return p.path(), nil
}

// notUndone says what is left to do by hand, if anything is.
func (c client) notUndone(p place, now []byte, e Entry, why string) error {
	if state, err := c.state(now, e); err == nil && state == NotSetUp {
		return fmt.Errorf("undo the change of %s: it has no entry %s, so there is nothing to undo", p.path(), serverName)
	}
	return fmt.Errorf("undo the change of %s: %s; remove its entry %s by hand", p.path(), why, serverName)
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
