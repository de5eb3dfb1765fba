package sessions

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestProgramsWhosePromptsAreTurnedOffHaveNoAdapter(t *testing.T) {
	cfg := &config.Config{}
	cfg.File.Prompts.Enabled, cfg.File.Prompts.Agents = true, map[string]bool{"codex": true, "claude": true}
	p := New(cfg, new(atomic.Pointer[config.Config]), nil)
	agents := func() []string { return slices.Collect(maps.Keys(p.adapters())) }
	if !slices.Contains(agents(), "codex") {
		t.Errorf("there are adapters for %q", agents())
	}
	cfg.File.Prompts.Agents["codex"] = false
	if got := agents(); slices.Contains(got, "codex") || len(got) == 0 {
		t.Errorf("without Codex, there are adapters for %q", got)
	}
	cfg.File.Prompts.Enabled = false
	if got := agents(); len(got) > 0 {
		t.Errorf("without prompts, there are adapters for %q", got)
	}
}
