package app

import (
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
)

// built is the deck without a configuration, in a home of its own.
func built(t *testing.T, screen bool) *App {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(cfg, screen, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Stop)
	return h
}
