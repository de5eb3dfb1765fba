package humanize

import (
	"errors"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		d                time.Duration
		took, age, since string
		next             time.Duration
	}{
		{-time.Minute, "<1 ms", "now", "now", time.Second},
		{0, "<1 ms", "now", "now", time.Second},
		{8*time.Millisecond + 1, "8 ms", "now", "now", 992*time.Millisecond - 1},
		{999999 * time.Microsecond, "999 ms", "now", "now", time.Microsecond},
		{1290 * time.Millisecond, "1.2 s", "1 s", "1 s ago", 710 * time.Millisecond},
		{59999 * time.Millisecond, "59.9 s", "59 s", "59 s ago", time.Millisecond},
		{185 * time.Second, "3 m 05 s", "3 m", "3 m ago", 55 * time.Second},
		{time.Hour, "1 h 00 m", "1 h", "1 h ago", time.Hour},
		{47*time.Hour + time.Minute, "47 h 01 m", "47 h", "47 h ago", 59 * time.Minute},
		{5 * day, "120 h 00 m", "5 d", "5 d ago", day},
	}
	for _, tt := range tests {
		t.Run(tt.d.String(), func(t *testing.T) {
			age, next := Age(tt.d)
			if got := Took(tt.d); got != tt.took || age != tt.age || next != tt.next || Ago(tt.d) != tt.since {
				t.Errorf("took %q, age %q for %v, ago %q", got, age, next, Ago(tt.d))
			}
		})
	}
}

func TestWordsOfALengthInASentence(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 seconds", 29 * time.Second: "29 seconds", 31 * time.Second: "a minute", 89 * time.Second: "a minute",
		7 * time.Minute: "7 minutes", time.Hour: "an hour", 90 * time.Minute: "90 minutes",
	} {
		if got := Words(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestClockCountsDownToNothing(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0:00", 59*time.Second + 999*time.Millisecond: "0:59", 247 * time.Second: "4:07", time.Hour: "60:00"} {
		if got := Clock(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestADurationIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "2m": 2 * time.Minute, "1.5s": 1500 * time.Millisecond} {
		var d, again Duration
		err := d.UnmarshalText([]byte(text))
		if err != nil || time.Duration(d) != want {
			t.Errorf("%s: got %v, %v, want %v", text, time.Duration(d), err, want)
		}
		b, err := d.MarshalText()
		if err := errors.Join(err, again.UnmarshalText(b)); err != nil || again != d {
			t.Errorf("%s: written as %q and read as %v, %v", text, b, time.Duration(again), err)
		}
	}
	var d Duration
	for _, text := range []string{"", "5", "soon"} {
		if d.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q counts as %v", text, time.Duration(d))
		}
	}
}
