package pencil

import (
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// childArgs are the program's arguments.
func childArgs(o Options, app string) []string {
	args := []string{"--app", app}
	if o.SpawnAgents {
		args = append(args, "--enable_spawn_agents")
	}
	return append(args, o.Args...)
}

// passedOn names the variables of the deck's environment that the program
// gets; an agent's or a person's secrets are not among them.
func passedOn(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	switch name {
	case "HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "DISPLAY", "WAYLAND_DISPLAY":
		return true
	case "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "SystemRoot", "SYSTEMROOT":
		return true
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// childEnv is the program's environment. It finds the app by HOME alone, so
// that is always set.
func childEnv(o Options) []string {
	var env []string
	for _, kv := range o.Environ {
		if name, _, ok := strings.Cut(kv, "="); ok && passedOn(name) {
			env = append(env, kv)
		}
	}
	if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "HOME=") && len(kv) > len("HOME=") }) {
		home := o.Home
		if home == "" {
			if u, err := user.Current(); err == nil {
				home = u.HomeDir
			}
		}
		if home != "" {
			env = append(env, "HOME="+home)
		}
	}
	return append(env, o.Env...)
}

// variable is the value of a variable of the deck's environment.
func (o Options) variable(name string) string {
	for _, kv := range o.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// short shows a path with ~ for the home folder.
func (o Options) short(path string) string {
	if o.Home == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, o.Home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}
