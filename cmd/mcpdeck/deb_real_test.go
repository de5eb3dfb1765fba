//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestTheRealClaudeAsksWhereThereIsOnlyThePackage sets up and runs Claude Code in the root
// in which a package has been installed, with nothing beside it but what Claude Code needs.
// It runs itself again in namespaces of its own, which have no network but loopback.
func TestTheRealClaudeAsksWhereThereIsOnlyThePackage(t *testing.T) {
	root := os.Getenv("MCPDECK_TEST_ROOT")
	if root == "" {
		t.Skip("needs a root in which a package is installed: bash .ci/release DIR makes one")
	}
	programs := []string{realtest.Agent(t, "node"), realtest.Claude(t)}
	const inside = "MCPDECK_TEST_INSIDE"
	if os.Getenv(inside) == "" {
		own, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(
			t.Context(), "unshare", "--user", "--map-root-user", "--mount", "--mount-proc", "--net", "--pid", "--fork", "--kill-child",
			own, "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "5m",
		)
		c.Env = append(os.Environ(), inside+"=1")
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	loopback(t)
	d := rooted(t, root, programs)
	for _, args := range [][]string{{"setup", "claude", "--yes"}, {"setup", "claude", "--prompts", "--yes"}} {
		if out, err := d.command(args...).CombinedOutput(); err != nil {
			t.Fatalf("mcpdeck %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	model := mockmodel.New(
		t, "mcpdeck",
		mockmodel.Step{Tool: "mcp__mcpdeck__ask", Args: []byte(`{"questions":[{"id":"q","question":"Which colour?","options":["teal","ochre"]}]}`)},
		asksUser(t, question("Which shade?", false)),
	)
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := startClaude(d, model, "default")
	c.shows(d, "New MCP server found")
	c.patiently("\x1b[A", func() bool { return strings.Contains(c.screen(), "❯ Use this MCP server") })
	c.accepts("\r")
	c.shows(d, "? for shortcuts")
	c.says("go")
	deck.answers(d, "mcp__mcpdeck__ask in ", key{"y", ""})
	deck.answers(d, "2 ochre", key{"2", ""}) // the permission before shows the question, too
	if got := c.answered(0); !strings.Contains(got, "ochre") || strings.Contains(got, "teal") {
		t.Errorf("the tool ask answers %s, want ochre", got)
	}
	deck.answers(d, "Which shade?", key{"2", ""})
	if got := c.answered(1); !strings.Contains(got, `Which shade?\"=\"green, dark\"`) {
		t.Errorf("the question of Claude Code's own is answered with %s, want green, dark", got)
	}
	c.shows(d, "END")
}

// loopback turns on the only network that a new namespace has.
func loopback(t *testing.T) {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}

// rooted is a user's home in a root that gets programs from npm, under the paths that they
// have outside, the libraries that they need, and a shell.
func rooted(t *testing.T, root string, programs []string) *driver {
	t.Helper()
	d := &driver{t: t, root: root, home: "/home/user", project: "/home/user/shop", program: "/usr/bin/mcpdeck", path: "/usr/bin:/bin"}
	knowsClaude(d, nil)
	const shell = "/bin/sh"
	shared := []string{"/dev", "/proc"}
	for _, program := range programs {
		d.path += ":" + filepath.Dir(program)
		shared = append(shared, filepath.Dir(filepath.Dir(program))) // node_modules
	}
	for _, dir := range shared {
		to := filepath.Join(root, dir)
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(dir, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			t.Fatalf("mount %s: %v", to, err)
		}
	}
	copied(t, root, shell)
	for _, program := range append(programs, shell) {
		out, err := exec.Command("ldd", program).Output()
		if err != nil {
			t.Fatalf("ldd %s: %v", program, err)
		}
		for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(out), -1) {
			copied(t, root, library)
		}
	}
	for _, program := range programs {
		c := d.command("--version")
		c.Path = program
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s does not start: %v: %s", program, err, out)
		}
	}
	return d
}

// copied copies a file to the same path in a root.
func copied(t *testing.T, root, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}
