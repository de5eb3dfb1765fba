package pencil

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// maxConfig is the largest client configuration that is read, in bytes.
const maxConfig = 16 << 20

// clients finds the program in the configurations of coding agents. They are
// read only. An entry counts when its command is named as the program is; one
// that starts the deck itself is not.
func (s *search) clients() []candidate {
	folders := s.o.Clients
	folders.Home = s.o.Home
	var out []candidate
	for _, c := range clients.All() {
		if c.User != nil {
			for _, path := range c.User(folders) {
				var ways [][]string
				if c.PerProject != "" {
					ways = append(ways, []string{c.PerProject, s.o.Root, c.Section})
				}
				out = append(out, s.configuration(path, c.Grammar, append(ways, []string{c.Section}))...)
			}
		}
		for _, name := range c.Project {
			if s.o.Root != "" {
				out = append(out, s.configuration(filepath.Join(s.o.Root, name), c.Grammar, [][]string{{c.Section}})...)
			}
		}
	}
	return out
}

// configuration finds the program in a client's file, in each of the sections of
// servers that ways lead to.
func (s *search) configuration(path string, g clients.Grammar, ways [][]string) []candidate {
	source := s.o.short(path)
	raw, err := file.ReadPlain(path, true, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if g != clients.TOML {
		g = clients.JSONC // what another version of the client reads, too
	}
	var content map[string]any
	if err == nil {
		content, err = g.Decode(raw)
	}
	if err != nil {
		s.searched = append(s.searched, upstream.Candidate{Path: source, Source: "client configuration", Reason: "skipped: cannot be read"})
		return nil
	}
	var out []candidate
	for _, way := range ways {
		at := content
		for _, key := range append(way, "pencil") {
			at, _ = at[key].(map[string]any)
		}
		command, args := started(at)
		switch {
		case command == "":
		case !s.named(command):
			s.searched = append(s.searched, upstream.Candidate{Path: s.o.short(command), Source: source, Reason: "not named as Pencil's MCP server"})
		default:
			out = append(out, candidate{path: command, source: source, app: appOf(args)})
		}
	}
	return out
}

// started is what an entry has its client start, "" when that is no command.
func started(entry map[string]any) (command string, args []string) {
	if parts := texts(entry["command"]); len(parts) > 0 {
		return parts[0], parts[1:]
	}
	command, _ = entry["command"].(string)
	return command, texts(entry["args"])
}

// texts is a list of texts, nil if it is anything else.
func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
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
