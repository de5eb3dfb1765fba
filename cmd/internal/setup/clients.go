package setup

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// raised is how long a call may take where the client lets that be set, in
// seconds: people answer late.
const raised = 3600

// client is an agent's program and how its configuration is written.
type client struct {
	name     string
	programs []string               // that start it; none when it is no command
	user     func(Folders) []string // the user's own files: the first that exists, else the first
	project  []string               // the same below a project; none when it has no file there
	grammar  grammar
	section  string // of the file: holds the servers by name
	entry    func(Entry) []member
	note     func(Entry) string // what the user does beside the change; nil for nothing
}

// Folders are where clients keep the user's own files. The empty ones but for
// Home are as the client has them by default.
type Folders struct {
	Home    string
	Config  string // XDG_CONFIG_HOME
	AppData string // APPDATA, on Windows
	Claude  string // CLAUDE_CONFIG_DIR
	Codex   string // CODEX_HOME
}

func (f Folders) config() string {
	if filepath.IsAbs(f.Config) {
		return f.Config
	}
	return filepath.Join(f.Home, ".config")
}

// support is where desktop programs keep their files.
func (f Folders) support() string {
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(f.Home, "Library", "Application Support")
	case "windows":
		if filepath.IsAbs(f.AppData) {
			return f.AppData
		}
		return filepath.Join(f.Home, "AppData", "Roaming")
	}
	return f.config()
}

// Names are the known clients.
func Names() []string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

func find(name string) (client, bool) {
	all := clients()
	i := slices.IndexFunc(all, func(c client) bool { return c.name == name })
	if i < 0 {
		return client{}, false
	}
	return all[i], true
}

// What the clients' parsers take beyond JSON.
var (
	plainJSON = jsonGrammar{}
	comments  = jsonGrammar{comments: true}
	jsonc     = jsonGrammar{comments: true, commas: true}
)

func clients() []client {
	home := func(parts ...string) func(Folders) []string {
		return func(f Folders) []string { return []string{filepath.Join(append([]string{f.Home}, parts...)...)} }
	}
	config := func(folder string, names ...string) func(Folders) []string {
		return func(f Folders) []string {
			var out []string
			for _, n := range names {
				out = append(out, filepath.Join(f.config(), folder, n))
			}
			return out
		}
	}
	support := func(parts ...string) func(Folders) []string {
		return func(f Folders) []string {
			return []string{filepath.Join(append([]string{f.support()}, parts...)...)}
		}
	}
	one := func(names ...string) []string { return names }
	return []client{
		{
			name: "claude", programs: one("claude"), grammar: plainJSON, section: "mcpServers",
			project: one(".mcp.json"), user: claudeUser, entry: members(stdio, timeoutMillis), note: claudeNote,
		},
		{
			name: "claude-desktop", grammar: plainJSON, section: "mcpServers",
			user: support("Claude", "claude_desktop_config.json"), entry: fixed, note: say("Restart Claude Desktop."),
		},
		{
			name: "codex", programs: one("codex"), grammar: tomlGrammar{}, section: "mcp_servers",
			user: codexUser, entry: codexEntry,
			note: say("Codex does not refresh its list of tools: tools that are turned on later are reached through the gateway tools."),
		},
		{
			name: "opencode", programs: one("opencode"), grammar: jsonc, section: "mcp", project: one("opencode.json", "opencode.jsonc"),
			user: config("opencode", "opencode.json", "opencode.jsonc"), entry: openCode,
		},
		{
			name: "gemini", programs: one("gemini"), grammar: comments, section: "mcpServers", project: one(filepath.Join(".gemini", "settings.json")),
			user: home(".gemini", "settings.json"), entry: members(stdio, timeoutMillis),
			note: say("Gemini CLI starts no server in a folder that it does not trust: trust this one when it asks."),
		},
		{
			name: "cursor", programs: one("cursor", "cursor-agent"), grammar: jsonc, section: "mcpServers", project: one(filepath.Join(".cursor", "mcp.json")),
			user: home(".cursor", "mcp.json"), entry: fixed,
		},
		{
			name: "vscode", programs: one("code"), grammar: jsonc, section: "servers", project: one(filepath.Join(".vscode", "mcp.json")),
			user: support("Code", "User", "mcp.json"), entry: members(stdio, typeStdio),
		},
		{
			name: "kiro", programs: one("kiro", "kiro-cli"), grammar: jsonc, section: "mcpServers", project: one(filepath.Join(".kiro", "settings", "mcp.json")),
			user: home(".kiro", "settings", "mcp.json"), entry: fixed,
		},
		{
			name: "windsurf", programs: one("windsurf"), grammar: jsonc, section: "mcpServers",
			user: home(".codeium", "windsurf", "mcp_config.json"), entry: stdio,
		},
		{
			name: "zed", programs: one("zed", "zeditor"), grammar: jsonc, section: "context_servers",
			user: zedUser, entry: members(stdio, zed),
		},
		{
			name: "pi", programs: one("pi"), grammar: jsonc, section: "mcpServers", project: one(filepath.Join(".pi", "mcp.json")),
			user: home(".pi", "agent", "mcp.json"), entry: members(stdio, timeoutSeconds),
		},
		{
			name: "crush", programs: one("crush"), grammar: plainJSON, section: "mcp", project: one("crush.json", ".crush.json"),
			user: config("crush", "crush.json"), entry: members(stdio, typeStdio),
		},
	}
}

func claudeUser(f Folders) []string {
	if filepath.IsAbs(f.Claude) {
		return []string{filepath.Join(f.Claude, ".claude.json")}
	}
	return []string{filepath.Join(f.Home, ".claude.json")}
}

func codexUser(f Folders) []string {
	if filepath.IsAbs(f.Codex) {
		return []string{filepath.Join(f.Codex, "config.toml")}
	}
	return []string{filepath.Join(f.Home, ".codex", "config.toml")}
}

func zedUser(f Folders) []string {
	switch runtime.GOOS {
	case "darwin": // Zed does not use the folder of other programs there
		return []string{filepath.Join(f.Home, ".config", "zed", "settings.json")}
	case "windows":
		return []string{filepath.Join(f.support(), "Zed", "settings.json")}
	}
	return []string{filepath.Join(f.config(), "zed", "settings.json")}
}

func say(note string) func(Entry) string { return func(Entry) string { return note } }

func claudeNote(e Entry) string {
	if e.User {
		return ""
	}
	return "Claude Code asks once whether the project's servers may be used."
}

// sharedNote warns that a project's file is read on other machines, too.
func sharedNote(e Entry) string {
	if e.User || !strings.ContainsAny(e.Command, `/\`) {
		return ""
	}
	return "The command is a path of this machine. To share the file with others, put mcpdeck on PATH and run setup again."
}
