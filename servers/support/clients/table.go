package clients

import (
	"slices"
	"sync"
	"time"
)

// All is the table. Limits are measured or documented ones. The caller does not change it.
func All() []Client { return table() }

// table is built once, since every name that is shown is looked up in it.
var table = sync.OnceValue(func() []Client { return slices.Concat(commands(), desktops()) })

// commands are agents in a terminal.
func commands() []Client {
	return []Client{
		{
			ID: "claude", Title: "Claude Code", Programs: list("claude"), Introduces: list("claude", "*claude-code*", "*claude code*"),
			Variables: list("CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"),
			User:      claudeUser, Project: list(".mcp.json"), Grammar: JSON, Section: "mcpServers", PerProject: "projects",
			Refs:        RefBraces,
			Form:        Form{Timeout: "timeout", Unit: time.Millisecond, Alone: []Member{{"type", "stdio"}, {"alwaysLoad", true}}},
			ProjectNote: "When Claude Code starts here, it asks about the new server: choose \"Use this MCP server\".",
			Launch: list(
				"start it with: claude --mcp-config FILE --allowed-tools mcp__mcpdeck__ask mcp__mcpdeck__ask_wait",
				"these flags take several values: a prompt must come before them or on standard input",
				"to answer Claude Code's own questions in the deck as well: mcpdeck setup claude --prompts",
				"set CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0 in its environment to keep questions in the foreground",
			),
			Folder: claudeFolder, Prompts: claudePrompts(),
			Searches: claudeSearches, Limit: 100_000 * time.Second, Extends: true, Background: 2 * time.Minute,
		},
		{
			ID: "codex", Title: "Codex", Programs: list("codex"), Introduces: list("*codex*"), Variables: list("CODEX_THREAD_ID"),
			User: codexUser, Grammar: TOML, Section: "mcp_servers",
			Form:   Form{Then: []Member{{"required", true}}, Timeout: "tool_timeout_sec", Unit: time.Second},
			Note:   "Codex does not refresh its list of tools: it reaches tools turned on later through the gateway tools.",
			Folder: codexFolder, Daemon: true, Prompts: codexPrompts(),
			KeepsTools: true, Limit: 300 * time.Second,
		},
		{
			ID: "opencode", Title: "OpenCode", Programs: list("opencode"), Introduces: list("*opencode*"),
			User: config("opencode", "opencode.json", "opencode.jsonc"), Project: list("opencode.json", "opencode.jsonc"), Grammar: JSONC, Section: "mcp",
			Refs: RefCurly,
			Form: Form{
				First: []Member{{"type", "local"}}, OneList: true, Then: []Member{{"enabled", true}},
				Timeout: "timeout", Unit: time.Millisecond, Env: "environment",
			},
			Silent: true, Prompts: opencodePrompts(),
			Extends: true,
		},
		{
			ID: "gemini", Title: "Gemini CLI", Programs: list("gemini"), Introduces: list("*gemini*"),
			User: home(".gemini", "settings.json"), Project: list(".gemini/settings.json"), Grammar: JSONWithComments, Section: "mcpServers",
			Refs:   RefBraces | RefBare,
			Form:   Form{Timeout: "timeout", Unit: time.Millisecond},
			Note:   "Gemini CLI starts servers only in folders you trust: trust this one when it asks.",
			Folder: geminiFolder, Silent: true, Prompts: geminiPrompts(),
			Limit: 600 * time.Second,
		},
		{
			ID: "pi", Title: "pi", Programs: list("pi"), Introduces: list("pi"),
			User: home(".pi", "agent", "mcp.json"), Project: list(".pi/mcp.json"), Grammar: JSONC, Section: "mcpServers",
			Refs:    RefBraces,
			Form:    Form{Timeout: "timeout", Unit: time.Second},
			Extends: true,
		},
		{
			ID: "crush", Title: "Crush", Programs: list("crush"), Introduces: list("crush"),
			User: config("crush", "crush.json"), Project: list("crush.json", ".crush.json"), Grammar: JSON, Section: "mcp",
			Refs: RefBraces | RefBare | RefShell,
			Form: Form{Then: []Member{{"type", "stdio"}}},
		},
		{
			ID: "oh-my-pi", Title: "oh-my-pi", Programs: list("omp"), Introduces: list("*omp-coding-agent*"),
			Grammar: JSON, Section: "mcpServers",
			Form:  Form{Timeout: "timeout", Unit: time.Millisecond},
			Limit: 30 * time.Second,
		},
	}
}

// desktops are editors and programs with windows.
func desktops() []Client {
	return []Client{
		{
			ID: "claude-desktop", Title: "Claude Desktop", Introduces: list("*claude-ai*"),
			User: support("Claude", "claude_desktop_config.json"), Grammar: JSON, Section: "mcpServers",
			Note: "Restart Claude Desktop.", KeepsTools: true, Limit: time.Minute,
		},
		{
			ID: "cursor", Title: "Cursor", Programs: list("cursor", "cursor-agent"), Introduces: list("*cursor*"), // cursor-vscode, too
			User: home(".cursor", "mcp.json"), Project: list(".cursor/mcp.json"), Grammar: JSONC, Section: "mcpServers",
			Refs:       RefEditor,
			KeepsTools: true, Limit: time.Minute,
		},
		{
			ID: "vscode", Title: "VS Code", Programs: list("code"), Introduces: list("*visual studio code*", "*vscode*"),
			User: support("Code", "User", "mcp.json"), Project: list(".vscode/mcp.json"), Grammar: JSONC, Section: "servers",
			Refs:  RefEditor,
			Form:  Form{Then: []Member{{"type", "stdio"}}},
			Limit: 300 * time.Second,
		},
		{
			// Its command line, kiro-cli, asks for changed tools.
			ID: "kiro", Title: "Kiro", Programs: list("kiro", "kiro-cli"), Introduces: list("kiro", "kiro-ide", "kiro ide"),
			User: home(".kiro", "settings", "mcp.json"), Project: list(".kiro/settings/mcp.json"), Grammar: JSONC, Section: "mcpServers",
			Refs:       RefBraces,
			KeepsTools: true,
		},
		{
			ID: "windsurf", Title: "Windsurf", Programs: list("windsurf"), Introduces: list("*windsurf*"),
			User: home(".codeium", "windsurf", "mcp_config.json"), Grammar: JSONC, Section: "mcpServers",
			Refs: RefEditor,
		},
		{
			ID: "zed", Title: "Zed", Programs: list("zed", "zeditor"), Introduces: list("zed"),
			User: zedUser, Grammar: JSONC, Section: "context_servers",
			Form: Form{Then: []Member{{"source", "custom"}, {"enabled", true}}, Env: "env"},
		},
	}
}

func list(words ...string) []string { return words }
