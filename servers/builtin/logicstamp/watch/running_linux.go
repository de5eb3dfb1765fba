package watch

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// identify reports whether a live process is the watch that was started at that time.
func identify(pid int, started time.Time) (active, verified bool, reason string) {
	stat, err := file.ReadPlain(fmt.Sprintf("/proc/%d/stat", pid), false, maxFile)
	if err != nil {
		return true, false, ""
	}
	// The name in parentheses may hold anything; what follows is fields.
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := strings.Fields(string(rest))
	if len(fields) > 0 && fields[0] == "Z" {
		return false, true, fmt.Sprintf("process %d has ended", pid)
	}
	if at, ok := startTime(fields); ok && !started.IsZero() && at.After(started.Add(5*time.Second)) {
		return false, true, fmt.Sprintf("process %d is a younger one with the same number", pid)
	}
	line, err := file.ReadPlain(fmt.Sprintf("/proc/%d/cmdline", pid), false, maxFile)
	if err == nil && len(line) > 0 && !bytes.Contains(line, []byte("stamp")) {
		return false, true, fmt.Sprintf("process %d is another program", pid)
	}
	return true, err == nil, ""
}

// startTime is when a process started, from the fields of its stat file that
// follow its name; the kernel counts in hundredths of a second since boot.
func startTime(fields []string) (time.Time, bool) {
	const startField = 19
	if len(fields) <= startField {
		return time.Time{}, false
	}
	ticks, err := strconv.ParseInt(fields[startField], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	data, err := file.ReadPlain("/proc/stat", false, maxFile)
	if err != nil {
		return time.Time{}, false
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "btime "); ok {
			boot, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return time.Unix(boot, 0).Add(time.Duration(ticks) * 10 * time.Millisecond), err == nil
		}
	}
	return time.Time{}, false
}
