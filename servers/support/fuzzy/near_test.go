package fuzzy_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
)

func TestSlips(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       int
	}{
		{"nothing", "", "", 0},
		{"all of it", "", "four", 4},
		{"the same", "render", "render", 0},
		{"one left out", "rendr", "render", 1},
		{"one too many", "rrender", "render", 1},
		{"one another", "rander", "render", 1},
		{"two changed places", "redner", "render", 1},
		{"a letter of two bytes", "grün", "grüm", 1},
		{"nothing alike", "abc", "xyz", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fuzzy.Slips(tt.a, tt.b); got != tt.want {
				t.Errorf("%d slips, want %d", got, tt.want)
			}
			if got := fuzzy.Slips(tt.b, tt.a); got != tt.want {
				t.Errorf("the other way %d slips, want %d", got, tt.want)
			}
		})
	}
}
