package setup

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	hookcmd "github.com/mcpdeck/mcpdeck/cmd/internal/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// QuotaNames are the clients whose status line can tell the deck what their account has used.
func QuotaNames() []string {
	return clients.IDs(func(c clients.Client) bool { return c.Prompts != nil && c.Prompts.StatusLine != "" })
}

// commandKey is the command of a status line.
const commandKey = "command"

// statusLine is the user's own command in a client's settings, "" without one, and whether it
// runs within mcpdeck's.
func statusLine(c clients.Client, settings []byte) (own string, ours bool, err error) {
	file, err := c.Prompts.Grammar.Decode(settings)
	if err != nil {
		return "", false, err
	}
	line, _ := file[c.Prompts.StatusLine].(map[string]any)
	own, _ = line[commandKey].(string)
	if outer, word, ok := strings.Cut(own, " "+hookcmd.StatusLine+" "); ok && hooksOf(c, "").ours.MatchString(outer) {
		return unquoted(word), true, nil
	}
	return own, false, nil
}

// unquoted is the word that quoted wrote for sh.
func unquoted(word string) string {
	inner, ok := strings.CutPrefix(word, "'")
	if !ok {
		return word
	}
	return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), `'\''`, "'")
}

// quotaOf finds a client with its settings.
func quotaOf(name string, p Prompter) (c clients.Client, at change.Place, now []byte, err error) {
	c, ok := clients.Find(name)
	if !ok || c.Prompts == nil || c.Prompts.StatusLine == "" {
		return c, at, nil, fmt.Errorf("set up the status line of %q: mcpdeck knows those of %s", name, strings.Join(QuotaNames(), ", "))
	}
	if runtime.GOOS == "windows" {
		return c, at, nil, errors.New("set up the status line: mcpdeck cannot run one on Windows")
	}
	at, now, err = locatePrompts(c, p)
	return c, at, now, err
}

func setStatusLine(c clients.Client, settings []byte, command string) ([]byte, error) {
	return Replace(c.Prompts.Grammar, settings, []string{c.Prompts.StatusLine}, nil, []clients.Member{{Key: "type", Value: "command"}, {Key: commandKey, Value: command}})
}

// PlanQuota works out the change by which a client's status line tells the deck what its
// account has used: mcpdeck runs the user's own command in it.
func PlanQuota(name string, p Prompter) (*Change, error) {
	c, at, before, err := quotaOf(name, p)
	if err != nil {
		return nil, err
	}
	out := &Change{Path: at.Path(), what: "setup " + c.ID + " --quota", state: p.State, edit: change.Edit{Place: at, Before: before}}
	out.again = func(settings []byte) ([]byte, error) {
		own, _, err := statusLine(c, settings)
		if err != nil {
			return nil, err
		}
		return setStatusLine(c, settings, p.command(c)+" "+hookcmd.StatusLine+" "+Quoted(clients.Sh, own))
	}
	if out.edit.After, err = out.again(before); err != nil {
		return nil, fmt.Errorf("edit %s: %w", at.Path(), err)
	}
	out.note("The deck shows what is used once " + c.Title + " has drawn its status line. With an API key, it tells nothing.")
	return out, nil
}

// UndoQuota works out how to take back what PlanQuota planned: byte for byte, or, if the file
// has changed since, the user's own command in its place.
func UndoQuota(name string, p Prompter) (*change.Undo, error) {
	c, at, now, err := quotaOf(name, p)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*change.Undo, error) {
		return nil, fmt.Errorf("undo the change of %s: %w", at.Path(), err)
	}
	own, ours, err := statusLine(c, now)
	switch {
	case err != nil:
		return fail(err)
	case !ours:
		return fail(errors.New("it has no status line of mcpdeck, so there is nothing to undo"))
	}
	j := journal(p.State)
	entry, err := last(j, "setup "+c.ID+" --quota", at.Path())
	if err != nil {
		return nil, err
	}
	if entry == nil {
		entry = &change.Entry{}
	} else if undo, err := j.Plan(*entry); err == nil && undo.Exact() {
		return undo, nil
	}
	var after []byte
	if own == "" {
		after, err = Remove(c.Prompts.Grammar, now, []string{c.Prompts.StatusLine})
	} else {
		after, err = setStatusLine(c, now, own)
	}
	if err != nil {
		return fail(err)
	}
	return j.Instead(*entry, at, now, after), nil
}
