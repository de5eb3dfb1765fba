package tui

import (
	"fmt"
	"time"
)

// Ago is how long since, as people say it, and after how long the words change:
// "now", "12 s", "3 m", "2 h", "5 d".
func Ago(since time.Duration) (string, time.Duration) {
	unit := func(u time.Duration, name string) (string, time.Duration) {
		n := since / u
		return fmt.Sprintf("%d %s", n, name), (n+1)*u - since
	}
	switch {
	case since < time.Second:
		return "now", time.Second - max(since, 0)
	case since < time.Minute:
		return unit(time.Second, "s")
	case since < time.Hour:
		return unit(time.Minute, "m")
	case since < 48*time.Hour:
		return unit(time.Hour, "h")
	}
	return unit(24*time.Hour, "d")
}

// Ago is the age of t as people say it, and the frame is drawn again when that
// changes.
func (f *Frame) Ago(t time.Time) string {
	s, next := Ago(f.Now.Sub(t))
	f.RedrawAfter(next)
	return s
}

// Since is Ago in a sentence: "now", "3 m ago".
func (f *Frame) Since(t time.Time) string {
	if s := f.Ago(t); s != "now" {
		return s + " ago"
	}
	return "now"
}

// Took is a duration as people say it: "8 ms", "1.2 s", "3 m 05 s".
func Took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}

// Bytes is a size as people say it: "812 B", "3.1 KB".
func Bytes(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f KB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Place is where in a list one is: "3 of 17".
func Place(i, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", i+1, n)
}
