package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// member is one key of an entry, in the order it is written.
type member struct {
	key   string
	value any
}

// part adds members to a server's entry.
type part func(e Entry) []member

func stdio(e Entry) []member {
	return []member{{"command", e.Command}, {"args", e.args(false)}}
}

// fixed is stdio for a client that never asks for a changed list of tools.
func fixed(e Entry) []member {
	return []member{{"command", e.Command}, {"args", e.args(true)}}
}

func timeoutMillis(Entry) []member {
	return []member{{"timeout", raised * 1000}, {"env", clientTimeout()}}
}

func timeoutSeconds(Entry) []member {
	return []member{{"timeout", raised}, {"env", clientTimeout()}}
}

func typeStdio(Entry) []member { return []member{{"type", "stdio"}} }

func zed(Entry) []member {
	return []member{{"source", "custom"}, {"enabled", true}, {"env", map[string]string{}}}
}

func openCode(e Entry) []member {
	return []member{
		{"type", "local"},
		{"command", append([]string{e.Command}, e.args(false)...)},
		{"enabled", true},
		{"timeout", raised * 1000},
		{"environment", clientTimeout()},
	}
}

// clientTimeout tells the ask tool what the client was set to.
func clientTimeout() map[string]string {
	return map[string]string{"MCPDECK_CLIENT_TIMEOUT_MS": strconv.Itoa(raised * 1000)}
}

const serverName = "mcpdeck"

// jsonEditor edits a JSON file, with or without comments, whose servers are in
// the object named section. Everything else stays as it stands.
func jsonEditor(section string, parts ...part) func([]byte, Entry) ([]byte, error) {
	return func(before []byte, e Entry) ([]byte, error) {
		if len(bytes.TrimSpace(before)) == 0 {
			before = []byte("{}\n")
		}
		root, err := hujson.Parse(before)
		if err != nil {
			return nil, fmt.Errorf("read it as JSON: %w", err)
		}
		var members []member
		for _, p := range parts {
			members = append(members, p(e)...)
		}
		indent := indentOf(before)
		servers, err := object(&root, section, indent, 1)
		if err != nil {
			return nil, err
		}
		value, err := hujson.Parse([]byte(written(members, indent, 2)))
		if err != nil {
			return nil, fmt.Errorf("write the entry: %w", err)
		}
		set(servers, serverName, value, indent, 2)
		return root.Pack(), nil
	}
}

// object returns the object under key, made if it is not there.
func object(v *hujson.Value, key, indent string, depth int) (*hujson.Object, error) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("find %q: the file holds no object", key)
	}
	for i := range o.Members {
		if name, ok := o.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			inner, ok := o.Members[i].Value.Value.(*hujson.Object)
			if !ok {
				return nil, fmt.Errorf("find %q: it is no object", key)
			}
			return inner, nil
		}
	}
	inner := &hujson.Object{}
	set(o, key, hujson.Value{Value: inner}, indent, depth)
	return inner, nil
}

// set replaces a member's value or appends the member on a line of its own.
func set(o *hujson.Object, key string, value hujson.Value, indent string, depth int) {
	value.BeforeExtra, value.AfterExtra = hujson.Extra(" "), nil
	for i := range o.Members {
		if name, ok := o.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			if old := &o.Members[i].Value; meaning(*old) != meaning(value) {
				old.Value = value.Value
			}
			return
		}
	}
	// A comma stands behind the last member if something, even nothing, is
	// noted after it. Comments before the brace stay where they are.
	var after hujson.Extra
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		after = hujson.Extra{}
	}
	comments := bytes.TrimRight(o.AfterExtra, " \t\r\n")
	value.AfterExtra = after
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: append(comments, "\n"+strings.Repeat(indent, depth)...), Value: hujson.String(key)},
		Value: value,
	})
	o.AfterExtra = hujson.Extra("\n" + strings.Repeat(indent, depth-1))
}

// meaning is a value without what only people see.
func meaning(v hujson.Value) string {
	v = v.Clone()
	v.Minimize()
	return v.String()
}

// written is an entry as JSON text, its members at depth+1.
func written(members []member, indent string, depth int) string {
	var b strings.Builder
	b.WriteString("{")
	for i, m := range members {
		if i > 0 {
			b.WriteString(",")
		}
		value, _ := json.Marshal(m.value) // plain values always encode
		fmt.Fprintf(&b, "\n%s%q: %s", strings.Repeat(indent, depth+1), m.key, spaced(value))
	}
	b.WriteString("\n" + strings.Repeat(indent, depth) + "}")
	return b.String()
}

// spaced writes short values as people do: a space behind each comma and colon.
func spaced(value []byte) string {
	r := strings.NewReplacer(`","`, `", "`, `":"`, `": "`)
	return r.Replace(string(value))
}

// indentOf is what the file's first indented line begins with.
func indentOf(b []byte) string {
	for l := range bytes.Lines(b) {
		if n := len(l) - len(bytes.TrimLeft(l, " \t")); n > 0 && len(bytes.TrimSpace(l)) > 0 {
			return string(l[:n])
		}
	}
	return "  "
}

// codex appends a table to Codex's TOML file.
func codex(before []byte, e Entry) ([]byte, error) {
	var file struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(before, &file); err != nil {
		return nil, fmt.Errorf("read it as TOML: %w", err)
	}
	if file.Servers[serverName] != nil {
		return before, nil
	}
	var b bytes.Buffer
	b.Write(before)
	if len(before) > 0 {
		if before[len(before)-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	args, _ := json.Marshal(e.args(true)) // strings always encode
	fmt.Fprintf(&b, "[mcp_servers.%s]\ncommand = %q\nargs = %s\nrequired = true\ntool_timeout_sec = %d\n\n[mcp_servers.%s.env]\nMCPDECK_CLIENT_TIMEOUT_MS = \"%d\"\n",
		serverName, e.Command, spaced(args), raised, serverName, raised*1000)
	return b.Bytes(), nil
}
