package setup

import (
	"errors"
	"fmt"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// Editing is an agent that an editor is to start by mcpdeck acp.
type Editing struct {
	Entry
	Agent []string // how it is started
	Title string   // what the editor calls it
}

// Line is what the editor starts.
func (e *Editing) Line() []string {
	return append(append(append([]string{e.Command}, e.Options...), "acp", "--"), e.Agent...)
}

func whatEditor(c clients.Client) string { return what(client{Client: c}) + " --acp" }

// editorOf finds an editor with its settings.
func editorOf(name string, e *Editing) (c client, at change.Place, now []byte, err error) {
	if c, _ := clients.Find(name); c.Agents == "" {
		return client{}, at, nil, errors.New("mcpdeck does not write the agents of this editor")
	}
	e.User = true
	return locate(name, e.Entry)
}

// PlanEditor works out the change by which an editor starts an agent by mcpdeck acp.
func PlanEditor(name string, e Editing) (*Change, error) {
	c, at, before, err := editorOf(name, &e)
	if err != nil {
		return nil, err
	}
	out := &Change{Path: at.Path(), what: whatEditor(c.Client), state: e.State, edit: change.Edit{Place: at, Before: before}}
	out.again = func(settings []byte) ([]byte, error) {
		line := e.Line()
		return Replace(c.Grammar, settings, []string{c.Agents, e.Title}, nil, []clients.Member{{Key: "type", Value: "custom"}, {Key: "command", Value: line[0]}, {Key: "args", Value: line[1:]}})
	}
	if out.edit.After, err = out.again(before); err != nil {
		return nil, fmt.Errorf("edit %s: %w", at.Path(), err)
	}
	out.note("In " + c.Title + ", start a thread with " + e.Title + ".")
	return out, nil
}

// UndoEditor works out how to take back what PlanEditor planned, byte for byte.
func UndoEditor(name string, e Editing) (*change.Undo, error) {
	c, at, _, err := editorOf(name, &e)
	if err != nil {
		return nil, err
	}
	j := journal(e.State)
	entry, err := last(j, whatEditor(c.Client), at.Path())
	switch {
	case err != nil:
		return nil, err
	case entry == nil:
		return nil, fmt.Errorf("undo the change of %s: there is none by mcpdeck %s", at.Path(), whatEditor(c.Client))
	}
	return j.Plan(*entry)
}
