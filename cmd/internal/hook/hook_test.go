package hook

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

func TestWhereAHookLooksForItsDeck(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, r := range []struct{ name, args, env, want string }{
		{"the deck without a name", "claude", "", hook.Path(hook.State(home), "")},
		{"a flag", "claude --name work", "", hook.Path(hook.State(home), "work")},
		{"a variable", "claude", "MCPDECK_NAME=work", hook.Path(hook.State(home), "work")},
		{"a flag over a variable", "claude --name=work", "MCPDECK_NAME=home", hook.Path(hook.State(home), "work")},
		{"another folder by a variable", "claude", "MCPDECK_STATE=" + other, hook.Path(other, "")},
		{"a socket", "claude --name work", "MCPDECK_PROMPTS_SOCKET=" + filepath.Join(other, "s"), filepath.Join(other, "s")},
	} {
		t.Run(r.name, func(t *testing.T) {
			name, value, _ := strings.Cut(r.env, "=")
			agent, socket, ok := read(strings.Fields(r.args), func(v string) string {
				if v == name {
					return value
				}
				return ""
			})
			if !ok || agent != "claude" || socket != r.want {
				t.Errorf("got %q, %q, %v, want %q", agent, socket, ok, r.want)
			}
		})
	}
}
