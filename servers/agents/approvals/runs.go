package approvals

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// MostSettings is how much is read of a file that decides what a command runs.
const MostSettings = 1 << 20

// Start is what a program was started with.
type Start struct {
	Args []string
	Vars map[string]string
	// Paths are its values of PATH.
	Paths []string
	// Unsure says why something else may run than what a command names; "" if nothing in it says so.
	Unsure string
}

// StartOf returns what a process was started with.
func StartOf(pid int) Start {
	process := filepath.Join("/proc", strconv.Itoa(pid))
	env, err := file.ReadPlain(filepath.Join(process, "environ"), false, MostSettings)
	args, argsErr := file.ReadPlain(filepath.Join(process, "cmdline"), false, MostSettings)
	s := Start{Vars: map[string]string{}}
	if runtime.GOOS != "linux" || err != nil || argsErr != nil || len(env) == 0 {
		s.Unsure = "the variables of its program cannot be read"
		return s
	}
	s.Args = strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00")
	for v := range strings.SplitSeq(string(env), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		s.Vars[name] = value
		if Steers(name) {
			s.Unsure = "its variable " + name + " may change what runs"
		}
		if name == "PATH" {
			s.Paths = append(s.Paths, value)
		}
	}
	return s
}

var (
	harmless = regexp.MustCompile(`^GIT_(EDITOR|TERMINAL_PROMPT|(SSL|AUTHOR|COMMITTER)_\w+)$`)
	steering = strings.Fields("BASH_ENV ENV SHELLOPTS BASHOPTS CDPATH PROMPT_COMMAND RIPGREP_CONFIG_PATH GREP_OPTIONS TREE_COLORS JQ_LIBRARY_PATH POSIXLY_CORRECT " +
		"CLAUDE_CODE_SHELL CLAUDE_CODE_SHELL_PREFIX CLAUDE_ENV_FILE GCONV_PATH LOCPATH BAT_CONFIG_PATH BAT_CONFIG_DIR BAT_OPTS BAT_PAGER " +
		"NULLCMD READNULLCMD HISTCHARS histchars KEYBOARD_HACK MODULE_PATH cdpath") // of zsh
)

// Steers reports whether a variable makes programs run, load or read something else.
func Steers(name string) bool {
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "GIT_") && !harmless.MatchString(name) || strings.HasPrefix(name, "BASH_FUNC_") ||
		strings.HasSuffix(name, "_functions") || slices.Contains(steering, name)
}

// How many files and values of PATH the start of a shell may have.
const mostFiles, mostPaths = 8, 64

// Zsh adds what the files do that every zsh reads. They may set variables, and nothing else.
func (s *Start) Zsh() {
	dir, is := s.Vars["ZDOTDIR"]
	if !is {
		dir = s.Vars["HOME"]
	}
	for _, path := range []string{"/etc/zshenv", "/etc/zsh/zshenv", filepath.Join(dir, ".zshenv")} {
		s.follow(path, mostFiles)
	}
}

// follow adds what a start file does, and those that it has read as well, up to a depth.
func (s *Start) follow(path string, depth int) {
	b, err := file.ReadPlain(path, true, MostSettings)
	_, other := os.Lstat(path + ".zwc") // compiled
	if errors.Is(err, fs.ErrNotExist) && other != nil && filepath.IsAbs(path) {
		return
	}
	sets, files, known := rules.StartFile(string(b))
	if err != nil || !known || depth == 0 || other == nil || !filepath.IsAbs(path) {
		s.Unsure = filepath.Base(path) + " may change what its shell runs"
		return
	}
	expand := func(text, path string) string {
		return os.Expand(text, func(name string) string {
			switch {
			case name == "HOME" && s.Vars["HOME"] != "":
				return s.Vars["HOME"]
			case name != "PATH" && name != "path":
				s.Unsure = "what " + name + " is in its start files is not known"
			}
			return path
		})
	}
	for _, set := range sets {
		switch {
		case Steers(set.Name) || set.Name == "HOME" || set.Name == "ZDOTDIR" && filepath.Base(path) != ".zshenv":
			s.Unsure = "its variable " + set.Name + " may change what runs"
		case set.Name == "PATH" || set.Name == "path":
			for _, p := range slices.Clone(s.Paths) {
				if p = expand(set.Value, p); !slices.Contains(s.Paths, p) {
					s.Paths = append(s.Paths, p)
				}
			}
		}
	}
	if len(s.Paths) > mostPaths {
		s.Unsure, s.Paths = "its PATH is not known", nil
	}
	for _, f := range files {
		s.follow(expand(f, ""), depth-1)
	}
}

// Doubtful says why one of the names, which are no aliases and no functions, may stand for another program than
// the system's, by any of several values of PATH; "" if none may. The folder is that of the project.
func Doubtful(programs, paths []string, shell, folder string) string {
	for _, program := range programs {
		if why := doubtful(program, paths, shell, folder); why != "" {
			return why
		}
	}
	return ""
}

func doubtful(program string, paths []string, shell, folder string) string {
	switch {
	case program == "":
		return "a program is known only when it runs"
	case rules.Builtin(program, shell):
		return ""
	case len(paths) == 0:
		return "its PATH is not known"
	case strings.Contains(program, "/"):
		if d := filepath.Dir(program); d != "/bin" && d != "/usr/bin" {
			return program + " is no program of the system"
		}
		return ""
	}
	for _, p := range paths {
		if why := finds(program, p, folder); why != "" {
			return why
		}
	}
	return ""
}

// finds looks a name up as a shell does, and says why what it finds may be something else.
func finds(program, path, project string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			return "its PATH has the folder " + strconv.Quote(dir)
		}
		at := filepath.Join(dir, program)
		info, err := os.Stat(at)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return program + " cannot be found"
		}
		for _, p := range []string{at, real} {
			folder, err := os.Stat(filepath.Dir(p))
			if err != nil || folder.Mode()&0o022 != 0 || file.Within(project, p) {
				return program + " is in a folder that others may write"
			}
		}
		return ""
	}
	return program + " is not in its PATH"
}
