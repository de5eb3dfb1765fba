package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

// TestEveryPageIsWhole says what a newcomer's page lacks.
func TestEveryPageIsWhole(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	cfg, err := config.Load(config.Flags{Port: -1, State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	h, err := build(cfg, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.stop()
	built := h.pages(false)
	if len(built) > 9 {
		t.Errorf("%d pages: a digit leads to nine at most", len(built))
	}
	titles := map[string]bool{}
	for i, id := range pageIDs() {
		p := built[i]
		if p.ID() != id || slices.Index(pageIDs(), id) != i {
			t.Errorf("row %q makes the page %q: want the same, and one row for it", id, p.ID())
		}
		if p.Title() == "" || titles[p.Title()] {
			t.Errorf("page %s: title %q: want one of its own", id, p.Title())
		}
		titles[p.Title()] = true
		for _, a := range p.Actions() {
			if a.Title == "" || !strings.Contains(a.ID, ".") {
				t.Errorf("page %s: action %q with title %q: want a title, and an ID of two parts", id, a.ID, a.Title)
			}
		}
	}
}
