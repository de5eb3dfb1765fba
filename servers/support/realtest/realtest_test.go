package realtest_test

import (
	"os/exec"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestPrograms fetches the programs that many tests use, side by side.
func TestPrograms(t *testing.T) {
	for _, name := range append(clients.IDs(func(c clients.Client) bool { return c.Prompts != nil && len(c.Prompts.Tested) > 0 }), "node") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			starts(t, realtest.Agent(t, name))
			realtest.Home(t, name, t.TempDir())
		})
	}
	t.Run("servers from PyPI", func(t *testing.T) {
		t.Parallel()
		starts(t, realtest.ServerFromPyPI(t, "mcp-server-time"))
	})
	t.Run("servers from npm", func(t *testing.T) {
		t.Parallel()
		starts(t, realtest.ServerFromNPM(t, "mcp-server-everything"))
	})
}

func TestEveryServerIsInstalled(t *testing.T) {
	for _, s := range realtest.Servers(t) {
		for _, file := range s.Command[:min(len(s.Command), 2)] {
			starts(t, file)
		}
	}
}

func starts(t *testing.T, file string) {
	t.Helper()
	if _, err := exec.LookPath(file); err != nil {
		t.Error(err)
	}
}
