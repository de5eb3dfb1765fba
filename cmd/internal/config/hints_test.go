package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/clients"
)

// An address may hold a password: the deck hears what follows from it.
func TestHintsSayWhetherTheClientSearchesWithoutItsAddress(t *testing.T) {
	t.Setenv(clients.SearchHint, "")
	t.Setenv("ENABLE_TOOL_SEARCH", "")
	for base, want := range map[string]string{"https://user:secret@models.example.com": "", "https://api.anthropic.com": "claude"} {
		t.Setenv("ANTHROPIC_BASE_URL", base)
		hints := Hints()
		if hints[clients.SearchHint] != want || strings.Contains(fmt.Sprint(hints), base) {
			t.Errorf("%s: %v", base, hints)
		}
	}
}
