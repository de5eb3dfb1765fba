package pid

import (
	"os"
	"strconv"
	"strings"
)

// Stopped reports whether a process is stopped, by a signal or a debugger: it goes on only
// when it is told to.
func Stopped(id int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if err != nil {
		return false
	}
	stat := string(b)
	state := strings.TrimSpace(stat[strings.LastIndexByte(stat, ')')+1:])
	return strings.HasPrefix(state, "T") || strings.HasPrefix(state, "t")
}
