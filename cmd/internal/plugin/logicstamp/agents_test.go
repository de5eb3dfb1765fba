package logicstamp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// A real agent makes a snapshot, a component is edited, and the agent's
// comparison tells it what broke.
func TestARealAgentGetsTheDiff(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	agents := map[string]struct {
		files map[string]string // in HOME; HOME, @URL, DECK are replaced
		env   []string
		args  []string
	}{
		"claude": {
			files: map[string]string{"mcp.json": `{"mcpServers":{"deck":{"command":"DECK","args":["mcp","logicstamp"]}}}`},
			env:   append(realtest.Print(), "ANTHROPIC_BASE_URL=@URL", "ANTHROPIC_API_KEY=x"),
			args: []string{
				"-p", "go", "--mcp-config", "HOME/mcp.json", "--strict-mcp-config", "--allowedTools",
				"mcp__deck__logicstamp_refresh_snapshot", "mcp__deck__logicstamp_compare_snapshot",
			},
		},
		"opencode": {
			files: map[string]string{".config/opencode/opencode.json": `{"model":"mock/mock","small_model":"mock/mock","autoupdate":false,"share":"disabled",
				"provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"@URL/v1","apiKey":"x"},"models":{"mock":{"name":"mock","tool_call":true}}}},
				"mcp":{"deck":{"type":"local","command":["DECK","mcp","logicstamp"],"enabled":true}}}`},
			args: []string{"run", "go"},
		},
	}
	for name, agent := range agents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, cli := realtest.Agent(t, name), stamptest.CLI(t, stampcli.Wanted)
			deck := decktest.Program(t, t.TempDir(), "cmd/mcpdeck")
			project := stamptest.Shop(t)
			home, err := os.MkdirTemp("", "deck") // a socket's path has few bytes to spare
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.RemoveAll(home) }()
			realtest.Home(t, name, home)
			model := mockmodel.New(
				t, "deck",
				mockmodel.Step{Tool: "logicstamp_refresh_snapshot"},
				mockmodel.Step{
					Before: func() { stamptest.Replace(t, project, "src/parts/Knob.tsx", " locked?: boolean;", "") },
					Tool:   "logicstamp_compare_snapshot",
				},
			)
			fill := strings.NewReplacer("HOME", home, "@URL", model.URL, "DECK", deck)
			stamptest.Write(t, home, map[string]string{".config/mcpdeck/config.toml": fmt.Sprintf("[logicstamp]\ncommand = %q\n", cli)})
			for file, text := range agent.files {
				stamptest.Write(t, home, map[string]string{file: fill.Replace(text)})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			var args []string
			for _, a := range agent.args {
				args = append(args, fill.Replace(a))
			}
			cmd := exec.CommandContext(ctx, program, args...)
			cmd.Dir = project
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "TMPDIR=" + os.TempDir()}
			for _, e := range agent.env {
				cmd.Env = append(cmd.Env, fill.Replace(e))
			}
			cmd.WaitDelay = 5 * time.Second
			out, err := cmd.CombinedOutput()
			seen := model.Seen()
			if !seen[0].Called || !seen[1].Called || !strings.Contains(seen[1].Result, "prop_removed") {
				t.Errorf("steps = %+v\n%v\n%s", seen, err, out)
			}
		})
	}
}
