package snapshot

import (
	"testing"
	"time"
)

// Who types mcpdeck call waits for the answer; an agent's shell ends it after a while.
func TestPatienceOfTheCommand(t *testing.T) {
	if got := (Caller{Transport: "call", Client: "mcpdeck"}).Patience(true); got != 0 {
		t.Errorf("the user's shell: got %v, want no limit", got)
	}
	if got := (Caller{Transport: "call", Client: "mcpdeck", Program: "claude"}).Patience(true); got != unknownPatience {
		t.Errorf("an agent's shell: got %v, want %v", got, unknownPatience)
	}
}

// A call is handed over before its client gives up, which is a matter of the
// client unless the environment says.
func TestCallIsHandedOverBeforeItsClientGivesUp(t *testing.T) {
	tests := []struct {
		name, client, hint string
		progress           bool
		want               time.Duration
	}{
		{"Claude Code", "claude-code", "", true, 100_000*time.Second - beforeLimit},
		{"Claude Code, idle without progress", "claude-code", "", false, unknownPatience},
		{"Codex", "codex-mcp-client", "", true, 280 * time.Second},
		{"Gemini CLI", "gemini-cli-mcp-client", "", false, 580 * time.Second},
		{"oh-my-pi", "omp-coding-agent", "", true, 10 * time.Second},
		{"opencode", "opencode", "", true, 0},
		{"Claude Desktop", "claude-ai", "", true, 40 * time.Second},
		{"Cursor", "cursor-vscode", "", true, 40 * time.Second},
		{"VS Code", "Visual Studio Code", "", true, 280 * time.Second},
		{"pi is no part of a name", "copilot", "", true, unknownPatience},
		{"not known", "x", "", true, unknownPatience},
		{"said", "codex-mcp-client", "3600000", false, time.Hour - beforeLimit},
		{"said, short", "codex-mcp-client", "30000", false, 15 * time.Second},
		{"said badly", "codex-mcp-client", "soon", false, 280 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			who := Caller{Client: tt.client, Hints: map[string]string{"MCPDECK_CLIENT_TIMEOUT_MS": tt.hint}}
			if got := who.Patience(tt.progress); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
