//go:build linux

package ask_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// listed are the open questions as mcpdeck ask list --json prints them.
func (w *world) listed(n int) (out []struct {
	Asker, Cwd, Identity, Via string
	Verified                  bool
	Questions                 []struct{ Question string }
},
) {
	w.t.Helper()
	var raw []byte
	testwait.For(w.t, fmt.Sprintf("%d questions are listed", n), func() string {
		raw, _ = w.command("", "ask", "list", "--json").CombinedOutput()
		return string(raw)
	}, func(string) bool { return json.Unmarshal(raw, &out) == nil && len(out) == n })
	return out
}

// container runs a command in namespaces of its own.
func (w *world) container(dir string, args ...string) *exec.Cmd {
	w.t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		w.t.Skip("unshare is not installed:", err)
	}
	flags := []string{"--user", "--map-root-user", "--mount"}
	if out, err := exec.Command(unshare, append(flags, "true")...).CombinedOutput(); err != nil {
		w.t.Skipf("the system gives no namespaces: %v %s", err, out)
	}
	c := w.command(dir, args...)
	c.Path, c.Args = unshare, append(append([]string{unshare}, flags...), append([]string{w.bin}, args...)...)
	return c
}

// TestAContainersAgentGetsItsOwnFiles lets a relay in a container reach the
// deck's folder: the deck's servers do not read for it, its questions come, and
// as what they are.
func TestAContainersAgentGetsItsOwnFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	a := w.agentOf("claude-code", w.container("shop", "mcp"))
	for _, file := range []string{"PAGE.md"} {
		if err := os.WriteFile(filepath.Join(w.home, "shop", file), []byte("# here\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.Write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_project_context","arguments":{}}}`)
	a.Answer(1)
	a.ask(2, which)
	got := w.listed(1)[0]
	if got.Verified || got.Identity != "claimed" || got.Via != "container" || got.Asker != "claude" || filepath.Base(got.Cwd) != "shop" {
		t.Errorf("shown as %+v", got)
	}
	d.wait("Which one?", "unverified")
	out, _ := w.command("", "log").CombinedOutput()
	if strings.Contains(string(out), "read_project_context") {
		t.Errorf("the deck read for it:\n%s", out)
	}
	out, err := w.container("", "call", "ask", `questions=[{"question":"?"}]`).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "serves the files of its own machine") {
		t.Errorf("a call from the container: %v %s", err, out)
	}
	d.guarded()
	d.press("1")
	if got := text(a.Answer(2)); got != "User answers:\na: x" {
		t.Errorf("it got %q", got)
	}
}

// TestAContainersShellDoesNotActAsTheUser tries what takes a proof on the deck's
// own machine.
func TestAContainersShellDoesNotActAsTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(".config/mcpdeck/config.toml", "[ask]\ncli_answers = \"pair\"\n")
	w.open()
	w.agent("claude-code", "shop", "mcp").ask(1, which)
	w.listed(1)
	if out, err := w.container("", "ask", "list").CombinedOutput(); err != nil || string(out) != "no open questions\n" {
		t.Errorf("a container lists what an agent outside asks: %v, %s", err, out)
	}
	for what, args := range map[string][]string{
		"came through container":              {"ask", "answer", "1", "--json", `[{"id":"a","selectedOptions":["x"]}]`},
		"serves the files of its own machine": {"pencil", "accept"},
	} {
		if out, err := w.container("", args...).CombinedOutput(); err == nil || !strings.Contains(string(out), what) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	w.listed(1)
}

// TestTwoContainersAskTheSame holds that nobody gets another's answer.
func TestTwoContainersAskTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open()
	first := w.agentOf("claude-code", w.container("shop", "mcp", "ask"))
	second := w.agentOf("claude-code", w.container("shop", "mcp", "ask"))
	first.ask(1, which)
	w.listed(1)
	first.Write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	second.ask(1, which)
	w.listed(2)
}

// TestTwoAgentsWithOneQuestion has the first handed over when the second asks.
func TestTwoAgentsWithOneQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	hasty := w.command("shop", "mcp", "ask")
	hasty.Env = append(hasty.Env, "MCPDECK_CLIENT_TIMEOUT_MS=2000")
	first := w.agentOf("claude-code", hasty)
	second := w.agent("claude-code", "shop", "mcp", "ask")
	first.ask(1, which)
	pending := text(first.Answer(1))
	_, id, _ := strings.Cut(pending, `with id "`)
	id, _, ok := strings.Cut(id, `"`)
	if !ok {
		t.Fatalf("not pending: %s", pending)
	}
	second.ask(1, which)
	w.listed(2)
	d.wait("Needs you 2", "claude · shop · answer?")
	d.guarded()
	d.press("1")
	d.wait("sent to")
	d.wait("Needs you 1", "claude · shop · answer?")
	d.guarded()
	d.press("2")
	if got := text(second.Answer(1)); got != "User answers:\na: y" {
		t.Errorf("the second got %q", got)
	}
	first.Write(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask_wait","arguments":{"id":"` + id + `"}}}`)
	if got := text(first.Answer(2)); got != "User answers:\na: x" {
		t.Errorf("the first got %q", got)
	}
}
