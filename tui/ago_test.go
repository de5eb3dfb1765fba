package tui

import (
	"testing"
	"time"
)

// TestAgesOfManyRowsAreDrawnAgainTogether draws rows of many ages as often as they ask for it.
func TestAgesOfManyRowsAreDrawnAgainTogether(t *testing.T) {
	const rows = 50
	begun := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	since := make([]time.Time, rows)
	for i := range since {
		since[i] = begun.Add(-time.Duration(i) * 17 * time.Millisecond) // each changes at a time of its own
	}
	draws, ages := map[string]int{}, map[string]bool{}
	for now := begun; now.Before(begun.Add(3 * time.Hour)); {
		f := &Frame{Now: now}
		for _, t := range since {
			ages[f.Ago(t)] = true
		}
		switch age := now.Sub(begun); {
		case age < time.Minute:
			draws["minute"]++
		case age < time.Hour:
			draws["hour"]++
		default:
			draws["later"]++
		}
		if f.wake <= 0 {
			t.Fatal("a row that gets older is not drawn again")
		}
		now = now.Add(f.wake)
	}
	for when, most := range map[string]int{"minute": 60, "hour": 59 * 6, "later": 2 * 60} {
		if draws[when] > most+1 {
			t.Errorf("%d rows are drawn %d times in the %s, not %d", rows, draws[when], when, most)
		}
	}
	for _, words := range []string{"now", "12 s", "59 s", "1 m", "59 m", "2 h"} {
		if !ages[words] {
			t.Errorf("no row has been %q old", words)
		}
	}
}
