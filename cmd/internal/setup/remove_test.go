package setup

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestAnEntryIsRemovedAndAllElseStaysToTheByte(t *testing.T) {
	object := []string{"mcpServers", "old"}
	table := []string{"mcp_servers", "old"}
	for _, r := range []struct {
		name         string
		grammar      clients.Grammar
		path         []string
		before, want string
	}{
		{"the only one", clients.JSONC, object, `{"a":1,"mcpServers":{"old":{"command":"x"}},"b":2}`, `{"a":1,"mcpServers":{},"b":2}`},
		{"the last", clients.JSONC, object, `{"mcpServers": {"a": {"n": 1.0}, "old": {}}} // mine` + "\n", `{"mcpServers": {"a": {"n": 1.0}}} // mine` + "\n"},
		{"the first, on lines", clients.JSONC, object, "{\r\n\t\"mcpServers\": {\r\n\t\t\"old\": {},\r\n\t\t\"a\": {},\r\n\t},\r\n}\r\n", "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t},\r\n}\r\n"},
		{"one behind a byte order mark", clients.JSONC, object, clients.ByteOrderMark + `{"mcpServers":{"old":{}}}`, clients.ByteOrderMark + `{"mcpServers":{}}`},
		{"one that there is not", clients.JSONC, object, `{"mcpServers":{"a":{}}}`, `{"mcpServers":{"a":{}}}`},
		{"a table", clients.TOML, table, "a = 1 # mine\n\n[mcp_servers.old]\ncommand = 'x'\n\n[mcp_servers.old.env]\nA = 'b'\n\n[mcp_servers.new]\ncommand = 'y'\n", "a = 1 # mine\n\n\n\n[mcp_servers.new]\ncommand = 'y'\n"},
		{"the only table", clients.TOML, table, "a = 1\n[mcp_servers.old]\ncommand = 'x'\n", "a = 1\n"},
		{"keys of a table", clients.TOML, table, "[mcp_servers]\nold.command = 'x'\nnew.command = 'y'\n", "[mcp_servers]\nnew.command = 'y'\n"},
		{"a table in a line", clients.TOML, table, "[mcp_servers]\nold = { command = 'x' }\nnew = { command = 'y' }\n", "[mcp_servers]\nnew = { command = 'y' }\n"},
	} {
		t.Run(r.name, func(t *testing.T) {
			after, err := Remove(r.grammar, []byte(r.before), r.path)
			if err != nil || string(after) != r.want {
				t.Errorf("got %v\n%q, want\n%q", err, after, r.want)
			}
		})
	}
}

func TestAnEntryThatCannotBeRemovedAloneStays(t *testing.T) {
	for _, r := range []struct {
		grammar clients.Grammar
		before  string
	}{
		{clients.TOML, "mcpServers = { old = { command = 'x' }, a = {} }\n"},
		{clients.TOML, "[mcpServers\n"},
		{clients.JSONC, `{"mcpServers":{"old":{}`},
	} {
		if after, err := Remove(r.grammar, []byte(r.before), []string{"mcpServers", "old"}); err == nil {
			t.Errorf("%s became %s", r.before, after)
		} else if strings.HasPrefix(r.before, "mcpServers =") && !strings.Contains(err.Error(), "only you can do that") {
			t.Errorf("%s: %v", r.before, err)
		}
	}
}

func TestTheConfigurationToCopyIsOneThatItsClientReads(t *testing.T) {
	server := clients.Server{Command: "/opt/mcpdeck", Args: []string{"ask-server"}, Env: map[string]string{"A": "b"}}
	for _, c := range clients.All() {
		t.Run(c.ID, func(t *testing.T) {
			text, err := Snippet(c, server)
			if err != nil {
				t.Fatal(err)
			}
			read, err := c.Grammar.Decode([]byte(text))
			servers, _ := read[c.Section].(map[string]any)
			entry, _ := servers["mcpdeck"].(map[string]any)
			if err != nil || len(read) != 1 || len(servers) != 1 {
				t.Fatalf("%v in\n%s", err, text)
			}
			held, err := json.Marshal(entry)
			if err != nil || !strings.Contains(string(held), `/opt/mcpdeck`) || !strings.Contains(string(held), `"ask-server"`) || !strings.Contains(string(held), `"A":"b"`) {
				t.Errorf("the entry is %s, %v", held, err)
			}
		})
	}
	if !reflect.DeepEqual(server.Env, map[string]string{"A": "b"}) {
		t.Errorf("the server's own environment became %v", server.Env)
	}
}

func TestAChangeIsMadeOnTopOfAnother(t *testing.T) {
	e := entry(t)
	path := e.Folders.Home + "/.cursor/mcp.json"
	write(t, path, `{"mcpServers":{"old":{"command":"x"}}}`)
	e.User = true
	planned, err := Plan("cursor", e)
	if err != nil {
		t.Fatal(err)
	}
	other := planned.Edit()
	if other.After, err = Remove(clients.JSONC, other.Before, []string{"mcpServers", "old"}); err != nil {
		t.Fatal(err)
	}
	both, err := planned.Onto(other)
	if err != nil || string(both.Before) != string(other.Before) || strings.Contains(string(both.After), `"old"`) || !strings.Contains(string(both.After), "/opt/mcpdeck") {
		t.Errorf("got %v\n%s", err, both.After)
	}
	broken := change.Edit{Place: other.Place, Before: other.Before, After: []byte("{")}
	if _, err := planned.Onto(broken); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("on top of what cannot be read: %v", err)
	}
}
