//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

const statusInput = `{"session_id":"s1","cwd":"/home/ana/api","model":{"display_name":"Opus"},` +
	`"rate_limits":{"five_hour":{"used_percentage":62.5,"resets_at":1764300000},"seven_day":{"used_percentage":8,"resets_at":1764900000,"more":1}}}`

// TestAStatusLineWithinOursIsTheSameToTheByte compares what commands print and how they end.
func TestAStatusLineWithinOursIsTheSameToTheByte(t *testing.T) {
	d := newDriver(t)
	run := func(input string, program ...string) string {
		c := d.command()
		var out, errs bytes.Buffer
		c.Path, c.Args = program[0], program
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &out, &errs
		_ = c.Run() // how it ends is compared
		return fmt.Sprintf("%q, %q, %v", out.String(), errs.String(), c.ProcessState)
	}
	for _, tt := range []struct{ name, input, command string }{
		{"what it is told", statusInput, "cat"},
		{"more than a pipe holds", strings.Repeat(statusInput, 2000), "cat"},
		{"no JSON", "{\n", "cat; printf x"},
		{"nothing", "", "cat; printf x"},
		{"bytes that are no text", statusInput, `printf '\000\377\033[31mx\r\n'`},
		{"errors and a code", statusInput, "echo no >&2; printf yes; exit 7"},
		{"quotation marks", statusInput, `printf '%s' "it's $HOME" '$x' \\`},
		{"it does not read", strings.Repeat(statusInput, 2000), "exec 0<&-; printf x"},
		{"a signal", statusInput, "printf x; kill -TERM $$"},
		{"no such program", statusInput, "mcpdeck-no-such-program"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := run(tt.input, "/bin/sh", "-c", tt.command)
			for _, program := range [][]string{{smallHook(t)}, {d.program, "hook"}} {
				if got := run(tt.input, append(program, "claude", "--statusline", tt.command)...); got != want {
					t.Errorf("%s: got %.300s\nwant %.300s", filepath.Base(program[0]), got, want)
				}
			}
		})
	}
}

// heard passes on what arrives on the prompt socket.
type heard chan string

func (h heard) Serve(ctx context.Context, c *hook.Conn) {
	if m, err := c.Next(ctx); err == nil {
		h <- m.Event + " " + string(m.Raw)
	}
	_ = c.Print("") // it may have gone
}

func TestAStatusLineTellsTheDeckOnlyWhatIsUsed(t *testing.T) {
	d := newDriver(t)
	dir, err := os.MkdirTemp("", "status") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	all := make(heard, 1)
	s, err := hook.Listen(hook.Options{Path: filepath.Join(dir, "s"), Handlers: map[string]hook.Handler{"claude": all}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, command := range []string{"printf x", ""} {
		c := d.command()
		c.Path, c.Args = smallHook(t), []string{"mcpdeck-hook", "claude", "--statusline", command}
		c.Env = append(c.Env, "MCPDECK_PROMPTS_SOCKET="+filepath.Join(dir, "s"))
		c.Stdin = strings.NewReader(statusInput)
		if out, err := c.CombinedOutput(); err != nil || string(out) != strings.TrimPrefix(command, "printf ") {
			t.Errorf("%q, %v", out, err)
		}
		const want = `StatusLine {"hook_event_name":"StatusLine","session_id":"s1","rate_limits":{"five_hour":{"used_percentage":62.5,"resets_at":1764300000},"seven_day":{"used_percentage":8,"resets_at":1764900000}}}`
		if got := <-all; got != want {
			t.Errorf("the deck is told %s", got)
		}
	}
}

func TestASignalReachesTheUsersStatusLine(t *testing.T) {
	d := newDriver(t)
	c := d.command()
	c.Path, c.Args = smallHook(t), []string{"mcpdeck-hook", "claude", "--statusline", "trap 'printf bye; exit 3' TERM; echo ready; read -r line"}
	_, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(out, ready); err != nil {
		t.Fatal(err)
	}
	_ = c.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(out)
	if _ = c.Wait(); string(rest) != "bye" || c.ProcessState.ExitCode() != 3 {
		t.Errorf("%q, %v", rest, c.ProcessState)
	}
}
