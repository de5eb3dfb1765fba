//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestANamedPipeIsRefused would hang if it were opened to be read.
func TestANamedPipeIsRefused(t *testing.T) {
	e := entry(t)
	path := filepath.Join(e.Folders.Home, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Plan("codex", e); err == nil || !strings.Contains(err.Error(), "not a plain file") {
		t.Errorf("got %v", err)
	}
}
