package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// What a flag or a variable holds is wrong usage, too.
func TestADeckThatCannotBeCalledSoIsWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--name", "a/b", "doctor"}, {"mcp", "--name", "../x"}, {"tools", "--name", strings.Repeat("x", 40)}} {
		if code := run(args); code != int(exit.Usage) {
			t.Errorf("%v: exit %d", args, code)
		}
	}
	t.Setenv("MCPDECK_SOCKET", "run/deck.sock")
	if code := run([]string{"doctor"}); code != int(exit.Usage) {
		t.Errorf("a socket that is not absolute: exit %d", code)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, r := range []struct{ name, args, want string }{
		{"no number", "--port many", `--port "many": use a whole number`},
		{"no number, by a short name", "log -n many", `--lines "many": use a whole number`},
		{"no fraction", "render --strength much x.pxl", `--strength "much": use a number`},
		{"no truth", "--plain=maybe", `--plain "maybe": use true or false`},
		{"no time", "ask-server --connect-wait long", `--connect-wait "long": time: invalid duration "long"`},
		{"no such port", "--port 99999", "use a number up to 65535"},
		{"no such port to serve", "serve --port -5", "use a number up to 65535"},
		{"a word too many", "version now", `unexpected argument "now"`},
		{"a flag that is misspelt", "setup --dryrun", "unknown flag --dryrun; did you mean --dry-run?"},
		{"a flag of all commands that is misspelt", "doctor --stat x", "did you mean --state?"},
		{"no such flag", "ask list --nonsense", "unknown flag --nonsense; see mcpdeck ask list --help"},
		{"no such short flag", "ask list -Z", "unknown flag -Z; see mcpdeck ask list --help"},
		{"no such short flag among others", "log -fZ", "unknown flag -Z; see mcpdeck log --help"},
		{"a short flag that begins like the long one", "-version", "unknown flag -e; see mcpdeck --help"},
		{"no such command", "nonsense", `unknown command "nonsense"`},
		{"a command that is misspelt", "docter", `did you mean "doctor"?`},
		{"no such command of a group that does nothing itself", "logicstamp nonsense", `unknown command "nonsense"`},
		{"no such command of a group that prints its help", "ask nonsense", `unknown command "nonsense"`},
		{"no such shell", "completion foo", `unknown command "foo" for "mcpdeck completion"; name one of bash, fish, powershell, zsh; see mcpdeck completion --help`},
		{"no such client", "setup nonsense", "name one of"},
		{"a client without prompts", "setup cursor --prompts", "Cursor has no prompts that could reach the deck (those of claude, codex, "},
		{"another client without prompts", "setup claude-desktop --prompts --undo", "Claude Desktop has no prompts that could reach the deck"},
		{"no such client, with prompts", "setup nonsense --prompts", `unknown client "nonsense"; name one of claude, codex, `},
		{"no such kind of picture", "render x.pxl -o x.jpg", "only .png and .gif can be written"},
	} {
		t.Run(r.name, func(t *testing.T) {
			root := newRoot()
			root.SetArgs(strings.Fields(r.args))
			root.SetOut(io.Discard)
			err := root.Execute()
			if err == nil || !strings.Contains(err.Error(), r.want) || !errors.As(err, new(exit.UsageError)) {
				t.Errorf("got %v, want wrong usage that says %q", err, r.want)
			}
		})
	}
}

func TestTheVersionIsAFlagToo(t *testing.T) {
	said := func(args ...string) string {
		t.Helper()
		var out strings.Builder
		root := newRoot()
		root.SetArgs(args)
		root.SetOut(&out)
		if err := root.Execute(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out.String()
	}
	want := said("version")
	for _, flag := range []string{"--version", "-v"} {
		if got := said(flag); got != want {
			t.Errorf("%s prints %q, want %q", flag, got, want)
		}
	}
}

// The help lists commands by what they are for, so that a newcomer sees where to start.
func TestEveryCommandIsInAGroupOfTheHelp(t *testing.T) {
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" {
			t.Errorf("mcpdeck %s is in no group; see groups", c.Name())
		}
	}
	text := root.UsageString()
	if first := strings.Index(text, "\n  demo "); first < 0 || first > strings.Index(text, "\n  add ") || strings.Contains(text, "Additional Commands") {
		t.Errorf("got\n%s", text)
	}
}
