package cards

import (
	"fmt"
	"strings"
	"testing"
)

func TestARegistrysDescriptionBecomesACommand(t *testing.T) {
	npm := func(rest string) string {
		return `{"name":"io.github.me/Some_Server","packages":[{"registryType":"npm","identifier":"@me/some","version":"1.2.3"` + rest + `}]}`
	}
	for _, r := range []struct {
		name, text string
		pick       int
		values     map[string]string
		want       string // command or URL, then environment and headers
		fails      string
	}{
		{name: "npm", text: npm(""), want: "npx -y @me/some@1.2.3"},
		{
			name: "arguments", text: npm(`,"runtimeArguments":[{"type":"positional","value":"-y"},{"type":"named","name":"--node-options","value":"--x={n}","variables":{"n":{"default":7}}}],` +
				`"packageArguments":[{"type":"positional","valueHint":"dir","isRequired":true},{"type":"named","name":"--port","default":"80"},{"type":"named","name":"--quiet"},{"type":"named","name":"--all","isRequired":true,"value":""}]`),
			values: map[string]string{"dir": "/a b", "all": "yes"}, want: "npx -y --node-options --x=7 @me/some@1.2.3 '/a b' --port 80 --all yes",
		},
		{name: "what only the user knows", text: npm(`,"packageArguments":[{"type":"positional","valueHint":"dir","isRequired":true,"description":"where"}]`), fails: "--set dir=...  where"},
		{name: "an unknown value", text: npm(""), values: map[string]string{"dri": "x"}, fails: "unknown input"},
		{name: "none of the choices", text: npm(`,"packageArguments":[{"type":"named","name":"--mode","choices":["a","b"]}]`), values: map[string]string{"mode": "c"}, fails: `unknown value "c"; use a, b`},
		{
			name: "variables", text: npm(`,"environmentVariables":[{"name":"KEY","isRequired":true,"isSecret":true},{"name":"LEVEL","default":"info"},{"name":"OTHER"},{"name":"FIXED","value":"1"}]`),
			want: "npx -y @me/some@1.2.3 FIXED=1 KEY=${secret:some-server-key} LEVEL=info",
		},
		{name: "no exact version", text: `{"name":"a/b","packages":[{"registryType":"npm","identifier":"b","version":"latest"}]}`, fails: "--set version=1.2.3"},
		{name: "a version that is given", text: `{"name":"a/b","packages":[{"registryType":"npm","identifier":"b"}]}`, values: map[string]string{"version": "2.0.0"}, want: "npx -y b@2.0.0"},
		{name: "an option in place of a package", text: `{"name":"a/b","packages":[{"registryType":"npm","identifier":"--eval","version":"1.0.0"}]}`, fails: "not the name of a package"},
		{name: "pypi", text: `{"name":"a/b","packages":[{"registryType":"pypi","identifier":"b-mcp","version":"0.1"}]}`, want: "uvx b-mcp==0.1"},
		{
			name: "an image", text: `{"name":"a/b","packages":[{"registryType":"oci","identifier":"images.example/a/b:1.0","environmentVariables":[{"name":"K","default":"v"}]}]}`,
			want: "docker run -i --rm -e K images.example/a/b:1.0 K=v",
		},
		{name: "an old image", text: `{"name":"a/b","packages":[{"registry_name":"docker","name":"a/b","version":"1.0"}]}`, want: "docker run -i --rm a/b:1.0"},
		{name: "nuget", text: `{"name":"a/b","packages":[{"registryType":"nuget","identifier":"B.Mcp","version":"1.0.0","packageArguments":[{"type":"positional","value":"go"}]}]}`, want: "dnx B.Mcp@1.0.0 --yes -- go"},
		{name: "a bundle", text: `{"name":"a/b","packages":[{"registryType":"mcpb","identifier":"https://a.example/b.mcpb"}]}`, fails: "cannot run packages"},
		{name: "old names of fields", text: `{"name":"a/b","packages":[{"registry_name":"npm","name":"b","version":"1.0.0","package_arguments":[{"type":"named","name":"--x","default":true}],"environment_variables":[{"name":"MY_KEY","is_required":true,"is_secret":true}]}]}`, want: "npx -y b@1.0.0 --x true MY_KEY=${secret:b-my-key}"},
		{name: "an address", text: `{"name":"a/b","remotes":[{"type":"streamable-http","url":"https://{tenant}.example/mcp","variables":{"tenant":{"isRequired":true}},"headers":[{"name":"X-Key","value":"Bearer {key}","variables":{"key":{"isSecret":true,"isRequired":true}}}]}]}`, values: map[string]string{"tenant": "t"}, want: "https://t.example/mcp X-Key=Bearer ${secret:b-key}"},
		{name: "a choice", pick: 2, text: `{"name":"a/b","packages":[{"registryType":"npm","identifier":"b","version":"1.0.0"}],"remotes":[{"transport_type":"sse","url":"https://b.example/sse"}]}`, want: "https://b.example/sse"},
		{name: "the first that can be used", text: `{"name":"a/b","packages":[{"registryType":"mcpb","identifier":"b"},{"registryType":"pypi","identifier":"b","version":"1.0"}]}`, want: "uvx b==1.0"},
		{name: "no such choice", pick: 3, text: npm(""), fails: "--package must be between 1 and 1"},
		{name: "a package over HTTP", text: `{"name":"a/b","packages":[{"registryType":"npm","identifier":"b","version":"1.0.0","transport":{"type":"streamable-http","url":"http://localhost/"}}]}`, fails: "streamable-http"},
		{name: "wrapped by a registry", text: `{"server":` + npm("") + `,"_meta":{}}`, want: "npx -y @me/some@1.2.3"},
		{name: "a client's file", text: `{"mcpServers":{}}`, fails: "mcpdeck import FILE"},
		{name: "nothing", text: `{"name":"a/b"}`, fails: "no packages and no remotes"},
		{name: "no description", text: `{"version":"1.0.0","packages":[]}`, fails: "the name is missing"},
		{name: "no JSON", text: `{`, fails: "not valid JSON"},
	} {
		t.Run(r.name, func(t *testing.T) {
			card, _, err := FromRegistry([]byte(r.text), r.pick, r.values)
			if r.fails != "" {
				if err == nil || !strings.Contains(err.Error(), r.fails) {
					t.Errorf("got %v, want %q", err, r.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := inOne(card); got != r.want {
				t.Errorf("got  %s\nwant %s", got, r.want)
			}
			if _, _, err := card.Complete(card.Name); err != nil {
				t.Errorf("it cannot be used: %v", err)
			}
		})
	}
}

func FuzzFromRegistry(f *testing.F) {
	f.Add([]byte(`{"name":"a/b","packages":[{"registryType":"npm","identifier":"b","version":"1.0.0","packageArguments":[{"type":"positional","value":"{x}","variables":{"x":{"default":"1"}}}]}],"remotes":[{"type":"sse","url":"u"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		card, _, err := FromRegistry(b, 0, nil)
		if err == nil && len(card.Command) == 0 && card.URL == "" {
			if _, _, err := card.Complete("a"); err == nil {
				t.Errorf("%q became a card of nothing", b)
			}
		}
	})
}

func TestNamesOfCardsAreMadeOfOthers(t *testing.T) {
	for from, want := range map[string]string{
		"github": "github", "My Server": "my-server", "@scope/x_y.z": "scope-x-y-z", "1password": "server-1password", "": "server", "日本": "server",
		"a-very-long-name-that-goes-on": "a-very-long-name-that-go", "--a--": "a",
	} {
		if got := nameFrom(from); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}

func TestARegistryThatADescriptionNamesIsShown(t *testing.T) {
	_, found, err := FromRegistry([]byte(`{"name":"a/b","packages":[{"registryType":"npm","registryBaseUrl":"https://packages.example","identifier":"b","version":"1.0.0"}]}`), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(found); !strings.Contains(got, "its package is in the registry https://packages.example, which npx must be configured for") {
		t.Errorf("said %s", got)
	}
}
