package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/clients"
)

// serverName is the deck's name in every client's file.
const serverName = "mcpdeck"

// remote are the keys of an entry for a server that is reached by address.
// They go when the entry becomes a command.
var remote = []string{"url", "httpUrl", "serverUrl", "headers", "http_headers", "bearer_token_env_var"}

// set writes the members into the entry mcpdeck of a section and leaves all else
// as it stands.
func set(g clients.Grammar, before []byte, section string, ms []clients.Member) ([]byte, error) {
	if g == clients.TOML {
		return setTOML(before, section, ms)
	}
	return setJSON(before, section, ms)
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
	return editBy(set, g, before, section, ms)
}

// editBy is edit by a writer such as set, which is not trusted: what it returns is
// read again, so that the client finds what was there before, and the entry.
func editBy(write func(clients.Grammar, []byte, string, []clients.Member) ([]byte, error), g clients.Grammar, before []byte, section string, ms []clients.Member) ([]byte, error) {
	raw, bom := bytes.CutPrefix(before, []byte(clients.ByteOrderMark))
	old, err := g.Decode(raw)
	if err != nil {
		return nil, err
	}
	want, err := overlay(g, old, section, ms)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(old, want) {
		return before, nil
	}
	crlf := bytes.Contains(raw, []byte("\r\n")) && bytes.Count(raw, []byte("\r\n")) == bytes.Count(raw, []byte("\n"))
	text := raw
	if crlf {
		text = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	}
	after, err := write(g, text, section, ms)
	if crlf {
		after = bytes.ReplaceAll(after, []byte("\n"), []byte("\r\n"))
	}
	var got map[string]any
	if err == nil {
		got, err = g.Decode(after)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		// The snippet is what a new file would hold.
		snippet, _ := set(g, nil, section, ms)
		return nil, fmt.Errorf("its form leaves no place for the entry; %w:\n\n%s", errByHand, bytes.TrimSpace(snippet))
	}
	if bom {
		after = slices.Concat([]byte(clients.ByteOrderMark), after)
	}
	return after, nil
}

// overlay is what a file means once the members are in it.
func overlay(g clients.Grammar, old map[string]any, section string, ms []clients.Member) (map[string]any, error) {
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
	servers, err := table(old, section)
	if err != nil {
		return nil, err
	}
	entry, err := table(servers, serverName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", section, err)
	}
	for _, k := range remote {
		delete(entry, k)
	}
	for k, v := range ours {
		if inner, ok := v.(map[string]any); ok {
			merged, err := table(entry, k)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", section, serverName, err)
			}
			maps.Copy(merged, inner)
			v = merged
		}
		entry[k] = v
	}
	servers[serverName] = entry
	want := maps.Clone(old)
	want[section] = servers
	return want, nil
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
