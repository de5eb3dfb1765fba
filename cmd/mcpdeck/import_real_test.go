//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// clientFiles are configurations of four clients, by their paths in a home: each has the
// same five servers, a comment where its reader takes one, a secret, mcpdeck, and an
// entry that cannot be started.
func clientFiles() map[string]string {
	packages := []string{"everything", "filesystem", "memory", "sequential-thinking"}
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	args := func(name string) string {
		end := ""
		if name == "filesystem" {
			end = `, "/tmp"`
		}
		version := "2026.8.31"
		if name == "github" {
			version = "2025.4.8"
		}
		return `"-y", "@modelcontextprotocol/server-` + name + `@` + version + `"` + end
	}
	var plain, opencode, toml strings.Builder
	for _, name := range packages {
		fmt.Fprintf(&plain, "    %q: {\"command\": \"npx\", \"args\": [%s]},\n", name, args(name))
		fmt.Fprintf(&opencode, "    %q: {\"type\": \"local\", \"command\": [\"npx\", %s], \"enabled\": true},\n", name, args(name))
		fmt.Fprintf(&toml, "[mcp_servers.%s]\ncommand = \"npx\"\nargs = [%s]\n\n", name, args(name))
	}
	fmt.Fprintf(&plain, "    \"github\": {\"command\": \"npx\", \"args\": [%s], \"env\": {\"GITHUB_PERSONAL_ACCESS_TOKEN\": %q}},\n", args("github"), secret)
	fmt.Fprintf(&opencode, "    \"github\": {\"type\": \"local\", \"command\": [\"npx\", %s], \"environment\": {\"GITHUB_PERSONAL_ACCESS_TOKEN\": %q}},\n", args("github"), secret)
	fmt.Fprintf(&toml, "[mcp_servers.github]\ncommand = \"npx\" # as the page says\nargs = [%s]\nenv = { GITHUB_PERSONAL_ACCESS_TOKEN = %q }\n\n", args("github"), secret)
	return map[string]string{
		// Claude Code reads JSON without comments.
		".claude.json":                    "{\n  \"numStartups\": 3,\n  \"hasCompletedOnboarding\": true,\n  \"mcpServers\": {\n" + plain.String() + "    \"mcpdeck\": {\"command\": \"mcpdeck\", \"args\": [\"mcp\"]},\n    \"broken\": {\"command\": 7}\n  }\n}\n",
		".gemini/settings.json":           "{\n  // the user's\n  \"mcpServers\": {\n" + plain.String() + "    \"mcpdeck\": {\"command\": \"mcpdeck\", \"args\": [\"mcp\"]},\n    \"broken\": {\"command\": 7}\n  }\n}\n",
		".config/Code/User/mcp.json":      "{\n  // the editor's\n  \"servers\": {\n" + plain.String() + "    \"mcpdeck\": {\"command\": \"mcpdeck\", \"args\": [\"mcp\"]},\n    \"broken\": {\"command\": 7},\n  },\n}\n",
		".config/opencode/opencode.jsonc": "{\n  // the user's\n  \"mcp\": {\n" + opencode.String() + "    \"mcpdeck\": {\"type\": \"local\", \"command\": [\"mcpdeck\", \"mcp\"]},\n    \"broken\": {\"type\": \"local\", \"command\": [], \"enabled\": true},\n  },\n}\n",
		".codex/config.toml":              "# the user's\nmodel = \"mock\"\n\n" + toml.String() + "[mcp_servers.mcpdeck]\ncommand = \"mcpdeck\"\nargs = [\"mcp\"]\n\n[mcp_servers.broken]\ncommand = \"\"\n",
	}
}

// filesAt are the files as they are.
func filesAt(d *driver, paths map[string]string) map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for path := range paths {
		b, err := os.ReadFile(filepath.Join(d.home, path))
		if err != nil {
			d.t.Fatal(err)
		}
		out[path] = string(b)
	}
	return out
}

func (d *driver) write(files map[string]string) {
	d.t.Helper()
	for path, text := range files {
		path = filepath.Join(d.home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestRealServersAreImportedTakenOverAndGivenBack does so with the files of five clients,
// whose own programs then look at them.
func TestRealServersAreImportedTakenOverAndGivenBack(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	d := newDriver(t)
	hasNPX(d)
	d.takesPassphrase()
	files := clientFiles()
	d.write(files)
	out, err := d.command("import", "--take-over", "--yes").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "imported 5 servers") || strings.Contains(string(out), "ghp_") {
		t.Fatalf("%v: %s", err, out)
	}
	if n := strings.Count(string(out), "skipped: "); n != 2*len(files) {
		t.Errorf("%d entries are skipped, want mcpdeck and the broken one of each file: %s", n, out)
	}
	list, err := d.command("list", "--json").CombinedOutput()
	if err != nil || strings.Contains(string(list), "ghp_") {
		t.Errorf("%v: %s", err, list)
	}
	for _, want := range []string{`"everything"`, `"filesystem"`, `"memory"`, `"sequential-thinking"`, `"github"`} {
		if strings.Count(string(list), `"name": `+want) != 1 {
			t.Errorf("the list has not one %s: %s", want, list)
		}
	}
	taken := filesAt(d, files)
	for path, text := range taken {
		if strings.Contains(text, "ghp_") || strings.Count(text, "--as-is") != 5 || !strings.Contains(text, "broken") {
			t.Errorf("%s is now\n%s", path, text)
		}
	}
	d.serve()
	if said, code := d.proves("on", "everything"); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	for name, args := range map[string][]string{"claude": {"mcp", "list"}, "codex": {"mcp", "list"}, "opencode": {"mcp", "list"}, "gemini": {"mcp", "list"}} {
		c := exec.Command(realtest.Agent(t, name), args...)
		c.Dir = d.project
		c.Env = append(d.command().Env, "TERM=dumb")
		said, err := c.CombinedOutput()
		for _, want := range []string{"everything", "filesystem", "memory", "sequential-thinking", "github"} {
			if !strings.Contains(string(said), want) {
				t.Errorf("%s does not list %s: %v\n%s", name, want, err, said)
			}
		}
	}
	model := mockmodel.New(t, "everything", mockmodel.Step{Tool: "mcp__everything__echo", Args: []byte(`{"message":"hi"}`)})
	c := exec.Command(realtest.Agent(t, "claude"), "-p", "go", "--allowedTools", "mcp__everything__echo")
	c.Dir = d.project
	c.Env = append(append(d.command().Env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=x"), realtest.Print()...)
	said, err := c.CombinedOutput()
	if seen := model.Seen()[0]; !strings.Contains(seen.Result, "Echo: hi") {
		t.Errorf("%v: it says %q\n%s", err, seen.Result, said)
	}
	d.write(taken) // as they were before their programs kept something there
	if out, err := d.command("undo", "--yes").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	same(t, "given back", files, filesAt(d, files))
	if _, err := os.Stat(filepath.Join(d.home, ".config/mcpdeck/servers.d/everything.toml")); err == nil {
		t.Error("the servers are left")
	}
}
