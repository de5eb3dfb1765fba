//go:build unix

package ask_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// model stands in for the model behind an agent: it asks, calls ask_wait for as
// long as the answer is pending, then repeats what it was told. It speaks
// Anthropic's messages and OpenAI's responses.
type model struct{ question string }

// next is the tool call that follows the results so far; "" when there is none.
func (m model) next(tools, results []string) (tool string, args any) {
	find := func(name string) string {
		for _, t := range tools {
			if strings.HasSuffix(t, name) {
				return t
			}
		}
		return ""
	}
	if len(results) == 0 {
		return find("ask"), map[string]any{"questions": []any{map[string]any{"id": "a", "question": m.question, "options": []string{"x", "y"}}}}
	}
	pending := regexp.MustCompile(`ask_wait with id [\\"]+([A-Za-z0-9]+)`).FindStringSubmatch(results[len(results)-1])
	if pending == nil {
		return "", nil
	}
	return find("ask_wait"), map[string]string{"id": pending[1]}
}

func (m model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Tools []struct {
			Name  string
			Tools []struct{ Name string } // of a namespace
		}
		Messages []struct{ Content json.RawMessage }
		Input    json.RawMessage
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	var tools []string
	space := map[string]string{}
	for _, t := range body.Tools {
		tools = append(tools, t.Name)
		for _, u := range t.Tools {
			tools = append(tools, u.Name)
			space[u.Name] = t.Name
		}
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages"):
		var results []string
		for _, msg := range body.Messages {
			var parts []struct {
				Type    string
				Content json.RawMessage
			}
			_ = json.Unmarshal(msg.Content, &parts)
			for _, p := range parts {
				if p.Type == "tool_result" {
					results = append(results, string(p.Content))
				}
			}
		}
		m.anthropic(w, tools, results)
	case strings.HasSuffix(r.URL.Path, "/responses"):
		var input []struct {
			Type   string
			Output json.RawMessage
		}
		_ = json.Unmarshal(body.Input, &input)
		var results []string
		for _, p := range input {
			if p.Type == "function_call_output" {
				results = append(results, string(p.Output))
			}
		}
		m.openai(w, tools, results, space)
	default:
		fmt.Fprint(w, `{"data":[{"id":"mock","object":"model"}],"models":[],"input_tokens":10}`)
	}
}

func events(w http.ResponseWriter, list ...map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		b, _ := json.Marshal(e)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], b)
	}
}

type obj = map[string]any

func (m model) anthropic(w http.ResponseWriter, tools, results []string) {
	block, delta, stop := obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": "END " + strings.Join(results, " ")}, "end_turn"
	if tool, args := m.next(tools, results); tool != "" {
		b, _ := json.Marshal(args)
		block = obj{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", len(results)), "name": tool, "input": obj{}}
		delta, stop = obj{"type": "input_json_delta", "partial_json": string(b)}, "tool_use"
	}
	events(
		w,
		obj{"type": "message_start", "message": obj{"id": "m", "type": "message", "role": "assistant", "model": "mock", "content": []any{}, "usage": obj{"input_tokens": 1, "output_tokens": 1}}},
		obj{"type": "content_block_start", "index": 0, "content_block": block},
		obj{"type": "content_block_delta", "index": 0, "delta": delta},
		obj{"type": "content_block_stop", "index": 0},
		obj{"type": "message_delta", "delta": obj{"stop_reason": stop}, "usage": obj{"output_tokens": 1}},
		obj{"type": "message_stop"},
	)
}

func (m model) openai(w http.ResponseWriter, tools, results []string, space map[string]string) {
	item := obj{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": []any{obj{"type": "output_text", "text": "END " + strings.Join(results, " "), "annotations": []any{}}}}
	if tool, args := m.next(tools, results); tool != "" {
		b, _ := json.Marshal(args)
		item = obj{"type": "function_call", "id": "fc", "call_id": fmt.Sprintf("call_%d", len(results)), "name": tool, "arguments": string(b), "status": "completed"}
		if s := space[tool]; s != "" {
			item["namespace"] = s
		}
	}
	usage := obj{"input_tokens": 1, "input_tokens_details": obj{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": 2}
	events(
		w,
		obj{"type": "response.created", "response": obj{"id": "r", "object": "response", "status": "in_progress", "output": []any{}}},
		obj{"type": "response.output_item.added", "output_index": 0, "item": item},
		obj{"type": "response.output_item.done", "output_index": 0, "item": item},
		obj{"type": "response.completed", "response": obj{"id": "r", "object": "response", "status": "completed", "output": []any{item}, "usage": usage}},
	)
}

// TestRealAgents has Claude Code and Codex ask and wait: for 90 s, over a
// crash of the deck, and beyond the time they give one call.
func TestRealAgents(t *testing.T) {
	t.Parallel()
	claudePath, codexPath := realtest.Agent(t, "claude"), realtest.Agent(t, "codex")
	tests := []struct {
		name  string
		after time.Duration
		crash bool
		run   func(w *world, url string) *exec.Cmd
	}{
		{"claude code after 90 s", 90 * time.Second, false, claude(claudePath, "")},
		{"claude code over a crash", 20 * time.Second, true, claude(claudePath, "")},
		{"claude code with a limit of a minute", 90 * time.Second, false, claude(claudePath, "60000")},
		{"codex beyond its 300 s", 320 * time.Second, false, codex(codexPath)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			server := httptest.NewServer(model{"Which, " + tt.name + "?"})
			defer server.Close()
			d := w.open()
			cmd := tt.run(w, server.URL)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = cmd.Wait() // it says how it ended
			}()
			defer func() {
				_ = cmd.Process.Kill() // it may have ended
				<-ended
				if t.Failed() {
					t.Logf("the agent said %s", &said)
				}
			}()
			d.wait("Which, " + tt.name)
			if tt.crash {
				d.kill()
				time.Sleep(10 * time.Second) // the user is away for a while
				d = w.open()
				d.wait("Which, " + tt.name)
			}
			time.Sleep(tt.after) // the user takes longer than the agent waits for a tool
			d.press("2")
			select {
			case <-ended:
				if got := said.String(); !strings.Contains(got, "END") || !regexp.MustCompile(`selectedOptions[\\":]+\[[\\"]+y`).MatchString(got) {
					t.Error("the agent has another answer, or none")
				}
			case <-time.After(testwait.Patience):
				t.Fatal("the agent did not end")
			}
		})
	}
}

func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// claude runs Claude Code, with a limit in milliseconds for one call if that is
// not empty.
func claude(path, limit string) func(*world, string) *exec.Cmd {
	return func(w *world, url string) *exec.Cmd {
		more := ""
		if limit != "" {
			more = `,"timeout":` + limit + `,"env":{"MCPDECK_CLIENT_TIMEOUT_MS":"` + limit + `"}`
		}
		conf := w.write("claude.json", `{"mcpServers":{"mcpdeck":{"type":"stdio","command":"`+w.bin+`","args":["mcp"]`+more+`}}}`)
		c := w.command("project")
		c.Path = path
		c.Args = []string{
			"claude", "-p", "go", "--mcp-config", conf, "--strict-mcp-config", "--disallowed-tools", "AskUserQuestion",
			"--allowed-tools", "mcp__mcpdeck__ask", "mcp__mcpdeck__ask_wait",
		}
		c.Env = append(append(c.Env, "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=x"), realtest.Print()...)
		return c
	}
}

func codex(path string) func(*world, string) *exec.Cmd {
	return func(w *world, url string) *exec.Cmd {
		w.write(".codex/config.toml", fmt.Sprintf(`model = "mock"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "%s/v1"
wire_api = "responses"
[mcp_servers.mcpdeck]
command = "%s"
args = ["ask-server"]
required = true
startup_timeout_sec = 180
`, url, w.bin))
		c := w.command("project")
		c.Path = path
		c.Args = []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"}
		c.Env = append(c.Env, "OPENAI_API_KEY=x")
		return c
	}
}
