package file

import "io/fs"

// Version tells a state of a file from another without reading it. The system sets
// Changed whenever the file is written or replaced, so that nobody can give a file the
// time that it had; it is 0 where the system does not tell.
type Version struct {
	Size, Modified, Changed int64 // bytes; nanoseconds since 1970
	Inode                   uint64
}

// VersionOf is the version that information about a file is of.
func VersionOf(info fs.FileInfo) Version {
	v := Version{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	v.Changed, v.Inode = changed(info)
	return v
}
