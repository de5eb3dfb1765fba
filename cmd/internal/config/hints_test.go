package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// An address may hold a password: the deck hears what follows from it.
func TestHintsSayWhetherTheClientSearchesWithoutItsAddress(t *testing.T) {
	for _, name := range []string{clients.SearchHint, "ENABLE_TOOL_SEARCH", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "CLAUDE_CODE_USE_VERTEX", "ANTHROPIC_MODEL"} {
		t.Setenv(name, "")
	}
	for base, want := range map[string]string{"https://user:secret@models.example.com": "qwen", "https://api.anthropic.com": "claude,qwen"} {
		t.Setenv("ANTHROPIC_BASE_URL", base)
		hints := Hints()
		if hints[clients.SearchHint] != want || strings.Contains(fmt.Sprint(hints), base) {
			t.Errorf("%s: %v", base, hints)
		}
	}
}
