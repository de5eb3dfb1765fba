package pxl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// includeFrom serves includes of a document that lies in folder dir (slash
// separated, relative) of an opened root. Nothing outside the root is read, also
// not through symbolic links; only regular files of at most MaxSource bytes are.
func includeFrom(root *os.Root, dir string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		full := path.Join(dir, name)
		// A named pipe would block in Open.
		if info, err := root.Stat(full); err == nil && !info.Mode().IsRegular() {
			return nil, errors.New("not a regular file")
		}
		f, err := root.Open(full)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fs.ErrNotExist
			}
			return nil, errors.New("the path leads outside the allowed folders or cannot be read")
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return nil, errors.New("not a regular file")
		}
		if info.Size() > MaxSource {
			return nil, fmt.Errorf("the file is larger than %d bytes", MaxSource)
		}
		text := make([]byte, info.Size())
		n, err := f.ReadAt(text, 0)
		if err != nil && n < len(text) {
			return nil, errors.New("the file cannot be read")
		}
		return text, nil
	}
}
