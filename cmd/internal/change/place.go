package change

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// sizeLimit of a configuration file, in bytes.
const sizeLimit = 64 << 20

// Place is where a configuration file is, or may be: name below dir. All that is
// read and written stays below dir.
type Place struct {
	dir, name string
	shared    bool // with others who work on the project
}

// InProject is a file of a project. A link on the way to it is refused: whoever
// wrote the repository could have it lead anywhere.
func InProject(root, name string) (Place, error) {
	p := Place{dir: root, name: name, shared: true}
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

// OfUser is a file of the user's own. Links are followed: people keep such
// files elsewhere.
func OfUser(path string) (Place, error) {
	const most = 40 // links in a row, as the system has it
	for range most {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			break
		}
		target, err := os.Readlink(path)
		if err != nil {
			return Place{}, err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return Place{dir: filepath.Dir(path), name: filepath.Base(path)}, nil
}

// Path is the file's, links resolved where they are followed.
func (p Place) Path() string { return filepath.Join(p.dir, p.name) }

// Shared reports whether others who work on the project have the file, too.
func (p Place) Shared() bool { return p.shared }

// Read returns the file's bytes, nil if there is no file.
func (p Place) Read() ([]byte, error) {
	b, _, err := p.look()
	return b, err
}

// look also returns the file's permissions.
func (p Place) look() ([]byte, fs.FileMode, error) {
	root, err := file.Root(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	b, err := file.Inside(root, p.name, sizeLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := root.Stat(p.name)
	if err != nil {
		return nil, 0, err
	}
	return b, info.Mode().Perm(), nil
}

// again finds the place of a file that was recorded. What has become a link since is
// refused.
func again(dir, name string, shared bool) (Place, error) {
	if shared {
		return InProject(dir, name)
	}
	p := Place{dir: dir, name: name}
	if info, err := os.Lstat(p.Path()); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return p, fmt.Errorf("%s has become a link; undo it by hand", p.Path())
	}
	return p, nil
}

// put makes the file hold content; nil takes it away. A file that is there keeps its
// permissions, another gets mode, or, if that is 0, those that fit.
func (p Place) put(content []byte, mode fs.FileMode, folders []string) error {
	if content == nil {
		return p.remove(folders)
	}
	if err := p.makeFolders(); err != nil {
		return err
	}
	root, err := file.Root(p.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder, err := file.RootIn(root, filepath.Dir(p.name))
	if err != nil {
		return err
	}
	defer folder.Close()
	o := file.Options{Mode: mode, Keep: true}
	if mode == 0 && p.shared { // as the umask leaves it; another is the user's alone
		o.Mode = 0o666
	}
	return file.WriteIn(folder, filepath.Base(p.name), content, o)
}

// missingFolders are those above the file that are not there, outermost first.
func (p Place) missingFolders() []string {
	var missing []string
	for dir := filepath.Dir(p.Path()); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return missing
		}
		missing = append([]string{dir}, missing...)
	}
}

// makeFolders makes the folders above the file.
func (p Place) makeFolders() error {
	if !p.shared {
		return os.MkdirAll(filepath.Dir(p.Path()), 0o755)
	}
	root, err := file.Root(p.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(filepath.Dir(p.name), 0o755)
}

// remove takes the file away, and those of the folders that are empty.
func (p Place) remove(folders []string) error {
	root, err := file.Root(p.dir)
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
