package clippy

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

const (
	noWait = 0

	keepsFolders = false // nobody could rename or remove a folder that is open
)

// known is what an error number means, "" for most.
func known(no syscall.Errno) string {
	switch no {
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED:
		return full
	case windows.ERROR_WRITE_PROTECT:
		return readOnly
	case windows.ERROR_FILENAME_EXCED_RANGE:
		return nameLength
	case windows.ERROR_CANT_RESOLVE_FILENAME:
		return loop
	default:
		return ""
	}
}

func errnoName(no syscall.Errno) string { return "code " + strconv.Itoa(int(no)) }

// systemDesktop asks the shell, since the folder may lie in OneDrive.
func systemDesktop() (string, error) {
	return windows.KnownFolderPath(windows.FOLDERID_Desktop, windows.KF_FLAG_DONT_VERIFY)
}

const terminalPath = "CONOUT$"
