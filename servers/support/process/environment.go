package process

import (
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Kind is what a program is for, which decides what it may know of mcpdeck's
// environment.
type Kind int

// The kinds of programs.
const (
	Tool     Kind = iota // computes something: git, stamp
	Server               // an MCP server: Pencil
	Install              // fetches packages: npm
	Desktop              // belongs to the user's desktop: players, openers, notifiers
	Terminal             // has the terminal for a while: the user's editor
	Remote               // reaches another machine or a container as the user does: ssh, docker
)

// allowed are the variables that a kind gets. A name with * at its end stands
// for all that begin so. Names that look like a secret's are never passed on.
func allowed(k Kind) []string {
	names := []string{
		"HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_*", "DISPLAY", "WAYLAND_DISPLAY",
		// Without these no program runs on Windows.
		"USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "SYSTEMROOT", "COMSPEC", "PATHEXT",
	}
	switch k {
	case Tool:
		names = append(names, versions()...)
	case Install:
		names = append(append(names, versions()...), network()...)
	case Desktop:
		names = append(names, desktop()...)
	case Terminal:
		names = append(append(names, desktop()...),
			"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINFO", "TERMINFO_DIRS", "COLORTERM", "COLORFGBG", "NO_COLOR", "VTE_VERSION",
			"COLUMNS", "LINES", "TMUX", "TMUX_PANE", "STY", "ZELLIJ", "VISUAL", "EDITOR", "PAGER", "VIM", "VIMRUNTIME", "NVIM", "VSCODE_IPC_HOOK_CLI")
	case Remote:
		names = append(names, "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "KRB5CCNAME", "TERM", "TMUX", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "XDG_RUNTIME_DIR")
	default:
	}
	return names
}

// versions lead the stand-ins of version managers to the real programs.
func versions() []string {
	return []string{"NVM_DIR", "FNM_DIR", "FNM_MULTISHELL_PATH", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "PYENV_ROOT", "VIRTUAL_ENV"}
}

// network is what the user says of the way out: proxies, certificates, and
// registries and caches in their place.
func network() []string {
	return []string{
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "NODE_USE_ENV_PROXY", "REQUESTS_CA_BUNDLE",
		"npm_config_cache", "npm_config_registry", "npm_config_userconfig", "npm_config_proxy", "npm_config_https_proxy",
		"npm_config_noproxy", "npm_config_cafile", "npm_config_ca", "npm_config_strict_ssl", "UV_CACHE_DIR",
		"NPM_CONFIG_CACHE", "NPM_CONFIG_REGISTRY", "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY",
		"NPM_CONFIG_NOPROXY", "NPM_CONFIG_CAFILE", "NPM_CONFIG_CA", "NPM_CONFIG_STRICT_SSL",
	}
}

// desktop leads to the session's sound, messages and windows.
func desktop() []string {
	return []string{
		"DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY", "PULSE_SERVER", "PULSE_COOKIE", "PIPEWIRE_REMOTE", "PIPEWIRE_RUNTIME_DIR",
		"WSL_DISTRO_NAME", "WSL_INTEROP", "WSLENV",
	}
}

// secret tells whether a name is one that must not be passed on even where a
// whole family of names is.
func secret(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "MCPDECK_") || strings.HasSuffix(name, "_KEY") ||
		slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}, func(word string) bool { return strings.Contains(name, word) })
}

// Environment is what a program of kind k gets of own, mcpdeck's environment,
// and extra after it. It is never nil. Programs find their files by HOME, so
// that is always set.
func Environment(k Kind, own []string, extra ...string) []string {
	names := allowed(k)
	fold := func(s string) string { return s }
	if runtime.GOOS == "windows" {
		fold = strings.ToUpper // as the system compares names
	}
	env, home := []string{}, false
	for _, entry := range own {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || secret(name) {
			continue
		}
		if slices.ContainsFunc(names, func(a string) bool {
			family, wild := strings.CutSuffix(a, "*")
			return fold(name) == fold(a) || wild && strings.HasPrefix(fold(name), fold(family))
		}) {
			home = home || name == "HOME" && value != ""
			if fold(name) == "PATH" {
				if value = absolute(value); value == "" {
					continue // an empty one means the working folder
				}
				entry = name + "=" + value
			}
			env = append(env, entry)
		}
	}
	if !home && runtime.GOOS != "windows" {
		if u, err := user.Current(); err == nil && u.HomeDir != "" {
			env = append(env, "HOME="+u.HomeDir)
		}
	}
	return append(env, extra...)
}

// absolute is a PATH without the entries that depend on the working folder: for
// a program that is started in a project they lead into it, and the interpreter
// of a script would be what the project has by that name.
func absolute(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// Lookup returns a variable of an environment.
func Lookup(environ []string, name string) (string, bool) {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
