package setup

import (
	"path/filepath"
	"runtime"
	"strings"
)

// raised is how long a call may take where the client lets that be set, in
// seconds: people answer late.
const raised = 3600

// client is an agent's program and how its configuration is written.
type client struct {
	name string
	note string
	file func(Entry) string
	edit func(before []byte, e Entry) ([]byte, error)
}

// Names lists the known clients.
func Names() string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

func find(name string) (client, bool) {
	for _, c := range clients() {
		if c.name == name {
			return c, true
		}
	}
	return client{}, false
}

func clients() []client {
	home := func(parts ...string) func(Entry) string {
		return func(e Entry) string { return filepath.Join(append([]string{e.Home}, parts...)...) }
	}
	either := func(project, user []string) func(Entry) string {
		return func(e Entry) string {
			if e.User || e.Root == "" {
				return filepath.Join(append([]string{e.Home}, user...)...)
			}
			return filepath.Join(append([]string{e.Root}, project...)...)
		}
	}
	one := func(names ...string) []string { return names }
	return []client{
		{
			name: "claude", note: "Claude Code asks once whether the project's servers may be used.",
			file: either(one(".mcp.json"), one(".claude.json")), edit: jsonEditor("mcpServers", stdio, timeoutMillis),
		},
		{name: "claude-desktop", note: "Restart Claude Desktop.", file: claudeDesktop, edit: jsonEditor("mcpServers", fixed)},
		{
			name: "codex", note: "Codex does not refresh its list of tools: what is switched on later is reached through the gateway tools.",
			file: home(".codex", "config.toml"), edit: codex,
		},
		{name: "opencode", file: either(one("opencode.json"), one(".config", "opencode", "opencode.json")), edit: jsonEditor("mcp", openCode)},
		{
			name: "gemini", note: "Gemini CLI starts no server in a folder that it does not trust: trust this one when it asks.",
			file: either(one(".gemini", "settings.json"), one(".gemini", "settings.json")), edit: jsonEditor("mcpServers", stdio, timeoutMillis),
		},
		{name: "cursor", file: either(one(".cursor", "mcp.json"), one(".cursor", "mcp.json")), edit: jsonEditor("mcpServers", fixed)},
		{name: "vscode", file: func(e Entry) string { return filepath.Join(e.Root, ".vscode", "mcp.json") }, edit: jsonEditor("servers", stdio, typeStdio)},
		{name: "kiro", file: either(one(".kiro", "settings", "mcp.json"), one(".kiro", "settings", "mcp.json")), edit: jsonEditor("mcpServers", fixed)},
		{name: "windsurf", file: home(".codeium", "windsurf", "mcp_config.json"), edit: jsonEditor("mcpServers", stdio)},
		{name: "zed", file: home(".config", "zed", "settings.json"), edit: jsonEditor("context_servers", stdio, zed)},
		{name: "pi", file: either(one(".pi", "mcp.json"), one(".pi", "agent", "mcp.json")), edit: jsonEditor("mcpServers", stdio, timeoutSeconds)},
		{name: "crush", file: func(e Entry) string { return filepath.Join(e.Root, "crush.json") }, edit: jsonEditor("mcp", stdio, typeStdio)},
	}
}

func claudeDesktop(e Entry) string {
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(e.Home, "Library", "Application Support", "Claude", "claude_desktop_config.json")
	case "windows":
		return filepath.Join(e.Home, "AppData", "Roaming", "Claude", "claude_desktop_config.json")
	}
	return filepath.Join(e.Home, ".config", "Claude", "claude_desktop_config.json")
}
