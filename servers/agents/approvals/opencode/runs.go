package opencode

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// runsIn says of a command in which folder and by which shell it runs, if the call that it is of is known whole.
func (s *stream) runsIn(q *ask.Prompt, payload rawjson.Object, folder string) {
	input, err := rawjson.SplitObject(payload.Some("input"))
	if err != nil || input.Str("command") != q.Command {
		return
	}
	if dir := input.Str("workdir"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(folder, dir)
		}
		if q.Dir = dir; filepath.Clean(dir) != filepath.Clean(folder) {
			q.Marks = append(q.Marks, "runs in "+dir)
		}
	}
	start := approvals.StartOf(s.c.PID)
	shell := filepath.Base(start.Vars["SHELL"])
	switch shell {
	case "bash":
	case "dash":
		q.Shell = "sh"
	default:
		q.Shell = shell
	}
	if plain := input.Only("command", "description", "timeout", "workdir"); len(plain) != len(input) || q.Subagent != "" || !filepath.IsAbs(folder) || !s.verified {
		return
	}
	q.Runs = func(programs []string) string {
		start, dir := approvals.StartOf(s.c.PID), filepath.Dir(start.Vars["SHELL"])
		if shell == "zsh" {
			start.Zsh()
		}
		why := s.unsure(q, start, folder, loading)
		switch {
		case why != "":
			return why
		case dir != "/bin" && dir != "/usr/bin" || !slices.Contains([]string{"bash", "sh", "dash", "zsh"}, shell) || approvals.Doubtful([]string{shell}, []string{dir}, q.Shell, folder) != "":
			return "its shell is not known"
		case start.Vars["SSH_CLIENT"]+start.Vars["SSH2_CLIENT"] != "" && (start.Vars["SHLVL"] == "" || start.Vars["SHLVL"] == "0"):
			return "its shell may read .bashrc"
		}
		return approvals.Doubtful(programs, start.Paths, q.Shell, folder)
	}
}

// edits lets rules allow an edit of which the event says all; Kilo CLI says it twice.
func (s *stream) edits(q *ask.Prompt, meta rawjson.Object, folder string) {
	if len(meta.Only("filepath", "diff", "filediff")) != len(meta) || q.Diff == "" || q.Does.Partial || q.Subagent != "" || !filepath.IsAbs(q.Path) || !filepath.IsAbs(folder) || !s.verified {
		return
	}
	q.Runs = func([]string) string { return s.unsure(q, approvals.StartOf(s.c.PID), folder, following) }
}

// unsure says why it is not known what is done when a prompt is allowed; settings are what may be set for that.
func (s *stream) unsure(q *ask.Prompt, start approvals.Start, folder string, settings *regexp.Regexp) string {
	switch {
	case q.Mode == "":
		return "which of its agents asks is not known"
	case slices.Contains(planning, q.Mode):
		return "its agent " + q.Mode + " is not to do anything yet"
	case start.Unsure != "":
		return start.Unsure
	}
	for name := range start.Vars {
		if strings.HasPrefix(name, s.a.of.env+"CONFIG") || strings.HasPrefix(name, "OPENCODE_CONFIG") {
			return "its variable " + name + " may bring plug-ins"
		}
	}
	return s.a.brings(start.Vars, folder, settings)
}

// planning are agents of OpenCode and Kilo CLI that only read, plan and answer.
var planning = []string{"plan", "architect", "ask"}

// Settings that name plug-ins, or another shell; and what runs after an edit, of which there is nothing without them.
var (
	loading   = regexp.MustCompile(`"plugin"|"shell"|\\u|'(plugin|shell)'|\b(plugin|shell)\s*:`)
	following = regexp.MustCompile(`"(plugin|formatter|lsp)"|\\u|'(plugin|formatter|lsp)'|\b(plugin|formatter|lsp)\s*:`)
)

// brings says which code, or which settings, of the user's or the project's may have a command run otherwise.
func (a *Adapter) brings(vars map[string]string, folder string, settings *regexp.Regexp) string {
	home, config := vars["HOME"], cmp.Or(vars["XDG_CONFIG_HOME"], filepath.Join(vars["HOME"], ".config"))
	if home == "" {
		return "its user's settings are not known"
	}
	var dirs []string
	for _, id := range []string{a.of.id, "opencode"} {
		dirs = append(dirs, filepath.Join(config, id), filepath.Join(home, "."+id), "/etc/"+id)
		for at := folder; filepath.IsAbs(at); at = filepath.Dir(at) {
			dirs = append(dirs, at, filepath.Join(at, "."+id), filepath.Join(at, "."+id+"code"))
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	for _, dir := range dirs {
		for _, name := range []string{a.of.id, "opencode", "config"} {
			for _, ext := range []string{".json", ".jsonc"} {
				b, err := file.ReadPlain(filepath.Join(dir, name+ext), true, approvals.MostSettings)
				switch {
				case name == "config" && filepath.Dir(dir) != config:
				case errors.Is(err, fs.ErrNotExist):
				case err != nil:
					return "its settings cannot be read"
				case settings.Match(bytes.TrimSpace(b)) && settings == following:
					return "its settings may bring a plug-in, or run something after an edit"
				case settings.Match(bytes.TrimSpace(b)):
					return "its settings may bring a plug-in or another shell"
				}
			}
		}
		for _, name := range []string{"plugin", "plugins", "tool", "tools"} {
			if own := strings.HasPrefix(filepath.Base(dir), ".") || filepath.Dir(dir) == config; !own {
				continue // a folder of that name in a project is none of its own
			}
			if name := a.code(filepath.Join(dir, name)); name != "" {
				return name + " may decide as well, or change what runs"
			}
		}
	}
	return ""
}

// code is the name of a plug-in or of a tool in a folder that is not the deck's.
func (a *Adapter) code(dir string) string {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	} else if err != nil {
		return dir
	}
	for _, one := range all {
		b, err := file.ReadPlain(filepath.Join(dir, one.Name()), true, approvals.MostSettings)
		if ext := filepath.Ext(one.Name()); !one.IsDir() && ext != ".js" && ext != ".ts" && ext != ".mjs" {
			continue
		}
		if err != nil || !a.of.plugin().Is(b) {
			return one.Name()
		}
	}
	return ""
}
