package clippy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// maxNote is the largest note in bytes.
const maxNote = 1 << 20

// desktop finds the user's desktop folder and leaves files there.
type desktop struct {
	system string // as in runtime.GOOS
	home   string
	env    func(string) string
	known  func() (string, error) // the shell's answer; "" when it has none
}

// Note is a text file to leave on the desktop.
type Note struct {
	Name      string
	Content   string
	Overwrite bool // replace a plain file of that name
}

// Written says what became of a note.
type Written struct {
	Path     string `json:"path"`
	Bytes    int    `json:"bytes"`
	Replaced bool   `json:"replaced"`
}

// check says what is wrong with a note whatever is on the desktop.
func (n Note) check(set Settings) error {
	if err := checkName(n.Name, set.AllowAnyExtension); err != nil {
		return err
	}
	if len(n.Content) > maxNote {
		return say("content is too large (%s, max %d)", humanize.Count(len(n.Content), "byte"), maxNote)
	}
	return nil
}

func (d *desktop) write(n Note, set Settings) (Written, error) {
	if err := n.check(set); err != nil {
		return Written{}, err
	}
	dir, err := d.folder(set.DesktopDir)
	if err != nil {
		return Written{}, err
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return Written{}, blame(err, "the Desktop folder does not exist; the user can create it, or set clippy.desktop_dir in config.toml")
	case err != nil:
		return Written{}, d.explain(err)
	case !info.IsDir():
		return Written{}, say("the Desktop folder is not a directory")
	}
	root, err := file.Root(dir)
	if err != nil {
		return Written{}, d.explain(err)
	}
	defer func() { _ = root.Close() }()
	replaced, err := d.publish(root, n)
	if err != nil {
		return Written{}, d.explain(err)
	}
	return Written{Path: filepath.Join(dir, n.Name), Bytes: len(n.Content), Replaced: replaced}, nil
}

// explain adds the way out where macOS keeps terminals from the desktop.
func (d *desktop) explain(err error) error {
	if d.system == "darwin" && errors.Is(err, fs.ErrPermission) {
		return blame(err, "permission denied; the user can allow the terminal to access the Desktop in System Settings")
	}
	return system(err)
}

// publish puts the note in its place. It reports whether a file was replaced.
func (d *desktop) publish(root *os.Root, n Note) (replaced bool, err error) {
	exists, err := occupied(root, n)
	if err != nil {
		return false, err
	}
	err = file.WriteIn(root, n.Name, []byte(n.Content), file.Options{Mode: 0o644, New: !exists})
	if errors.Is(err, fs.ErrExist) {
		return false, errTaken()
	}
	return exists && err == nil, err
}

func errTaken() error {
	return say("a file with that name already exists on the Desktop; it was not changed. Choose another name, or set overwrite to replace it")
}

// occupied reports whether there is a file to replace. It is an error when there
// is something and the note must not replace it.
func occupied(root *os.Root, n Note) (bool, error) {
	info, err := root.Lstat(n.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !n.Overwrite:
		return false, errTaken()
	case !info.Mode().IsRegular():
		return false, say("that name is taken by something that is not a regular file")
	}
	return true, nil
}

// folder is where the desktop is now. It need not exist.
func (d *desktop) folder(configured string) (string, error) {
	if rest, ok := strings.CutPrefix(configured, "~/"); ok && d.home != "" {
		return filepath.Join(d.home, rest), nil
	}
	if configured != "" {
		if !filepath.IsAbs(configured) {
			return "", say("clippy.desktop_dir must be an absolute path or start with ~/")
		}
		return configured, nil
	}
	if d.system == "windows" {
		if dir, err := d.known(); err == nil && dir != "" {
			return dir, nil
		}
		if profile := d.env("USERPROFILE"); profile != "" {
			return filepath.Join(profile, "Desktop"), nil
		}
	}
	if d.home == "" {
		return "", say("no Desktop folder is configured")
	}
	if d.system != "darwin" && d.system != "windows" {
		if dir := d.xdg(); dir != "" {
			if filepath.Clean(dir) == filepath.Clean(d.home) {
				return "", say("no Desktop folder is configured")
			}
			return dir, nil
		}
	}
	return filepath.Join(d.home, "Desktop"), nil
}

// xdg is the desktop folder of freedesktop systems: from user-dirs.dirs, else
// from the environment, else "".
func (d *desktop) xdg() string {
	config := d.env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(d.home, ".config")
	}
	text, err := file.ReadPlain(filepath.Join(config, "user-dirs.dirs"), true, 1<<20)
	if err == nil {
		if dir := parseUserDirs(string(text), d.home); dir != "" {
			return dir
		}
	}
	if dir := d.env("XDG_DESKTOP_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// parseUserDirs returns the last usable XDG_DESKTOP_DIR of a user-dirs.dirs
// file, "" when there is none. The file is a piece of shell; it is read, never
// run, so anything that would need a shell makes its line count for nothing.
func parseUserDirs(text, home string) string {
	dir := ""
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), `XDG_DESKTOP_DIR="`)
		if !ok {
			continue
		}
		if v, ok := parseUserDir(value, home); ok {
			dir = v
		}
	}
	return dir
}

// parseUserDir reads one value up to its closing quote.
func parseUserDir(value, home string) (string, bool) {
	var b strings.Builder
	for _, prefix := range []string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(value, prefix); ok && (rest == "" || rest[0] == '/' || rest[0] == '"') {
			b.WriteString(home)
			value = rest
			break
		}
	}
	if b.Len() == 0 && !strings.HasPrefix(value, "/") {
		return "", false
	}
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '$', '`':
			return "", false
		case '"':
			after := strings.TrimSpace(value[i+1:])
			return b.String(), after == "" || after[0] == '#'
		case '\\':
			if i+1 < len(value) && strings.IndexByte("\"\\$`", value[i+1]) >= 0 {
				i++
			}
			b.WriteByte(value[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
