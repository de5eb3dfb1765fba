//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestTheRealClaudeDrawsTheUsersStatusLineWithinOurs has setup put ours around the user's, which
// shows what it is told.
func TestTheRealClaudeDrawsTheUsersStatusLineWithinOurs(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	claudeHome(d)
	settings := filepath.Join(d.home, ".claude/settings.json")
	b, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	own := `{"statusLine":{"type":"command","command":"cat >told; printf 'STATUS%s' \"'x'\""},`
	d.puts(settings, []byte(own+strings.TrimPrefix(string(b), "{")))
	if out, err := d.command("setup", "claude", "--quota", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := startClaude(d, mockmodel.New(t, ""), "default")
	c.shows(d, "STATUS'x'")
	told, err := os.ReadFile(filepath.Join(d.project, "told"))
	if err != nil || !strings.Contains(string(told), `"session_id"`) || strings.Contains(string(told), `"rate_limits"`) {
		t.Errorf("with an API key it is told %s, %v", told, err)
	}
}
