package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// What the first page copies is read by any client that keeps servers as most do.
func TestTheCopiedConfigurationStartsThisDeck(t *testing.T) {
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(screenSetup{cfg}.Snippet()), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Servers["mcpdeck"]
	if want := []string{"mcp", "--state", cfg.Paths.State}; s.Command != setupcmd.EntryOf(cfg).Command || !slices.Equal(s.Args, want) {
		t.Errorf("it starts %q %q, want %q %q", s.Command, s.Args, setupcmd.EntryOf(cfg).Command, want)
	}
}

// The first page names the file that its dialog then shows and writes.
func TestTheScreenNamesTheFileThatItWrites(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Chdir(project)
	for _, folder := range []string{filepath.Join(project, ".git"), filepath.Join(home, ".cursor")} { // Cursor is installed
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	s := screenSetup{cfg}
	clients := s.Clients()
	if !slices.ContainsFunc(clients, func(c inbox.Client) bool { return c.Name == "cursor" }) {
		t.Fatalf("no cursor among %v", clients)
	}
	for _, c := range clients {
		change, err := s.Plan(c.Name)
		if err != nil {
			t.Fatal(err)
		}
		if c.Path != change.Path {
			t.Errorf("%s: the page names %s, and %s is written", c.Name, c.Path, change.Path)
		}
	}
}
