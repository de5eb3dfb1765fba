package pid

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Started returns when a process began, to some hundredths of a second; the zero time if that is
// unknown.
func Started(id int) time.Time {
	ticks, err := strconv.ParseInt(Born(id), 10, 64) // hundredths of a second since the system started
	if err != nil {
		return time.Time{}
	}
	text, _ := os.ReadFile("/proc/uptime") // one that cannot be read does not say it
	up, _, _ := strings.Cut(string(text), " ")
	now, err := time.ParseDuration(up + "s")
	if err != nil {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(ticks)*10*time.Millisecond - now)
}
