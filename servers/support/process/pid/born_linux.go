package pid

import (
	"os"
	"strconv"
	"strings"
)

// Born returns when a process began, as a word that no other process with its ID has: the
// ticks since the machine started. It is "" if that is unknown.
func Born(id int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if err != nil {
		return ""
	}
	stat := string(b)
	const at = 22 - 3 // of what follows the program's name, which stands in brackets and may hold anything
	if fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]); len(fields) > at {
		return fields[at]
	}
	return ""
}
