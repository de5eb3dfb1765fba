package process

import (
	"errors"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// isolate keeps console events of mcpdeck away from the child and opens no
// window for it.
func isolate(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

func terminate(*exec.Cmd) {} // there is no polite way for a program without a window

func kill(c *exec.Cmd) { c.Process.Kill() } //nolint:errcheck // gone already is fine

// killTree ends the child; its job takes what it has started along.
func killTree(c *exec.Cmd) { kill(c) }

func endAll([]relative) {}

// adopt puts the child into a job that ends, with all it has started, when
// mcpdeck ends or release is called. Without a job the child alone is ended.
func adopt(c *exec.Cmd) (release func()) {
	none := func() {}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return none
	}
	release = func() { windows.CloseHandle(job) } //nolint:errcheck // nothing to do about it
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		release()
		return none
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.Process.Pid))
	if err != nil {
		release()
		return none
	}
	defer windows.CloseHandle(h) //nolint:errcheck // nothing to do about it
	if err := windows.AssignProcessToJobObject(job, h); err != nil {
		release()
		return none
	}
	return release
}

func wrongFormat(err error) bool { return errors.Is(err, windows.ERROR_BAD_EXE_FORMAT) }

// sessionOf is -1: there are no groups whose members could be told by it.
func sessionOf(int) int { return -1 }

// KeepDescendants cannot be done here: what leaves its parent is nobody's descendant.
func KeepDescendants() error { return nil }
