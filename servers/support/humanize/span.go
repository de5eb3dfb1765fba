// Package humanize formats durations and numbers of things, the same everywhere.
package humanize

import (
	"fmt"
	"time"
)

// Took is how long something took: "<1 ms", "8 ms", "1.2 s", "3 m 05 s".
func Took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d.%d s", d/time.Second, d%time.Second/(100*time.Millisecond))
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}

// Words is a length of time in a sentence: "45 seconds", "a minute", "7 minutes",
// "an hour".
func Words(d time.Duration) string {
	switch n := int(d.Round(time.Minute) / time.Minute); n {
	case 0:
		return fmt.Sprintf("%d seconds", int(d.Round(time.Second)/time.Second))
	case 1:
		return "a minute"
	case 60:
		return "an hour"
	default:
		return fmt.Sprintf("%d minutes", n)
	}
}

// Clock is what is left on a clock that counts down: "4:07".
func Clock(d time.Duration) string {
	d = max(d, 0)
	return fmt.Sprintf("%d:%02d", int(d/time.Minute), int(d/time.Second)%60)
}

// Age is how old something is, and after how long the words change: "now",
// "12 s", "3 m", "2 h", "5 d".
func Age(d time.Duration) (words string, next time.Duration) {
	unit := func(u time.Duration, name string) (string, time.Duration) {
		n := d / u
		return fmt.Sprintf("%d %s", n, name), (n+1)*u - d
	}
	switch {
	case d < time.Second:
		return "now", time.Second - max(d, 0)
	case d < time.Minute:
		return unit(time.Second, "s")
	case d < time.Hour:
		return unit(time.Minute, "m")
	case d < 48*time.Hour:
		return unit(time.Hour, "h")
	}
	return unit(24*time.Hour, "d")
}

// Ago is Age in a sentence: "now", "3 m ago".
func Ago(d time.Duration) string {
	if s, _ := Age(d); s != "now" {
		return s + " ago"
	}
	return "now"
}

// Duration is a length of time that a configuration writes as "90s" or "2m".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf(`%q is not a duration such as "90s" or "2m"`, b)
	}
	*d = Duration(v)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
