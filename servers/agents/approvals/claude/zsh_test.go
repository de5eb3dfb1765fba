//go:build linux

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

// usual is what Claude Code keeps of zsh for a user with some settings of their own.
const usual = `unalias -a 2>/dev/null || true
# Functions
hello () {
	eval "$1"
}
# Shell Options
setopt autocd
setopt extendedglob
setopt nohashdirs
setopt login
setopt nonomatch
setopt notify
setopt promptsubst
# Aliases
alias -- -='cd -'
alias -- ...=../..
alias -- ll='ls -l'
alias -- run-help=man`

func TestARuleAllowsInZshWhatIsCertain(t *testing.T) {
	home := t.TempDir()
	if start := (approvals.Start{Vars: map[string]string{"HOME": home}}); func() bool { start.Zsh(); return start.Unsure != "" }() {
		t.Skip("the start files of zsh do more here than the system's")
	}
	for name, c := range map[string]struct {
		kept, command string
		vars          map[string]string
		files         map[string]string // below HOME
		why           string            // "": it is allowed
	}{
		"nothing else":             {usual, "cat a | sort", nil, nil, ""},
		"a start file":             {usual, "cat a", nil, map[string]string{".zshenv": "# mine\n. \"$HOME/.cargo/env\"\nexport EDITOR=vi GOPATH=~/go\ntypeset -U path PATH\npath=(~/bin $path)\n", ".cargo/env": "case \":${PATH}:\" in\n*:x:*) ;;\n*) export PATH=\"$HOME/.cargo/bin:$PATH\" ;;\nesac\n"}, ""},
		"another folder for that":  {usual, "cat a", map[string]string{"ZDOTDIR": home}, map[string]string{".zshenv": "alias cat=rm"}, ""},
		"no SHELL":                 {usual, "cat a", map[string]string{"SHELL": "/usr/bin/fish"}, nil, ""},
		"a program of that PATH":   {usual, "cat a", nil, map[string]string{".zshenv": "path=(bin $path)"}, "its PATH has the folder"},
		"a program before others":  {usual, "cat a", nil, map[string]string{".zshenv": "PATH=/tmp:$PATH; PATH=$HOME/open:$PATH", "open/cat": ""}, "cat is in a folder that others may write"},
		"a PATH that is not known": {usual, "cat a", nil, map[string]string{".zshenv": "PATH=$X/bin:$PATH"}, "what X is"},
		"an alias":                 {usual + "\nalias -- cat='cat -A'", "cat a", nil, nil, "cat is an alias"},
		"a global alias":           {usual + "\nalias -- cat='| rm'", "sort a | cat", nil, nil, "cat is an alias"},
		"an alias of a word":       {usual + "\nalias -- do='rm a;do'", "for f in a; do cat $f; done", nil, nil, "do is an alias"},
		"a function":               {"cat () {\n\trm a\n}\n" + usual, "cat a", nil, nil, "cat is an alias or a function"},
		"a quoted function":        {"'[' () {\n\trm a\n}\n" + usual, "[ -f a ]", nil, nil, "[ is an alias or a function"},
		"a function that is run":   {"TRAPDEBUG () {\n\trm a\n}\n" + usual, "cat a", nil, nil, "TRAPDEBUG is"},
		"one that cd runs":         {"chpwd () {\n\trm a\n}\n" + usual, "cd sub && cat b", nil, nil, "chpwd is"},
		"cd without that":          {usual, "cd sub && cat b", nil, nil, ""},
		"one that is not run":      {"chpwd () {\n\trm a\n}\n" + usual, "cat a", nil, nil, ""},
		"what Claude Code runs":    {"setopt () {\n}\n" + usual, "cat a", nil, nil, "setopt is"},
		"words are split":          {usual + "\nsetopt shwordsplit", "cat a", nil, nil, "the option shwordsplit"},
		"globs of all files":       {usual + "\nsetopt globdots", "cat *", nil, nil, "the option globdots"},
		"values are globs":         {usual + "\nsetopt globsubst", "cat a", nil, nil, "the option globsubst"},
		"quotes in quotes":         {usual + "\nsetopt rcquotes", "cat a", nil, nil, "the option rcquotes"},
		"quotes of csh":            {usual + "\nsetopt cshjunkiequotes", "cat a", nil, nil, "the option cshjunkiequotes"},
		"globs that are set":       {usual + "\nsetopt globassign", "cat a", nil, nil, "the option globassign"},
		"arrays of ksh":            {usual + "\nsetopt ksharrays", "cat a", nil, nil, "the option ksharrays"},
		"folders of variables":     {usual + "\nsetopt cdablevars", "cat a", nil, nil, "the option cdablevars"},
		"no equals":                {usual + "\nsetopt noequals", "cat a", nil, nil, "the option noequals"},
		"options in two columns":   {usual + "\nsetopt glob    off", "cat a", nil, nil, "the option glob"},
		"what only zsh knows":      {usual, "cat *(e:'rm a':)", nil, nil, "what only zsh knows"},
		"an alias at each start":   {usual, "cat a", nil, map[string]string{".zshenv": "alias -g a=b"}, ".zshenv may change"},
		"a function there":         {usual, "cat a", nil, map[string]string{".zshenv": "cat() { rm a }"}, ".zshenv may change"},
		"an option there":          {usual, "cat a", nil, map[string]string{".zshenv": "setopt shwordsplit"}, ".zshenv may change"},
		"a name of a program":      {usual, "cat a", nil, map[string]string{".zshenv": "hash cat=/bin/rm"}, ".zshenv may change"},
		"a trap":                   {usual, "cat a", nil, map[string]string{".zshenv": "trap 'rm a' DEBUG"}, ".zshenv may change"},
		"a text that is run":       {usual, "cat a", nil, map[string]string{".zshenv": "eval \"$(x)\""}, ".zshenv may change"},
		"a function by its table":  {usual, "cat a", nil, map[string]string{".zshenv": "functions[cat]='rm a'"}, ".zshenv may change"},
		"functions that cd runs":   {usual, "cat a", nil, map[string]string{".zshenv": "chpwd_functions+=x"}, "its variable chpwd_functions"},
		"another comment":          {usual, "cat a", nil, map[string]string{".zshenv": "histchars='!^x'"}, "its variable histchars"},
		"a variable of git":        {usual, "cat a", nil, map[string]string{".zshenv": "export GIT_DIR=x"}, "its variable GIT_DIR"},
		"a file that it reads":     {usual, "cat a", nil, map[string]string{".zshenv": "[ -f ~/.x ] && source ~/.x", ".x": "alias cat=rm"}, ".x may change"},
		"a file that is compiled":  {usual, "cat a", nil, map[string]string{".zshenv.zwc": ""}, ".zshenv may change"},
		"files without an end":     {usual, "cat a", nil, map[string]string{".zshenv": ". ~/.zshenv"}, ".zshenv may change"},
		"a file of any folder":     {usual, "cat a", nil, map[string]string{".zshenv": ". ./x"}, "x may change"},
		"no HOME":                  {usual, "cat a", map[string]string{"HOME": ""}, nil, ".zshenv may change"},
		"a zsh of the project":     {usual, "cat a", map[string]string{"SHELL": "PROJECT/zsh"}, nil, "its shell is not known"},
		"a shell of that name":     {usual, "cat a", map[string]string{"SHELL": "/opt/zsh"}, nil, "its shell is not known"},
		"bash":                     {usual, "cat a", map[string]string{"SHELL": "/bin/bash"}, nil, "the aliases of its shell are not known"},
	} {
		t.Run(name, func(t *testing.T) {
			_, set := ruled(t, everyRule, true)
			bubble(t, set, func(d *desk) {
				d.keeps("zsh-2-a", c.kept)
				d.keeps("zsh-0-old", "alias -- cat=rm\nalias -- sort=rm")
				own := d.with.Vars["HOME"]
				write := func(at string) {
					if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(at, []byte(c.files[strings.TrimPrefix(at, own+"/")]), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				for file := range c.files {
					write(filepath.Join(own, file))
				}
				write(filepath.Join(own, "system/zsh"))
				write(filepath.Join(d.project, "zsh"))
				write(filepath.Join(d.project, "sub/b"))
				if err := os.MkdirAll(filepath.Join(own, "open"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(filepath.Join(own, "open"), 0o777); err != nil {
					t.Fatal(err)
				}
				d.with.Paths = []string{filepath.Join(own, "system") + ":/usr/bin:/bin"}
				d.with.Vars["SHELL"] = filepath.Join(own, "system/zsh")
				for name, value := range c.vars {
					d.with.Vars[name] = strings.Replace(value, "PROJECT", d.project, 1)
				}
				h := d.bash(c.command, suggests())
				if c.why == "" {
					d.prints(h, ruledAllow)
					return
				}
				d.waits(h)
				if p := d.only().Request.Prompt; c.vars["SHELL"] != "/bin/bash" && p.Shell != "zsh" || !strings.Contains(strings.Join(p.Notes, "\n"), c.why) {
					t.Errorf("of %q it says %q", p.Shell, p.Notes)
				}
			})
		})
	}
}
