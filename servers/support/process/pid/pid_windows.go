package pid

import (
	"errors"
	"strconv"

	"golang.org/x/sys/windows"
)

// Alive reports whether a process runs, also one of another user.
func Alive(id int) bool {
	if id <= 0 {
		return false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(id))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing to do about it
	const stillActive = 259      // a process that has ended is there while somebody holds it
	var code uint32
	return windows.GetExitCodeProcess(h, &code) != nil || code == stillActive
}

// Born returns when a process began, as a word that no other process with its ID has; ""
// if it is unknown.
func Born(id int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(id))
	if id <= 0 || err != nil {
		return ""
	}
	defer windows.CloseHandle(h) //nolint:errcheck // as above
	var born, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &born, &ended, &kernel, &user) != nil {
		return ""
	}
	return strconv.FormatInt(born.Nanoseconds(), 10)
}
