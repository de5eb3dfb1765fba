package setup

import (
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// TestCodexFindsTheEntryHoweverItsServersStand edits the forms that TOML has
// for the same tables.
func TestCodexFindsTheEntryHoweverItsServersStand(t *testing.T) {
	const ours = "[mcp_servers.mcpdeck]\ncommand = \"/opt/mcpdeck\"\nargs = [\"mcp\", \"--gateway\"]\nrequired = true\ntool_timeout_sec = 3600\n\n" +
		"[mcp_servers.mcpdeck.env]\nMCPDECK_CLIENT_TIMEOUT_MS = \"3600000\"\n"
	const inline = `{args = ['mcp', '--gateway'], command = '/opt/mcpdeck', env = {MCPDECK_CLIENT_TIMEOUT_MS = '3600000'}, required = true, tool_timeout_sec = 3600}`
	tests := []struct{ name, before, after string }{
		{"a new file", "", ours},
		{"other servers", "model = 'x' # mine\n\n[mcp_servers.a]\ncommand = \"a\"\n", "model = 'x' # mine\n\n[mcp_servers.a]\ncommand = \"a\"\n\n" + ours},
		{"no line end", "model = 'x'", "model = 'x'\n\n" + ours},
		{"an inline table", "mcp_servers = { a = { command = \"a\" } } # mine\n[x]\n", "mcp_servers = { a = { command = \"a\" }, mcpdeck = " + inline + " } # mine\n[x]\n"},
		{"an empty inline table", "mcp_servers = {}\n", "mcp_servers = { mcpdeck = " + inline + " }\n"},
		{"dotted keys of another", "mcp_servers.a.command = \"a\"\n", "mcp_servers.a.command = \"a\"\n\n" + ours},
		{
			"our entry with another command",
			"[mcp_servers.mcpdeck]\ncommand = '/old/mcpdeck' # here\nargs = [\"mcp\",\n  \"--gateway\"]\nenabled_tools = ['ask']\nrequired = true\ntool_timeout_sec = 3600\n\n[mcp_servers.mcpdeck.env]\nMCPDECK_CLIENT_TIMEOUT_MS = \"3600000\"\n\n# next\n[x]\ny = 1\n",
			"[mcp_servers.mcpdeck]\ncommand = \"/opt/mcpdeck\" # here\nargs = [\"mcp\", \"--gateway\"]\nenabled_tools = ['ask']\nrequired = true\ntool_timeout_sec = 3600\n\n[mcp_servers.mcpdeck.env]\nMCPDECK_CLIENT_TIMEOUT_MS = \"3600000\"\n\n# next\n[x]\ny = 1\n",
		},
		{
			"our entry with less in it",
			"[mcp_servers.mcpdeck]\ncommand = \"/opt/mcpdeck\"\n[x]\ny = 1\n",
			"[mcp_servers.mcpdeck]\nargs = [\"mcp\", \"--gateway\"]\nrequired = true\ntool_timeout_sec = 3600\nenv.MCPDECK_CLIENT_TIMEOUT_MS = \"3600000\"\ncommand = \"/opt/mcpdeck\"\n[x]\ny = 1\n",
		},
		{
			"our entry in an inline table",
			"[mcp_servers]\na = { command = 'a' }\nmcpdeck = { command = 'old', enabled_tools = ['ask'] }\n",
			"[mcp_servers]\na = { command = 'a' }\nmcpdeck = {args = ['mcp', '--gateway'], command = '/opt/mcpdeck', enabled_tools = ['ask'], env = {MCPDECK_CLIENT_TIMEOUT_MS = '3600000'}, required = true, tool_timeout_sec = 3600}\n",
		},
		{
			"our entry by address",
			"[mcp_servers.mcpdeck]\nurl = 'http://127.0.0.1:7337/mcp'\nbearer_token_env_var = 'T'\n",
			"[mcp_servers.mcpdeck]\ncommand = \"/opt/mcpdeck\"\nargs = [\"mcp\", \"--gateway\"]\nrequired = true\ntool_timeout_sec = 3600\nenv.MCPDECK_CLIENT_TIMEOUT_MS = \"3600000\"\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ms := entryOf(t, "codex", "/opt/mcpdeck")
			after, err := edit(clients.TOML, []byte(tt.before), "mcp_servers", ms)
			if err != nil {
				t.Fatal(err)
			}
			if string(after) != tt.after {
				t.Errorf("got\n%s\nwant\n%s", after, tt.after)
			}
			var any map[string]any
			if err := toml.Unmarshal(after, &any); err != nil {
				t.Errorf("cannot be read: %v", err)
			}
			if again, err := edit(clients.TOML, after, "mcp_servers", ms); err != nil || string(again) != string(after) {
				t.Errorf("a second time it became, with %v,\n%s", err, again)
			}
		})
	}
}

func TestAFormWithoutAPlaceIsRefusedWithTheEntryToAdd(t *testing.T) {
	_, err := edit(clients.TOML, []byte("[mcp_servers.mcpdeck]\nenv = { A = 'b' }\n[[mcp_servers.mcpdeck.args]]\nx = 1\n"), "mcp_servers", entryOf(t, "codex", "/opt/mcpdeck"))
	if err == nil || !strings.Contains(err.Error(), "by hand") || !strings.Contains(err.Error(), `command = "/opt/mcpdeck"`) {
		t.Fatalf("got %v", err)
	}
}

func TestWhatIsNoTableOfServersStays(t *testing.T) {
	for _, before := range []string{"mcp_servers = 1\n", "[mcp_servers]\nmcpdeck = 'x'\n"} {
		if after, err := edit(clients.TOML, []byte(before), "mcp_servers", entryOf(t, "codex", "/opt/mcpdeck")); err == nil || !strings.Contains(err.Error(), "is not a table") {
			t.Errorf("%q became %q: %v", before, after, err)
		}
	}
}
