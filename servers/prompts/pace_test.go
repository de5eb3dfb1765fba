package prompts_test

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/prompts"
)

func TestEachSessionHasItsOwnPromptsAMinute(t *testing.T) {
	var p prompts.Pace
	start := time.Unix(1000, 0)
	for i := range prompts.PerMinute {
		if !p.Take("a", start.Add(time.Duration(i)*time.Second/2)) {
			t.Fatalf("number %d is refused", i)
		}
	}
	for _, tt := range []struct {
		session string
		after   time.Duration
		want    bool
	}{
		{"a", 30 * time.Second, false},
		{"b", 30 * time.Second, true},
		{"a", time.Minute - 1, false},
		{"a", time.Minute, true}, // the first is a minute ago
		{"a", time.Minute, false},
		{"a", 2 * time.Minute, true},
	} {
		if got := p.Take(tt.session, start.Add(tt.after)); got != tt.want {
			t.Errorf("%s after %v: %v", tt.session, tt.after, got)
		}
	}
}
