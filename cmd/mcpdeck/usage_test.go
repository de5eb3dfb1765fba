package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// What a flag or a variable holds is wrong usage, too.
func TestADeckThatCannotBeCalledSoIsWrongUsage(t *testing.T) {
	for _, args := range [][]string{{"--name", "a/b", "doctor"}, {"mcp", "--name", "../x"}, {"tools", "--name", strings.Repeat("x", 40)}} {
		if code := run(args); code != exitUsage {
			t.Errorf("%v: exit %d", args, code)
		}
	}
	t.Setenv("MCPDECK_SOCKET", "run/deck.sock")
	if code := run([]string{"doctor"}); code != exitUsage {
		t.Errorf("a socket that is not absolute: exit %d", code)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, r := range []struct{ name, args, want string }{
		{"no number", "--port many", `--port "many": use a whole number`},
		{"no number, by a short name", "log -n many", `--lines "many": use a whole number`},
		{"no fraction", "render --strength much x.pxl", `--strength "much": use a number`},
		{"no such port", "--port 99999", "use a number up to 65535"},
		{"no such port to serve", "serve --port -5", "use a number up to 65535"},
		{"a word too many", "version now", `unexpected argument "now"`},
		{"no such command", "nonsense", `unknown command "nonsense"`},
		{"a command that is misspelt", "docter", `did you mean "doctor"?`},
		{"no such command of a group that does nothing itself", "logicstamp nonsense", `unknown command "nonsense"`},
		{"no such command of a group that prints its help", "ask nonsense", `unknown command "nonsense"`},
		{"no such client", "setup nonsense", "name one of"},
		{"no such kind of picture", "render x.pxl -o x.jpg", "only .png and .gif can be written"},
	} {
		t.Run(r.name, func(t *testing.T) {
			root := newRoot()
			root.SetArgs(strings.Fields(r.args))
			root.SetOut(io.Discard)
			err := root.Execute()
			if err == nil || !strings.Contains(err.Error(), r.want) || !errors.As(err, new(usage)) {
				t.Errorf("got %v, want wrong usage that says %q", err, r.want)
			}
		})
	}
}
