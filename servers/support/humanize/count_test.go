package humanize

import "testing"

func TestOneThingHasNoPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 calls", 1: "1 call", 2: "2 calls", 1000: "1000 calls"} {
		if got := Count(n, "call"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
