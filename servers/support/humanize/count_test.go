package humanize

import "testing"

func TestOneThingHasNoPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 calls", 1: "1 call", 2: "2 calls", 1000: "1000 calls"} {
		if got := Count(n, "call"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAPluralIsSpelledAsEnglishDoes(t *testing.T) {
	for thing, want := range map[string]string{"entry": "2 entries", "day": "2 days", "more line": "2 more lines"} {
		if got := Count(2, thing); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestASizeIsInPowersOfAThousand(t *testing.T) {
	for n, want := range map[int]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 3140: "3.1 kB", 1_250_000: "1.2 MB"} {
		if got := Bytes(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
