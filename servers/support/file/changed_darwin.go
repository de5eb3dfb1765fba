package file

import (
	"io/fs"
	"syscall"
)

func changed(info fs.FileInfo) (at int64, inode uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return s.Ctimespec.Nano(), s.Ino
}
