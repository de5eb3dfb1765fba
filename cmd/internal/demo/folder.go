package demo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

//go:embed project
var project embed.FS

// Folder is the temporary home of a demo, with the projects that its agents work on.
type Folder struct{ Home string }

// Project is the folder of the deck's project, which is claude's.
func (f Folder) Project() string { return f.project("claude") }

// project is the folder in which an agent works.
func (f Folder) project(agent string) string { return filepath.Join(f.Home, projectOf(agent)) }

func projectOf(agent string) string {
	return map[string]string{"claude": "shop", "codex": "payments", "opencode": "menu"}[agent]
}

// Program is how a stand-in is started: this program by the name of what it stands for.
func (f Folder) Program(name string) string { return filepath.Join(f.Home, "bin", name) }

const (
	longest = 32 // bytes of the path of the folder for temporary files
	prefix  = "mcpdeck-demo-"
	player  = "player" // the file in a home with the process that plays there
)

// NewFolder makes a home in the folder for temporary files, and removes those of demos that
// were killed. own is the path of this program.
func NewFolder(own, temporary string) (f Folder, err error) {
	// Paths of sockets must be short, which this folder is not on every system.
	if info, err := os.Stat("/tmp"); len(temporary) > longest && err == nil && info.IsDir() {
		temporary = "/tmp"
	}
	removeDead(temporary)
	if f.Home, err = os.MkdirTemp(temporary, prefix); err != nil {
		return f, fmt.Errorf("make a folder for the demo: %w", err)
	}
	if f.Home, err = filepath.EvalSymlinks(f.Home); err == nil {
		err = f.fill(own)
	}
	if err != nil {
		return f, errors.Join(fmt.Errorf("make a folder for the demo: %w", err), f.Remove())
	}
	return f, nil
}

// removeDead removes the user's homes whose demos do not run. What cannot be removed stays.
func removeDead(temporary string) {
	entries, _ := os.ReadDir(temporary)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		f := Folder{filepath.Join(temporary, e.Name())}
		if info, err := e.Info(); err != nil || !info.IsDir() || !file.OwnedByUser(info) {
			continue
		}
		var id int
		var born string
		mark, err := file.Read(filepath.Join(f.Home, player), 100)
		if _, _ = fmt.Sscan(string(mark), &id, &born); err == nil && id > 0 && !pid.Same(id, born) {
			_ = f.Remove()
		}
	}
}

// Remove removes the home with all that is in it.
func (f Folder) Remove() error {
	// Snapshots are read-only, folders too.
	_ = filepath.WalkDir(f.Home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what cannot be removed is told of
		}
		return nil
	})
	return os.RemoveAll(f.Home)
}

func (f Folder) fill(own string) error {
	// A demo that looks meanwhile must not find half of the mark.
	id := os.Getpid()
	if err := file.Write(filepath.Join(f.Home, player), []byte(fmt.Sprintln(id, pid.Born(id))), file.Options{Fleeting: true}); err != nil {
		return err
	}
	for _, dir := range []string{"bin", ".config/mcpdeck", ".claude/sessions", "Desktop", "payments", "menu"} {
		if err := os.MkdirAll(filepath.Join(f.Home, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	for _, name := range []string{"mcpdeck", "claude", "codex", "opencode"} {
		if err := os.Symlink(own, f.Program(name)); err != nil {
			return err
		}
	}
	if err := f.copyProject(); err != nil {
		return err
	}
	if err := f.write("payments/middleware/auth.ts", "export const scheme = 'none';\n"); err != nil {
		return err
	}
	return f.write(".config/mcpdeck/config.toml", `
[http]
enabled = false
[ui]
follow_inbox = true
[notify]
waiting = "off"
[prompts]
undo_seconds = 0
hold = "1h"
[logicstamp]
command = "`+f.Program("mcpdeck")+` demo stamp"
[server.weather]
title = "Weather"
about = "A server of somebody else's, added with mcpdeck add"
command = ["`+f.Program("mcpdeck")+`", "demo", "server"]
mode = "off"
`)
}

func (f Folder) copyProject() error {
	return fs.WalkDir(project, "project", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := project.ReadFile(path)
		if err != nil {
			return err
		}
		return f.write("shop"+strings.TrimPrefix(path, "project"), string(b))
	})
}

// write writes a file below the home.
func (f Folder) write(name, text string) error {
	path := filepath.Join(f.Home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// add adds to the end of a file below the home.
func (f Folder) add(name, text string) error {
	w, err := file.Open(filepath.Join(f.Home, filepath.FromSlash(name)), os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = w.WriteString(text)
	return errors.Join(err, w.Close())
}

// edit replaces a text in a file below the home.
func (f Folder) edit(name, old, text string) error {
	b, err := file.Read(filepath.Join(f.Home, filepath.FromSlash(name)), 1<<20)
	if err != nil {
		return err
	}
	return f.write(name, strings.Replace(string(b), old, text, 1))
}
