package config

import (
	"errors"
	"fmt"
	"os/user"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// decideRoots makes the rules of which folders may be projects, and warns of what
// the user allows and the rules do not.
func (c *Config) decideRoots() {
	homes := []string{c.Home}
	if u, err := user.Current(); err == nil { // HOME may say something else
		homes = append(homes, u.HomeDir)
	}
	c.Roots = roots.New(roots.Options{Homes: homes, State: []string{c.Paths.State}})
	c.File.AllowDirs = c.Allowed("allow_dirs", c.File.AllowDirs)
	var refused *roots.RefusedError
	if _, err := c.Roots.Folder(c.Dir); errors.As(err, &refused) && refused.Why == roots.HoldsState {
		c.Warnings = append(c.Warnings, "agents have no project in this folder, since mcpdeck's own files lie in it; choose another place with --state DIR")
	}
}

// Allowed makes paths absolute and warns of those that the rules refuse. They
// stay, as one does that does not exist yet: each use decides again.
func (c *Config) Allowed(name string, dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if rest, ok := cutHome(dir); ok {
			dir = filepath.Join(c.Home, rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.Dir, dir)
		}
		out = append(out, filepath.Clean(dir))
		if _, err := c.Roots.Folder(dir); errors.As(err, new(*roots.RefusedError)) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %v", name, err))
		}
	}
	return out
}

func cutHome(dir string) (rest string, ok bool) {
	if dir == "~" {
		return "", true
	}
	if len(dir) > 1 && dir[0] == '~' && (dir[1] == '/' || dir[1] == filepath.Separator) {
		return dir[2:], true
	}
	return "", false
}
