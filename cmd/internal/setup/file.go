package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/file"
)

// sizeLimit of a configuration file, in bytes.
const sizeLimit = 64 << 20

// place is a configuration file: name below dir. All that is read and written
// stays below dir.
type place struct {
	dir, name string
	shared    bool // with others who work on the project
}

// inProject is a file of a project. A link on the way to it is refused: whoever
// wrote the repository could have it lead anywhere.
func inProject(root, name string) (place, error) {
	p := place{dir: root, name: name, shared: true}
	at := ""
	for part := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(filepath.Join(root, at))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return p, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return p, fmt.Errorf("%s is a link, and links in a project are not followed; edit the file it leads to by hand, or use --user", filepath.Join(root, at))
		}
	}
	return p, nil
}

// ofUser is a file of the user's own. Links are followed: people keep such
// files elsewhere.
func ofUser(path string) (place, error) {
	const most = 40 // links in a row, as the system has it
	for range most {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			break
		}
		target, err := os.Readlink(path)
		if err != nil {
			return place{}, err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return place{dir: filepath.Dir(path), name: filepath.Base(path)}, nil
}

func (p place) path() string { return filepath.Join(p.dir, p.name) }

// read returns a file's bytes, nil if there is no file.
func (p place) read() ([]byte, error) {
	root, err := os.OpenRoot(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b, err := file.Inside(root, p.name, sizeLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// write replaces the file at once and keeps its permissions. A new file that is
// shared gets those that the umask leaves, another is the user's alone. It returns the
// folders that it made, outermost first.
func (p place) write(content []byte) (made []string, err error) {
	if made, err = p.makeFolders(); err != nil {
		return made, err
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return made, err
	}
	defer root.Close()
	folder, err := root.OpenRoot(filepath.Dir(p.name))
	if err != nil {
		return made, err
	}
	defer folder.Close()
	o := file.Options{Mode: 0o600, Keep: true}
	if p.shared {
		o.Mode = 0o666
	}
	return made, file.WriteIn(folder, filepath.Base(p.name), content, o)
}

// makeFolders makes the folders above the file.
func (p place) makeFolders() ([]string, error) {
	above := filepath.Dir(p.path())
	var missing []string
	for dir := above; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		missing = append([]string{dir}, missing...)
	}
	if !p.shared {
		return missing, os.MkdirAll(above, 0o755)
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return missing, root.MkdirAll(filepath.Dir(p.name), 0o755)
}

// remove takes the file away, and those of the folders that are empty.
func (p place) remove(folders []string) error {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Remove(p.name); err != nil {
		return err
	}
	for i := len(folders) - 1; i >= 0; i-- {
		if os.Remove(folders[i]) != nil {
			break // somebody keeps something there
		}
	}
	return nil
}
