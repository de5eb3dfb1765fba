//go:build unix

package pencil

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestMain makes the test binary an agent too: one that connects to the deck
// and then runs a command, as a model might make it do.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		os.Exit(agent(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func agent(command []string) int {
	relay := exec.Command(command[0], "mcp")
	in, err := relay.StdinPipe()
	if err != nil {
		return 90
	}
	out, err := relay.StdoutPipe()
	if err != nil || relay.Start() != nil {
		return 91
	}
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`+"\n")
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return 92
	}
	c := exec.Command(command[0], command[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	err = c.Run()
	in.Close()
	relay.Wait()
	if err != nil {
		return 1
	}
	return 0
}

// TestCommands runs the commands against a running deck.
func TestCommands(t *testing.T) {
	d := startDeck(t, build(t))
	tests := []struct {
		args, want string
		code       int
	}{
		{"pencil status", "mode       off", 0},
		{"call pencil_batch_get", "Pencil mode is off. The user can turn it on in mcpdeck with the key p.", 1},
		{"pencil on", "Pencil mode is on: 14 tools offered.", 0},
		{"pencil on", "already on", 0},
		{"call pencil_get_editor_state", "menu.pen", 0},
		{"pencil status -l", "This is a stand-in.", 0},
		{"pencil reconnect", "Pencil mode is on: 14 tools offered.", 0},
		{"pencil accept", "Nothing waits to be accepted.", 0},
		{"pencil off", "Pencil mode is off", 0},
		{"call pencil_get_editor_state", "Pencil mode is off", 1},
		{"pencil dance", `unknown command "dance"`, 2},
		{"pencil", "name a command: on, off, status, reconnect or accept", 2},
	}
	for _, tt := range tests {
		out, err := d.command(t.Context(), strings.Fields(tt.args)...).CombinedOutput()
		code := 0
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != tt.code || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: exit %d, want %d: %s", tt.args, code, tt.code, out)
		}
	}
}

// Switching is open to a process of an agent, accepting is the user's.
func TestAgentsDoNotAccept(t *testing.T) {
	d := startDeck(t, build(t))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		verb, want string
		code       int
	}{
		{"on", "Pencil mode is on", 0},
		{"accept", "only the user may accept", 1},
	} {
		c := d.command(t.Context(), "pencil", tt.verb)
		c.Args = append([]string{self, "agent", c.Path}, c.Args[1:]...)
		c.Path = self
		out, err := c.CombinedOutput()
		code := 0
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != tt.code || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: exit %d: %s", tt.verb, code, out)
		}
	}
}

// TestRealAgents runs agents against a deck and the stand-in for Pencil's
// server, with a stand-in for their models.
func TestRealAgents(t *testing.T) {
	programs := sync.OnceValue(func() string { return build(t) })
	t.Run("see the switch", func(t *testing.T) { seeTheSwitch(t, programs) })
	t.Run("Codex keeps its list", func(t *testing.T) { keepsItsList(t, programs) })
}

// build makes the programs in a folder.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, pkg := range []string{"cmd/mcpdeck", "servers/builtin/pencil/internal/standin/fakepencil"} {
		decktest.Program(t, dir, pkg)
	}
	return dir
}

// deck is a running deck in a home folder of its own.
type deck struct {
	t         *testing.T
	bin, home string
	serve     *exec.Cmd
}

// startDeck starts one with more lines about Pencil in its configuration.
func startDeck(t *testing.T, bin string, settings ...string) *deck {
	t.Helper()
	// A socket's path has few bytes to spare.
	home, err := os.MkdirTemp("", "deck")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	d := &deck{t: t, bin: bin, home: home}
	d.write(".config/mcpdeck/config.toml", "[pencil]\ncommand = \""+bin+"/fakepencil\"\n"+strings.Join(settings, "\n")+"\n[http]\nenabled = false\n")
	d.write("project/x", "")
	serve := d.command(t.Context(), "serve")
	d.serve = serve
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		serve.Process.Signal(os.Interrupt)
		serve.Wait()
	})
	testwait.Until(t, "the deck answers", func() bool {
		out, err := d.command(t.Context(), "pencil", "status").CombinedOutput()
		return err == nil && len(out) > 0
	})
	return d
}

func (d *deck) write(path, content string) {
	d.t.Helper()
	path = filepath.Join(d.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deck) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, d.bin+"/mcpdeck", args...)
	c.Dir = d.home
	c.Env = append(os.Environ(), "HOME="+d.home, "XDG_CONFIG_HOME=", "MCPDECK_SOCKET=", "MCPDECK_CONFIG=", "MCPDECK_PENCIL_COMMAND=")
	return c
}

// pencil switches the mode, as the user would.
func (d *deck) pencil(verb string) func() {
	return func() {
		if out, err := d.command(context.Background(), "pencil", verb).CombinedOutput(); err != nil {
			d.t.Errorf("pencil %s: %v: %s", verb, err, out)
		}
		time.Sleep(time.Second) // nothing tells that the agent has asked for the list again
	}
}

// run runs an agent to its end.
func (d *deck) run(env []string, name string, args ...string) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = filepath.Join(d.home, "project")
	c.Env = append([]string{"HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "TMPDIR=" + os.TempDir()}, env...)
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	if err != nil {
		d.t.Logf("%s ended with %v", filepath.Base(name), err)
	}
	return string(out)
}

func pencilTools(names []string) int {
	n := 0
	for _, name := range names {
		if strings.Contains(name, "pencil_") {
			n++
		}
	}
	return n
}

// seeTheSwitch: a switch in the middle of a session is seen by agents that refresh their
// list.
func seeTheSwitch(t *testing.T, programs func() string) {
	t.Helper()
	tests := []struct {
		name     string
		searches bool // finds tools by a search instead of having all
		run      func(d *deck, path, url string) string
	}{
		{"claude", true, func(d *deck, path, url string) string {
			d.write("mcp.json", `{"mcpServers":{"deck":{"command":"`+d.bin+`/mcpdeck","args":["mcp"]}}}`)
			return d.run(append(realtest.Print(), "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=x"), path,
				"-p", "go", "--mcp-config", d.home+"/mcp.json", "--strict-mcp-config", "--allowedTools",
				"mcp__deck__manage_memory", "mcp__deck__pencil_get_editor_state", "mcp__deck__pencil_batch_get")
		}},
		{"opencode", false, func(d *deck, path, url string) string {
			d.write(".config/opencode/opencode.json", `{"model":"mock/mock","small_model":"mock/mock","autoupdate":false,"share":"disabled",
				"provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"`+url+`/v1","apiKey":"x"},"models":{"mock":{"name":"mock","tool_call":true}}}},
				"mcp":{"deck":{"type":"local","command":["`+d.bin+`/mcpdeck","mcp"],"enabled":true}}}`)
			return d.run(nil, path, "run", "go")
		}},
		{"gemini", false, func(d *deck, path, url string) string {
			d.write(".gemini/settings.json", `{"mcpServers":{"deck":{"command":"`+d.bin+`/mcpdeck","args":["mcp"],"trust":true}},
				"security":{"folderTrust":{"enabled":false},"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true}}`)
			return d.run([]string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=x"}, path, "-m", "gemini-2.5-pro", "--yolo", "-p", "go")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := realtest.Agent(t, tt.name)
			d := startDeck(t, programs())
			realtest.Home(t, tt.name, d.home)
			list := []byte(`{"action":"list"}`)
			model := mockmodel.New(
				t, "deck",
				mockmodel.Step{Tool: "pencil_batch_get"},
				mockmodel.Step{Before: d.pencil("on"), Tool: "manage_memory", Args: list},
				mockmodel.Step{Tool: "pencil_get_editor_state", Args: []byte(`{"include_schema":false}`)},
				mockmodel.Step{Before: d.pencil("off"), Tool: "manage_memory", Args: list},
				mockmodel.Step{Tool: "pencil_batch_get"},
			)
			out := tt.run(d, path, model.URL)
			seen := model.Seen()
			for i, called := range []bool{false, true, true, true, false} {
				if seen[i].Called != called {
					t.Errorf("step %d: called %v", i, seen[i].Called)
				}
			}
			if !strings.Contains(seen[2].Result, "menu.pen") {
				t.Errorf("result %q", seen[2].Result)
			}
			if !tt.searches {
				for i, want := range []int{0, 0, 14, 14, 0} {
					if n := pencilTools(seen[i].Offered); n != want {
						t.Errorf("step %d offers %d tools of Pencil, want %d", i, n, want)
					}
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// keepsItsList: Codex keeps the list it started with: a call of what is gone says why, and
// with the gateway it needs no other list.
func keepsItsList(t *testing.T, programs func() string) {
	t.Helper()
	configure := func(d *deck, url, args string) {
		d.write(".codex/config.toml", `model = "mock"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.mock]
name = "mock"
base_url = "`+url+`/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
[mcp_servers.deck]
command = "`+d.bin+`/mcpdeck"
args = [`+args+`]
required = true
`)
	}
	t.Run("switched off after it started", func(t *testing.T) {
		path := realtest.Agent(t, "codex")
		d := startDeck(t, programs())
		d.pencil("on")()
		model := mockmodel.New(t, "deck", mockmodel.Step{Before: d.pencil("off"), Tool: "pencil_get_editor_state"})
		configure(d, model.URL, `"mcp"`)
		out := d.run([]string{"MOCK_KEY=x"}, path, "exec", "--skip-git-repo-check", "go")
		if s := model.Seen()[0]; !strings.Contains(s.Result, "Pencil mode is off. The user can turn it on in mcpdeck") {
			t.Errorf("result %q\n%s", s.Result, out)
		}
	})
	t.Run("with the gateway", func(t *testing.T) {
		path := realtest.Agent(t, "codex")
		d := startDeck(t, programs())
		model := mockmodel.New(
			t, "deck",
			mockmodel.Step{Tool: "pencil_call", Args: []byte(`{"tool":"get_editor_state"}`)},
			mockmodel.Step{Before: d.pencil("on"), Tool: "pencil_call", Args: []byte(`{"tool":"get_editor_state"}`)},
		)
		configure(d, model.URL, `"mcp","--gateway"`)
		out := d.run([]string{"MOCK_KEY=x"}, path, "exec", "--skip-git-repo-check", "go")
		seen := model.Seen()
		if !strings.Contains(seen[0].Result, "Pencil mode is off") || !strings.Contains(seen[1].Result, "menu.pen") {
			t.Errorf("results %q, %q\n%s", seen[0].Result, seen[1].Result, out)
		}
	})
}
