//go:build linux

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
)

// older is the last commit before decks greeted hooks and bounded the connections of each
// process.
const older = "275d8d1"

// olderPrograms builds mcpdeck and mcpdeck-hook of a commit into a folder, which also has
// its plugin for OpenCode.
func olderPrograms(t *testing.T, commit string) string {
	t.Helper()
	root, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("not a clone of the repository, so there is no older version to build:", err)
	}
	dir := t.TempDir()
	archive := exec.Command("git", "archive", "--output", filepath.Join(dir, "older.tar"), commit)
	archive.Dir = strings.TrimSpace(string(root))
	if out, err := archive.CombinedOutput(); err != nil {
		t.Skipf("a shallow clone does not have commit %s, so there is no older version to build: %s", commit, out)
	}
	for _, c := range [][]string{
		{"tar", "-xf", "older.tar"},
		{"go", "build", "-trimpath", "-buildvcs=false", "-o", dir, "./cmd/mcpdeck", "./cmd/mcpdeck-hook"},
	} {
		run := exec.Command(c[0], c[1:]...)
		run.Dir = dir
		run.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", c, err, out)
		}
	}
	return dir
}

// TestVersionsOfTheSocketsMix has programs of an older version use a deck of this one, and the
// other way round.
func TestVersionsOfTheSocketsMix(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds an older version")
	}
	dir := olderPrograms(t, older)
	deck, hook := filepath.Join(dir, "mcpdeck"), filepath.Join(dir, "mcpdeck-hook")
	t.Run("an older client, this deck", func(t *testing.T) {
		t.Parallel()
		d := newDriver(t)
		d.session("s1")
		d.serve()
		usesDeck(t, d.with(deck), hook)
		node, err := exec.LookPath("node")
		if err != nil {
			t.Skip("without node, the plugin for OpenCode is not run:", err)
		}
		runPlugin(d, node, filepath.Join(dir, "servers/prompts/opencode/plugin.js"))
	})
	t.Run("this client, an older deck", func(t *testing.T) {
		t.Parallel()
		d := newDriver(t)
		d.session("s1")
		d.with(deck).serve()
		usesDeck(t, d, smallHook(t))
	})
}

// with is the same home with another program.
func (d *driver) with(program string) *driver {
	return &driver{t: d.t, home: d.home, project: d.project, program: program, path: d.path, env: d.env}
}

// usesDeck has a relay, an agent with questions and a hook use the deck that runs.
func usesDeck(t *testing.T, d *driver, hook string) {
	t.Helper()
	a := d.relay()
	a.Handshake("mixed")
	a.note(d, "mixed.txt", "")
	d.ends(a)

	asker := d.speaks(nil, "ask-server")
	asker.Handshake("asker")
	asker.Send(`"waits"`, "tools/call", `{"name":"ask","arguments":{"questions":[{"question":"Which?","header":"Which","options":[{"label":"a"},{"label":"b"}]}]}}`)
	d.until("a question", func() bool { return d.asked() == 1 })
	d.kill(asker.Cmd)

	for _, program := range [][]string{{hook}, {d.program, "hook"}} {
		w := d.hook(program, permissionEvent)
		d.until("a prompt", func() bool { return d.prompted() == 1 })
		time.Sleep(3 * time.Second) // nothing tells that a hook still waits: longer than one does for a deck that says nothing
		if n := d.prompted(); n != 1 {
			t.Errorf("%s has given up", program)
		}
		d.kill(w.c)
		d.until("no prompt", func() bool { return d.prompted() == 0 })
	}
}

// runPlugin runs the plugin for OpenCode as one that asks for a permission.
func runPlugin(d *driver, node, file string) {
	d.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	program := strings.ReplaceAll(string(text), "|| SOCKET", "") + `
const { event } = await Mcpdeck({ client: {}, directory: process.cwd() })
await event({ event: { type: "permission.asked", properties: { id: "per_1", sessionID: "ses_1", permission: "bash", patterns: ["make"], metadata: { command: "make" }, always: [] } } })
setTimeout(() => {}, 1e6)
`
	path := filepath.Join(d.home, "plugin.mjs")
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		d.t.Fatal(err)
	}
	c := exec.Command(node, path)
	c.Dir = d.project
	c.Env = append(os.Environ(), "HOME="+d.home, "MCPDECK_PROMPTS_SOCKET="+filepath.Join(d.home, ".local/state/mcpdeck/run/prompts.sock"))
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.kill(c) })
	d.until("the prompt of the plugin", func() bool {
		out, _ := d.command("ask", "list").Output()
		return strings.Contains(string(out), "make")
	})
}

// TestOneProcessCannotTakeEveryonesConnections opens as many as it can to each socket, and
// keeps them.
func TestOneProcessCannotTakeEveryonesConnections(t *testing.T) {
	d := newDriver(t)
	d.serve()
	run := filepath.Join(d.home, ".local/state/mcpdeck/run")
	for _, name := range []string{"deck.sock", "ask.sock", "prompts.sock"} {
		for range 600 {
			c, err := net.Dial("unix", filepath.Join(run, name))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
		}
	}
	if _, err := ask.NewClient(ask.ClientOptions{Path: filepath.Join(run, "ask.sock")}).List(); err == nil {
		t.Error("this process has not used up what it may open")
	}
	a := d.relay()
	a.Handshake("another")
	a.note(d, "there.txt", "")
	if out, err := d.command("ask", "list").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	other := d.prompts("s2", "make")
	d.until("another's prompt", func() bool { return d.prompted() == 1 })
	d.kill(other.c)
}
