package rules

import (
	"slices"
	"testing"
)

func TestWhatTheUserSaysOfAProgramIsTaken(t *testing.T) {
	t.Parallel()
	in := shop("bash")
	in.Programs = []Program{
		{Name: "tofu", Sub: []string{"plan", "validate"}, Options: []string{"-no-color", "--json"}, Effects: []Effect{Net, Code}},
		{Name: "lint-all", Options: []string{"-q"}, Effects: []Effect{Reads}},
		{Name: "gen", Effects: []Effect{WriteIn}},
		{Name: "rm", Effects: []Effect{Reads}},
	}
	for command, want := range map[string][]Effect{
		"tofu plan -no-color": {Net, Code}, "tofu plan --json a": {Net, Code}, "tofu plan -x": {Opaque, Net, Code}, "tofu apply": {Opaque}, "tofu": {Opaque}, `tofu "$x"`: {Opaque},
		"lint-all --q": {Opaque}, "tofu plan -json": {Opaque, Net, Code}, "tofu plan --no-color": {Opaque, Net, Code}, "tofu plan --json=a": {Opaque, Net, Code}, "lint-all -qq": {Opaque},
		"lint-all /etc/passwd": {ReadOut}, "lint-all .env": {Secret}, "lint-all in=~/.ssh/id_rsa": {Secret, ReadOut}, "lint-all in=@/etc/a": {ReadOut}, "lint-all a/../../b": {ReadOut},
		"lint-all src/$x": {Opaque}, "cd /tmp && lint-all a": {ReadOut}, "cd /tmp && tofu plan": {Opaque, Net, Code}, "lint-all https://a.example/b": {Reads},
		"gen /etc/x": {WriteOut, WriteIn}, "gen .git/hooks/x": {Guard, WriteIn}, "gen out=../a": {WriteOut, WriteIn}, "cd /tmp; gen a": {WriteOut, WriteIn}, "gen src": {WriteIn},
		"tofu plan $x": {Opaque, Net, Code}, "lint-all -q src": {Reads}, "lint-all --fix": {Opaque}, "./lint-all": {Code}, "rm x": {Delete},
		"uv run tofu plan": {Net, Code}, "uv run gen ../x": {WriteOut, Code, WriteIn}, "uv run rm x": {Delete, Code},
	} {
		if got := Read(command, in).Effects(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", command, got, want)
		}
	}
}

func TestAnAliasIsItsProgramOnlyIfItAddsKnownOptions(t *testing.T) {
	t.Parallel()
	in := shop("bash")
	in.Aliases = map[string]string{"ls": "ls --color=auto", "grep": "grep --color=auto -n", "cat": "bat", "wc": "", "sort": "sort -o x", "rg": "rg --pre x"}
	for command, opaque := range map[string]bool{
		"ls": false, "grep a b": false, "cat a": true, "wc a": true, "sort a": true, "rg a": true, "command cat a": false, "/bin/cat a": false, "head a": false, "ls | wc": true,
	} {
		if got := slices.Contains(Read(command, in).Effects(), Opaque); got != opaque {
			t.Errorf("%s is not worked out: %v", command, got)
		}
	}
}

func TestAProgramIsWhereItIsThoughtToBe(t *testing.T) {
	t.Parallel()
	in := shop("bash")
	in.Find = func(name string) string {
		return map[string]string{"ls": "/usr/bin/ls", "cat": "/home/u/shop/bin/cat", "git": "/usr/bin/git", "env": "/usr/bin/env", "nice": "/home/u/shop/nice"}[name]
	}
	for command, opaque := range map[string]bool{
		"ls": false, "cat a": true, "wc a": true, "git status": false, "env ls": false, "env cat a": true, "nice ls": true, "echo a": false, "cd src && ls": false, "/bin/cat a": false, "f(){ ls; }; f": false,
	} {
		if got := slices.Contains(Read(command, in).Effects(), Opaque); got != opaque {
			t.Errorf("%s is not worked out: %v", command, got)
		}
	}
}
