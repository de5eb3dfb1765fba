//go:build unix

package app

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lastInput is when the terminal had input the last time, to some seconds: the system notes it
// as when the terminal's device was read. Zero if that is not known.
func lastInput() time.Time {
	var s unix.Stat_t
	if err := unix.Fstat(int(os.Stdin.Fd()), &s); err != nil || s.Atim.Sec <= 0 {
		return time.Time{}
	}
	return time.Unix(s.Atim.Unix())
}
