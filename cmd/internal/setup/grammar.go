package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// serverName is the deck's name in every client's file.
const serverName = "mcpdeck"

// remote are the keys of an entry for a server that is reached by address.
// They go when the entry becomes a command.
var remote = []string{"url", "httpUrl", "serverUrl", "headers", "http_headers", "bearer_token_env_var"}

// place is a server's entry in a client's file.
type place struct {
	path []string // of keys, the server's name last
	drop []string // keys that go
}

// set writes the members into an entry and leaves all else as it stands.
func set(g clients.Grammar, before []byte, at place, ms []clients.Member) ([]byte, error) {
	if g == clients.TOML {
		return setTOML(before, at, ms)
	}
	return setJSON(before, at, ms)
}

// encode writes values that the grammar decodes.
func encode(g clients.Grammar, values map[string]any) ([]byte, error) {
	if g == clients.TOML {
		return toml.Marshal(values)
	}
	return json.Marshal(values)
}

// errByHand ends the error of an edit that cannot be made.
var errByHand = errors.New("add the entry by hand")

// edit returns the file with the members in its entry mcpdeck.
func edit(g clients.Grammar, before []byte, section string, ms []clients.Member) ([]byte, error) {
	return Replace(g, before, []string{section, serverName}, remote, ms)
}

// Replace returns the file with members in the entry that a path of keys leads to,
// without the keys to drop. All else stays as it is, to the byte.
func Replace(g clients.Grammar, before []byte, path, drop []string, ms []clients.Member) ([]byte, error) {
	var gone []string // without what is set anew, which keeps its place
	for _, k := range drop {
		if !slices.ContainsFunc(ms, func(m clients.Member) bool { return m.Key == k }) {
			gone = append(gone, k)
		}
	}
	return editBy(set, g, before, place{path, gone}, ms)
}

// Remove returns the file without the entry that a path of keys leads to. All else stays as it
// is, to the byte.
func Remove(g clients.Grammar, before []byte, path []string) (after []byte, err error) {
	write := func(text []byte) ([]byte, error) { return removeJSON(text, path) }
	if g == clients.TOML {
		write = func(text []byte) ([]byte, error) { return removeTOML(text, path) }
	}
	for _, emptied := range []bool{false, true} { // the table of the last entry may have been its header alone
		want := func(old map[string]any) (map[string]any, error) {
			return pruned(old, path, emptied), nil
		}
		if after, err = rewrite(before, g, want, write, func() []byte { return nil }); err == nil {
			return after, nil
		}
	}
	if errors.Is(err, errByHand) {
		err = errors.New("its form is one in which only you can do that")
	}
	return nil, err
}

// pruned is a copy of a table without what a path leads to and, if emptied, without the tables
// that are empty then.
func pruned(in map[string]any, path []string, emptied bool) map[string]any {
	out := maps.Clone(in)
	if inner, ok := out[path[0]].(map[string]any); ok && len(path) > 1 {
		left := pruned(inner, path[1:], emptied)
		if out[path[0]] = left; len(left) > 0 || !emptied {
			return out
		}
	}
	delete(out, path[0])
	return out
}

// editBy is Replace by a writer such as set.
func editBy(write func(clients.Grammar, []byte, place, []clients.Member) ([]byte, error), g clients.Grammar, before []byte, at place, ms []clients.Member) ([]byte, error) {
	return rewrite(
		before, g,
		func(old map[string]any) (map[string]any, error) { return overlay(g, old, at, ms) },
		func(text []byte) ([]byte, error) { return write(g, text, at, ms) },
		func() []byte {
			snippet, _ := set(g, nil, at, ms) // what a new file would hold
			return snippet
		},
	)
}

// rewrite returns the file as write has it, which is not trusted: it is read again, so
// that the client finds what want makes of what it found before. The snippet is for a
// user who has to do it by hand. Byte order mark and line ends stay.
func rewrite(before []byte, g clients.Grammar, want func(map[string]any) (map[string]any, error), write func([]byte) ([]byte, error), snippet func() []byte) ([]byte, error) {
	raw, bom := bytes.CutPrefix(before, []byte(clients.ByteOrderMark))
	old, err := g.Decode(raw)
	if err != nil {
		return nil, err
	}
	mine, _ := g.Decode(raw) // of the same bytes; want may change it
	wanted, err := want(mine)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(old, wanted) {
		return before, nil
	}
	crlf := bytes.Contains(raw, []byte("\r\n")) && bytes.Count(raw, []byte("\r\n")) == bytes.Count(raw, []byte("\n"))
	text := raw
	if crlf {
		text = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	}
	after, err := write(text)
	if crlf {
		after = bytes.ReplaceAll(after, []byte("\n"), []byte("\r\n"))
	}
	var got map[string]any
	if err == nil {
		got, err = g.Decode(after)
	}
	if err != nil || !reflect.DeepEqual(got, wanted) {
		return nil, fmt.Errorf("its form leaves no place for the entry; %w:\n\n%s", errByHand, bytes.TrimSpace(snippet()))
	}
	if bom {
		after = slices.Concat([]byte(clients.ByteOrderMark), after)
	}
	return after, nil
}

// overlay is what a file means once the members are in it.
func overlay(g clients.Grammar, old map[string]any, at place, ms []clients.Member) (map[string]any, error) {
	values := map[string]any{}
	for _, m := range ms {
		values[m.Key] = m.Value
	}
	b, err := encode(g, values)
	if err != nil {
		return nil, fmt.Errorf("write the entry: %w", err)
	}
	ours, err := g.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("read the entry again: %w", err)
	}
	want := maps.Clone(old)
	entry := want
	for i, key := range at.path {
		next, err := table(entry, key)
		if err != nil {
			return nil, within(at.path[:i], err)
		}
		entry[key] = next
		entry = next
	}
	for _, k := range at.drop {
		delete(entry, k)
	}
	for k, v := range ours {
		if inner, ok := v.(map[string]any); ok {
			merged, err := table(entry, k)
			if err != nil {
				return nil, within(at.path, err)
			}
			maps.Copy(merged, inner)
			v = merged
		}
		entry[k] = v
	}
	return want, nil
}

// within says where an error is.
func within(path []string, err error) error {
	if len(path) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", strings.Join(path, "."), err)
}

// table is a copy of what stands under key, empty if nothing does.
func table(in map[string]any, key string) (map[string]any, error) {
	v, ok := in[key]
	if !ok {
		return map[string]any{}, nil
	}
	t, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is not a table of names and values", key)
	}
	return maps.Clone(t), nil
}
