package setup

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/tomledit"
)

// In TOML, hooks are one list of tables, each of which names its event.
const eventKey = "event"

// listed is the element of that list for an event.
func (h hooks) listed(e clients.Hook) map[string]any {
	one := map[string]any{eventKey: e.Event, "command": h.command, "timeout": int64(e.Timeout)}
	if e.Matcher != "" {
		one["matcher"] = e.Matcher
	}
	return one
}

// byEvent returns the hooks of a file by their events, each as a group of its own.
func (h hooks) byEvent(file map[string]any) map[string]any {
	if h.grammar != clients.TOML {
		all, _ := file[hooksKey].(map[string]any)
		return all
	}
	all := map[string]any{}
	list, _ := file[hooksKey].([]any)
	for _, one := range list {
		table, _ := one.(map[string]any)
		if event, _ := table[eventKey].(string); event != "" {
			groups, _ := all[event].([]any)
			all[event] = append(groups, map[string]any{hooksKey: []any{one}})
		}
	}
	return all
}

// wantTOML is [hooks.want] of such a file.
func (h hooks) wantTOML(old map[string]any) (map[string]any, error) {
	list, ok := old[hooksKey].([]any)
	if !ok && old[hooksKey] != nil {
		return nil, fmt.Errorf("%q is not a list", hooksKey)
	}
	all := h.byEvent(old)
	for _, e := range h.events {
		groups, _ := all[e.Event].([]any)
		if h.each(groups, func(one map[string]any) { one["command"] = h.command }) == 0 {
			list = append(list, h.listed(e))
		}
	}
	old[hooksKey] = list
	return old, nil
}

// withoutTOML is [hooks.without] of such a file.
func (h hooks) withoutTOML(old map[string]any) (map[string]any, error) {
	list, _ := old[hooksKey].([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(one any) bool {
		table, _ := one.(map[string]any)
		command, _ := table["command"].(string)
		return h.own(command)
	})
	if old[hooksKey] = list; len(list) == 0 {
		delete(old, hooksKey)
	}
	return old, nil
}

// addTOML gives the deck's hooks in a text the command, and adds those that are missing as its
// last tables.
func (h hooks) addTOML(before []byte) ([]byte, error) {
	text, err := tomledit.Parse(before)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, t := range h.ownTables(text) {
		found[t.event] = true
		text.Replace(t.command.Value, t.command.End, tomlLiteral(h.command))
	}
	out := text.Bytes()
	for _, e := range h.events {
		if found[e.Event] {
			continue
		}
		out = append(bytes.TrimRight(out, "\n"), "\n\n"...)
		if len(out) == 2 {
			out = nil
		}
		out = fmt.Appendf(out, "[[%s]]\n%s = %s\n", hooksKey, eventKey, tomlLiteral(e.Event))
		if e.Matcher != "" {
			out = fmt.Appendf(out, "matcher = %s\n", tomlLiteral(e.Matcher))
		}
		out = fmt.Appendf(out, "command = %s\ntimeout = %d\n", tomlLiteral(h.command), e.Timeout)
	}
	return out, nil
}

// removeTOML takes the deck's tables out, with the blank lines before them.
func (h hooks) removeTOML(before []byte) ([]byte, error) {
	text, err := tomledit.Parse(before)
	if err != nil {
		return nil, err
	}
	for _, t := range h.ownTables(text) {
		for i, x := range t.entries {
			if i == 0 {
				line := bytes.LastIndexByte(before[:x.Start], '\n') + 1
				if blank := len(bytes.TrimRight(before[:line], "\n")); blank+1 < line {
					text.Replace(blank+1, line, "")
				}
			}
			text.Remove(x)
		}
	}
	return text.Bytes(), nil
}

// ownTable is a table of the list that is a hook of the deck's.
type ownTable struct {
	event   string
	command tomledit.Entry
	entries []tomledit.Entry
}

func (h hooks) ownTables(text *tomledit.Text) (own []ownTable) {
	var all []ownTable
	for _, x := range text.Entries {
		if x.Header {
			all = append(all, ownTable{})
		}
		if len(all) == 0 || !tomledit.Under(x.Path, []string{hooksKey}) {
			continue
		}
		t := &all[len(all)-1]
		t.entries = append(t.entries, x)
		if x.Header || len(x.Path) != 2 {
			continue
		}
		switch values, _ := clients.TOML.Decode(text.Raw[x.Start:x.End]); x.Path[1] {
		case eventKey:
			t.event, _ = values[eventKey].(string)
		case "command":
			if command, _ := values["command"].(string); h.own(command) {
				t.command = x
			}
		}
	}
	return slices.DeleteFunc(all, func(t ownTable) bool { return t.command.End == 0 })
}
