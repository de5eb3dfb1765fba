package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/file"
)

// aDay is the limit that agents are given for one call.
const aDay = 24 * time.Hour

// client is how one agent's program is configured.
type client struct {
	name  string
	print func(s Settings, socket, label string) (string, error)
	notes []string // what the file alone cannot do
}

func clients() []client {
	const limit = "%s ends a tool call after %s and nothing in its configuration raises that; mcpdeck answers in time with status pending, and the agent calls ask_wait"
	return []client{
		{"claude-code", claude, []string{
			"start it with: claude --mcp-config FILE --disallowed-tools AskUserQuestion --allowed-tools mcp__mcpdeck__ask mcp__mcpdeck__ask_wait",
			"these flags take several values: a prompt must come before them or on standard input",
			"set CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0 in its environment to keep questions in the foreground",
		}},
		{"codex", codex, []string{"add this to ~/.codex/config.toml"}},
		{"gemini", jsonServer("mcpServers", map[string]any{"timeout": aDay.Milliseconds()}), []string{"merge this into .gemini/settings.json"}},
		{"oh-my-pi", jsonServer("mcpServers", map[string]any{"timeout": aDay.Milliseconds()}), []string{"merge this into its mcp.json"}},
		{"opencode", opencode, []string{"merge this into opencode.json"}},
		{"vscode", jsonServer("servers", map[string]any{"type": "stdio"}), []string{"merge this into .vscode/mcp.json", fmt.Sprintf(limit, "VS Code", "about 5 minutes")}},
		{"cursor", jsonServer("mcpServers", nil), []string{"merge this into .cursor/mcp.json", fmt.Sprintf(limit, "Cursor", "about a minute")}},
	}
}

// ClientNames are the agents' programs that a configuration can be printed for.
func ClientNames() []string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

func configCommand(load func() (Settings, error)) *cobra.Command {
	var name, label, output string
	names := ClientNames()
	c := &cobra.Command{
		Use: "config", Short: "Print an agent's configuration, with a socket of its own",
		Long:    "Ask the running deck for a socket that stands for one session of an agent, and print\nthe agent's configuration for it. Agents: " + strings.Join(names, ", ") + ".",
		Example: "  mcpdeck ask config --client claude-code --session payments --write ask.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			i := slices.IndexFunc(clients(), func(k client) bool { return k.name == name })
			if i < 0 {
				return usagef("--client must be one of %s", strings.Join(names, ", "))
			}
			s, err := load()
			if err != nil {
				return err
			}
			socket, err := questions.NewClient(questions.ClientOptions{Path: s.Socket}).OpenSession(label)
			if err != nil {
				return noDeck(err)
			}
			text, err := clients()[i].print(s, socket, label)
			if err != nil {
				return err
			}
			if output == "" {
				fmt.Fprintln(c.OutOrStdout(), text)
			} else if err := write(output, text+"\n"); err != nil {
				return err
			}
			for _, n := range clients()[i].notes {
				if output != "" {
					n = strings.ReplaceAll(n, "FILE", output)
				}
				fmt.Fprintln(c.ErrOrStderr(), n)
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "client", "claude-code", "the agent's program")
	c.Flags().StringVar(&label, "session", "", "name of the session, shown with its questions")
	c.Flags().StringVar(&output, "write", "", "write to this file instead, readable by you alone; it is replaced")
	return c
}

// write replaces a file in one step.
func write(path, text string) error {
	if err := file.Write(path, []byte(text), file.Options{}); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

func env(socket, label string) map[string]string {
	m := map[string]string{"PI_ASK_SOCKET": socket, "MCPDECK_CLIENT_TIMEOUT_MS": fmt.Sprint(aDay.Milliseconds())}
	if label != "" {
		m["MCPDECK_SESSION"] = label
	}
	return m
}

// patient is env without a limit that the client's configuration cannot raise.
func patient(socket, label string, raised bool) map[string]string {
	m := env(socket, label)
	if !raised {
		delete(m, "MCPDECK_CLIENT_TIMEOUT_MS")
	}
	return m
}

func indent(v any) (string, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", fmt.Errorf("print the configuration: %w", err)
	}
	return string(b), nil
}

// claude is for --mcp-config: alwaysLoad keeps the tool out of deferred search,
// timeout raises both its hard and its idle limit.
func claude(s Settings, socket, label string) (string, error) {
	return indent(map[string]any{"mcpServers": map[string]any{"mcpdeck": struct {
		Type       string            `json:"type"`
		Command    string            `json:"command"`
		Args       []string          `json:"args"`
		Env        map[string]string `json:"env"`
		Timeout    int64             `json:"timeout"`
		AlwaysLoad bool              `json:"alwaysLoad"`
	}{"stdio", s.Program, []string{"ask-server"}, env(socket, label), aDay.Milliseconds(), true}}})
}

func codex(s Settings, socket, label string) (string, error) {
	type entry struct {
		Command string            `toml:"command"`
		Args    []string          `toml:"args"`
		Timeout int64             `toml:"tool_timeout_sec"`
		Env     map[string]string `toml:"env"`
	}
	b, err := toml.Marshal(map[string]any{"mcp_servers": map[string]entry{
		"mcpdeck": {s.Program, []string{"ask-server"}, int64(aDay / time.Second), env(socket, label)},
	}})
	if err != nil {
		return "", fmt.Errorf("print the configuration: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

func opencode(s Settings, socket, label string) (string, error) {
	return indent(map[string]any{"mcp": map[string]any{"mcpdeck": map[string]any{
		"type": "local", "command": []string{s.Program, "ask-server"}, "enabled": true,
		"timeout": aDay.Milliseconds(), "environment": env(socket, label),
	}}})
}

func jsonServer(key string, more map[string]any) func(Settings, string, string) (string, error) {
	return func(s Settings, socket, label string) (string, error) {
		_, raised := more["timeout"]
		m := map[string]any{"command": s.Program, "args": []string{"ask-server"}, "env": patient(socket, label, raised)}
		for k, v := range more {
			m[k] = v
		}
		return indent(map[string]any{key: map[string]any{"mcpdeck": m}})
	}
}
