//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestHelpHasColoursOnATerminalAlone(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	piped, err := d.command("setup", "--help").Output()
	if err != nil || strings.Contains(string(piped), "\x1b") {
		t.Fatalf("%v: a pipe gets %q", err, piped)
	}
	for _, want := range []string{"\nFlags:\n      --acp agent  ", "  show the change and write nothing\n", "--acp by MCPDECK_SETUP_ACP"} {
		if !strings.Contains(string(piped), want) {
			t.Errorf("no %q in\n%s", want, piped)
		}
	}
	for _, r := range []struct {
		name, variable string
		styled         bool
	}{
		{"a terminal", "LANG=C", true},
		{"NO_COLOR", "NO_COLOR=1", false},
		{"a terminal without colours", "TERM=dumb", false},
	} {
		t.Run(r.name, func(t *testing.T) {
			c := d.command("setup", "--help")
			c.Env = append(c.Env, r.variable)
			w := d.terminal(c)
			w.ended()
			shown := strings.ReplaceAll(w.text(), "\r\n", "\n")
			if styled := strings.Contains(shown, "\x1b[36m--dry-run\x1b[m"); styled != r.styled || !r.styled && strings.Contains(shown, "\x1b") {
				t.Errorf("got %q", shown)
			}
			plain := ansi.Strip(shown)
			if !slices.Equal(strings.Fields(plain), strings.Fields(string(piped))) {
				t.Errorf("the text is\n%s\nand in a pipe\n%s", plain, piped)
			}
			for line := range strings.Lines(plain) {
				if ansi.StringWidth(strings.TrimRight(line, "\n")) > 80 {
					t.Errorf("the terminal breaks %q anywhere", line)
				}
			}
		})
	}
}
