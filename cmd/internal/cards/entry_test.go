package cards

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestAnEntryIsTakenAsPeoplePasteIt(t *testing.T) {
	for _, tt := range []struct {
		name, entry, called string
		want                string // name and what it runs
		fails               string
	}{
		{"whole", `{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}`, "", "time: uvx mcp-server-time", ""},
		{"a fragment", `"time": {"command": "uvx", "args": ["mcp-server-time"]},`, "", "time: uvx mcp-server-time", ""},
		{"with its name", `{"Time Server": {"command": "uvx"}}`, "", "time-server: uvx", ""},
		{"under another name", `{"mcpServers": {"time": {"command": "uvx"}}}`, "clock", "clock: uvx", ""},
		{"alone", `{"command": "uvx", /* a comment */ "env": {"A": "b"},}`, "time", "time: uvx", ""},
		{"alone, without braces", `"command": "uvx"`, "time", "time: uvx", ""},
		{"of VS Code", `{"servers": {"docs": {"type": "http", "url": "https://docs.example/mcp"}}}`, "", "docs: https://docs.example/mcp", ""},
		{"of VS Code's settings", `{"mcp": {"servers": {"time": {"command": "uvx"}}}}`, "", "time: uvx", ""},
		{"of OpenCode", `{"mcp": {"time": {"type": "local", "command": ["uvx", "x"], "enabled": true}}}`, "", "time: uvx x", ""},
		{"of Zed", `{"context_servers": {"time": {"command": "uvx"}}}`, "", "time: uvx", ""},
		{"a server called mcp", `{"mcp": {"command": "uvx"}}`, "", "mcp: uvx", ""},
		{"one of two", `{"a": {"command": "x"}, "b": {"command": "y"}}`, "b", "b: y", ""},
		{"two", `{"a": {"command": "x"}, "b": {"command": "y"}}`, "", "", "name one of a, b"},
		{"no name", `{"command": "x"}`, "", "", "has no name"},
		{"nothing", `{}`, "", "", "no servers"},
		{"no entry", `{"a": 7}`, "", "", "not a table"},
		{"no JSON", `npx -y x`, "", "", "read the entry"},
		{"mcpdeck", `{"mcpdeck": {"command": "mcpdeck", "args": ["mcp"]}}`, "", "", "runs mcpdeck itself"},
		{"a value that the client asks for", `{"inputs": [{"id": "zone", "description": "Which"}], "servers": {"a": {"url": "https://x/${input:zone}"}}}`, "", "", "--set zone="},
	} {
		card, _, err := FromEntry([]byte(tt.entry), Options{Config: &config.Config{}}, tt.called)
		got := ""
		if err == nil {
			got = card.Name + ": " + strings.Join(card.Command, " ") + card.URL
		}
		if got != tt.want || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
			t.Errorf("%s: %q, %v, want %q %s", tt.name, got, err, tt.want, tt.fails)
		}
	}
}

func FuzzFromEntry(f *testing.F) {
	f.Add(`{"mcpServers": {"time": {"command": "uvx"}}}`)
	f.Add(`"a": {"url": "x"},`)
	f.Fuzz(func(t *testing.T, text string) {
		card, _, err := FromEntry([]byte(text), Options{Config: &config.Config{}}, "")
		if err == nil && card.Name == "" {
			t.Errorf("%q has no name", text)
		}
	})
}
