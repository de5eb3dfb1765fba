package clients

import (
	"slices"
	"sync"
	"time"
)

// All is the table. Limits are measured or documented ones. The caller does not change it.
func All() []Client { return table() }

// table is built once, since every name that is shown is looked up in it.
var table = sync.OnceValue(func() []Client { return slices.Concat(prompting(), commands(), desktops()) })

// prompting are agents in a terminal whose prompts reach the deck.
func prompting() []Client {
	return []Client{
		{
			ID: "claude", Title: "Claude Code", Programs: list("claude"), Package: "@anthropic-ai/claude-code", Introduces: list("claude", "*claude-code*", "*claude code*", "*claude-agent*"),
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
			ID: "codex", Title: "Codex", Programs: list("codex"), Package: "@openai/codex", Introduces: list("*codex*"), Variables: list("CODEX_THREAD_ID"), Session: "threadId",
			User: codexUser, Grammar: TOML, Section: "mcp_servers",
			Form:   Form{Then: []Member{{"required", true}}, Timeout: "tool_timeout_sec", Unit: time.Second},
			Note:   "Codex does not refresh its list of tools: it reaches tools turned on later through the gateway tools.",
			Folder: codexFolder, Daemon: true, Prompts: codexPrompts(),
			KeepsTools: true, Limit: 300 * time.Second, Allowed: "outside its sandbox",
		},
		{
			ID: "opencode", Title: "OpenCode", Programs: list("opencode"), Package: "opencode-ai", Introduces: list("*opencode*"),
			User: config("opencode", "opencode.json", "opencode.jsonc"), Project: list("opencode.json", "opencode.jsonc"), Grammar: JSONC, Section: "mcp",
			Refs: RefCurly, Form: opencodeForm(),
			Silent: true, Prompts: opencodePrompts("opencode", "OpenCode", "1", Version{"1.18.33", measured}),
			Extends: true,
		},
		{
			ID: "kilo", Title: "Kilo CLI", Programs: list("kilo"), Package: "@kilocode/cli", Introduces: list("kilo"),
			User: config("kilo", "kilo.json", "kilo.jsonc"), Project: list("kilo.json", "kilo.jsonc"), Grammar: JSONC, Section: "mcp",
			Refs: RefCurly, Form: opencodeForm(),
			Silent: true, Prompts: opencodePrompts("kilo", "Kilo CLI", "", Version{"7.7.7", "2026-11-28"}),
			Extends: true,
		},
		{
			ID: "gemini", Title: "Gemini CLI", Programs: list("gemini"), Package: "@google/gemini-cli", Introduces: list("*gemini*"),
			User: home(".gemini", "settings.json"), Project: list(".gemini/settings.json"), Grammar: JSONWithComments, Section: "mcpServers",
			Refs:   RefBraces | RefBare,
			Form:   Form{Timeout: "timeout", Unit: time.Millisecond},
			Note:   "Gemini CLI starts servers only in folders you trust: trust this one when it asks.",
			Folder: geminiFolder, Silent: true, Prompts: geminiPrompts(),
			Limit: 600 * time.Second,
		},
		{
			ID: "qwen", Title: "Qwen Code", Programs: list("qwen"), Package: "@qwen-code/qwen-code", Introduces: list("*qwen*"), // qwen-cli-mcp-client-SERVER
			User: qwenUser, Project: list(".qwen/settings.json"), Grammar: JSONWithComments, Section: "mcpServers",
			Refs:   RefBraces | RefBare,
			Form:   Form{Timeout: "timeout", Unit: time.Millisecond},
			Note:   "Restart Qwen Code.",
			Folder: qwenFolder, Prompts: qwenPrompts(),
			Searches: func(func(string) string) bool { return true }, Limit: 600 * time.Second,
		},
		{
			ID: "copilot", Title: "Copilot CLI", Programs: list("copilot"), Package: "@github/copilot", Introduces: list("copilot-cli", "*copilot*cli*"),
			User: copilotUser, Grammar: JSON, Section: "mcpServers", Refs: RefBraces,
			Form:   Form{First: []Member{{"type", "local"}}, Then: []Member{{"tools", list("*")}}},
			Note:   "Restart Copilot CLI.",
			Folder: copilotFolder, Prompts: copilotPrompts(),
		},
		{
			ID: "kimi", Title: "Kimi Code", Programs: list("kimi", "kimi-code"), Package: "@moonshot-ai/kimi-code", Introduces: list("*kimi*"),
			User: kimiUser, Project: list(".kimi-code/mcp.json"), Grammar: JSON, Section: "mcpServers",
			Form:        Form{Timeout: "toolTimeoutMs", Unit: time.Millisecond},
			Note:        "Restart Kimi Code.",
			ProjectNote: "Kimi Code starts a project's servers in folders you trust: trust this one when it asks.",
			Folder:      kimiFolder, Silent: true, Prompts: kimiPrompts(),
			KeepsTools: true, Limit: time.Minute,
		},
		{
			ID: "agy", Title: "Antigravity CLI", Programs: list("agy", "antigravity"), Introduces: list("agy", "*antigravity*"), Section: "mcpServers",
			Folder: agyFolder, Silent: true, Prompts: agyPrompts(),
		},
	}
}

// commands are other agents in a terminal.
func commands() []Client {
	return []Client{
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
			Refs:   RefBraces | RefBare | RefShell,
			Form:   Form{Then: []Member{{"type", "stdio"}}},
			Silent: true,
		},
		{
			ID: "oh-my-pi", Title: "oh-my-pi", Programs: list("omp"), Introduces: list("*omp-coding-agent*"),
			Grammar: JSON, Section: "mcpServers",
			Form:  Form{Timeout: "timeout", Unit: time.Millisecond},
			Limit: 30 * time.Second,
		},
		// Of these nothing but their processes is known: none was run with mcpdeck, and what their hooks
		// tell is not, or not known.
		{ID: "grok", Title: "Grok", Programs: list("grok"), Introduces: list("*grok*"), Section: "mcpServers", Silent: true},
		{ID: "droid", Title: "Droid", Programs: list("droid"), Introduces: list("droid"), Section: "mcpServers", Silent: true},
		{ID: "amp", Title: "Amp", Programs: list("amp"), Introduces: list("amp"), Section: "amp.mcpServers", Silent: true},
		{ID: "goose", Title: "Goose", Programs: list("goose"), Introduces: list("*goose*"), Section: "extensions", Silent: true},
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
			User: zedUser, Grammar: JSONC, Section: "context_servers", Agents: "agent_servers",
			Form: Form{Then: []Member{{"source", "custom"}, {"enabled", true}}, Env: "env"},
		},
	}
}

// opencodeForm is that of OpenCode, and of programs made of it.
func opencodeForm() Form {
	return Form{
		First: []Member{{"type", "local"}}, OneList: true, Then: []Member{{"enabled", true}},
		Timeout: "timeout", Unit: time.Millisecond, Env: "environment",
	}
}

func list(words ...string) []string { return words }
