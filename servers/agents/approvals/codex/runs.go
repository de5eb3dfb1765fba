package codex

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// plain reports whether a command is asked about and nothing else with it: what is not known of a request may have
// it run otherwise, or allow more. Codex offers no words to allow always where a rule of the user's has it ask.
func (q *asked) plain(raw []byte) bool {
	o, err := rawjson.SplitObject(raw)
	known := o.Only(
		"kind", "threadId", "turnId", "itemId", "startedAtMs", "environmentId", "reason", "command", "cwd", "commandActions", "proposedExecpolicyAmendment", "availableDecisions",
	)
	return err == nil && len(known) == len(o) && (q.Kind == "" || q.Kind == "command") && (q.Environment == "" || q.Environment == "local") && len(q.Prefix) > 0 && filepath.IsAbs(q.Cwd)
}

// snapshots is where Codex keeps what the login shell of a thread has set.
const snapshots = "shell_snapshots"

var (
	declared = regexp.MustCompile(`(?m)^declare -x ([A-Za-z_]\w*)(?:="((?:[^"\\]|\\.)*)")?`)
	named    = regexp.MustCompile(`(?m)^\s*(?:function\s+)?([^\s(){}=;'"$|&<>]+)\s*\(\)|^\s*alias (?:-- )?'?([^=\s']+)'?=`)
)

// runs says why the name of one of the programs may stand for something else in a shell of a thread's. Codex's
// daemon gives it its own variables, and those of the login shell that it has kept for the thread. An edit has no shell.
func (l *link) runs(thread, folder, shell string, programs []string) string {
	start := approvals.StartOf(l.pid)
	if start.Unsure != "" || shell == "" {
		return start.Unsure
	}
	if slices.ContainsFunc(start.Args, func(a string) bool { return strings.Contains(a, "shell_") }) {
		return "its daemon was started with settings of its shell"
	}
	if why := l.settings(folder); why != "" {
		return why
	}
	kept, err := filepath.Glob(filepath.Join(l.home, snapshots, thread+".*.sh"))
	if err != nil || len(kept) == 0 {
		return "what its login shell sets is not known"
	}
	paths := start.Paths
	for _, path := range kept {
		b, err := file.Read(path, approvals.MostSettings)
		if err != nil {
			return "what its login shell sets is not known"
		}
		for _, m := range named.FindAllStringSubmatch(string(b), -1) {
			if name := m[1] + m[2]; slices.Contains(programs, name) {
				return name + " is an alias or a function of its shell"
			}
		}
		before := len(paths)
		for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
			switch {
			case approvals.Steers(m[1]):
				return "its variable " + m[1] + " may change what runs"
			case m[1] == "PATH":
				paths = append(paths, m[2])
			}
		}
		if len(paths) == before {
			return "its PATH is not known"
		}
	}
	if exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(l.pid), "exe")); err == nil { // which has a PATH of its own
		own := filepath.Join(filepath.Dir(filepath.Dir(exe)), "codex-path")
		for i := range paths {
			paths[i] = own + string(filepath.ListSeparator) + paths[i]
		}
	}
	return approvals.Doubtful(programs, paths, shell, folder)
}

// settings says which of Codex's settings may have a shell run with something else.
func (l *link) settings(folder string) string {
	files := []string{filepath.Join(l.home, "config.toml"), "/etc/codex/config.toml", "/etc/codex/managed_config.toml"}
	for at := folder; filepath.IsAbs(at); at = filepath.Dir(at) {
		files = append(files, filepath.Join(at, ".codex", "config.toml"))
		if at == filepath.Dir(at) {
			break
		}
	}
	for _, path := range files {
		b, err := file.ReadPlain(path, true, approvals.MostSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var set any
		if err != nil || toml.Unmarshal(b, &set) != nil {
			return "its settings cannot be read"
		}
		if name := setting(set); name != "" {
			return "its setting " + name + " may change what runs"
		}
	}
	return ""
}

// setting finds a setting, also of a profile, that decides what a shell has.
func setting(in any) string {
	all, _ := in.(map[string]any)
	for name, value := range all {
		if strings.HasPrefix(name, "shell_") || strings.Contains(name, "zsh") {
			return name
		}
		if within := setting(value); within != "" {
			return within
		}
	}
	return ""
}
