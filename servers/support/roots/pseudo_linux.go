package roots

import "golang.org/x/sys/unix"

// pseudo tells whether a folder lies in a file system that the kernel makes up,
// wherever it is mounted.
func pseudo(dir string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return false
	}
	switch int64(fs.Type) { //nolint:unconvert // it has other widths elsewhere
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.CGROUP_SUPER_MAGIC,
		unix.CGROUP2_SUPER_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC, unix.SELINUX_MAGIC:
		return true
	}
	return false
}
