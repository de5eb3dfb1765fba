package tui_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/tui"
)

func TestTheTopmostAreaIsHit(t *testing.T) {
	areas := tui.Areas{
		{Part: "page", X: 0, Y: 2, W: 80, H: 20},
		{Part: "list", X: 1, Y: 3, W: 10, H: 5},
		{Part: "nothing", X: 1, Y: 3, W: 0, H: 5},
		{Part: "below", X: 0, Y: 30, W: 80, H: 0},
		{Part: "button", X: 4, Y: 4, W: 3, H: 1},
	}
	tests := []struct {
		name string
		x, y int
		want string
	}{
		{"first cell", 0, 2, "page"},
		{"last cell", 79, 21, "page"},
		{"beside it", 80, 21, ""},
		{"below it", 79, 22, ""},
		{"above it", 0, 1, ""},
		{"outside the screen", -1, -1, ""},
		{"a later area lies over an earlier one", 1, 3, "list"},
		{"and under a later one", 4, 4, "button"},
		{"beside the button", 7, 4, "list"},
		{"an area without rows", 0, 30, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if a := areas.At(tt.x, tt.y); a != nil {
				got = a.Part
			}
			if got != tt.want {
				t.Errorf("at %d,%d is %q, want %q", tt.x, tt.y, got, tt.want)
			}
		})
	}
	if a := (tui.Areas{}).At(0, 0); a != nil {
		t.Errorf("no areas have %v", a)
	}
	if a := areas.Of("list"); a == nil || a.Y != 3 || areas.Of("tree") != nil {
		t.Errorf("the list is %v, a tree %v", a, areas.Of("tree"))
	}
}
