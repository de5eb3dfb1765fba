package setup

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// grammar is the language of a configuration file, as its client reads it.
type grammar interface {
	// decode reads a file. What the client could not read, or would read in
	// another way than the next parser does, is an error.
	decode([]byte) (map[string]any, error)
	// encode writes values that decode reads.
	encode(map[string]any) ([]byte, error)
	// set writes the members into the entry mcpdeck of a section and leaves
	// all else as it stands.
	set(before []byte, section string, ms []member) ([]byte, error)
}

// errByHand ends the error of an edit that cannot be made.
var errByHand = errors.New("add the entry by hand")

// edit returns the file with the members in its entry mcpdeck. What it returns
// was read again: the client finds what was there before, and the entry.
func edit(g grammar, before []byte, section string, ms []member) ([]byte, error) {
	raw, bom := bytes.CutPrefix(before, byteOrderMark)
	old, err := g.decode(raw)
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
	after, err := g.set(text, section, ms)
	if crlf {
		after = bytes.ReplaceAll(after, []byte("\n"), []byte("\r\n"))
	}
	var got map[string]any
	if err == nil {
		got, err = g.decode(after)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		// The snippet is what a new file would hold.
		snippet, _ := g.set(nil, section, ms)
		return nil, fmt.Errorf("its form leaves no place for the entry; %w:\n\n%s", errByHand, bytes.TrimSpace(snippet))
	}
	if bom {
		after = slices.Concat(byteOrderMark, after)
	}
	return after, nil
}

// overlay is what a file means once the members are in it.
func overlay(g grammar, old map[string]any, section string, ms []member) (map[string]any, error) {
	values := map[string]any{}
	for _, m := range ms {
		values[m.key] = m.value
	}
	b, err := g.encode(values)
	if err != nil {
		return nil, fmt.Errorf("write the entry: %w", err)
	}
	ours, err := g.decode(b)
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

var byteOrderMark = []byte("\xef\xbb\xbf")
