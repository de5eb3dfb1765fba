package clients

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Refs are the ways in which a client's entries refer to what stands elsewhere.
type Refs uint8

// The ways, as the client replaces them.
const (
	RefBraces Refs = 1 << iota // ${NAME} and ${NAME:-TEXT}: variables of the environment
	RefBare                    // $NAME, the same
	RefEditor                  // ${env:NAME}, ${workspaceFolder}, ${userHome}, ${input:ID}
	RefCurly                   // {env:NAME}, {file:PATH}
	RefShell                   // $(COMMAND)
)

// Entry is a server that a client's file has, as it stands there: what refers to
// something else is not replaced.
type Entry struct {
	Path    []string // of keys, that of the server last
	Project string   // folder that the entry is for; "": for all, or for that of the file

	Command      []string
	Env          map[string]string
	Inherit      []string // variables that the program gets as the client has them
	Cwd          string
	URL          string
	Transport    string // http, sse; "" is not said
	Headers      map[string]string
	EnvHeaders   map[string]string // header: variable that holds its value
	Bearer       string            // variable that holds a token
	Only, Except []string          // tools
	Notes        []string          // what the deck does not do

	Err error // why the entry cannot be read
}

// Name is the one that the client's tools of this server have.
func (e Entry) Name() string { return e.Path[len(e.Path)-1] }

// Entries are the servers in a client's file, in all sections that it may have, by
// name.
func (c Client) Entries(file map[string]any) []Entry {
	out := section(file, nil, "", c.Section)
	if c.PerProject == "" {
		return out
	}
	projects, _ := file[c.PerProject].(map[string]any)
	for _, folder := range slices.Sorted(maps.Keys(projects)) {
		if inner, ok := projects[folder].(map[string]any); ok {
			out = append(out, section(inner, []string{c.PerProject, folder}, folder, c.Section)...)
		}
	}
	return out
}

func section(in map[string]any, path []string, project, key string) []Entry {
	servers, _ := in[key].(map[string]any)
	var out []Entry
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		e := entry(servers[name])
		e.Path, e.Project = slices.Concat(path, []string{key, name}), project
		out = append(out, e)
	}
	return out
}

// entry reads a server however a client writes it: no key means one thing to one
// client and another to the next.
func entry(v any) Entry {
	m, ok := v.(map[string]any)
	if !ok {
		return Entry{Err: errors.New("it is not a table of names and values")}
	}
	r := fields{m: m}
	e := Entry{
		Env: r.table("env", "environment"), Inherit: r.names("env_vars"), Cwd: r.text("cwd"),
		URL: r.text("url", "httpUrl", "serverUrl"), Headers: r.table("headers", "http_headers"), EnvHeaders: r.table("env_http_headers"), Bearer: r.text("bearer_token_env_var"),
		Only: r.words("enabled_tools", "includeTools"), Except: r.words("disabled_tools", "excludeTools", "disabledTools"),
	}
	switch command := m["command"].(type) {
	case string:
		e.Command = append([]string{command}, r.words("args")...)
	case map[string]any: // as Zed once had it
		inner := fields{m: command}
		e.Command = append([]string{inner.text("path")}, inner.words("args")...)
		if e.Env = inner.table("env"); r.err == nil {
			r.err = inner.err
		}
	default:
		e.Command = r.words("command")
	}
	switch r.text("type", "transport") {
	case "sse":
		e.Transport = "sse"
	case "http", "streamable-http", "streamableHttp", "streamable_http":
		e.Transport = "http"
	}
	if m["httpUrl"] != nil {
		e.Transport = "http"
	}
	if file := r.text("envFile"); file != "" {
		e.Notes = append(e.Notes, "variables of "+file+" are not read")
	}
	if m["oauth"] != nil || m["auth"] != nil {
		e.Notes = append(e.Notes, "its sign-in is not taken over")
	}
	e.Err = r.err
	if e.Err == nil && e.URL == "" && (len(e.Command) == 0 || e.Command[0] == "") {
		e.Err = errors.New("it has no command and no URL")
	}
	return e
}

// fields reads values of one entry, and keeps the first that is of another kind than it
// must be.
type fields struct {
	m   map[string]any
	err error
}

// first is the value of the first key that is there.
func (f *fields) first(keys []string) (any, string) {
	for _, k := range keys {
		if v := f.m[k]; v != nil {
			return v, k
		}
	}
	return nil, ""
}

func (f *fields) wrong(key, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("its %s is not %s", key, want)
	}
}

func (f *fields) text(keys ...string) string {
	v, key := f.first(keys)
	s, ok := v.(string)
	if !ok && v != nil {
		f.wrong(key, "a text")
	}
	return s
}

func (f *fields) words(keys ...string) []string {
	v, key := f.first(keys)
	all, ok := v.([]any)
	if !ok && v != nil {
		f.wrong(key, "a list of texts")
	}
	var out []string
	for _, w := range all {
		s, ok := scalar(w)
		if !ok {
			f.wrong(key, "a list of texts")
		}
		out = append(out, s)
	}
	return out
}

// names are words, or tables with a name.
func (f *fields) names(key string) []string {
	all, _ := f.m[key].([]any)
	var out []string
	for _, w := range all {
		if m, ok := w.(map[string]any); ok {
			w = m["name"]
		}
		s, ok := w.(string)
		if !ok {
			f.wrong(key, "a list of names")
		}
		out = append(out, s)
	}
	return out
}

func (f *fields) table(keys ...string) map[string]string {
	v, key := f.first(keys)
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		f.wrong(key, "a table of texts")
	}
	var out map[string]string
	for k, inner := range m {
		s, ok := scalar(inner)
		if !ok {
			f.wrong(key, "a table of texts")
		}
		out = with(out, k, s)
	}
	return out
}

// scalar is a value as a text: people leave the quotes away around numbers.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool, int64:
		return fmt.Sprint(v), true
	case float64:
		return fmt.Sprintf("%.16g", v), true
	}
	return "", false
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
