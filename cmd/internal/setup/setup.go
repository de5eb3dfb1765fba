// Package setup adds the deck to the configuration of agents' clients: changes are
// previewed, checked again before they are written, and undone exactly.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
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
	Does  string   // what it does, of one that another needs
	Says  string   // what the user should know before
	Notes []string // what the user has to do beside it
	what  string   // as the journal has it
	edit  change.Edit
	state string
	again func(before []byte) ([]byte, error) // makes the change on top of other content
	also  *Change                             // of another file, without which it has no effect
}

// Plan works out the change for a client. A client that is set up already has
// a change that changes nothing.
func Plan(name string, e Entry) (*Change, error) {
	c, p, before, err := locate(name, e)
	if err != nil {
		return nil, err
	}
	out := &Change{Path: p.Path(), what: what(c), edit: change.Edit{Place: p, Before: before}, state: e.State}
	out.again = func(before []byte) ([]byte, error) { return edit(c.Grammar, before, c.Section, c.members(e)) }
	if out.edit.After, err = out.again(before); err != nil {
		return nil, fmt.Errorf("edit %s: %w", p.Path(), err)
	}
	out.note(c.Note)
	if p.Shared() {
		out.note(c.ProjectNote)
		out.note(sharedNote(e.Command))
	}
	return out, nil
}

// locate finds the configuration of a client, and what is in it; nil: there is no file.
func locate(name string, e Entry) (c client, p change.Place, now []byte, err error) {
	c, ok := find(name)
	if !ok {
		return c, p, nil, unknown(name)
	}
	if p, err = c.place(e); err != nil {
		return c, p, nil, fmt.Errorf("find the configuration of %s: %w", c.ID, err)
	}
	if now, err = p.Read(); err != nil {
		return c, p, nil, fmt.Errorf("read the configuration of %s: %w", c.ID, err)
	}
	return c, p, now, nil
}

func what(c client) string { return "setup " + c.ID }

func journal(state string) change.Journal { return change.Journal{Dir: filepath.Join(state, "undo")} }

func unknown(name string) error {
	return fmt.Errorf("set up %q: unknown client (known: %s)", name, strings.Join(Names(), ", "))
}

func (c *Change) note(text string) {
	if text != "" {
		c.Notes = append(c.Notes, text)
	}
}

// Same reports whether there is nothing to change.
func (c *Change) Same() bool { return len(c.Parts()) == 0 }

// Parts are the changes that this one makes, each of one file.
func (c *Change) Parts() []*Change {
	var out []*Change
	for _, part := range []*Change{c, c.also} {
		if part != nil && !part.edit.Same() {
			out = append(out, part)
		}
	}
	return out
}

// Edit is what becomes of the file.
func (c *Change) Edit() change.Edit { return c.edit }

// Onto is the file with the change made on top of an edit that is not written yet.
func (c *Change) Onto(e change.Edit) (change.Edit, error) {
	after, err := c.again(e.After)
	if err != nil {
		return e, fmt.Errorf("edit %s: %w", c.Path, err)
	}
	return change.Edit{Place: e.Place, Before: e.Before, After: after}, nil
}

// Apply writes the file, and what Undo needs. It refuses when the file is no longer
// the one that the plan was made from.
func (c *Change) Apply() error {
	j := journal(c.state)
	older, err := last(j, c.what, c.Path)
	if err != nil {
		return err
	}
	// What an earlier setup left as it was is still what Undo puts back.
	if older != nil && !bytes.Equal(older.File(c.Path).After, c.edit.Before) {
		older = nil
	}
	var edits []change.Edit
	for _, part := range c.Parts() {
		edits = append(edits, part.edit)
	}
	_, err = j.Apply(c.what, edits, older)
	return err
}

// last is the newest change of a file by setup, nil if there is none.
func last(j change.Journal, what, path string) (*change.Entry, error) {
	entries, err := j.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.What == what && e.File(path) != nil {
			return &e, nil
		}
	}
	return nil, nil
}

// Undo works out how to put back what was before setup, byte for byte. Where the file
// has changed since in other places, the entry alone is taken out. Where there is nothing
// to undo in the project, it is the change of the user's own file: the screen makes that
// one.
func Undo(name string, e Entry) (*change.Undo, error) {
	undo, err := undoOne(name, e)
	if c, _ := find(name); err == nil || errors.Is(err, change.ErrChanged) || !c.inProject(e) {
		return undo, err
	}
	e.User = true
	if own, ownErr := undoOne(name, e); ownErr == nil || errors.Is(ownErr, change.ErrChanged) {
		return own, ownErr
	}
	return nil, err
}

// undoOne is Undo for one file.
func undoOne(name string, e Entry) (*change.Undo, error) {
	c, p, now, err := locate(name, e)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return nil, fmt.Errorf("undo the change of %s: there is no such file", p.Path())
	}
	j := journal(e.State)
	entry, err := last(j, what(c), p.Path())
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, c.notUndone(p, now, e, among(j, p.Path()))
	}
	undo, err := j.Plan(*entry)
	if errors.Is(err, change.ErrChanged) {
		return nil, c.notUndone(p, now, e, fmt.Errorf("%w; remove its entry %s by hand", change.ErrChanged, serverName))
	}
	return undo, err
}

// among is why a change of a file cannot be undone of which there is no record of its own.
func among(j change.Journal, path string) error {
	entries, _ := j.Entries() // of none that can be read, there is nothing to say
	for _, e := range entries {
		for _, f := range e.Files {
			if f.Path() == path {
				return fmt.Errorf("mcpdeck %s changed it, together with others: mcpdeck undo %s", e.What, e.ID)
			}
		}
	}
	return errors.New("mcpdeck has no record of changing it; remove its entry " + serverName + " by hand")
}

// notUndone says what is left to do by hand, if anything is.
func (c client) notUndone(p change.Place, now []byte, e Entry, why error) error {
	if state, err := c.state(now, e); err == nil && state == NotSetUp {
		return fmt.Errorf("undo the change of %s: it has no entry %s, so there is nothing to undo", p.Path(), serverName)
	}
	return fmt.Errorf("undo the change of %s: %w", p.Path(), why)
}
