package process

import (
	"slices"
	"strings"
	"testing"
)

// TestChildrenGetNamedVariablesOnly holds which variables each kind of program
// gets, and that none gets a secret.
func TestChildrenGetNamedVariablesOnly(t *testing.T) {
	base := []string{"HOME=/h", "PATH=/bin", "LC_ALL=C", "XDG_RUNTIME_DIR=/run"}
	versions := []string{"NVM_DIR=/nvm"}
	network := []string{"https_proxy=http://p:1", "HTTPS_PROXY=http://p:1", "NODE_EXTRA_CA_CERTS=/ca.pem", "npm_config_registry=https://r"}
	desktop := []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus", "PULSE_SERVER=tcp:1"}
	terminal := []string{"TERM=xterm", "COLORTERM=truecolor"}
	never := []string{
		"GITHUB_TOKEN=s", "OPENAI_API_KEY=s", "AWS_SECRET_ACCESS_KEY=s", "XDG_TOKEN=s", "LC_PASSWORD=s", "MCPDECK_SOCKET=/s", "CLAUDECODE=1",
		"NODE_OPTIONS=--evil", "LD_PRELOAD=/evil.so", "GIT_DIR=/evil", "GIT_EXTERNAL_DIFF=/evil", "SSH_AUTH_SOCK=/s", "BASH_ENV=/evil", "npm_config__authToken=s", "=x", "x",
	}
	own := slices.Concat(base, never, network, versions, desktop, terminal)
	for _, row := range []struct {
		name string
		kind Kind
		want []string
	}{
		{"a tool", Tool, slices.Concat(base, versions)},
		{"a server", Server, base},
		{"an install", Install, slices.Concat(base, network, versions)},
		{"a player", Desktop, slices.Concat(base, desktop)},
		{"an editor", Terminal, slices.Concat(base, desktop, terminal)},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := Environment(row.kind, own, "MORE=1")
			if want := append(row.want, "MORE=1"); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestChildrenAlwaysHaveAHome(t *testing.T) {
	for _, own := range [][]string{nil, {"HOME="}} {
		env := Environment(Tool, own)
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "HOME=/") }) {
			t.Skipf("the user database names no home; got %q", env)
		}
		if (Command{Program: "x"}).command().Env == nil {
			t.Error("a program without an environment would get all of mcpdeck's")
		}
	}
}
