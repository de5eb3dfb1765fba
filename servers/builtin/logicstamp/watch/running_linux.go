package watch

import (
	"bytes"
	"fmt"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// identify reports whether a live process is the watch that was started at that time.
func identify(id int, started time.Time) (active, verified bool, reason string) {
	_, fields := pid.Stat(id)
	if len(fields) == 0 {
		return true, false, ""
	}
	if fields[0] == "Z" {
		return false, true, fmt.Sprintf("process %d has ended", id)
	}
	if at := pid.Started(id); !started.IsZero() && at.After(started.Add(5*time.Second)) {
		return false, true, fmt.Sprintf("process %d is a younger one with the same number", id)
	}
	line, err := file.ReadPlain(fmt.Sprintf("/proc/%d/cmdline", id), false, maxFile)
	if err == nil && len(line) > 0 && !bytes.Contains(line, []byte("stamp")) {
		return false, true, fmt.Sprintf("process %d is another program", id)
	}
	return true, err == nil, ""
}
