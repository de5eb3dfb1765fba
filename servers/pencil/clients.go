package pencil

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// maxConfig is the largest client configuration that is read, in bytes.
const maxConfig = 16 << 20

// entry is how a client starts an MCP server.
type entry struct {
	command string
	args    []string
}

// clients finds the program in the configurations of coding agents. They are
// read only. An entry counts when its command is named as the program is; one
// that starts the deck itself is not.
func (s *search) clients() []candidate {
	type place struct {
		path  string
		steps [][]string // ways to the entry inside the file
	}
	servers := []string{"mcpServers", "pencil"}
	places := []place{{s.home(".claude.json"), [][]string{{"projects", s.o.Root, "mcpServers", "pencil"}, servers}}}
	add := func(path string, steps ...string) {
		places = append(places, place{path, [][]string{steps}})
	}
	inProject := func(path string) string { return filepath.Join(s.o.Root, path) }
	if s.o.Root != "" {
		add(inProject(".mcp.json"), servers...)
	}
	add(s.home(".cursor/mcp.json"), servers...)
	if s.o.Root != "" {
		add(inProject(".cursor/mcp.json"), servers...)
	}
	add(s.home(".kiro/settings/mcp.json"), servers...)
	add(s.home(".gemini/settings.json"), servers...)
	add(s.home(".codeium/windsurf/mcp_config.json"), servers...)
	if s.o.Root != "" {
		add(inProject(".vscode/mcp.json"), "servers", "pencil")
	}
	add(s.home(".codex/config.toml"), "mcp_servers", "pencil")
	add(s.home(".config/opencode/opencode.json"), "mcp", "pencil")

	var out []candidate
	for _, p := range places {
		raw, err := readConfig(p.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			s.searched = append(s.searched, Candidate{Path: s.o.short(p.path), Source: "client configuration", Reason: "skipped: cannot be read"})
			continue
		}
		for _, steps := range p.steps {
			e, ok := readEntry(raw, steps)
			if !ok {
				continue
			}
			source := s.o.short(p.path)
			if !s.named(e.command) {
				s.searched = append(s.searched, Candidate{Path: s.o.short(e.command), Source: source, Reason: "not named as Pencil's MCP server"})
				continue
			}
			out = append(out, candidate{path: e.command, source: source, app: appOf(e.args)})
		}
	}
	return out
}

// readConfig reads a client's configuration as JSON.
func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil, errors.New("not a configuration file")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return toJSON(raw, filepath.Ext(path) == ".toml")
}

func toJSON(raw []byte, isTOML bool) ([]byte, error) {
	if isTOML {
		var v map[string]any
		if err := toml.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		// What is not the server's entry may not be JSON (infinite numbers).
		only, ok := v["mcp_servers"].(map[string]any)
		if !ok {
			return []byte(`{}`), nil
		}
		return json.Marshal(map[string]any{"mcp_servers": map[string]any{"pencil": only["pencil"]}})
	}
	raw = plainJSON(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	if !json.Valid(raw) {
		return nil, errors.New("not JSON")
	}
	return raw, nil
}

// readEntry follows steps through valid JSON to a server's entry.
func readEntry(raw []byte, steps []string) (entry, bool) {
	for _, key := range steps {
		o, err := rawjson.SplitObject(raw)
		if err != nil {
			return entry{}, false
		}
		raw = o.Get(key)
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return entry{}, false
	}
	var e entry
	if parts := stringList(o.Get("command")); len(parts) > 0 {
		e.command, e.args = parts[0], parts[1:]
	} else {
		e.command, e.args = o.Str("command"), stringList(o.Get("args"))
	}
	return e, e.command != ""
}

func stringList(raw []byte) []string {
	list, ok := rawjson.SplitArray(raw)
	if !ok {
		return nil
	}
	var out []string
	for _, r := range list {
		s, err := rawjson.Text(r)
		if err != nil {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// named tells whether a command's file name is one of the program's.
func (s *search) named(command string) bool {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return filepath.IsAbs(command) && slices.Contains(s.p.fileNames(), base)
}

// appOf is the value of --app among a program's arguments.
func appOf(args []string) string {
	for i, a := range args {
		a = "-" + strings.TrimLeft(a, "-")
		if a == "-app" && i+1 < len(args) {
			return args[i+1]
		}
		if v, ok := strings.CutPrefix(a, "-app="); ok {
			return v
		}
	}
	return ""
}
