package claudehooks

import (
	"os"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Limits of what is read of a log.
const (
	maxBack = 1 << 20 // bytes from before it was opened
	maxLine = 8 << 20 // bytes of a line
)

// Log follows a file to which an agent's program appends a line for each thing that it does.
// Not safe for concurrent use.
type Log struct {
	path string
	f    *os.File
	at   int64 // read so far; -1: nothing
}

// OpenLog prepares to read the file at a path that a hook was told; nil if that is not below
// the program's own folder. The file may come later.
func OpenLog(folder, path string) *Log {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path) // it may come later
	}
	if !filepath.IsAbs(path) || filepath.Ext(path) != ".jsonl" || !file.Within(folder, dir) {
		return nil
	}
	return &Log{path: path, at: -1}
}

// Close closes the file.
func (l *Log) Close() {
	if l != nil && l.f != nil {
		_ = l.f.Close() // it was only read
		l.f = nil
	}
}

// Read passes on the lines that were added since the last call, and those of the end of the
// file at the first one.
func (l *Log) Read(do func(line []byte)) {
	first := l.at < 0
	defer func() { l.at = max(l.at, 0) }() // all of a file that comes later is new
	if l.f == nil {
		f, err := file.Open(l.path, os.O_RDONLY)
		if err != nil {
			return // it may come later
		}
		l.f = f
	}
	info, err := l.f.Stat()
	if err != nil || info.Size() <= l.at {
		return
	}
	cut := int64(-1) // a line that is cut in the middle
	if first {
		if l.at = max(info.Size()-maxBack, 0); l.at > 0 {
			cut = l.at
		}
	}
	n, _ := file.Lines(l.f, l.at, info.Size(), maxLine, func(text []byte, at int64) { // what cannot be read now comes later
		if at != cut {
			do(text)
		}
	})
	l.at += n
}
