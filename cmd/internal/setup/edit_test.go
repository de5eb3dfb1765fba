package setup

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// An edit whose result can be read, but means something else than what was there
// and the entry, is refused: the user's file is not what finds that out.
func TestAnEditThatChangesAnythingElseIsRefused(t *testing.T) {
	ms := []clients.Member{{Key: "command", Value: "mcpdeck"}, {Key: "args", Value: []string{"mcp"}}}
	tests := []struct {
		name    string
		g       clients.Grammar
		section string
		before  string
		in, out string // what of the right result becomes what; "" changes nothing
	}{
		{"json as it should be", clients.JSON, "mcpServers", `{"mcpServers": {"git": {"command": "git-mcp", "timeout": 30}}, "theme": "dark"}`, "", ""},
		{"json, another server gone", clients.JSON, "mcpServers", `{"mcpServers": {"git": {"command": "git-mcp"}}}`, `"git": {"command": "git-mcp"},`, ""},
		{"json, another server changed", clients.JSON, "mcpServers", `{"mcpServers": {"git": {"command": "git-mcp"}}}`, "git-mcp", "git"},
		{"json, a number as text", clients.JSON, "mcpServers", `{"mcpServers": {"git": {"timeout": 30}}}`, "30", `"30"`},
		{"json, another setting gone", clients.JSON, "mcpServers", `{"theme": "dark"}`, `"theme": "dark",`, ""},
		{"json, other arguments", clients.JSON, "mcpServers", `{}`, `["mcp"]`, `["mcp", "--all"]`},
		{"json, in another section", clients.JSON, "mcpServers", `{}`, `"mcpServers"`, `"servers"`},
		{"json, unreadable", clients.JSON, "mcpServers", `{}`, `"mcpServers"`, `mcpServers`},
		{"json with comments, something added", clients.JSONC, "servers", "{\n  // mine\n  \"servers\": {}\n}", `"servers": {`, `"inputs": [], "servers": {`},
		{"toml as it should be", clients.TOML, "mcp_servers", "model = \"o4\"\n[mcp_servers.git]\ncommand = \"git-mcp\"\n", "", ""},
		{"toml, a setting moved into a table", clients.TOML, "mcp_servers", "model = \"o4\"\n", "model = \"o4\"\n", "[profile]\nmodel = \"o4\"\n"},
		{"toml, another server changed", clients.TOML, "mcp_servers", "[mcp_servers.git]\ncommand = \"git-mcp\"\n", "git-mcp", "git"},
		{"toml, under another name", clients.TOML, "mcp_servers", "", "mcp_servers.mcpdeck", "mcp_servers.deck"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after, err := editBy(func(g clients.Grammar, before []byte, at place, ms []clients.Member) ([]byte, error) {
				b, err := set(g, before, at, ms)
				if err != nil || len(before) == 0 && tt.before != "" { // the snippet
					return b, err
				}
				if !strings.Contains(string(b), tt.in) {
					t.Fatalf("the result does not hold %q:\n%s", tt.in, b)
				}
				return []byte(strings.Replace(string(b), tt.in, tt.out, 1)), nil
			}, tt.g, []byte(tt.before), place{[]string{tt.section, serverName}, remote}, ms)
			if tt.in == "" {
				if err != nil || !bytes.Contains(after, []byte("mcpdeck")) {
					t.Errorf("edit: %v\n%s", err, after)
				}
				return
			}
			if !errors.Is(err, errByHand) || after != nil {
				t.Errorf("error %v, want that the entry is added by hand; result:\n%s", err, after)
			}
		})
	}
}
