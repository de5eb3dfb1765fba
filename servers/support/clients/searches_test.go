package clients

import (
	"strings"
	"testing"
)

// As Claude Code 2.1.197 has it, in its own words of its debug log.
func TestASessionSearchesByItsEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		env  map[string]string
		want string
	}{
		"nothing set":                {nil, "claude"},
		"Anthropic's own address":    {map[string]string{"ANTHROPIC_BASE_URL": "https://api.anthropic.com/"}, "claude"},
		"an address of its own":      {map[string]string{"ANTHROPIC_BASE_URL": "https://proxy.example.com"}, ""},
		"one that looks like it":     {map[string]string{"ANTHROPIC_BASE_URL": "https://api.anthropic.com.example.com"}, ""},
		"no address":                 {map[string]string{"ANTHROPIC_BASE_URL": "::"}, ""},
		"an address that can":        {map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080", "ENABLE_TOOL_SEARCH": "true"}, "claude"},
		"turned off":                 {map[string]string{"ENABLE_TOOL_SEARCH": "false"}, ""},
		"turned off by a number":     {map[string]string{"ENABLE_TOOL_SEARCH": "0"}, ""},
		"from a tenth on":            {map[string]string{"ENABLE_TOOL_SEARCH": "auto"}, ""},
		"from a share on":            {map[string]string{"ENABLE_TOOL_SEARCH": "auto:5"}, ""},
		"always":                     {map[string]string{"ENABLE_TOOL_SEARCH": "auto:0"}, "claude"},
		"never":                      {map[string]string{"ENABLE_TOOL_SEARCH": "auto:100"}, ""},
		"a share that is none":       {map[string]string{"ENABLE_TOOL_SEARCH": "auto:x"}, ""},
		"no experiments":             {map[string]string{"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1", "ENABLE_TOOL_SEARCH": "true"}, ""},
		"Vertex":                     {map[string]string{"CLAUDE_CODE_USE_VERTEX": "1"}, ""},
		"a model that cannot":        {map[string]string{"ANTHROPIC_MODEL": "claude-3-5-haiku-latest"}, ""},
		"the user knows better":      {map[string]string{SearchHint: "claude", "ENABLE_TOOL_SEARCH": "false"}, "claude"},
		"an entry that loads it all": {map[string]string{SearchHint: NoSearch}, NoSearch},
	} {
		if tt.env[SearchHint] == "" { // Qwen Code searches whatever its environment
			tt.want = strings.TrimPrefix(tt.want+",qwen", ",")
		}
		if got := Searching(func(name string) string { return tt.env[name] }); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		client, hint string
		want         bool
	}{
		{"claude-code", "claude", true},
		{"claude-code", "", false},
		{"claude-code", NoSearch, false},
		{"claude-code", "other,claude", true},
		{"codex-mcp-client", "claude", false},
		{"", "claude", false},
		{"unknown", "unknown", false},
	} {
		if got := Searches(tt.client, tt.hint); got != tt.want {
			t.Errorf("%q with %q: %v", tt.client, tt.hint, got)
		}
	}
}
