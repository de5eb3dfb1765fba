package clients_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

func TestEntriesAreReadHoweverAClientWritesThem(t *testing.T) {
	for _, r := range []struct{ name, entry, want string }{
		{"a command", `{"command": "a", "args": ["b", 1, true], "env": {"N": 2.5}}`, `[a b 1 true] map[N:2.5]`},
		{"a list", `{"type": "local", "command": ["a", "b"], "environment": {"N": "v"}}`, `[a b] map[N:v]`},
		{"a table", `{"command": {"path": "a", "args": ["b"], "env": {"N": "v"}}}`, `[a b] map[N:v]`},
		{"an address", `{"serverUrl": "https://a.example", "type": "sse", "headers": {"H": "v"}}`, `https://a.example sse map[H:v]`},
		{"an address by another name", `{"httpUrl": "https://a.example"}`, `https://a.example http map[]`},
		{"what is not taken over", `{"url": "u", "envFile": ".env", "oauth": {}}`, `u  map[] variables of .env are not read; its sign-in is not taken over`},
		{"names of variables", `{"command": "a", "env_vars": ["X", {"name": "Y"}]}`, `[a] map[] [X Y]`},
		{"nothing", `{}`, `it has no command and no URL`},
		{"no table", `"a"`, `it is not a table of names and values`},
		{"a number for a text", `{"url": 1}`, `its url is not a text`},
		{"a text for a list", `{"command": "a", "args": "b"}`, `its args is not a list of texts`},
		{"a list in a table", `{"command": "a", "env": {"N": []}}`, `its env is not a table of texts`},
		{"a number for a name", `{"command": "a", "env_vars": [1]}`, `its env_vars is not a list of names`},
	} {
		t.Run(r.name, func(t *testing.T) {
			file, err := clients.JSONC.Decode([]byte(`{"mcpServers": {"x": ` + r.entry + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			c, _ := clients.Find("claude")
			all := c.Entries(file)
			if len(all) != 1 || all[0].Name() != "x" {
				t.Fatalf("entries %+v", all)
			}
			e := all[0]
			var got string
			switch {
			case e.Err != nil:
				got = e.Err.Error()
			case e.URL != "":
				got = fmt.Sprint(e.URL, " ", e.Transport, " ", e.Headers)
			default:
				got = fmt.Sprint(e.Command, " ", e.Env)
			}
			if e.Err == nil && len(e.Inherit) > 0 {
				got += fmt.Sprint(" ", e.Inherit)
			}
			if got = strings.TrimSpace(got + " " + strings.Join(e.Notes, "; ")); got != r.want {
				t.Errorf("got %s, want %s", got, r.want)
			}
		})
	}
}
