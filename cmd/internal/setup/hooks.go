package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// hooksKey holds, by event, lists of groups of hooks, in every client's file.
const hooksKey = "hooks"

// group is an element of an event's list, as clients read it.
type group struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []hook `json:"hooks"`
}

type hook struct {
	Type    string `json:"type"`
	Name    string `json:"name,omitempty"`
	Command string `json:"command"`
	Async   bool   `json:"async,omitempty"`
	Timeout int    `json:"timeout"`
}

// hooks are what a client's settings get: each event's group, and how those of the deck
// are told from others.
type hooks struct {
	grammar clients.Grammar
	command string
	ours    *regexp.Regexp // matches commands that setup wrote, also those of another path
	events  []clients.Hook
}

func hooksOf(c clients.Client, command string) hooks {
	return hooks{
		grammar: c.Prompts.Grammar, command: command, events: c.Prompts.Hooks,
		ours: regexp.MustCompile(`(^|[/\\"'])(mcpdeck(\.exe)?["']? hook|mcpdeck-hook(\.exe)?["']?) ` + regexp.QuoteMeta(c.ID) + `( |$)`),
	}
}

func (h hooks) own(command string) bool {
	return command == h.command || h.ours.MatchString(clients.Bare(command))
}

func (h hooks) group(e clients.Hook) group {
	return group{e.Matcher, []hook{{"command", e.Name, h.command, e.Async, e.Timeout}}}
}

// add returns the settings with the deck's group last in each event that has none of the
// deck's. One that has keeps its place, and gets the command.
func (h hooks) add(before []byte) ([]byte, error) {
	if h.grammar == clients.TOML {
		return rewrite(before, h.grammar, h.wantTOML, h.addTOML, h.snippet)
	}
	return rewrite(before, h.grammar, h.want, func(text []byte) ([]byte, error) {
		if len(bytes.TrimSpace(text)) == 0 {
			text = []byte("{}\n")
		}
		root, err := hujson.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read it as JSON: %w", err)
		}
		w := jsonWriter{indent: indentOf(text)}
		all, outer, err := w.object(&root, hooksKey, "")
		if err != nil {
			return nil, err
		}
		for _, e := range h.events {
			list := memberOf(all, e.Event)
			if list == nil {
				list = w.set(all, e.Event, hujson.Value{Value: &hujson.Array{}}, outer)
			}
			array, ok := list.Value.Value.(*hujson.Array)
			if !ok {
				return nil, fmt.Errorf("find %q: it is not a list", e.Event)
			}
			if !h.renew(array) {
				w.append(array, literal(h.group(e)), leadOf(list.Name.BeforeExtra, outer))
			}
		}
		return root.Pack(), nil
	}, h.snippet)
}

// renew gives the deck's hooks in an event's list the command, and reports whether there
// are any.
func (h hooks) renew(list *hujson.Array) (found bool) {
	for _, g := range list.Elements {
		inner, ok := member[*hujson.Array](g, hooksKey)
		if !ok {
			continue
		}
		for _, one := range inner.Elements {
			if !h.is(one) {
				continue
			}
			found = true
			if command := lookup(one, "command"); command.Value.(hujson.Literal).String() != h.command {
				command.Value = hujson.String(h.command)
			}
		}
	}
	return found
}

// is reports whether an element of a group's list is a hook of the deck's.
func (h hooks) is(one hujson.Value) bool {
	command, ok := member[hujson.Literal](one, "command")
	return ok && command.Kind() == '"' && h.own(command.String())
}

// append adds an element to a list, on a line of its own unless the others share one.
func (w jsonWriter) append(a *hujson.Array, value hujson.Value, outer string) {
	comments := bytes.TrimRight(a.AfterExtra, " \t\r\n")
	before, after := "\n"+outer+w.indent, "\n"+leadOf(a.AfterExtra, outer)
	n := len(a.Elements)
	if n > 0 {
		last := a.Elements[n-1].BeforeExtra
		if before = "\n" + leadOf(last, outer+w.indent); len(comments) == 0 && !bytes.Contains(last, []byte("\n")) {
			before, after = " ", string(a.AfterExtra)
		}
	}
	value.AfterExtra = nil
	if n > 0 && a.Elements[n-1].AfterExtra != nil { // a comma stands behind the last
		value.AfterExtra = hujson.Extra{}
	}
	value.BeforeExtra = append(comments, before...)
	a.Elements = append(a.Elements, value)
	a.AfterExtra = hujson.Extra(after)
}

// want is what the settings mean once the groups are in them.
func (h hooks) want(old map[string]any) (map[string]any, error) {
	all, err := table(old, hooksKey)
	if err != nil {
		return nil, err
	}
	old[hooksKey] = all
	for _, e := range h.events {
		list, ok := all[e.Event].([]any)
		if !ok && all[e.Event] != nil {
			return nil, fmt.Errorf("%s: %q is not a list", hooksKey, e.Event)
		}
		if found := h.each(list, func(one map[string]any) { one["command"] = h.command }); found == 0 {
			var ours any
			b, _ := json.Marshal(h.group(e)) // plain values always encode
			_ = json.Unmarshal(b, &ours)     // and decode
			list = append(slices.Clone(list), ours)
		}
		all[e.Event] = list
	}
	return old, nil
}

// each calls do with the deck's hooks in an event's list, and counts them.
func (h hooks) each(list []any, do func(hook map[string]any)) (found int) {
	for _, g := range list {
		group, _ := g.(map[string]any)
		inner, _ := group[hooksKey].([]any)
		for _, one := range inner {
			one, _ := one.(map[string]any)
			if command, _ := one["command"].(string); h.own(command) {
				found++
				do(one)
			}
		}
	}
	return found
}

// state reports which of the events have the deck's hooks, and the commands that these
// run.
func (h hooks) state(file map[string]any) (State, []string) {
	all := h.byEvent(file)
	var commands []string
	with := 0
	for _, e := range h.events {
		list, _ := all[e.Event].([]any)
		if h.each(list, func(one map[string]any) { commands = append(commands, one["command"].(string)) }) > 0 {
			with++
		}
	}
	slices.Sort(commands)
	commands = slices.Compact(commands)
	switch {
	case with == 0:
		return NotSetUp, nil
	case with == len(h.events) && slices.Equal(commands, []string{h.command}):
		return SetUp, commands
	}
	return Differs, commands
}

// remove returns the settings without the deck's hooks, and without the groups and lists
// that are empty then.
func (h hooks) remove(before []byte) ([]byte, error) {
	if h.grammar == clients.TOML {
		return rewrite(before, h.grammar, h.withoutTOML, h.removeTOML, h.snippet)
	}
	return rewrite(before, h.grammar, h.without, func(text []byte) ([]byte, error) {
		root, err := hujson.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read it as JSON: %w", err)
		}
		object, ok := root.Value.(*hujson.Object)
		if !ok {
			return text, nil
		}
		all, ok := member[*hujson.Object](root, hooksKey)
		if !ok {
			return text, nil
		}
		n := len(all.Members)
		all.Members = without(all.Members, func(m hujson.ObjectMember) bool {
			list, ok := m.Value.Value.(*hujson.Array)
			return ok && h.strip(list) && len(list.Elements) == 0
		})
		if len(all.Members) == 0 && n > 0 {
			object.Members = without(object.Members, named(hooksKey))
		}
		return root.Pack(), nil
	}, h.snippet)
}

func name(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func blank(e hujson.Extra) bool { return len(bytes.TrimSpace(e)) == 0 }

// member is the value under a name if it is of a kind.
func member[T hujson.ValueTrimmed](in hujson.Value, key string) (t T, ok bool) {
	if v := lookup(in, key); v != nil {
		t, ok = v.Value.(T)
	}
	return t, ok
}

// strip takes the deck's hooks out of an event's list, and reports whether there were
// any.
func (h hooks) strip(list *hujson.Array) (found bool) {
	list.Elements = cut(list.Elements, func(g hujson.Value) bool {
		inner, ok := member[*hujson.Array](g, hooksKey)
		if !ok {
			return false
		}
		n := len(inner.Elements)
		inner.Elements = cut(inner.Elements, h.is)
		found = found || len(inner.Elements) < n
		return len(inner.Elements) == 0 && n > 0
	})
	return found
}

// cut leaves elements out. Behind the last there is a comma if there was one.
func cut(vs []hujson.Value, out func(hujson.Value) bool) []hujson.Value {
	if len(vs) == 0 {
		return vs
	}
	first, last, n := vs[0].BeforeExtra, vs[len(vs)-1].AfterExtra, len(vs)
	vs = slices.DeleteFunc(vs, out)
	if len(vs) > 0 && blank(vs[0].BeforeExtra) {
		vs[0].BeforeExtra = first
	}
	if len(vs) > 0 && len(vs) < n && last == nil {
		vs[len(vs)-1].AfterExtra = nil
	}
	return vs
}

// without is what the settings mean without the deck's hooks.
func (h hooks) without(old map[string]any) (map[string]any, error) {
	all, _ := old[hooksKey].(map[string]any)
	n := len(all)
	for event, v := range all {
		list, _ := v.([]any)
		if h.each(list, func(map[string]any) {}) == 0 {
			continue
		}
		list = slices.DeleteFunc(list, func(g any) bool {
			group, _ := g.(map[string]any)
			inner, _ := group[hooksKey].([]any)
			if h.each([]any{g}, func(map[string]any) {}) == 0 {
				return false
			}
			inner = slices.DeleteFunc(inner, func(one any) bool {
				m, _ := one.(map[string]any)
				command, _ := m["command"].(string)
				return h.own(command)
			})
			group[hooksKey] = inner
			return len(inner) == 0
		})
		if all[event] = list; len(list) == 0 {
			delete(all, event)
		}
	}
	if n > 0 && len(all) == 0 {
		delete(old, hooksKey)
	}
	return old, nil
}

// snippet is what a new file would hold.
func (h hooks) snippet() []byte {
	if h.grammar == clients.TOML {
		text, _ := h.addTOML(nil) // nothing can be wrong in it
		return text
	}
	want, err := h.want(map[string]any{})
	if err != nil {
		return nil
	}
	b, _ := json.MarshalIndent(want, "", "  ") // came from plain values
	return b
}

// same reports whether two files mean the same, apart from lists and tables of hooks
// that are empty in one and missing in the other.
func (h hooks) same(a, b []byte) bool {
	var files [2]map[string]any
	for i, raw := range [][]byte{a, b} {
		file, err := h.grammar.Decode(raw)
		if err != nil {
			return false
		}
		if all, ok := file[hooksKey].(map[string]any); ok {
			for event, v := range all {
				if list, ok := v.([]any); ok && len(list) == 0 {
					delete(all, event)
				}
			}
			if len(all) == 0 {
				delete(file, hooksKey)
			}
		}
		files[i] = file
	}
	return reflect.DeepEqual(files[0], files[1])
}
