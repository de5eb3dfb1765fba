package realtest_test

import (
	"os/exec"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/realtest"
)

// TestAgentsStart fetches the agents, once for all tests that use them.
func TestAgentsStart(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "node"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(realtest.Agent(t, name)); err != nil {
				t.Error(err)
			}
		})
	}
}
