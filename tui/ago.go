package tui

import (
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/span"
)

// Ago is the age of t as people say it, and the frame is drawn again when that
// changes.
func (f *Frame) Ago(t time.Time) string {
	s, next := span.Age(f.Now.Sub(t))
	f.RedrawAfter(next)
	return s
}

// Since is Ago in a sentence: "now", "3 m ago".
func (f *Frame) Since(t time.Time) string {
	f.Ago(t)
	return span.Ago(f.Now.Sub(t))
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
