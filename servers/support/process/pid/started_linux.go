package pid

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Started returns when a process began, give or take a second; the zero time if that is unknown.
func Started(id int) time.Time {
	ticks, err := strconv.ParseInt(Born(id), 10, 64) // hundredths of a second
	if err != nil {
		return time.Time{}
	}
	text, _ := os.ReadFile("/proc/stat") // one that cannot be read does not say it
	_, rest, _ := strings.Cut(string(text), "\nbtime ")
	line, _, _ := strings.Cut(rest, "\n")
	boot, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(boot, 0).Add(time.Duration(ticks) * 10 * time.Millisecond)
}
