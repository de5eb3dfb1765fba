package cards

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// FromEntry returns a card for an entry of a client's configuration as people paste it: the
// entry alone, with its name, or with the section around it, and with or without the
// outermost braces. Of several entries name selects one; of one entry it is the card's name
// if it is not "". The returned strings are notes for the user to read before adding the
// card.
func FromEntry(b []byte, o Options, name string) (settings.Card, []string, error) {
	b = bytes.TrimRight(bytes.TrimSpace(b), ", \t\r\n")
	if !bytes.HasPrefix(b, []byte("{")) {
		b = slices.Concat([]byte("{"), b, []byte("}"))
	}
	file, err := clients.JSONC.Decode(b)
	if err != nil {
		return settings.Card{}, nil, fmt.Errorf("read the entry: %w", err)
	}
	if inner, ok := file["mcp"].(map[string]any); ok && inner["servers"] != nil { // VS Code's settings
		file = inner
	}
	c := clients.Client{Section: "servers", Refs: clients.RefBraces | clients.RefEditor}
	if from, found := sectionOf(file); found {
		c = from
	} else if isEntry(file) {
		if name == "" {
			return settings.Card{}, nil, errors.New("the entry has no name: mcpdeck add NAME --json ENTRY")
		}
		file = map[string]any{c.Section: map[string]any{name: file}}
	} else {
		file = map[string]any{c.Section: file}
	}
	e, err := chosen(c.Entries(file), name)
	if err != nil {
		return settings.Card{}, nil, err
	}
	if why := (&planner{o: o}).ours(e); why != "" {
		return settings.Card{}, nil, errors.New(why)
	}
	if name == "" {
		name = nameFrom(e.Name())
	}
	r := &refs{ways: c.Refs, card: name, inputs: inputsOf(file), values: o.Values}
	card, err := cardOf(e, r)
	for _, l := range r.lacks {
		err = errors.Join(err, fmt.Errorf("a value is missing: --set %s=...  %s", l.ID, l.Description))
	}
	card.Name = name
	return card, e.Notes, err
}

// sectionOf finds the client whose section a file has.
func sectionOf(file map[string]any) (clients.Client, bool) {
	for _, c := range clients.All() {
		if section, ok := file[c.Section].(map[string]any); ok && c.Section != "" && !isEntry(section) {
			return c, true
		}
	}
	return clients.Client{}, false
}

// isEntry reports whether a table says what to start or where to connect.
func isEntry(table map[string]any) bool {
	for _, key := range []string{"command", "url", "httpUrl", "serverUrl"} {
		switch table[key].(type) {
		case string, []any:
			return true
		}
	}
	return false
}

// chosen returns the entry that a name selects, or the only one.
func chosen(all []clients.Entry, name string) (clients.Entry, error) {
	i := slices.IndexFunc(all, func(e clients.Entry) bool { return e.Name() == name })
	switch {
	case len(all) == 0:
		return clients.Entry{}, errNoServers
	case len(all) == 1:
		i = 0
	case i < 0:
		names := map[string]bool{}
		for _, e := range all {
			names[e.Name()] = true
		}
		return clients.Entry{}, fmt.Errorf("it has %s: name one of %s, or save it as a file for mcpdeck import", humanize.Count(len(all), "server"), strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return all[i], all[i].Err
}
