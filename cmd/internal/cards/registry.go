package cards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// described is a server.json as in the MCP registry, of the current or an older version.
// [camel] converts older field names; those that differ otherwise have fields of their own.
type described struct {
	Name        string        `json:"name"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Version     string        `json:"version"`
	Packages    []packageInfo `json:"packages"`
	Remotes     []remoteInfo  `json:"remotes"`
}

type packageInfo struct {
	RegistryType         string     `json:"registryType"`
	RegistryName         string     `json:"registryName"` // in old versions
	RegistryBaseURL      string     `json:"registryBaseUrl"`
	Identifier           string     `json:"identifier"`
	Name                 string     `json:"name"` // in old versions, the same as identifier
	Version              string     `json:"version"`
	RuntimeHint          string     `json:"runtimeHint"`
	Transport            remoteInfo `json:"transport"`
	RuntimeArguments     []input    `json:"runtimeArguments"`
	PackageArguments     []input    `json:"packageArguments"`
	EnvironmentVariables []input    `json:"environmentVariables"`
}

type remoteInfo struct {
	Type          string           `json:"type"`
	TransportType string           `json:"transportType"` // in old versions
	URL           string           `json:"url"`
	Headers       []input          `json:"headers"`
	Variables     map[string]input `json:"variables"`
}

// input is a value that is either fixed or provided by the user.
type input struct {
	Type        string           `json:"type"` // of an argument: positional, named
	Name        string           `json:"name"`
	ValueHint   string           `json:"valueHint"`
	Description string           `json:"description"`
	Value       string           `json:"value"`
	Default     string           `json:"default"`
	IsRequired  bool             `json:"isRequired"`
	IsSecret    bool             `json:"isSecret"`
	Choices     []string         `json:"choices"`
	Variables   map[string]input `json:"variables"`
}

// reader converts one description into a card.
type reader struct {
	card   settings.Card
	values map[string]string // the user's values, by name of the input
	used   map[string]bool
	lacks  []string // inputs that only the user can provide
	notes  []string
	err    error
}

// FromRegistry returns a card for a server.json. pick selects a package or address, counting
// from 1 with packages first; 0 selects the first that mcpdeck can use. values are the
// user's values, by name of the input. The returned strings are notes for the user to read
// before adding the card.
func FromRegistry(b []byte, pick int, values map[string]string) (settings.Card, []string, error) {
	var d described
	if err := readDescription(b, &d); err != nil {
		return settings.Card{}, nil, err
	}
	choices := len(d.Packages) + len(d.Remotes)
	switch {
	case choices == 0:
		return settings.Card{}, nil, errors.New("no packages and no remotes")
	case pick < 0 || pick > choices:
		return settings.Card{}, nil, fmt.Errorf("--package must be between 1 and %d, the number of its packages and remotes", choices)
	}
	first, last := 1, choices
	if pick > 0 {
		first, last = pick, pick
	}
	var firstErr error
	for n := first; n <= last; n++ {
		card, notes, err := d.use(n, values)
		if err == nil {
			if pick == 0 && choices > 1 {
				notes = append(notes, d.others(n))
			}
			return card, notes, nil
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	return settings.Card{}, nil, firstErr
}

// use returns a card for the nth package or address.
func (d described) use(n int, values map[string]string) (settings.Card, []string, error) {
	r := &reader{values: values, used: map[string]bool{}}
	r.card.Name = nameFrom(d.Name[strings.LastIndex(d.Name, "/")+1:])
	r.card.Title = sanitize.Cut(sanitize.Line(d.Title), 60)
	r.card.About = sanitize.Cut(sanitize.Line(d.Description), 200)
	if n <= len(d.Packages) {
		r.program(d.Packages[n-1], d.Version)
	} else {
		r.remote(d.Remotes[n-1-len(d.Packages)])
	}
	if len(r.lacks) > 0 && r.err == nil {
		r.err = fmt.Errorf("missing values:\n  %s", strings.Join(r.lacks, "\n  "))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !r.used[name] && r.err == nil {
			r.err = fmt.Errorf("--set %s: unknown input", name)
		}
	}
	return r.card, r.notes, r.err
}

// others lists what else a description offers, for --package.
func (d described) others(chosen int) string {
	var out []string
	add := func(n int, what string) {
		if n != chosen {
			out = append(out, fmt.Sprintf("%d %s", n, sanitize.Line(what)))
		}
	}
	for i, p := range d.Packages {
		add(i+1, p.kind()+" "+p.id())
	}
	for i, r := range d.Remotes {
		add(len(d.Packages)+i+1, r.URL)
	}
	return "others, with --package: " + strings.Join(out, ", ")
}

func (p packageInfo) kind() string { return p.RegistryType + p.RegistryName }

func (p packageInfo) id() string {
	return cmp.Or(p.Identifier, p.Name)
}

// program sets the command that runs an exact version of a package.
func (r *reader) program(p packageInfo, serverVersion string) {
	if t := p.Transport.kind(); t != "" && t != "stdio" {
		r.fail("its package is reached over %s, which mcpdeck does not start", t)
		return
	}
	id := p.id()
	if id == "" || strings.HasPrefix(id, "-") || strings.ContainsFunc(id, unicode.IsSpace) {
		r.fail("%q is not the name of a package", id)
		return
	}
	for _, in := range p.EnvironmentVariables {
		if v, ok := r.value(in, in.Name); ok {
			r.card.Env = Set(r.card.Env, in.Name, v)
		}
	}
	before, after := r.arguments(p.RuntimeArguments), r.arguments(p.PackageArguments)
	version := func() string { return r.version(p, serverVersion) }
	switch kind := p.kind(); kind {
	case "npm":
		before = slices.DeleteFunc(before, func(s string) bool { return s == "-y" || s == "--yes" })
		r.card.Command = slices.Concat([]string{"npx", "-y"}, before, []string{id + "@" + version()}, after)
	case "pypi":
		r.card.Command = slices.Concat([]string{"uvx"}, before, []string{id + "==" + version()}, after)
	case "oci", "docker":
		if at := strings.LastIndexByte(id, '/'); !strings.ContainsAny(id[at+1:], ":@") {
			id += ":" + version()
		}
		line := []string{"docker", "run", "-i", "--rm"}
		for _, name := range slices.Sorted(maps.Keys(r.card.Env)) {
			line = append(line, "-e", name)
		}
		before = slices.DeleteFunc(before, func(s string) bool { return s == "-i" || s == "--rm" })
		r.card.Command = slices.Concat(line, before, []string{id}, after)
	case "nuget":
		r.card.Command = slices.Concat([]string{"dnx", id + "@" + version(), "--yes"}, before)
		if len(after) > 0 {
			r.card.Command = slices.Concat(r.card.Command, []string{"--"}, after)
		}
	default:
		r.fail("mcpdeck cannot run packages of the kind %q; install it yourself, then: mcpdeck add NAME -- COMMAND", kind)
		return
	}
	if p.RegistryBaseURL != "" {
		r.notes = append(r.notes, "its package is in the registry "+sanitize.Line(p.RegistryBaseURL)+", which "+r.card.Command[0]+" must be configured for")
	}
}

// version returns the exact version of a package.
func (r *reader) version(p packageInfo, serverVersion string) string {
	for _, v := range []string{r.values["version"], p.Version, serverVersion} {
		if regexp.MustCompile(`^v?[0-9][0-9A-Za-z.+_-]*$`).MatchString(v) && !strings.Contains(v, ".x") {
			r.used["version"] = true
			return v
		}
	}
	r.lacks = append(r.lacks, "--set version=1.2.3  the exact version of "+p.id())
	return ""
}

// remote sets the address of a server.
func (r *reader) remote(m remoteInfo) {
	switch kind := m.kind(); kind {
	case "streamable-http", "streamable", "http":
		r.card.Transport = "http"
	case "sse":
		r.card.Transport = "sse"
	default:
		r.fail("%q is not a way to reach a server", kind)
		return
	}
	r.card.URL = r.fill(m.URL, m.Variables)
	for _, in := range m.Headers {
		if v, ok := r.value(in, in.Name); ok {
			r.card.Headers = Set(r.card.Headers, in.Name, v)
		}
	}
}

func (m remoteInfo) kind() string {
	return cmp.Or(m.Type, m.TransportType)
}

// arguments returns the arguments for a command line.
func (r *reader) arguments(ins []input) []string {
	var out []string
	for _, in := range ins {
		name := in.ValueHint
		if in.Type == "named" || name == "" {
			name = in.Name
		}
		v, ok := r.value(in, strings.TrimLeft(name, "-"))
		switch {
		case in.Type == "named" && (ok || in.IsRequired):
			if out = append(out, in.Name); v != "" {
				out = append(out, v)
			}
		case ok:
			out = append(out, v)
		}
	}
	return out
}

// value returns the fixed value of an input, the user's, or its default.
func (r *reader) value(in input, name string) (string, bool) {
	if in.Value != "" {
		return r.fill(in.Value, in.Variables), true
	}
	v, given := r.values[name]
	r.used[name] = true
	switch {
	case given:
	case in.IsSecret && in.IsRequired:
		v = "${secret:" + r.card.Name + "-" + nameFrom(name) + "}"
	case in.Default != "":
		v = in.Default
	case in.IsRequired:
		r.lacks = append(r.lacks, strings.TrimSpace(fmt.Sprintf("--set %s=...  %s", name, sanitize.Cut(sanitize.Line(in.Description), 120))))
		return "", false
	default:
		return "", false
	}
	if len(in.Choices) > 0 && !slices.Contains(in.Choices, v) && !strings.HasPrefix(v, "${") {
		r.fail("%s: unknown value %q; use %s", name, v, strings.Join(in.Choices, ", "))
	}
	return v, true
}

// fill replaces variables, written as {name}, in a text.
func (r *reader) fill(text string, variables map[string]input) string {
	return regexp.MustCompile(`\{([A-Za-z0-9_.-]+)\}`).ReplaceAllStringFunc(text, func(whole string) string {
		name := whole[1 : len(whole)-1]
		in, ok := variables[name]
		if !ok {
			return whole
		}
		in.IsRequired = true // the text refers to it
		v, _ := r.value(in, name)
		return v
	})
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// Set sets a value of a map, which is made for the first.
func Set(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// readDescription parses a description. It also accepts the envelope of a registry's
// response, and field names with underscores.
func readDescription(b []byte, d *described) error {
	in := json.NewDecoder(bytes.NewReader(b))
	in.UseNumber()
	var all map[string]any
	if err := in.Decode(&all); err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	if inner, ok := all["server"].(map[string]any); ok && all["packages"] == nil && all["remotes"] == nil {
		all = inner
	}
	if all["packages"] == nil && all["remotes"] == nil && all["mcpServers"] != nil {
		return errors.New("this is a client configuration; use: mcpdeck import FILE")
	}
	b, err := json.Marshal(camel(all))
	if err == nil {
		err = json.Unmarshal(b, d)
	}
	if err != nil {
		return fmt.Errorf("not a server description: %w", err)
	}
	if d.Name == "" {
		return errors.New("not a server description: the name is missing")
	}
	return nil
}

// camel renames fields to their current names and converts default values to strings, also
// inside maps whose keys are the server's own names; those keys are kept.
func camel(v any) any {
	switch t := v.(type) {
	case []any:
		for i := range t {
			t[i] = camel(t[i])
		}
	case map[string]any:
		out := map[string]any{}
		for k, inner := range t {
			if k == "variables" {
				if m, ok := inner.(map[string]any); ok {
					for name := range m {
						m[name] = camel(m[name])
					}
				}
				out[k] = inner
				continue
			}
			parts := strings.Split(k, "_")
			for i := 1; i < len(parts); i++ {
				if parts[i] != "" {
					parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
				}
			}
			k = strings.Join(parts, "")
			switch inner.(type) {
			case bool, json.Number:
				if k == "value" || k == "default" {
					inner = fmt.Sprint(inner)
				}
			}
			out[k] = camel(inner)
		}
		return out
	}
	return v
}
