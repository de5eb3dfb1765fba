package claude

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// How much is read of what decides what a command runs.
const (
	mostSnapshots = 32
	mostSnapshot  = 1 << 20
)

// runs says why the name of one of the programs may stand for something else in the session's shell, or why
// another decides beside the user's rules. A shell has the session's variables, and the aliases, functions and
// PATH of a file that Claude Code has kept; which of these files is the session's is not known, so all count that
// are not from before it.
func (a *Adapter) runs(s *session, shell string, programs []string) string {
	if who := s.decides(); who != "" {
		return who
	}
	start := a.start(s.PID)
	if start.Unsure != "" {
		return start.Unsure
	}
	if option := besides(start.Args); option != "" {
		return "it was started with " + option + ", whose hooks and variables are not known"
	}
	if at := a.at(s.PID); at != "" && !same(at, s.Folder) {
		return "its record names another folder than the one that it is in"
	}
	if len(programs) == 0 { // no shell starts
		return ""
	}
	name, kept := s.shell(start.Vars)
	where := start.Paths
	if at := start.Vars["SHELL"]; filepath.Base(at) == name {
		where = []string{filepath.Dir(at)}
	}
	switch {
	case len(kept) == 0 || len(kept) > mostSnapshots:
		return "the aliases of its shell are not known"
	case name != cmp.Or(shell, "bash") || approvals.Doubtful([]string{name}, where, name, s.Folder) != "":
		return "its shell is not known"
	case name == "zsh":
		if start.Zsh(); start.Unsure != "" {
			return start.Unsure
		}
	}
	paths := start.Paths
	for _, path := range kept {
		b, err := file.Read(path, mostSnapshot)
		shell := a.shells.of(name, string(b))
		if err != nil || !shell.known {
			return "the aliases of its shell are not known"
		}
		if shell.why != "" {
			return shell.why
		}
		for _, program := range programs {
			if program == "cd" && shell.names["chpwd"] { // which zsh runs after it
				program = "chpwd"
			}
			if shell.names[program] {
				return program + own
			}
		}
		paths = append(paths, shell.paths...)
	}
	return approvals.Doubtful(programs, paths, name, s.Folder)
}

// shell is the one of the session, and what Claude Code has kept of it. It takes the user's, if that is bash or zsh.
func (s *session) shell(vars map[string]string) (name string, kept []string) {
	name = filepath.Base(vars["SHELL"])
	known := name == "bash" || name == "zsh"
	all, _ := filepath.Glob(filepath.Join(s.config, "shell-snapshots", "snapshot-*.sh")) // without any it is not known
	for _, path := range all {
		words := strings.Split(filepath.Base(path), "-")
		if at, err := strconv.ParseInt(words[min(2, len(words)-1)], 10, 64); err != nil || at < s.Began || s.Began == 0 || known && words[1] != name {
			continue
		}
		if !known && len(kept) > 0 && words[1] != name {
			return "", nil
		}
		name, kept = words[1], append(kept, path)
	}
	return name, kept
}

// same reports whether two paths lead to the same folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}

// besides is the option among a program's that brings settings which are in none of the files that are read.
func besides(args []string) string {
	for _, a := range args {
		if name, _, _ := strings.Cut(a, "="); name == "--settings" || name == "--plugin-dir" {
			return name
		}
	}
	return ""
}

var (
	encoded  = regexp.MustCompile(`echo '([A-Za-z0-9+/=\s]*)' \| base64 -d`)
	quoted   = regexp.MustCompile(`(?m)^eval \$'([^\s()'\\]+) \(\) `)
	aliased  = regexp.MustCompile(`(?m)^\s*alias (?:-- )?'?([^=\s']+)'?=`)
	function = regexp.MustCompile(`(?m)^\s*(?:function\s+)?'?([^\s(){}=;'"$|&<>]+)'?\s*\(\)`)
	keyword  = regexp.MustCompile(`(?m)^\s*function\s+([^\s(){}]+)`)
	exported = regexp.MustCompile(`(?m)^export PATH='?([^'\n]*)'?\s*$`)
	option   = regexp.MustCompile(`(?m)^setopt ([^()\n]*)$`)

	// always matches names that change more than the command that has them: words of the shell, what Claude Code
	// itself runs before a command, and functions that zsh runs by itself.
	always = regexp.MustCompile(`^(TRAP\w*|zshexit|builtin|source|\.|eval|setopt|unalias|unset|true|pwd|export|declare|typeset|float|integer|local|readonly` +
		`|!|\[\[|[{}]|if|then|else|elif|fi|case|esac|for|foreach|end|select|while|until|repeat|do|done|function|time|coproc|nocorrect|noglob)$`)
	// harmless are options of zsh that change nothing of what a command does, on or off: Claude Code itself turns the
	// first two off.
	harmless = strings.Fields(`bareglobqual extendedglob alwayslastprompt alwaystoend autolist automenu autoparamkeys autoparamslash autoremoveslash bashautolist completealiases completeinword
		globcomplete hashlistall listambiguous listbeep listpacked listrowsfirst listtypes menucomplete recexact autocd autopushd cdsilent pushdignoredups pushdminus pushdsilent
		pushdtohome appendhistory banghist extendedhistory histallowclobber histbeep histexpiredupsfirst histfcntllock histfindnodups histignorealldups histignoredups
		histignorespace histlexwords histnofunctions histnostore histreduceblanks histsavebycopy histsavenodups histverify incappendhistory incappendhistorytime sharehistory
		clobber clobberempty correct correctall dvorak flowcontrol hashcmds hashdirs hashexecutablesonly ignoreeof interactivecomments mailwarning nomatch numericglobsort
		printeightbit printexitvalue rmstarsilent rmstarwait autocontinue bgnice checkjobs checkrunningjobs hup longlistjobs monitor notify promptbang promptcr promptpercent
		promptsp promptsubst transientrprompt beep combiningchars emacs overstrike singlelinezle vi zle login globalrcs multios warncreateglobal typesetsilent`)
)

const own = " is an alias or a function of its shell"

// shell is what a kept shell says.
type shell struct {
	names map[string]bool // that it gives a meaning of its own
	paths []string        // its PATH
	why   string          // it may change what any command does
	known bool            // whether this is certain
}

// shells remembers what kept shells say: to read one takes longer than to decide.
type shells struct {
	mu   sync.Mutex
	seen map[[sha256.Size]byte]*shell // by the text
}

func (s *shells) of(name, text string) *shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(name + "\n" + text))
	if known := s.seen[key]; known != nil {
		return known
	}
	if s.seen == nil || len(s.seen) >= mostSnapshots {
		s.seen = map[[sha256.Size]byte]*shell{}
	}
	read := readShell(name, text)
	s.seen[key] = read
	return read
}

func readShell(name, text string) *shell {
	s := &shell{names: map[string]bool{}}
	if name == "bash" { // zsh has its functions written as they are
		all, plain := encoded.FindAllStringSubmatch(text, -1), quoted.FindAllStringSubmatch(text, -1)
		if strings.Count(text, "eval ") > len(all)+len(plain) {
			return s
		}
		for _, m := range all {
			b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(m[1]), ""))
			if err != nil {
				return s
			}
			text += "\n" + string(b)
		}
		for _, m := range plain {
			s.names[m[1]] = true
		}
	}
	for _, form := range []*regexp.Regexp{aliased, function, keyword} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			s.names[m[1]] = true
		}
	}
	for name := range s.names {
		if always.MatchString(name) {
			s.why = name + own
		}
	}
	for _, m := range option.FindAllStringSubmatch(text, -1) {
		if name == "zsh" && !slices.Contains(harmless, m[1]) && !slices.Contains(harmless, strings.TrimPrefix(m[1], "no")) {
			s.why = "its shell has the option " + m[1]
		}
	}
	for _, m := range exported.FindAllStringSubmatch(text, -1) {
		s.paths = append(s.paths, m[1])
	}
	s.known = len(s.paths) > 0
	return s
}

// ours matches the hooks that setup writes, and nothing that runs more than these.
var ours = regexp.MustCompile(`^(?:[\w@%+=:,./-]*/)?(?:mcpdeck hook|mcpdeck-hook) claude(?: [\w@%+=:,./ -]*)?$|^'[^']*/mcpdeck(?:' hook|-hook') claude(?: [\w@%+=:,./ '-]*)?$`)

// decides says which of Claude Code's settings have something else decide as well: a hook that is not the deck's,
// whose denial an answer of the deck's might come before.
func (s *session) decides() string {
	files := []string{filepath.Join(s.config, "settings.json"), "/etc/claude-code/managed-settings.json"}
	more, err := filepath.Glob("/etc/claude-code/managed-settings.d/*")
	if err != nil {
		return "its settings cannot be read"
	}
	files = append(files, more...)
	for at := s.Folder; filepath.IsAbs(at); at = filepath.Dir(at) {
		files = append(files, filepath.Join(at, ".claude", "settings.json"), filepath.Join(at, ".claude", "settings.local.json"))
		if at == filepath.Dir(at) {
			break
		}
	}
	for _, path := range files {
		b, err := file.ReadPlain(path, true, approvals.MostSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var set struct {
			Hooks          map[string][]struct{ Hooks []struct{ Command string } }
			EnabledPlugins map[string]bool
			Env            map[string]any // that it gives its shell
		}
		if err != nil || json.Unmarshal(b, &set) != nil {
			return "its settings cannot be read"
		}
		for _, on := range set.EnabledPlugins {
			if on {
				return "a plug-in of Claude Code may decide as well"
			}
		}
		for name := range set.Env {
			if approvals.Steers(name) || name == "PATH" || name == "HOME" || name == "SHELL" {
				return "the variable " + name + " of its settings may change what runs"
			}
		}
		for event, all := range set.Hooks {
			for _, one := range all {
				for _, h := range one.Hooks {
					switch {
					case ours.MatchString(clients.Bare(h.Command)):
					case event == "PermissionRequest" || event == "PreToolUse":
						return "another hook decides as well"
					case event == "SessionStart" || event == "Setup" || event == "CwdChanged" || event == "FileChanged":
						return "a hook may set variables of its shell"
					}
				}
			}
		}
	}
	return ""
}
