package tui

import (
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Ago is the age of t as people say it, and the frame is drawn again when that changes. All
// ages change at whole seconds, later ones of every ten or sixty: however many rows show one,
// they are drawn again together.
func (f *Frame) Ago(t time.Time) string {
	now := f.Now.Truncate(time.Second)
	age := now.Sub(t.Truncate(time.Second))
	s, next := humanize.Age(age)
	apart := time.Second
	switch {
	case age >= time.Hour:
		apart = time.Minute
	case age >= time.Minute:
		apart = 10 * time.Second
	}
	at := now.Add(next + apart - 1).Truncate(apart)
	f.RedrawAfter(at.Sub(f.Now))
	return s
}

// Since is Ago in a sentence: "now", "3 m ago".
func (f *Frame) Since(t time.Time) string {
	if s := f.Ago(t); s != "now" {
		return s + " ago"
	}
	return "now"
}

// Place is where in a list one is: "3 of 17".
func Place(i, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", i+1, n)
}
