package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/tui"
)

// phrases are what the screen says in other words: see CONTRIBUTING.
func phrases() []string {
	return []string{
		"wait for you", "waits for you", "nothing waits", "held back", "degraded", "at work", "several lines", "names a path outside the project", "Change the mode for this session",
		"(this session)", "(this project:", "and goes on", "is not billed so", "takes it back", " · wire ", "old tools", "unknown: not set up", "[DIFF]", "vs snapshot", "0 tools ≈ 0 tokens",
		"tokens an agent", "in 1 of 1 folder", "Full · For · today", "codex has your answers and",
	}
}

// No frame, help or message has a phrase that is said in other words.
func TestTheScreenSaysNoPhraseOfBefore(t *testing.T) {
	look := func(where, text string) {
		for _, p := range phrases() {
			if strings.Contains(text, p) {
				t.Errorf("%s says %q: %q", where, p, strings.TrimSpace(text))
			}
		}
	}
	for path, rows := range goldenFrames(t) {
		for _, row := range rows {
			look(path, row)
			if strings.HasPrefix(strings.TrimSpace(row), "Deck ") || strings.Contains(row, "[Deck]") || strings.Contains(row, " Cards ") {
				t.Errorf("%s has a page of before: %q", path, row)
			}
		}
	}
	for _, b := range tui.Bounds(built(t, true).Screen(false)) {
		look(b.ID, b.Title)
	}
	for path, f := range screenSource(t) {
		if !strings.HasPrefix(path, "tui/") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				look(path, text)
				if strings.Contains(text, "(s)") {
					t.Errorf("%s writes a plural as %q", path, text)
				}
			}
			return true
		})
	}
}
