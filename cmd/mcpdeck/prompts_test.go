package main

import (
	"slices"
	"testing"
)

func TestProgramsWhosePromptsAreTurnedOffHaveNoAdapter(t *testing.T) {
	h := built(t, true)
	agents := func() (all []string) {
		for _, a := range h.adapters() {
			all = append(all, a.Agent())
		}
		return all
	}
	if !slices.Contains(agents(), "codex") {
		t.Errorf("there are adapters for %q", agents())
	}
	h.cfg.File.Prompts.Codex = false
	if got := agents(); slices.Contains(got, "codex") || len(got) == 0 {
		t.Errorf("without Codex, there are adapters for %q", got)
	}
	h.cfg.File.Prompts.Enabled = false
	if got := agents(); len(got) > 0 {
		t.Errorf("without prompts, there are adapters for %q", got)
	}
}
