package process

import (
	"path/filepath"
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

// A script such as stamp finds its interpreter by PATH, in the folder it was
// started in: a project.
func TestChildrenSearchNoFolderOfTheProject(t *testing.T) {
	list := func(dirs ...string) string { return "PATH=" + strings.Join(dirs, string(filepath.ListSeparator)) }
	abs, err := filepath.Abs("bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, own, want string
	}{
		{"whole paths", list(abs, abs), list(abs, abs)},
		{"the working folder", list(".", abs), list(abs)},
		{"an empty entry is the working folder, too", list("", abs, ""), list(abs)},
		{"a folder below it", list("node_modules/.bin", abs, "./bin", "../bin"), list(abs)},
		{"nothing else", list(".", "bin"), ""}, // an empty PATH is the working folder again
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, kind := range []Kind{Tool, Server, Install, Desktop, Terminal} {
				var got string
				for _, entry := range Environment(kind, []string{"HOME=/h", row.own}) {
					if strings.HasPrefix(entry, "PATH=") {
						got = entry
					}
				}
				if got != row.want {
					t.Errorf("kind %d: got %q, want %q", kind, got, row.want)
				}
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
